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
use model::{IpVersion, Mtu, Nanos, PathMethod, PathTo, TcpPackets, trial::Hop};

use super::{
    burst::Burst,
    devices::devices_at,
    hops::{Hops, ROUND},
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
/// Between two packets, where the first is not answered sooner.
const GAP: Duration = Duration::from_millis(2);
/// Linux sends six refusals to a host at once, then one a second (`icmp_ratelimit`).
const REFUSALS_AT_ONCE: f64 = 6.0;
/// A connection that is not accepted by then is not counted on.
const CONNECT: Duration = Duration::from_secs(3);
const UDP_HEADER: u32 = 8;

/// A host, and how it is asked.
#[derive(Clone, Debug)]
pub struct Toward {
    /// Its address.
    pub address: IpAddr,
    /// Packets to send; `None` tries ICMP echo first, then UDP.
    pub method: Option<PathMethod>,
    /// Packets to each hop, one a second; 0 sends one to each.
    pub rounds: u32,
    /// Port to which a TCP connection is made besides.
    pub tcp: Option<u16>,
}

/// Searches the largest packet that arrives at a host, and the routers before it.
///
/// # Errors
/// Without a route, without an answer, or if `control` stops it.
pub fn toward(wanted: &Toward, control: &Control) -> Result<PathTo, ProbeError> {
    let began = Instant::now();
    let way = route::to(&mut RouteQueries::open(|socket| socket)?, wanted.address, None)?;
    let source = way.source.ok_or_else(|| ProbeError::Unable {
        what: format!("the path to {}", wanted.address),
        why: "the kernel names no source address for it (\"ip route get\" shows the route)".to_owned(),
    })?;
    let link = link::list()?.into_iter().find(|link| link.index == way.interface);
    let (interface, mtu) = link.map_or((String::new(), Mtu(1500)), |link| (link.name, link.mtu));
    let (mut line, rtt) = first_answer(wanted, source, control)?;
    line.timeout = (4 * rtt).clamp(SHORTEST_TIMEOUT, LONGEST_RTT);
    let (routers, first) = line.routers(control)?;
    let smallest = line.smallest();
    let mut leg = search(&mut Shots { line: &mut line, control, grace: 2 * rtt, routers }, smallest, mtu.0)?;
    leg.routers = routers;
    let hops = if wanted.rounds == 0 { first } else { line.ask_hops(routers, wanted.rounds, control)? };
    // Had the host gone meanwhile, its silence would have been taken for a black hole.
    line.hello(control)?.ok_or(ProbeError::NothingPasses { peer: line.peer, waited: HELLOS * LONGEST_RTT })?;
    Ok(PathTo {
        address: wanted.address,
        devices: devices_at("here", &interface, source)?,
        interface,
        source,
        gateway: way.gateway,
        method: line.method(),
        leg,
        hops,
        route_mtu: way.mtu.filter(|route| *route < mtu.0).map(Mtu),
        tcp: wanted.tcp.map(|port| tcp_packets(SocketAddr::new(wanted.address, port))),
        tcp_mtu_probing: setting("net.ipv4.tcp_mtu_probing"),
        no_discovery: setting("net.ipv4.ip_no_pmtu_disc"),
        packets: line.sent,
        took: Nanos(began.elapsed().as_nanos() as u64),
    })
}

fn setting(key: &str) -> Option<u32> {
    sysctl::read(key).ok()?.parse().ok()
}

/// The packets that the host answers, and its round-trip time.
fn first_answer(wanted: &Toward, source: IpAddr, control: &Control) -> Result<(Line, Duration), ProbeError> {
    let methods = wanted.method.map_or_else(|| vec![PathMethod::Echo, PathMethod::Udp], |method| vec![method]);
    let mut last = None;
    for method in methods {
        match Line::open(method, source, wanted.address) {
            Ok(mut line) => {
                if let Some(rtt) = line.hello(control)? {
                    return Ok((line, rtt));
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
struct Line {
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

impl Line {
    fn open(method: PathMethod, source: IpAddr, to: IpAddr) -> Result<Self, ProbeError> {
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

    /// Sends the next packet, of this size with this TTL.
    fn send(&mut self, size: u32, ttl: u8, control: &Control) -> Result<Sent, ProbeError> {
        if matches!(self.socket, Socket::Udp(_)) && ttl == TTL {
            pause(self.refusals.take(), control)?;
        }
        self.id += 1;
        let length = (size - self.headers) as usize;
        let payload = &mut self.buffer[..length];
        Message::Probe { id: self.id, size }.write(self.token, payload);
        let sent = match &mut self.socket {
            Socket::Echo(socket) => socket.send(payload, ttl)?,
            Socket::Udp(socket) => socket.send(payload, ttl)?,
        };
        self.sent += u64::from(sent == Sent::Yes);
        Ok(sent)
    }

    /// The next packet whose fate is known, and the sender of the answer.
    fn next(&mut self) -> Result<Option<(u32, Outcome, IpAddr)>, ProbeError> {
        let error = match &mut self.socket {
            Socket::Echo(socket) => socket.icmp_error()?,
            Socket::Udp(socket) => socket.icmp_error()?,
        };
        if let Some(error) = error {
            // A report that means none of our packets is passed over; the caller asks again.
            return Ok(Some(self.of_report(&error).unwrap_or((u32::MAX, Outcome::Silent, self.peer.ip()))));
        }
        match &mut self.socket {
            Socket::Echo(socket) => {
                let Some((_, range)) = socket.receive(&mut self.buffer)? else { return Ok(None) };
                let id = match Message::read(self.token, &self.buffer[range]) {
                    Some(Message::Probe { id, .. }) => id,
                    _ => u32::MAX,
                };
                Ok(Some((id, Outcome::Passed { ttl: TTL }, self.peer.ip())))
            }
            // A service that listens there after all answers whatever it likes.
            Socket::Udp(socket) => {
                let answer = socket.receive(&mut self.buffer)?;
                Ok(answer.map(|_| (u32::MAX, Outcome::Silent, self.peer.ip())))
            }
        }
    }

    fn of_report(&self, error: &IcmpError) -> Option<(u32, Outcome, IpAddr)> {
        let (outcome, by) = match error.fate {
            Fate::TooBig { by, mtu } => (Outcome::TooBig { by, mtu: mtu.0 }, by),
            Fate::Expired { by } => (Outcome::Expired { by }, by),
            Fate::Refused { by } if by == self.peer.ip() && matches!(self.socket, Socket::Udp(_)) => {
                (Outcome::Passed { ttl: TTL }, by)
            }
            Fate::Refused { .. } => return None,
        };
        match Message::read(self.token, &error.quote) {
            Some(Message::Probe { id, .. }) => Some((id, outcome, by)),
            Some(_) => None,
            None => {
                let is_ours = error.quote.get(..4).is_none_or(|quoted| quoted == self.token.to_be_bytes());
                // A refusal that quotes no number cannot tell which packet arrived.
                (is_ours && !matches!(outcome, Outcome::Passed { .. })).then_some((0, outcome, by))
            }
        }
    }

    fn wait(&self, patience: Duration) -> Result<(), ProbeError> {
        match &self.socket {
            Socket::Echo(socket) => Ok(socket.wait(patience)?),
            Socket::Udp(socket) => Ok(socket.wait(patience)?),
        }
    }

    /// Receives until `enough`, or until `patience` is over.
    fn gather(
        &mut self,
        patience: Duration,
        control: &Control,
        mut enter: impl FnMut(u32, Outcome, IpAddr) -> bool,
    ) -> Result<(), ProbeError> {
        let began = Instant::now();
        loop {
            stop_check(control)?;
            let mut enough = enter(u32::MAX, Outcome::Silent, self.peer.ip());
            while let Some((id, outcome, by)) = self.next()? {
                enough = enter(id, outcome, by);
            }
            let left = patience.saturating_sub(began.elapsed());
            if enough || left.is_zero() {
                return Ok(());
            }
            self.wait(left.min(STOP_CHECK))?;
        }
    }

    /// The round-trip time of a small packet; `None` where none is answered.
    fn hello(&mut self, control: &Control) -> Result<Option<Duration>, ProbeError> {
        for _ in 0..HELLOS {
            let at = Instant::now();
            self.send(self.smallest(), TTL, control)?;
            let id = self.id;
            let mut answered = false;
            self.gather(LONGEST_RTT, control, |of, outcome, _| {
                answered |= of == id && matches!(outcome, Outcome::Passed { .. });
                answered
            })?;
            if answered {
                return Ok(Some(at.elapsed()));
            }
        }
        Ok(None)
    }

    /// The number of routers, by the smallest TTL with which a packet arrives, and an answer of each hop; `None` where the host
    /// is farther away than is looked for.
    fn routers(&mut self, control: &Control) -> Result<(Option<u8>, Vec<Hop>), ProbeError> {
        let mut seen: Vec<Hops> = Vec::new();
        let mut first = 1;
        while first <= MOST_HOPS {
            let mut hops = Hops::new(HOPS_AT_ONCE - 1);
            let (begun, mut arrived) = (self.id + 1, [false; HOPS_AT_ONCE as usize]);
            for hop in 0..HOPS_AT_ONCE {
                let at = Instant::now();
                self.send(self.smallest(), first + hop, control)?;
                hops.sent(self.id, hop.into(), at);
                self.gather(GAP, control, |id, outcome, by| {
                    note(&mut hops, &mut arrived, begun, (id, outcome, by));
                    false
                })?;
            }
            self.gather(self.timeout, control, |id, outcome, by| {
                note(&mut hops, &mut arrived, begun, (id, outcome, by));
                hops.is_answered()
            })?;
            seen.push(hops);
            if let Some(last) = arrived.iter().position(|arrived| *arrived) {
                let routers = first - 1 + last as u8;
                return Ok((Some(routers), joined(seen, usize::from(routers) + 1)));
            }
            first += HOPS_AT_ONCE;
        }
        Ok((None, joined(seen, MOST_HOPS.into())))
    }

    /// Sends to each hop in turn, round by round.
    fn ask_hops(&mut self, routers: Option<u8>, rounds: u32, control: &Control) -> Result<Vec<Hop>, ProbeError> {
        let Some(routers) = routers else { return Ok(Vec::new()) };
        let mut hops = Hops::new(routers);
        control.expect(rounds.into());
        for round in 1..=rounds {
            let began = Instant::now();
            for hop in 0..=routers {
                let (at, ttl) = (Instant::now(), if hop == routers { TTL } else { hop + 1 });
                if self.send(self.smallest(), ttl, control)? == Sent::Yes {
                    hops.sent(self.id, hop.into(), at);
                }
                self.gather(GAP, control, |id, outcome, by| {
                    answer(&mut hops, id, outcome, by);
                    false
                })?;
            }
            let patience = if round == rounds { self.timeout } else { ROUND.saturating_sub(began.elapsed()) };
            self.gather(patience, control, |id, outcome, by| {
                answer(&mut hops, id, outcome, by);
                round == rounds && hops.is_answered()
            })?;
            control.reached(round.into());
        }
        Ok(hops.finish())
    }
}

/// Notes an answer of a hop and, where the host itself answered, that its packet arrived.
fn note(hops: &mut Hops, arrived: &mut [bool], begun: u32, (id, outcome, by): (u32, Outcome, IpAddr)) {
    answer(hops, id, outcome, by);
    let hop = id.checked_sub(begun).and_then(|hop| arrived.get_mut(hop as usize));
    if let (Outcome::Passed { .. }, Some(arrived)) = (outcome, hop) {
        *arrived = true;
    }
}

fn answer(hops: &mut Hops, id: u32, outcome: Outcome, by: IpAddr) {
    if matches!(outcome, Outcome::Passed { .. } | Outcome::Expired { .. }) && id != u32::MAX {
        hops.answered(id, by, Instant::now());
    }
}

/// The first of all hops that were asked, numbered in the order of the way.
fn joined(seen: Vec<Hops>, count: usize) -> Vec<Hop> {
    let all = seen.into_iter().flat_map(Hops::finish).take(count);
    (1..).zip(all).map(|(number, hop)| Hop { number, ..hop }).collect()
}

/// Sends bursts towards the host.
struct Shots<'a> {
    line: &'a mut Line,
    control: &'a Control,
    /// A packet that a router has spoken of may still arrive, if the router lied.
    grace: Duration,
    routers: Option<u8>,
}

impl ProbeSender for Shots<'_> {
    type Error = ProbeError;

    fn shoot(&mut self, shots: &[ProbePacket]) -> Result<Vec<Outcome>, ProbeError> {
        let mut burst = Burst::new(shots, self.line.id + 1);
        for (number, shot) in shots.iter().enumerate() {
            if let Sent::TooBig(mtu) = self.line.send(shot.size, shot.ttl, self.control)? {
                burst.enter(self.line.id, Outcome::Refused { mtu: mtu.0 });
            }
            self.line.gather(GAP, self.control, |id, outcome, _| {
                burst.enter(id, outcome);
                burst.is_known(number)
            })?;
        }
        self.line.gather(self.line.timeout, self.control, |id, outcome, _| {
            burst.enter(id, outcome);
            burst.is_all_known()
        })?;
        self.line.gather(self.grace, self.control, |id, outcome, _| {
            burst.enter(id, outcome);
            burst.is_settled()
        })?;
        // The answer's own TTL tells of the way back.
        let routers = self.routers.unwrap_or(0);
        let forward = |outcome| match outcome {
            Outcome::Passed { .. } => Outcome::Passed { ttl: TTL - routers },
            other => other,
        };
        Ok(burst.outcomes().into_iter().map(forward).collect())
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

fn stop_check(control: &Control) -> Result<(), ProbeError> {
    if control.stopped() { Err(ProbeError::Cancelled) } else { Ok(()) }
}
