//! One side of numbered packets without a partner to ask.

use std::{
    net::{IpAddr, SocketAddr, UdpSocket},
    thread,
    time::{Duration, Instant},
};

use engine::{Counter, Received, Receiver, ReceiverOptions};
use frame::{Compiled, Place};
use kernel::{ethtool, link, neighbour};
use model::{
    Engine, IpVersion, ListenerCounts, Mtu, PacketsSent, PacketsSpec, Protocol, SequenceCounts, SideSetup, Stream,
    frame_size::FrameSize,
    stream::{DESTINATION_PORT, Mac, Sizes},
};

use super::{
    account::Account,
    engine_error, receiving,
    sending::{self, Ready},
    unable,
};
use crate::{Control, ProbeError};

/// A present host answers with its MAC address within this time.
const RESOLVED: Duration = Duration::from_secs(3);

/// Sequences that are told apart: streams times sending cores.
const MOST_SEQUENCES: usize = 64;

/// Packets to send, and their destination.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// The interface, in the caller's network namespace.
    pub interface: String,
    /// The receiver.
    pub to: IpAddr,
    /// MAC address of the next hop; `None` asks the kernel's routes and neighbours.
    pub mac: Option<Mac>,
    /// The streams, what sends them, and how long.
    pub spec: PacketsSpec,
    /// Most frames of all streams, where fewer than the time allows are wanted.
    pub most: Option<u64>,
    /// Cores to send from; empty takes the first that may be had.
    pub cpus: Vec<usize>,
    /// Written into each frame that has room for it.
    pub token: u16,
}

/// Packets that can be sent.
pub struct PreparedSender {
    ready: Ready,
    account: Account,
}

impl PreparedSender {
    /// Sends until the time is over, all is sent, or `control` stops it. Returns the counts of each stream.
    pub fn send(self, control: &Control) -> Result<Vec<PacketsSent>, ProbeError> {
        self.ready.run(&self.account, control)
    }
}

/// Gets ready to send: finds the next hop, and opens an engine.
pub fn prepare_sender(outgoing: &Outgoing) -> Result<PreparedSender, ProbeError> {
    let Outgoing { interface, to, spec, most, token, .. } = outgoing;
    let ip = IpVersion::of(*to);
    let links = link::list()?;
    let link = links.iter().find(|link| link.name == *interface);
    let link = link.ok_or_else(|| unable(interface, "there is no such interface (\"ip link\" lists them)"))?;
    if !link.up {
        return Err(unable(interface, "it is down; set it up (\"ip link set up\")"));
    }
    // fe80::/10 leads no further than the link.
    let is_own = |address: &IpAddr| {
        IpVersion::of(*address) == ip && !matches!(address, IpAddr::V6(v6) if v6.is_unicast_link_local())
    };
    let own = link.addresses.iter().map(|(address, _)| *address).find(is_own);
    let local =
        own.ok_or_else(|| unable(interface, &format!("it has no {ip} address; give it one, or send to another")))?;
    let setup = SideSetup {
        endpoint: String::new(),
        local,
        peer: None,
        interface: interface.clone(),
        mtu: link.mtu,
        cpus: outgoing.cpus.clone(),
        peer_cpus: 0,
        same_clock: false,
        agentless_peer: false,
        congestion: None,
        token: (*token).into(),
        sender: 0,
        senders: 1,
        highest: None,
    };
    let next_hop_mac = outgoing.mac.map_or_else(|| resolved(interface, local, *to), Ok)?;
    let ready = sending::open_towards(spec, &setup, next_hop_mac, *to, 0, *most)?;
    if ready.engine() == Engine::Udp && ethtool::driver(interface).is_ok_and(|driver| driver.name == "veth") {
        let why = "over a veth nobody fills in a socket's checksums, and the receiver would take all for corrupt; use xsk or af_packet, as root";
        return Err(unable("engine udp", why));
    }
    Ok(PreparedSender { ready, account: Account::of(spec) })
}

