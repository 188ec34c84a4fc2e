//! The side that searches, both ways: it sends packets, and asks the far side for some.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use kernel::error_queue::Sent;
use model::{
    PathResult, PathSpec, SideFigures, SideSetup,
    trial::{Hop, Leg},
};

use super::{
    devices::devices,
    line::{Answer, Line, stop_check},
    message::Message,
    message_socket::{Event, MessageSocket},
    search::{Outcome, ProbePacket, ProbeSender, search},
};
use crate::{Control, Prepared, ProbeError, Window, direction::DataDirection, far_address, socket::STOP_CHECK};

/// A far side that does not answer small packets for this long is not there, or nothing gets through.
const GONE: Duration = Duration::from_secs(5);
/// Progress of the search as a whole; that of hops comes on top.
const OF_SEARCH: u64 = 100;

/// A prepared near side.
pub(super) struct Near {
    setup: SideSetup,
    timeout: Duration,
    /// Packets to each hop.
    rounds: u32,
    peer: SocketAddr,
    socket: MessageSocket,
    /// Number of the packet that was sent or asked for last.
    id: u32,
    /// Probe packets sent by this side.
    sent: u64,
}

/// The far side's answer to a hello.
struct HelloAnswer {
    mtu: u32,
    sent: u32,
    rtt: Duration,
}

/// Packets of one direction.
struct OneWay<'a> {
    near: &'a mut Near,
    control: &'a Control,
    way: DataDirection,
    /// A packet that a router has spoken of may still arrive, if the router lied.
    grace: Duration,
    bursts: u64,
}

impl Near {
    /// Opens a socket towards the far side.
    pub(super) fn prepare(spec: &PathSpec, setup: &SideSetup) -> Result<Self, ProbeError> {
        let (socket, peer) = (MessageSocket::open(setup)?, far_address(setup)?);
        socket.connect(peer)?;
        Ok(Self { setup: setup.clone(), timeout: spec.timeout.into(), rounds: spec.hops, peer, socket, id: 0, sent: 0 })
    }

    /// Searches forward, then in reverse.
    pub(super) fn measure(mut self, control: &Control, window: &dyn Window) -> Result<PathResult, ProbeError> {
        control.expect(OF_SEARCH + u64::from(self.rounds));
        let welcome = self.hello(control)?;
        window.opened();
        let likely = self.setup.mtu.0;
        let forward = self.search(DataDirection::Forward, likely, welcome.rtt, control)?;
        let reverse = self.search(DataDirection::Reverse, welcome.mtu, welcome.rtt, control)?;
        let hops = self.hops(forward.routers, control)?;
        // Had the far side ended meanwhile, its silence would have been taken for a black hole.
        let farewell = self.hello(control)?;
        window.closed();
        control.reached(OF_SEARCH + u64::from(self.rounds));
        let packets = self.sent + u64::from(farewell.sent);
        Ok(PathResult { forward, reverse, devices: devices(&self.setup)?, packets, hops })
    }

    /// Sends to each hop in turn, round by round.
    fn hops(&mut self, routers: Option<u8>, control: &Control) -> Result<Vec<Hop>, ProbeError> {
        let Some(routers) = routers.filter(|_| self.rounds > 0) else { return Ok(Vec::new()) };
        let (size, asked) = (self.socket.smallest(), (self.rounds, self.timeout));
        let mut way = OneWay { near: self, control, way: DataDirection::Forward, grace: Duration::ZERO, bursts: 0 };
        way.ask_hops(routers, size, asked, |control, round, _| control.reached(OF_SEARCH + u64::from(round)))
    }

    fn search(&mut self, way: DataDirection, likely: u32, rtt: Duration, control: &Control) -> Result<Leg, ProbeError> {
        let smallest = self.socket.smallest();
        let grace = (4 * rtt + Duration::from_millis(1)).min(self.timeout);
        search(&mut OneWay { near: self, control, way, grace, bursts: 0 }, smallest, likely)
    }

