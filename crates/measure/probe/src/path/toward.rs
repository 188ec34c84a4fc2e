//! The path to a host that runs nothing of ours: it answers ICMP echo requests, or refuses datagrams to a closed port.
//!
//! The answer to an echo request is as large as the request, but may be fragmented: the way back does not count.

use std::{
    collections::hash_map::RandomState,
    hash::BuildHasher,
    net::{IpAddr, SocketAddr, TcpStream, UdpSocket},
    time::{Duration, Instant},
};

use kernel::{
    RouteQueries,
    echo::EchoSocket,
    error_queue::{Fate, IcmpError, PathSocket, Sent},
    link, route, socket, sysctl,
};
use model::{
    IpVersion, Mtu, Nanos, PathMethod, PathTo, TcpPackets,
    trial::{Hop, Leg},
};

use super::{
    devices::devices_at,
    hops::Hops,
    line::{Answer, GAP, Line, of_hop, stop_check},
    message::{LENGTH, Message},
    search::{Outcome, ProbePacket, ProbeSender, TTL, search},
};
use crate::{Control, ProbeError, socket::STOP_CHECK};

/// The port that traceroute begins with; hosts rarely listen there.
const CLOSED_PORT: u16 = 33_434;
/// Attempts to get an answer to a small packet.
const HELLOS: u32 = 3;
/// An answer takes no longer, also over a satellite.
const LONGEST_RTT: Duration = Duration::from_secs(1);
/// A host in the same rack may be busy.
const SHORTEST_TIMEOUT: Duration = Duration::from_millis(100);
/// Routers that are asked at once, and in all.
const HOPS_AT_ONCE: u8 = 8;
const MOST_HOPS: u8 = 40;
/// Linux sends six refusals to a host at once, then one a second (`icmp_ratelimit`). One is taken by the count of routers.
const REFUSALS_AT_ONCE: f64 = 5.0;
/// A connection that is not accepted by then is not counted on.
const CONNECT: Duration = Duration::from_secs(3);
/// Header of UDP, and of an echo request.
const UDP_HEADER: u32 = 8;
/// Datagrams of others that are discarded at once.
const AT_ONCE: usize = 64;

/// A host, and how it is asked.
#[derive(Clone, Debug)]
pub struct Toward {
    /// Address.
    pub address: IpAddr,
    /// Packets to send; `None` tries ICMP echo first, then UDP.
    pub method: Option<PathMethod>,
    /// Packets to each hop, one a second; 0 sends one to each.
    pub rounds: u32,
    /// Port to which a TCP connection is made besides.
    pub tcp: Option<u16>,
}

/// Searches the largest packet that arrives at a host, and the routers before it. `each_round` gets the hops as they are after each round
/// of packets to them.
///
/// # Errors
/// Without a route, without an answer, or if `control` stops it.
pub fn toward(wanted: &Toward, control: &Control, mut each_round: impl FnMut(Vec<Hop>)) -> Result<PathTo, ProbeError> {
    let began = Instant::now();
    let way = route::to(&mut RouteQueries::open(|socket| socket)?, wanted.address, None)?;
    let source = way.source.ok_or_else(|| ProbeError::Unable {
        what: format!("the path to {}", wanted.address),
        why: "the kernel names no source address for it (\"ip route get\" shows the route)".to_owned(),
    })?;
    let link = link::list()?.into_iter().find(|link| link.index == way.interface);
    let (interface, mtu) = link.map_or((String::new(), Mtu(1500)), |link| (link.name, link.mtu));
    let (mut host, rtt) = first_answer(wanted, source, control)?;
    host.timeout = (4 * rtt).clamp(SHORTEST_TIMEOUT, LONGEST_RTT);
    let (routers, first) = host.routers()?;
    let size = host.smallest();
    let leg = search(&mut Forward { host: &mut host, grace: 2 * rtt, routers }, size, mtu.0)?;
    let hops = match routers {
        Some(routers) if wanted.rounds > 0 => {
            control.expect(wanted.rounds.into());
            let asked = (wanted.rounds, host.timeout);
            host.ask_hops(routers, size, asked, |control, round, hops| {
                control.reached(round.into());
                each_round(hops.so_far());
            })?
        }
        _ => first,
    };
    // Had the host ended meanwhile, its silence would have been taken for a black hole.
    host.hello()?.ok_or(ProbeError::NothingPasses { peer: host.peer, waited: HELLOS * LONGEST_RTT })?;
    Ok(PathTo {
        address: wanted.address,
        devices: devices_at(&sysctl::read("kernel.hostname")?, &interface, source)?,
        interface,
        source,
        gateway: way.gateway,
        method: host.method(),
        leg: Leg { routers, ..leg },
        hops,
        route_mtu: way.mtu.filter(|route| *route < mtu.0).map(Mtu),
        tcp: wanted.tcp.map(|port| tcp_packets(SocketAddr::new(wanted.address, port))),
        tcp_mtu_probing: setting("net.ipv4.tcp_mtu_probing"),
        no_discovery: setting("net.ipv4.ip_no_pmtu_disc"),
        packets: host.sent,
        took: Nanos(began.elapsed().as_nanos() as u64),
    })
}

