//! The side that searches, both ways: it sends packets, and asks the far side for some.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use kernel::error_queue::Sent;
use model::{
    PathResult, PathSpec, Seat, SideFigures,
    trial::{Hop, Leg},
};

use super::{
    burst::Burst,
    devices::devices,
    hops::{Hops, ROUND},
    message::Message,
    post::{Event, Post},
    search::{Outcome, ProbePacket, ProbeSender, TTL, search},
};
use crate::{Control, Prepared, ProbeError, Window, far_address, socket::STOP_CHECK};

/// A far side that does not answer small packets for this long is not there, or nothing gets through.
const GONE: Duration = Duration::from_secs(5);
/// Between two packets, where the first is not answered sooner: a burst shall not fill a queue on the way.
const GAP: Duration = Duration::from_millis(2);
/// Progress of the search as a whole; that of hops comes on top.
const OF_SEARCH: u64 = 100;

/// A prepared near side.
pub(super) struct Near {
    seat: Seat,
    timeout: Duration,
    /// Packets to each hop.
    rounds: u32,
    peer: SocketAddr,
    post: Post,
    /// Number of the packet that was sent or asked for last.
    id: u32,
    /// Probe packets sent by this side.
    sent: u64,
}

/// The far side's answer to a hello.
struct Welcome {
    mtu: u32,
    sent: u32,
    rtt: Duration,
}

/// One of the two directions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Near to far.
    Forward,
    /// Far to near.
    Reverse,
}

/// Sends volleys one way.
struct Gun<'a> {
    near: &'a mut Near,
    control: &'a Control,
    way: Way,
    /// A packet that a router has spoken of may still arrive, if the router lied.
    grace: Duration,
    volleys: u64,
}

impl Near {
    /// Opens a socket towards the far side.
    pub(super) fn prepare(spec: &PathSpec, seat: &Seat) -> Result<Self, ProbeError> {
        let (post, peer) = (Post::open(seat)?, far_address(seat)?);
        post.connect(peer)?;
        Ok(Self { seat: seat.clone(), timeout: spec.timeout.into(), rounds: spec.hops, peer, post, id: 0, sent: 0 })
    }

    /// Searches forward, then in reverse.
    pub(super) fn measure(mut self, control: &Control, window: &dyn Window) -> Result<PathResult, ProbeError> {
        control.expect(OF_SEARCH + u64::from(self.rounds));
        let welcome = self.hello(control)?;
        window.opened();
        let likely = self.seat.mtu.0;
        let forward = self.search(Way::Forward, likely, welcome.rtt, control)?;
        let reverse = self.search(Way::Reverse, welcome.mtu, welcome.rtt, control)?;
        let hops = self.hops(forward.routers, control)?;
        // Had the far side gone meanwhile, its silence would have been taken for a black hole.
        let farewell = self.hello(control)?;
        window.closed();
        control.reached(OF_SEARCH + u64::from(self.rounds));
        let packets = self.sent + u64::from(farewell.sent);
        Ok(PathResult { forward, reverse, devices: devices(&self.seat)?, packets, hops })
    }

    /// Sends to each hop in turn, round by round.
    fn hops(&mut self, routers: Option<u8>, control: &Control) -> Result<Vec<Hop>, ProbeError> {
        let Some(routers) = routers.filter(|_| self.rounds > 0) else { return Ok(Vec::new()) };
        let (mut hops, size) = (Hops::new(routers), self.post.smallest());
        for round in 1..=self.rounds {
            let began = Instant::now();
            let ways = (1..=routers).chain([TTL]);
            for (hop, ttl) in ways.enumerate() {
                self.id += 1;
                let at = Instant::now();
                if self.post.probe(self.id, size, ttl)? == Sent::Yes {
                    self.sent += 1;
                    hops.sent(self.id, hop, at);
                }
                self.listen(&mut hops, GAP, control)?;
            }
            let patience = if round == self.rounds { self.timeout } else { ROUND.saturating_sub(began.elapsed()) };
            self.listen(&mut hops, patience, control)?;
            control.reached(OF_SEARCH + u64::from(round));
        }
        Ok(hops.finish())
    }

