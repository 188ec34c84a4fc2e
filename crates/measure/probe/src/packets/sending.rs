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

use ::engine::{AfPacket, Job, Live, Mode, Sender, SentStream, Xsk};
use frame::{CompileError, Compiled, Place};
use kernel::{cpu, link, neighbour, port, privilege};
use model::{
    BitRate, Engine, FrameSize, Nanos, PacketsSent, PacketsSpec, Privilege, Seat,
    stream::{Mac, Stream},
    trial::Pacing,
};

use super::{account::Account, engine_error, sockets};
use crate::{Control, ProbeError};

/// Of live frames every so many carry the time: stamping each costs a third of the rate.
const TIME_EVERY: u64 = 64;

/// How often it looks whether it should stop.
const GLANCE: Duration = Duration::from_millis(10);

/// Whether sockets send and receive: where they are asked for, or where this user may do nothing else.
pub(super) fn by_sockets(spec: &PacketsSpec) -> bool {
    spec.engine.map_or_else(|| privilege::current() != Privilege::Root, |engine| engine == Engine::Udp)
}

/// Streams that are ready to be sent.
pub(super) enum Sending {
    Sockets(Box<sockets::Sender>),
    Frames { spec: PacketsSpec, seat: Seat },
}

impl Sending {
    pub(super) fn prepare(spec: &PacketsSpec, seat: &Seat) -> Result<Self, ProbeError> {
        if spec.engine == Some(Engine::Pktgen) {
            return Err(unable(
                "engine pktgen",
                "this build does not drive the kernel's generator; use live or af_packet",
            ));
        }
        Ok(match by_sockets(spec) {
            true => Self::Sockets(Box::new(sockets::Sender::prepare(spec, seat)?)),
            false => Self::Frames { spec: spec.clone(), seat: seat.clone() },
        })
    }

    /// Sends for the time asked for.
    pub(super) fn send(
        self,
        to: SocketAddr,
        account: &Account,
        control: &Control,
    ) -> Result<Vec<PacketsSent>, ProbeError> {
        match self {
            Self::Sockets(sender) => sender.send(to, account, control),
            Self::Frames { spec, seat } => send_frames(&spec, &seat, to.ip(), account, control),
        }
    }
}

fn send_frames(
    spec: &PacketsSpec,
    seat: &Seat,
    to: IpAddr,
    account: &Account,
    control: &Control,
) -> Result<Vec<PacketsSent>, ProbeError> {
    let job = job(spec, seat, to)?;
    let rates = job.rates().map_err(engine_error)?;
    let (engine, why, mut sender) = choose(spec.engine, &job)?;
    let part = |(stream, rate): (&Compiled, &Option<f64>)| PacketsSent {
        stream: stream.name.clone(),
        engine,
        engine_why: why.clone(),
        frame_size: FrameSize(stream.mean_size().round() as u32),
        flows: stream.flows,
        frames: 0,
        bytes: 0,
        seconds: 0.0,
        intended_pps: *rate,
        refused: 0,
        pacing: None,
        cpus: job.cpus.clone(),
    };
    let parts: Vec<PacketsSent> = job.streams.iter().zip(&rates).map(part).collect();
    let (stop, progress) = (AtomicBool::new(false), Arc::new(AtomicU64::new(0)));
    account.sends(parts.clone(), &progress);
    let sent = thread::scope(|scope| {
        let sending = scope.spawn(|| sender.send(&stop, &progress));
        while !sending.is_finished() {
            stop.store(control.stopped(), Relaxed);
            account.passed(control);
            thread::sleep(GLANCE);
        }
        sending.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    let sent = sent.map_err(engine_error)?;
    if control.stopped() {
        return Err(ProbeError::Cancelled);
    }
    Ok(parts.into_iter().zip(sent.streams).map(|(part, sent)| finished(part, sent, spec.duration)).collect())
}

/// A stream with what became of it. Where a rate was asked for, its time is that of the schedule: the last frame leaves one gap before
/// its end.
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

/// What is to be sent from this seat. The kernel knows the next hop: the sides have greeted each other.
fn job(spec: &PacketsSpec, seat: &Seat, to: IpAddr) -> Result<Job, ProbeError> {
    let place = Place {
        source_mac: own_mac(&seat.interface)?,
        next_hop_mac: neighbour::next_hop(&seat.interface, to)?,
        source: seat.local,
        destination: to,
        mtu: seat.mtu,
    };
    let compiled = |stream: &Stream| Compiled::new(stream, &place).map_err(not_to_be_sent);
    Ok(Job {
        interface: seat.interface.clone(),
        streams: spec.streams.iter().map(compiled).collect::<Result<_, _>>()?,
        loads: spec.streams.iter().map(|stream| stream.load).collect(),
        line: line(&seat.interface),
        cpus: cores(seat)?,
        token: seat.token as u16,
        duration: spec.duration,
        most: None,
    })
}

/// A side that is not pinned sends from the first core that it may have, as its receiver expects of it: one.
fn cores(seat: &Seat) -> Result<Vec<usize>, ProbeError> {
    if !seat.cpus.is_empty() {
        return Ok(seat.cpus.clone());
    }
    Ok(cpu::allowed()?.into_iter().take(1).collect())
}

fn own_mac(interface: &str) -> Result<Mac, ProbeError> {
    let links = link::list()?;
    let mac = links.iter().find(|link| link.name == interface).and_then(|link| link.mac.parse().ok());
    mac.ok_or_else(|| unable(&format!("packets from {interface}"), "the interface has no MAC address"))
}

/// Its rate, where its driver knows one. That of virtual interfaces is made up.
fn line(interface: &str) -> Option<BitRate> {
    let is_virtual =
        kernel::ethtool::driver(interface).is_ok_and(|driver| ["veth", "tun"].contains(&driver.name.as_str()));
    let mbps = port::link_settings(interface).ok()?.speed_mbps.filter(|_| !is_virtual)?;
    Some(BitRate(u64::from(mbps) * 1_000_000))
}

/// The engine asked for; or live frames, and where the driver does not take them whole frames through the kernel.
fn choose(asked: Option<Engine>, job: &Job) -> Result<(Engine, String, Box<dyn Sender>), ProbeError> {
    let live = || Live::new(job.clone(), TIME_EVERY).map_err(engine_error);
    let told = "asked for".to_owned();
    Ok(match asked {
        Some(Engine::Live) => (Engine::Live, told, Box::new(live()?)),
        Some(Engine::Xsk) => (Engine::Xsk, told, Box::new(Xsk::new(job.clone(), Mode::Any))),
        Some(Engine::AfPacket) => (Engine::AfPacket, told, Box::new(AfPacket::new(job.clone()))),
        Some(Engine::Udp | Engine::Pktgen) | None => match live() {
            Ok(live) => (Engine::Live, "the fastest, and this driver takes its frames".to_owned(), Box::new(live)),
            Err(error) => {
                let why = format!("live frames cannot be had here: {error}");
                (Engine::AfPacket, why, Box::new(AfPacket::new(job.clone())))
            }
        },
    })
}

pub(super) fn not_to_be_sent(error: CompileError) -> ProbeError {
    ProbeError::Unable { what: "packets".to_owned(), why: error.to_string() }
}

fn unable(what: &str, why: &str) -> ProbeError {
    ProbeError::Unable { what: what.to_owned(), why: why.to_owned() }
}