fn setting(key: &str) -> Option<u32> {
    sysctl::read(key).ok()?.parse().ok()
}

/// The packets that the host answers, and its round-trip time.
fn first_answer<'a>(wanted: &Toward, source: IpAddr, control: &'a Control) -> Result<(Host<'a>, Duration), ProbeError> {
    let methods = wanted.method.map_or_else(|| vec![PathMethod::Echo, PathMethod::Udp], |method| vec![method]);
    let mut last = None;
    for method in methods {
        match Host::open(method, source, wanted.address, control) {
            Ok(mut host) => {
                if let Some(rtt) = host.hello()? {
                    return Ok((host, rtt));
                }
            }
            // Without the right to send echo requests, datagrams may still do.
            Err(error) => last = Some(error),
        }
    }
    let silent = || {
        ProbeError::Unable {
        what: format!("the path to {}", wanted.address),
        why: "the host answers neither echo requests nor datagrams to a closed port; a packet filter takes them or the answers, or the \
              host is down. Where it can be reached by ssh, \"path --bed hosts:ssh://…\" measures both ways"
            .to_owned(),
    }
    };
    Err(last.filter(|_| wanted.method.is_some()).unwrap_or_else(silent))
}

/// A socket towards the host.
struct Host<'a> {
    control: &'a Control,
    socket: Socket,
    peer: SocketAddr,
    token: u32,
    /// Bytes of a packet that are not payload.
    headers: u32,
    timeout: Duration,
    id: u32,
    sent: u64,
    buffer: Vec<u8>,
    refusals: Refusals,
}

enum Socket {
    Echo(EchoSocket),
    Udp(PathSocket),
}

/// Refusals that the host may still send.
struct Refusals {
    left: f64,
    at: Instant,
}

impl Refusals {
    /// The wait until it may send one more, which is then taken.
    fn take(&mut self) -> Duration {
        let now = Instant::now();
        self.left = (self.left + now.duration_since(self.at).as_secs_f64()).min(REFUSALS_AT_ONCE);
        self.at = now;
        self.left -= 1.0;
        Duration::from_secs_f64((-self.left).max(0.0))
    }
}

impl Line for Host<'_> {
    fn control(&self) -> &Control {
        self.control
    }

    fn last_id(&self) -> u32 {
        self.id
    }

    fn send(&mut self, ProbePacket { size, ttl }: ProbePacket) -> Result<Sent, ProbeError> {
        if matches!(self.socket, Socket::Udp(_)) && ttl == TTL {
            pause(self.refusals.take(), self.control)?;
        }
        self.id += 1;
        let payload = &mut self.buffer[..(size - self.headers) as usize];
        Message::Probe { id: self.id, size }.write(self.token, payload);
        let sent = match &mut self.socket {
            Socket::Echo(socket) => socket.send(payload, ttl)?,
            Socket::Udp(socket) => socket.send(payload, ttl)?,
        };
        self.sent += u64::from(sent == Sent::Yes);
        Ok(sent)
    }

    fn next(&mut self) -> Result<Option<Answer>, ProbeError> {
        while let Some(error) = self.report()? {
            if let Some(answer) = self.of_report(&error) {
                return Ok(Some(answer));
            }
        }
        for _ in 0..AT_ONCE {
            let payload = match &mut self.socket {
                Socket::Echo(socket) => socket.receive(&mut self.buffer)?.map(|(_, payload)| payload),
                // A service that listens there after all answers as it likes: that tells of no packet.
                Socket::Udp(socket) => socket.receive(&mut self.buffer)?.map(|_| 0..0),
            };
            let Some(payload) = payload else { break };
            if let Some(Message::Probe { id, .. }) = Message::read(self.token, &self.buffer[payload]) {
                return Ok(Some(Answer { id, outcome: Outcome::Passed { ttl: TTL }, by: self.peer.ip() }));
            }
        }
        Ok(None)
    }

    fn wait(&self, patience: Duration) -> Result<(), ProbeError> {
        match &self.socket {
            Socket::Echo(socket) => Ok(socket.wait(patience)?),
            Socket::Udp(socket) => Ok(socket.wait(patience)?),
        }
    }
}

