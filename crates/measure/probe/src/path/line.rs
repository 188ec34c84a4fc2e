//! Numbered packets on their way to a host, and what became of each: the same whoever answers them.

use std::{
    net::IpAddr,
    time::{Duration, Instant},
};

use kernel::error_queue::Sent;
use model::trial::Hop;

use super::{
    burst::Burst,
    hops::{Hops, ROUND},
    search::{Outcome, ProbePacket, TTL},
};
use crate::{Control, ProbeError, socket::STOP_CHECK};

/// Between two packets, where the first is not answered sooner: a burst shall not fill a queue on the way.
pub(super) const GAP: Duration = Duration::from_millis(2);

/// News of a packet.
pub(super) struct Answer {
    /// Number; 0 where that is not known.
    pub(super) id: u32,
    pub(super) outcome: Outcome,
    /// Sender of the news.
    pub(super) by: IpAddr,
}

/// A way to a host.
pub(super) trait Line {
    /// State shared with the thread that watches.
    fn control(&self) -> &Control;

    /// Number of the packet that was sent last.
    fn last_id(&self) -> u32;

    /// Sends the next packet, or has it sent.
    fn send(&mut self, packet: ProbePacket) -> Result<Sent, ProbeError>;

    /// The next news, without waiting.
    fn next(&mut self) -> Result<Option<Answer>, ProbeError>;

    /// Sleeps until there may be news, or `patience` is over.
    fn wait(&self, patience: Duration) -> Result<(), ProbeError>;

    /// Receives until `enough`, or until `patience` is over.
    fn gather<S>(
        &mut self,
        patience: Duration,
        known: &mut S,
        enter: impl Fn(&mut S, Answer),
        enough: impl Fn(&S) -> bool,
    ) -> Result<(), ProbeError> {
        let began = Instant::now();
        loop {
            stop_check(self.control())?;
            while let Some(answer) = self.next()? {
                enter(known, answer);
            }
            let left = patience.saturating_sub(began.elapsed());
            if enough(known) || left.is_zero() {
                return Ok(());
            }
            self.wait(left.min(STOP_CHECK))?;
        }
    }

    /// Sends packets at once and waits for their outcomes, which are in the order of the packets. `grace` is for those that a router
    /// has spoken of: they may still arrive, if the router lied.
    fn send_burst(
        &mut self,
        packets: &[ProbePacket],
        timeout: Duration,
        grace: Duration,
    ) -> Result<Vec<Outcome>, ProbeError> {
        let mut burst = Burst::new(packets, self.last_id() + 1);
        let enter = |burst: &mut Burst, answer: Answer| burst.enter(answer.id, answer.outcome);
        for (number, packet) in packets.iter().enumerate() {
            if let Sent::TooBig(mtu) = self.send(*packet)? {
                burst.enter(self.last_id(), Outcome::Refused { mtu: mtu.0 });
            }
            self.gather(GAP, &mut burst, enter, |burst| burst.is_known(number))?;
        }
        self.gather(timeout, &mut burst, enter, Burst::is_all_known)?;
        self.gather(grace, &mut burst, enter, Burst::is_settled)?;
        Ok(burst.outcomes())
    }

    /// Sends to each hop in turn, round by round; `done` learns of each round, and of the answers so far.
    fn ask_hops(
        &mut self,
        routers: u8,
        size: u32,
        (rounds, timeout): (u32, Duration),
        mut done: impl FnMut(&Control, u32, &Hops),
    ) -> Result<Vec<Hop>, ProbeError> {
        let mut hops = Hops::new(routers);
        for round in 1..=rounds {
            let began = Instant::now();
            for (hop, ttl) in (1..=routers).chain([TTL]).enumerate() {
                let at = Instant::now();
                if self.send(ProbePacket { size, ttl })? == Sent::Yes {
                    hops.sent(self.last_id(), hop, at);
                }
                self.gather(GAP, &mut hops, of_hop, |_| false)?;
            }
            let is_last = round == rounds;
            let patience = if is_last { timeout } else { ROUND.saturating_sub(began.elapsed()) };
            self.gather(patience, &mut hops, of_hop, |hops| is_last && hops.is_answered())?;
            done(self.control(), round, &hops);
        }
        Ok(hops.finish())
    }
}

/// Notes the answer of a hop.
pub(super) fn of_hop(hops: &mut Hops, answer: Answer) {
    if matches!(answer.outcome, Outcome::Passed { .. } | Outcome::Expired { .. }) {
        hops.answered(answer.id, answer.by, Instant::now());
    }
}

pub(super) fn stop_check(control: &Control) -> Result<(), ProbeError> {
    if control.stopped() { Err(ProbeError::Cancelled) } else { Ok(()) }
}