    /// Receives for this long.
    fn listen(&mut self, hops: &mut Hops, patience: Duration, control: &Control) -> Result<(), ProbeError> {
        let began = Instant::now();
        loop {
            stop_check(control)?;
            while let Some(event) = self.post.next()? {
                match event {
                    Event::Message(Message::Ack { id, .. }, _) => hops.answered(id, self.peer.ip(), Instant::now()),
                    Event::Outcome(id, Outcome::Expired { by }) => hops.answered(id, by, Instant::now()),
                    _ => {}
                }
            }
            let left = patience.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Ok(());
            }
            self.post.wait(left.min(STOP_CHECK))?;
        }
    }

    fn search(&mut self, way: Way, likely: u32, rtt: Duration, control: &Control) -> Result<Leg, ProbeError> {
        let smallest = self.post.smallest();
        let grace = (4 * rtt + Duration::from_millis(1)).min(self.timeout);
        search(&mut Gun { near: self, control, way, grace, volleys: 0 }, smallest, likely)
    }

    fn hello(&mut self, control: &Control) -> Result<Welcome, ProbeError> {
        let began = Instant::now();
        while began.elapsed() < GONE {
            self.id += 1;
            let asked = Instant::now();
            self.post.say(Message::Hello { id: self.id })?;
            while asked.elapsed() < self.timeout {
                stop_check(control)?;
                while let Some(event) = self.post.next()? {
                    if let Event::Message(Message::Welcome { id, mtu, sent }, _) = event
                        && id == self.id
                    {
                        return Ok(Welcome { mtu, sent, rtt: asked.elapsed() });
                    }
                }
                self.post.wait(self.timeout.saturating_sub(asked.elapsed()).min(STOP_CHECK))?;
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

impl ProbeSender for Gun<'_> {
    type Error = ProbeError;

    fn shoot(&mut self, shots: &[ProbePacket]) -> Result<Vec<Outcome>, ProbeError> {
        let mut burst = Burst::new(shots, self.near.id + 1);
        for (number, shot) in shots.iter().enumerate() {
            self.near.id += 1;
            if let Some(outcome) = self.fire(*shot)? {
                burst.enter(self.near.id, outcome);
            }
            self.gather(&mut burst, GAP, |burst| burst.is_known(number))?;
        }
        self.gather(&mut burst, self.near.timeout, Burst::is_all_known)?;
        self.gather(&mut burst, self.grace, Burst::is_settled)?;
        self.progress();
        Ok(burst.outcomes())
    }
}

impl Gun<'_> {
    /// Sends a packet, or has it sent. Gives its outcome, if that is known at once.
    fn fire(&mut self, shot: ProbePacket) -> Result<Option<Outcome>, ProbeError> {
        let (near, ProbePacket { size, ttl }) = (&mut *self.near, shot);
        if self.way == Way::Reverse {
            near.post.say(Message::Request { id: near.id, size, ttl })?;
            return Ok(None);
        }
        match near.post.probe(near.id, size, ttl)? {
            Sent::Yes => near.sent += 1,
            Sent::TooBig(mtu) => return Ok(Some(Outcome::Refused { mtu: mtu.0 })),
            Sent::Dropped => {}
        }
        Ok(None)
    }

    /// Receives until `enough`, or until `patience` is over.
    fn gather(
        &mut self,
        burst: &mut Burst,
        patience: Duration,
        enough: impl Fn(&Burst) -> bool,
    ) -> Result<(), ProbeError> {
        let began = Instant::now();
        loop {
            stop_check(self.control)?;
            while let Some(event) = self.near.post.next()? {
                if let Some((id, outcome)) = self.outcome(event) {
                    burst.enter(id, outcome);
                }
            }
            let left = patience.saturating_sub(began.elapsed());
            if enough(burst) || left.is_zero() {
                return Ok(());
            }
            self.near.post.wait(left.min(STOP_CHECK))?;
        }
    }

    /// Meaning of an event for a packet of this way.
    fn outcome(&self, event: Event) -> Option<(u32, Outcome)> {
        match (self.way, event) {
            (Way::Forward, Event::Message(Message::Ack { id, ttl }, _)) => Some((id, Outcome::Passed { ttl })),
            (Way::Forward, Event::Outcome(id, outcome)) => Some((id, outcome)),
            (Way::Reverse, Event::Message(Message::Probe { id, .. }, ttl)) => Some((id, Outcome::Passed { ttl })),
            (Way::Reverse, Event::Message(Message::Report { id, outcome }, _)) => Some((id, outcome)),
            _ => None,
        }
    }

    /// Nobody knows how many volleys it takes; few need more than this leaves room for.
    fn progress(&mut self) {
        const OF_ONE: u64 = 4;
        const OF_WAY: u64 = OF_SEARCH / 2;
        self.volleys += 1;
        let before = if self.way == Way::Forward { 0 } else { OF_WAY };
        self.control.reached(before + (self.volleys * OF_ONE).min(OF_WAY));
    }
}

fn stop_check(control: &Control) -> Result<(), ProbeError> {
    if control.stopped() { Err(ProbeError::Cancelled) } else { Ok(()) }
}