/// The next hop's MAC address: something is sent there, so that the kernel asks for it.
fn resolved(interface: &str, local: IpAddr, to: IpAddr) -> Result<Mac, ProbeError> {
    let began = Instant::now();
    loop {
        match neighbour::next_hop(interface, to) {
            Ok(mac) => return Ok(mac),
            Err(error) if began.elapsed() > RESOLVED => return Err(error.into()),
            Err(_) => {}
        }
        // Where nothing can be sent, nobody answers.
        let _ =
            UdpSocket::bind((local, 0)).and_then(|socket| socket.send_to(&[], SocketAddr::new(to, DESTINATION_PORT)));
        thread::sleep(Duration::from_millis(100));
    }
}

/// A receiver that counts what anybody sends with this token.
pub struct Listener {
    receiver: Receiver,
    /// Whether the sender's clock is this machine's.
    one_clock: bool,
}

impl Listener {
    /// Attaches it to the driver of an interface of the caller's namespace. Where no streams are named, frames without VLAN tags are
    /// ours, over TCP only larger ones of IPv4.
    pub fn attach(interface: &str, streams: &[Stream], token: u16, one_clock: bool) -> Result<Self, ProbeError> {
        let links = link::list()?;
        let link = links.iter().find(|link| link.name == interface);
        let mtu = link.ok_or_else(|| unable(interface, "there is no such interface (\"ip link\" lists them)"))?.mtu;
        let common = common();
        let streams = if streams.is_empty() { common.as_slice() } else { streams };
        let different = streams.iter().map(|stream| compiled(stream, mtu)).collect::<Result<Vec<_>, _>>()?;
        let sequences = different.into_iter().cycle().take(MOST_SEQUENCES).collect();
        let what = ReceiverOptions {
            token: token.into(),
            sequences,
            verify: true,
            per_flow: false,
            pktgen: false,
            gaps: false,
            compare: false,
        };
        Ok(Self { receiver: Receiver::attach(interface, &what).map_err(engine_error)?, one_clock })
    }

    /// Received so far.
    pub fn counts(&self) -> Result<ListenerCounts, ProbeError> {
        let Received { numbered, others, .. } = self.receiver.read().map_err(engine_error)?;
        let came = |counted: &&engine::ReceivedStream| counted.frames + counted.corrupt > 0;
        let one = |(number, counted): (u16, &engine::ReceivedStream)| SequenceCounts {
            number,
            received: counted.frames,
            lost: counted.expected.saturating_sub(counted.frames),
            duplicated: counted.duplicated,
            reordered: counted.reordered,
            late: counted.late,
            corrupt: counted.corrupt,
            latency_ns: receiving::latency(std::slice::from_ref(counted), self.one_clock),
            cpus: counted.cpus.iter().map(|(cpu, _)| *cpu).collect(),
        };
        let sequences = (0..).zip(&numbered).filter(|(_, counted)| came(counted)).map(one).collect();
        Ok(ListenerCounts { sequences, others })
    }
}

/// Frames of any size over UDP, and larger ones over TCP and IPv4: as many layouts as the receiver's program tells apart. The small ones of
/// IPv6 carry the short form of the tag, which has no room for a token of 16 bits.
fn common() -> Vec<Stream> {
    let of = |ip, protocol, least| {
        let sizes = Sizes::List(vec![FrameSize(least), FrameSize(256)]);
        Stream { ip, protocol, sizes, ..Stream::default() }
    };
    vec![
        of(IpVersion::V4, Protocol::Udp, 64),
        of(IpVersion::V6, Protocol::Udp, 64),
        of(IpVersion::V4, Protocol::Tcp, 128),
    ]
}

fn compiled(stream: &Stream, mtu: Mtu) -> Result<Compiled, ProbeError> {
    let anybody: IpAddr = match stream.ip {
        IpVersion::V4 => [198, 18, 0, 1].into(),
        IpVersion::V6 => [0x2001, 2, 0, 0, 0, 0, 0, 1].into(),
    };
    let mac = Mac([2, 0, 0, 0, 0, 1]);
    let place = Place { source_mac: mac, next_hop_mac: mac, source: anybody, destination: anybody, mtu };
    Compiled::new(stream, &place).map_err(|error| unable("these streams", &error.to_string()))
}