impl<'a> Host<'a> {
    fn open(method: PathMethod, source: IpAddr, to: IpAddr, control: &'a Control) -> Result<Self, ProbeError> {
        let ip = IpVersion::of(source);
        let socket = match method {
            PathMethod::Echo => {
                let socket = EchoSocket::open(source)?;
                socket.connect(to)?;
                Socket::Echo(socket)
            }
            PathMethod::Udp => {
                let on = SocketAddr::new(source, 0);
                let socket = UdpSocket::bind(on).map_err(|error| ProbeError::Socket { what: "bind to", on, error })?;
                let socket = PathSocket::new(socket, ip)?;
                socket.connect(SocketAddr::new(to, CLOSED_PORT))?;
                Socket::Udp(socket)
            }
        };
        Ok(Self {
            control,
            socket,
            peer: SocketAddr::new(to, if method == PathMethod::Udp { CLOSED_PORT } else { 0 }),
            token: RandomState::new().hash_one(()) as u32,
            headers: UDP_HEADER + if ip == IpVersion::V4 { 20 } else { 40 },
            timeout: LONGEST_RTT,
            id: 0,
            sent: 0,
            buffer: vec![0; 65_536],
            refusals: Refusals { left: REFUSALS_AT_ONCE, at: Instant::now() },
        })
    }

    fn method(&self) -> PathMethod {
        match self.socket {
            Socket::Echo(_) => PathMethod::Echo,
            Socket::Udp(_) => PathMethod::Udp,
        }
    }

    fn smallest(&self) -> u32 {
        LENGTH as u32 + self.headers
    }

    fn report(&mut self) -> Result<Option<IcmpError>, ProbeError> {
        Ok(match &mut self.socket {
            Socket::Echo(socket) => socket.icmp_error()?,
            Socket::Udp(socket) => socket.icmp_error()?,
        })
    }

    fn of_report(&self, error: &IcmpError) -> Option<Answer> {
        let (outcome, by) = match error.fate {
            Fate::TooBig { by, mtu } => (Outcome::TooBig { by, mtu: mtu.0 }, by),
            Fate::Expired { by } => (Outcome::Expired { by }, by),
            Fate::Refused { by } if by == self.peer.ip() && matches!(self.socket, Socket::Udp(_)) => {
                (Outcome::Passed { ttl: TTL }, by)
            }
            Fate::Refused { .. } => return None,
        };
        match Message::read(self.token, &error.quote) {
            Some(Message::Probe { id, .. }) => Some(Answer { id, outcome, by }),
            Some(_) => None,
            None => {
                let is_ours = error.quote.get(..4).is_none_or(|quoted| quoted == self.token.to_be_bytes());
                // A refusal that quotes no number cannot tell which packet arrived.
                (is_ours && !matches!(outcome, Outcome::Passed { .. })).then_some(Answer { id: 0, outcome, by })
            }
        }
    }

