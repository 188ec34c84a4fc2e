//! Datagrams on a simulated path in virtual time: the assessment names the stage that dropped them, whatever the path is made of.
//!
//! A path is a row of queues, and a wire that loses. Each queue holds a number of datagrams and needs a time for each; that of the socket
//! belongs to a program that is descheduled at intervals. Seeds come from proptest, which keeps those that fail.

use std::collections::VecDeque;

use model::{Evidence, LossAt, Place, Protocol, Source};
use proptest::prelude::*;

use super::{
    super::assess,
    fixture::{A, B, Story, story},
};

/// Virtual time, in nanoseconds.
type Time = u64;

const SENT: u64 = 20_000;

/// Payload of a datagram, in bytes.
const PAYLOAD: u64 = 1472;

/// A first-in, first-out queue that drops at its tail.
#[derive(Clone, Debug, Default)]
struct Queue {
    room: usize,
    /// Time for each datagram.
    service: Time,
    /// Interval and length of times without service; none where 0.
    pauses: (Time, Time),
    /// Departures of queued datagrams, in order.
    departures: VecDeque<Time>,
    dropped: u64,
}

impl Queue {
    fn new((room, service): (usize, Time)) -> Self {
        Self { room, service, ..Self::default() }
    }

    /// When a datagram that arrives now departs; `None` if it is dropped.
    fn pass(&mut self, now: Time) -> Option<Time> {
        while self.departures.front().is_some_and(|departure| *departure <= now) {
            self.departures.pop_front();
        }
        if self.departures.len() >= self.room {
            self.dropped += 1;
            return None;
        }
        let begun = self.departures.back().map_or(now, |last| now.max(*last));
        let departure = self.after_pause(begun) + self.service;
        self.departures.push_back(departure);
        Some(departure)
    }

    fn after_pause(&self, time: Time) -> Time {
        let (interval, length) = self.pauses;
        match time.checked_rem(interval) {
            Some(since) if since < length => time - since + length,
            _ => time,
        }
    }
}

/// The sender's queueing discipline, the wire, and the receiver's ring and socket.
#[derive(Clone, Debug)]
struct Path {
    qdisc: Queue,
    ring: Queue,
    socket: Queue,
    /// Each so many-th datagram is lost on the wire, by its number times an odd number.
    wire: Option<u64>,
    lost: u64,
}

impl Path {
    /// Sends datagrams with this gap between them.
    fn carry(&mut self, gap: Time) {
        for number in 0..SENT {
            let Some(sent) = self.qdisc.pass(number * gap) else { continue };
            if self.wire.is_some_and(|share| number.wrapping_mul(0x9e37_79b9).is_multiple_of(share)) {
                self.lost += 1;
                continue;
            }
            let Some(taken) = self.ring.pass(sent) else { continue };
            self.socket.pass(taken);
        }
    }

    /// Places with the number of datagrams that each dropped, in the order of the assessment.
    fn dropped(&self) -> Vec<(Place, Option<&'static str>, u64)> {
        let all = [
            (Place::ReceiverSocket, Some("b"), self.socket.dropped),
            (Place::PeerRing, Some("b"), self.ring.dropped),
            (Place::Qdisc, Some("a"), self.qdisc.dropped),
            (Place::NotKnown, None, self.lost),
        ];
        all.into_iter().filter(|(_, _, dropped)| *dropped > 0).collect()
    }

    /// The trial as its probe would report it, with the counters of both ends.
    fn trial(&self, gap: Time) -> Story {
        let lost: u64 = self.dropped().iter().map(|(_, _, dropped)| dropped).sum();
        let seconds = (SENT * gap) as f64 / 1e9;
        let mut story = story(Protocol::Udp);
        let flow = story.goodput().1;
        flow.sent.counted_s = Some(seconds);
        (flow.sent.counted_bytes, flow.sent.total_bytes) = (SENT * PAYLOAD, SENT * PAYLOAD);
        flow.sent.datagrams.as_mut().unwrap().sent = SENT;
        flow.received.counted_s = seconds;
        let received = (SENT - lost) * PAYLOAD;
        (flow.received.counted_bytes, flow.received.total_bytes) = (received, received);
        let datagrams = flow.received.datagrams.as_mut().unwrap();
        (datagrams.received, datagrams.overflowed) = (SENT - lost, self.socket.dropped);
        story
            .asked((SENT * PAYLOAD * 8) as f64 / seconds)
            .counted(A, Source::Qdisc, "tbf 1:", "drops", self.qdisc.dropped)
            .counted(B, Source::Link, "eth0", "rx_missed_errors", self.ring.dropped)
            .counted(B, Source::Snmp, "Udp", "InErrors", self.socket.dropped)
            .counted(B, Source::Snmp, "Udp", "RcvbufErrors", self.socket.dropped)
    }
}

/// Queues that are fast enough for the gap, or not, with little room or much.
fn queue() -> impl Strategy<Value = Queue> {
    (1..300_usize, 100..14_000_u64).prop_map(Queue::new)
}

fn path() -> impl Strategy<Value = Path> {
    let socket = (queue(), prop::option::of((10_000..1_000_000_u64, 0..2_000_000_u64)));
    let socket = socket.prop_map(|(queue, pauses)| {
        let pauses = pauses.map_or((0, 0), |(works, pauses)| (works + pauses, pauses));
        Queue { pauses, ..queue }
    });
    let parts = (queue(), queue(), socket, prop::option::of(2..5_000_u64));
    parts.prop_map(|(qdisc, ring, socket, wire)| Path { qdisc, ring, socket, wire, lost: 0 })
}

proptest! {
    #[test]
    fn each_stage_is_given_what_it_dropped_and_the_worst_is_named(mut path in path(), gap in 5_000..20_000_u64) {
        path.carry(gap);
        let story = path.trial(gap);
        let found = assess(&story.run, &story.trial);
        let share = |loss: &LossAt| (loss.place, loss.endpoint.as_deref().map(|name| if name == "a" { "a" } else { "b" }), loss.packets);
        let dropped = path.dropped();
        prop_assert_eq!(found.losses.iter().map(share).collect::<Vec<_>>(), dropped.clone());

        let lost: u64 = dropped.iter().map(|(_, _, dropped)| dropped).sum();
        let limited = found.limited_by.unwrap();
        if lost * 100 < SENT {
            prop_assert_eq!(limited.place, Place::IntendedLoad);
            let is_shown = matches!(limited.evidence[0], Evidence::AsAsked { .. });
            prop_assert!(is_shown);
            return Ok(());
        }
        let most = dropped.iter().map(|(_, _, dropped)| *dropped).max().unwrap();
        let worst: Vec<Place> = dropped.iter().filter(|(_, _, dropped)| *dropped == most).map(|(place, _, _)| *place).collect();
        prop_assert!(worst.contains(&limited.place), "{:?} of {:?}", limited.place, dropped);
    }
}

/// The same path again gives the same trial: nothing depends on when or where the test runs.
#[test]
fn virtual_time_is_repeatable() {
    let path = Path {
        qdisc: Queue::new((10, 9_000)),
        ring: Queue::new((64, 100)),
        socket: Queue::new((8, 8_900)),
        wire: Some(700),
        lost: 0,
    };
    let carried = || {
        let mut path = path.clone();
        path.carry(8_000);
        path.dropped()
    };
    let first = carried();
    assert_eq!(first, carried());
    // One in nine finds no room, but for those that filled the queue at first.
    assert_eq!(first[0], (Place::Qdisc, Some("a"), 2_214), "{first:?}");
}