    fn hello(&mut self, control: &Control) -> Result<HelloAnswer, ProbeError> {
        let began = Instant::now();
        while began.elapsed() < GONE {
            self.id += 1;
            let asked = Instant::now();
            self.socket.say(Message::Hello { id: self.id })?;
            while asked.elapsed() < self.timeout {
                stop_check(control)?;
                while let Some(event) = self.socket.next()? {
                    if let Event::Message(Message::Welcome { id, mtu, sent }, _) = event
                        && id == self.id
                    {
                        return Ok(HelloAnswer { mtu, sent, rtt: asked.elapsed() });
                    }
                }
                self.socket.wait(self.timeout.saturating_sub(asked.elapsed()).min(STOP_CHECK))?;
            }
        }
        Err(ProbeError::NothingPasses { peer: self.peer, waited: began.elapsed() })
    }
}

impl Prepared for Near {
    fn address(&self) -> Option<SocketAddr> {
        None
    }

    fn run(self: Box<Self>, control: &Control, window: &dyn Window) -> Result<SideFigures, ProbeError> {
        Ok(SideFigures::PathNear(Box::new(self.measure(control, window)?)))
    }
}

impl ProbeSender for OneWay<'_> {
    type Error = ProbeError;

    fn send_all(&mut self, packets: &[ProbePacket]) -> Result<Vec<Outcome>, ProbeError> {
        let outcomes = self.send_burst(packets, self.near.timeout, self.grace)?;
        self.progress();
        Ok(outcomes)
    }
}

impl Line for OneWay<'_> {
    fn control(&self) -> &Control {
        self.control
    }

    fn last_id(&self) -> u32 {
        self.near.id
    }

    fn send(&mut self, ProbePacket { size, ttl }: ProbePacket) -> Result<Sent, ProbeError> {
        let near = &mut *self.near;
        near.id += 1;
        if self.way == DataDirection::Reverse {
            near.socket.say(Message::Request { id: near.id, size, ttl })?;
            return Ok(Sent::Yes);
        }
        let sent = near.socket.probe(near.id, size, ttl)?;
        near.sent += u64::from(sent == Sent::Yes);
        Ok(sent)
    }

    fn next(&mut self) -> Result<Option<Answer>, ProbeError> {
        while let Some(event) = self.near.socket.next()? {
            if let Some((id, outcome)) = self.outcome(event) {
                let by = if let Outcome::Expired { by } = outcome { by } else { self.near.peer.ip() };
                return Ok(Some(Answer { id, outcome, by }));
            }
        }
        Ok(None)
    }

    fn wait(&self, patience: Duration) -> Result<(), ProbeError> {
        self.near.socket.wait(patience)
    }
}

impl OneWay<'_> {
    /// Meaning of an event for a packet of this way.
    fn outcome(&self, event: Event) -> Option<(u32, Outcome)> {
        match (self.way, event) {
            (DataDirection::Forward, Event::Message(Message::Ack { id, ttl }, _)) => {
                Some((id, Outcome::Passed { ttl }))
            }
            (DataDirection::Forward, Event::Outcome(id, outcome)) => Some((id, outcome)),
            (DataDirection::Reverse, Event::Message(Message::Probe { id, .. }, ttl)) => {
                Some((id, Outcome::Passed { ttl }))
            }
            (DataDirection::Reverse, Event::Message(Message::Report { id, outcome }, _)) => Some((id, outcome)),
            _ => None,
        }
    }

    /// Nobody knows how many bursts it takes; few need more than this leaves room for.
    fn progress(&mut self) {
        const OF_ONE: u64 = 4;
        const OF_WAY: u64 = OF_SEARCH / 2;
        self.bursts += 1;
        let before = if self.way == DataDirection::Forward { 0 } else { OF_WAY };
        self.control.reached(before + (self.bursts * OF_ONE).min(OF_WAY));
    }
}
