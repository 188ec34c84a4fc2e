//! The sending half of a side: what sends, and how it is made ready.

use std::{
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use ::engine::{Choice, Facts, Job, Opened, SentStream, SocketAddresses, choose};
use frame::{Compiled, Place};
use kernel::{cpu, link, neighbour, nic};
use model::{
    BitRate, Engine, FrameSize, Nanos, PacketsSent, PacketsSpec, Privilege, ProbeSpec, SideSetup,
    stream::{DESTINATION_PORT, Mac},
    trial::Pacing,
};

use super::{
    account::Account,
    engine_error, receiving,
    streams::{compiled, is_plain, nowhere},
    unable,
};
use crate::{Control, ProbeError};

/// Interval of checks whether it should stop.
const GLANCE: Duration = Duration::from_millis(10);

/// Streams to be sent.
pub(super) struct Sending {
    spec: PacketsSpec,
    setup: SideSetup,
}

impl Sending {
    /// Where no engine can send this, it is said now.
    pub(super) fn prepare(spec: &PacketsSpec, setup: &SideSetup) -> Result<Self, ProbeError> {
        let job = job(spec, setup, &nowhere(setup))?;
        // The other end is assumed to be alike; its real abilities are known once the two have met.
        let heard_by_socket = matches!(receiving::place(spec, setup), engine::Place::Socket(_));
        choose(&facts(&job, spec, setup, heard_by_socket)?, spec.engine).map_err(engine_error)?;
        Ok(Self { spec: spec.clone(), setup: setup.clone() })
    }

    /// The same for an end that will be there, whose driver is known.
    pub(super) fn foresee(
        spec: &PacketsSpec,
        setup: &SideSetup,
        driver: &str,
        privilege: Privilege,
    ) -> Result<(), ProbeError> {
        let job = job(spec, setup, &nowhere(setup))?;
        let plain = spec.streams.iter().all(is_plain);
        let facts = Facts::foreseen(&job, driver, privilege, plain).map_err(engine_error)?;
        let heard_by_socket = facts.heard_by_socket || spec.engine == Some(Engine::Udp);
        choose(&Facts { heard_by_socket, ..facts }, spec.engine).map(drop).map_err(engine_error)
    }

    /// Opens what sends to this address, whose receiver counts at this port, or at all where it is 0. The kernel knows the next hop: the
    /// sides have greeted each other.
    pub(super) fn open(self, to: IpAddr, port: u16) -> Result<Ready, ProbeError> {
        let next_hop = neighbour::next_hop(&self.setup.interface, to)?;
        open_towards(&self.spec, &self.setup, next_hop, to, port, None)
    }
}

/// Opens what sends from a setup through this next hop, `most` frames at the most.
pub(super) fn open_towards(
    spec: &PacketsSpec,
    setup: &SideSetup,
    next_hop_mac: Mac,
    to: IpAddr,
    port: u16,
    most: Option<u64>,
) -> Result<Ready, ProbeError> {
    let place = Place { source_mac: own_mac(&setup.interface)?, next_hop_mac, destination: to, ..nowhere(setup) };
    let job = Job { most, ..job(spec, setup, &place)? };
    let facts = facts(&job, spec, setup, port != 0)?;
    let addresses =
        SocketAddresses { from: setup.local, to: SocketAddr::new(to, if port == 0 { DESTINATION_PORT } else { port }) };
    let opened = engine::open(&job, &facts, spec.engine, addresses).map_err(engine_error)?;
    let times = (0..job.streams.len()).map(|stream| job.time(stream)).collect();
    Ok(Ready { parts: parts(&job, opened.choice())?, opened, times, most })
}

/// Engine that sends, opened.
pub(super) struct Ready {
    opened: Opened,
    /// Each stream, without what becomes of it.
    parts: Vec<PacketsSent>,
    /// Time in which each is sent.
    times: Vec<Nanos>,
    most: Option<u64>,
}

impl Ready {
    /// Engine that sends.
    pub(super) fn engine(&self) -> Engine {
        self.opened.choice().engine
    }

    /// Sends for the time asked for.
    pub(super) fn send(self, account: &Account, control: &Control) -> Result<Vec<PacketsSent>, ProbeError> {
        let sent = self.run(account, control)?;
        if control.stopped() { Err(ProbeError::Cancelled) } else { Ok(sent) }
    }

    /// Sends until the time is over, all is sent, or it is stopped. Returns the counts until then.
    pub(super) fn run(self, account: &Account, control: &Control) -> Result<Vec<PacketsSent>, ProbeError> {
        let Self { opened, parts, times, most } = self;
        let (stop, progress) = (AtomicBool::new(false), Arc::new(AtomicU64::new(0)));
        account.sends(parts.clone(), &progress);
        let sent = thread::scope(|scope| {
            let sending = scope.spawn(|| opened.send(&stop, &progress));
            while !sending.is_finished() {
                stop.store(control.stopped(), Relaxed);
                account.passed(control);
                thread::sleep(GLANCE);
            }
            sending.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        let (Choice { engine, why }, sent) = sent.map_err(engine_error)?;
        // A sender that ended early has not kept its schedule to the end.
        let is_early = most.is_some() || control.stopped();
        let times = times.into_iter().map(|time| if is_early { Nanos(0) } else { time });
        let parts = parts.into_iter().map(|part| PacketsSent { engine, engine_why: why.clone(), ..part });
        let parts = parts.zip(sent.streams).zip(times);
        Ok(parts.map(|((part, sent), time)| finished(part, sent, time)).collect())
    }
}

/// Facts for the engine. On a ladder the rate is that of its highest load: the curve over all of them is that of one engine.
fn facts(job: &Job, spec: &PacketsSpec, setup: &SideSetup, heard_by_socket: bool) -> Result<Facts, ProbeError> {
    let facts = Facts::read(job, spec.streams.iter().all(is_plain), heard_by_socket).map_err(engine_error)?;
    match setup.highest.as_deref().and_then(ProbeSpec::of::<PacketsSpec>) {
        Some(highest) => {
            let highest = self::job(&highest.as_sent(), setup, &nowhere(setup))?;
            Ok(Facts { rate: highest.rate().map_err(engine_error)?, ..facts })
        }
        None => Ok(facts),
    }
}

/// Properties of each stream before it is sent.
fn parts(job: &Job, choice: &Choice) -> Result<Vec<PacketsSent>, ProbeError> {
    let part = |(stream, rate): (&Compiled, Option<f64>)| PacketsSent {
        stream: stream.name.clone(),
        engine: choice.engine,
        engine_why: choice.why.clone(),
        frame_size: FrameSize(stream.mean_size().round() as u32),
        flows: stream.flows,
        frames: 0,
        bytes: 0,
        seconds: 0.0,
        intended_pps: rate,
        refused: 0,
        pacing: None,
        cpus: job.cpus.clone(),
    };
    Ok(job.streams.iter().zip(job.mean_rates().map_err(engine_error)?).map(part).collect())
}

/// A stream with its result. With a rate, the duration is the schedule's: the last frame leaves one gap before its end.
fn finished(part: PacketsSent, sent: SentStream, duration: Nanos) -> PacketsSent {
    let span = sent.span.map_or(0.0, |(first, last)| last.0.saturating_sub(first.0) as f64 / 1e9);
    PacketsSent {
        frames: sent.frames,
        bytes: sent.bytes,
        seconds: if part.intended_pps.is_some() { span.max(duration.as_secs_f64()) } else { span },
        refused: sent.refused,
        pacing: sent.pacing.map(|pacing| Pacing {
            intended_gap_ns: pacing.intended_gap_ns,
            gap_ns: pacing.gaps.summary(),
            behind_ns: pacing.behind.summary(),
        }),
        ..part
    }
}

/// Streams to be sent from this setup, with these addresses.
fn job(spec: &PacketsSpec, setup: &SideSetup, place: &Place) -> Result<Job, ProbeError> {
    let cpus = cores(setup)?;
    Ok(Job {
        interface: setup.interface.clone(),
        streams: compiled(spec, place)?,
        first: (setup.sender * spec.streams.len() * cpus.len()) as u16,
        loads: spec.streams.iter().map(|stream| stream.load).collect(),
        line: line(&setup.interface),
        cpus,
        token: setup.token,
        duration: spec.duration,
        most: None,
    })
}

/// A side that is not pinned sends from the first core that it may have, as its receiver expects of it: one.
fn cores(setup: &SideSetup) -> Result<Vec<usize>, ProbeError> {
    if !setup.cpus.is_empty() {
        return Ok(setup.cpus.clone());
    }
    Ok(cpu::allowed()?.into_iter().take(1).collect())
}

fn own_mac(interface: &str) -> Result<Mac, ProbeError> {
    let links = link::list()?;
    let mac = links.iter().find(|link| link.name == interface).and_then(|link| link.mac.parse().ok());
    mac.ok_or_else(|| unable(&format!("packets from {interface}"), "the interface has no MAC address"))
}

/// Rate, if its driver reports one. Virtual interfaces report an arbitrary one.
fn line(interface: &str) -> Option<BitRate> {
    let is_virtual =
        kernel::ethtool::driver(interface).is_ok_and(|driver| ["veth", "tun"].contains(&driver.name.as_str()));
    let mbps = nic::link_settings(interface).ok()?.speed_mbps.filter(|_| !is_virtual)?;
    Some(BitRate(u64::from(mbps) * 1_000_000))
}