    /// The round-trip time of a small packet; `None` where none is answered.
    fn hello(&mut self) -> Result<Option<Duration>, ProbeError> {
        let packet = ProbePacket { size: self.smallest(), ttl: TTL };
        for _ in 0..HELLOS {
            let at = Instant::now();
            self.send(packet)?;
            let (id, mut answered) = (self.id, false);
            let enter = |answered: &mut bool, answer: Answer| {
                *answered |= answer.id == id && matches!(answer.outcome, Outcome::Passed { .. });
            };
            self.gather(LONGEST_RTT, &mut answered, enter, |answered| *answered)?;
            if answered {
                return Ok(Some(at.elapsed()));
            }
        }
        Ok(None)
    }

    /// The number of routers, by the smallest TTL with which a packet arrives, and an answer of each hop; `None` where the host
    /// is farther away than is looked for.
    fn routers(&mut self) -> Result<(Option<u8>, Vec<Hop>), ProbeError> {
        // Each packet that goes beyond the host takes one of its refusals.
        let at_once = if self.method() == PathMethod::Udp { 1 } else { HOPS_AT_ONCE };
        let mut all = Vec::new();
        for first in (1..=MOST_HOPS).step_by(at_once.into()) {
            let begun = self.id + 1;
            let mut seen = (Hops::new(at_once - 1), vec![false; at_once.into()]);
            let enter = |(hops, arrived): &mut (Hops, Vec<bool>), answer: Answer| {
                let hop = answer.id.checked_sub(begun).and_then(|hop| arrived.get_mut(hop as usize));
                if let (Outcome::Passed { .. }, Some(arrived)) = (answer.outcome, hop) {
                    *arrived = true;
                }
                of_hop(hops, answer);
            };
            for hop in 0..at_once {
                let at = Instant::now();
                self.send(ProbePacket { size: self.smallest(), ttl: first + hop })?;
                seen.0.sent(self.id, hop.into(), at);
                self.gather(GAP, &mut seen, enter, |_| false)?;
            }
            self.gather(self.timeout, &mut seen, enter, |(hops, _)| hops.is_answered())?;
            let (hops, arrived) = seen;
            all.extend(hops.finish());
            if let Some(last) = arrived.iter().position(|arrived| *arrived) {
                let routers = first - 1 + last as u8;
                return Ok((Some(routers), numbered(all, usize::from(routers) + 1)));
            }
        }
        Ok((None, numbered(all, MOST_HOPS.into())))
    }
}

/// The first of all hops that were asked, numbered in the order of the way.
fn numbered(hops: Vec<Hop>, count: usize) -> Vec<Hop> {
    (1..).zip(hops).take(count).map(|(number, hop)| Hop { number, ..hop }).collect()
}

/// Packets towards the host.
struct Forward<'a, 'b> {
    host: &'a mut Host<'b>,
    grace: Duration,
    routers: Option<u8>,
}

impl ProbeSender for Forward<'_, '_> {
    type Error = ProbeError;

    fn send_all(&mut self, packets: &[ProbePacket]) -> Result<Vec<Outcome>, ProbeError> {
        let outcomes = self.host.send_burst(packets, self.host.timeout, self.grace)?;
        // The TTL of an answer tells of the way back, so the routers are those that were counted.
        let ttl = TTL - self.routers.unwrap_or(0);
        let forward =
            |outcome| if matches!(outcome, Outcome::Passed { .. }) { Outcome::Passed { ttl } } else { outcome };
        Ok(outcomes.into_iter().map(forward).collect())
    }
}

fn tcp_packets(to: SocketAddr) -> TcpPackets {
    let port = to.port();
    let ip_and_tcp = if to.is_ipv4() { 40 } else { 60 };
    let connected = TcpStream::connect_timeout(&to, CONNECT).map_err(|error| error.to_string());
    let state = connected.and_then(|stream| socket::tcp_state(&stream).map_err(|error| error.to_string()));
    match state {
        Ok(state) => {
            // Timestamps take 12 bytes of each segment.
            let options = if state.timestamps { 12 } else { 0 };
            TcpPackets::Yes { port, mss: state.mss, packet: Mtu(state.mss + options + ip_and_tcp) }
        }
        Err(why) => TcpPackets::No { port, why },
    }
}

fn pause(patience: Duration, control: &Control) -> Result<(), ProbeError> {
    let until = Instant::now() + patience;
    loop {
        stop_check(control)?;
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(STOP_CHECK));
    }
}
