//! Meaning of replies, in times that are made up.

use model::PacketRate;
use proptest::prelude::*;

use super::*;
use crate::schedule::Schedule;

const TIMEOUT: Nanos = Nanos(100_000);

/// Intended and received times of each reply.
#[derive(Default)]
struct Times(Vec<(Nanos, Nanos)>);

impl Trace for Times {
    fn replied(&mut self, intended: Nanos, received: Nanos) {
        self.0.push((intended, received));
    }
}

fn reply(number: u64) -> Reply {
    Reply { number: number as u32, far: None }
}

/// A tracker of messages that left each thousand nanoseconds.
fn book_of(sent: u64, warmup: u64) -> ReplyTracker<Times> {
    let mut tracker = ReplyTracker::new(warmup, TIMEOUT, 0, true, Times::default());
    (0..sent).for_each(|number| send(&mut tracker, number * 1000));
    tracker
}

fn send(tracker: &mut ReplyTracker<Times>, at: u64) {
    tracker.sent(Nanos(at), Nanos(at));
}

#[test]
fn a_reply_after_the_timeout_is_late_and_stays_over_it() {
    let mut tracker = book_of(2, 0);
    assert_eq!(tracker.arrived(reply(1), Nanos(6000)), Some(1));
    assert_eq!(tracker.arrived(reply(0), Nanos(TIMEOUT.0 + 1)), Some(0));
    let closed = tracker.close();
    assert_eq!(closed.tally, Tally { late: 1, reordered: 1, ..Tally::default() });
    let rtt = closed.rtt.summary();
    assert_eq!((rtt.n, rtt.min, rtt.max), (2, Some(5000), None));
}

#[test]
fn what_never_comes_is_lost_and_stays_over_the_timeout() {
    let mut tracker = book_of(3, 0);
    tracker.arrived(reply(1), Nanos(2000));
    assert_eq!(tracker.outstanding(), 2);
    let closed = tracker.close();
    assert_eq!(closed.tally, Tally { lost: 2, ..Tally::default() });
    assert_eq!((closed.sent, closed.rtt.len(), closed.rtt.summary().max), (3, 3, None));
    assert_eq!(closed.one_way.expect("asked for").forward_ns.n, 2);
}

#[test]
fn over_a_stream_what_never_comes_is_late() {
    let mut tracker = book_of(LEAST_WINDOW as u64 + 3, 0).over(Protocol::Tcp);
    (3..LEAST_WINDOW as u64).for_each(|number| assert!(tracker.arrived(reply(number), Nanos(number * 1000)).is_some()));
    // Three are not remembered any more, and the replies to the last three may still come.
    let (_, interim) = tracker.hand_over(TimeHistogram::new());
    assert_eq!((interim.out, interim.tally), (3, Tally { late: 3, ..Tally::default() }));
    assert_eq!(tracker.close().tally, Tally { late: 6, ..Tally::default() });
}

#[test]
fn a_copy_counts_as_a_copy_only() {
    let mut tracker = book_of(1, 0);
    assert_eq!(tracker.arrived(reply(0), Nanos(5000)), Some(0));
    assert_eq!(tracker.arrived(reply(0), Nanos(6000)), None);
    let closed = tracker.close();
    assert_eq!(closed.tally, Tally { duplicated: 1, ..Tally::default() });
    assert_eq!(closed.rtt.summary().max, Some(5000));
}

#[test]
fn a_reply_behind_a_later_one_is_reordered() {
    let mut tracker = book_of(5, 0);
    // RFC 4737: 2 and 3 came behind 4; 4 itself is in order.
    for (time, number) in [0, 1, 4, 2, 3].into_iter().enumerate() {
        tracker.arrived(reply(number), Nanos(10_000 + time as u64));
    }
    assert_eq!(tracker.close().tally, Tally { reordered: 2, ..Tally::default() });
}

#[test]
fn warm_up_counts_for_nothing() {
    let mut tracker = book_of(4, 2);
    for number in [1, 2, 2, 1] {
        tracker.arrived(reply(number), Nanos(5000));
    }
    let closed = tracker.close();
    assert_eq!((closed.sent, closed.tally), (2, Tally { lost: 1, duplicated: 1, ..Tally::default() }));
    // The only pair that has both replies begins in the warm-up.
    assert_eq!((closed.rtt.len(), closed.variation.rtt_ns.n), (2, 0));
    assert_eq!(closed.trace.0, [(Nanos(2000), Nanos(5000))]);
}

#[test]
fn a_number_that_was_not_sent_is_a_stranger_s() {
    let mut tracker = book_of(2, 0);
    assert_eq!(tracker.arrived(reply(2), Nanos(5000)), None);
    assert_eq!(tracker.arrived(reply(u64::from(u32::MAX)), Nanos(5000)), None);
    assert_eq!(tracker.close().tally, Tally { lost: 2, ..Tally::default() });
}

#[test]
fn numbers_go_on_beyond_32_bits() {
    let mut tracker = book_of(0, 0);
    tracker.sent = u64::from(u32::MAX);
    send(&mut tracker, 0);
    send(&mut tracker, 10);
    assert_eq!(tracker.arrived(reply(0), Nanos(30)), Some(1 << 32));
    assert_eq!(tracker.arrived(reply(u64::from(u32::MAX)), Nanos(30)), Some(u64::from(u32::MAX)));
}

#[test]
fn a_message_that_falls_out_of_the_window_is_lost() {
    let mut tracker = book_of(LEAST_WINDOW as u64 + 1, 0);
    assert_eq!((tracker.outstanding(), tracker.tally.lost), (LEAST_WINDOW as u64, 1));
    assert_eq!(tracker.arrived(reply(0), Nanos(1_000_000_000)), None);
    assert_eq!(tracker.close().tally, Tally { lost: LEAST_WINDOW as u64 + 1, ..Tally::default() });
}

#[test]
fn one_way_delays_count_from_the_real_departure() {
    let mut tracker = book_of(0, 0);
    // Both were to leave at 1000; the second did at 3000.
    for (departed, came, left, received) in [(1000, 1500, 1600, 2000), (3000, 3700, 3750, 5000)] {
        tracker.sent(Nanos(1000), Nanos(departed));
        let stamped = Reply { far: Some((Nanos(came), Nanos(left))), ..reply(tracker.next() - 1) };
        tracker.arrived(stamped, Nanos(received));
    }
    let closed = tracker.close();
    let one_way = closed.one_way.expect("asked for");
    assert_eq!((closed.rtt.summary().min, closed.rtt.summary().max), (Some(1000), Some(4000)));
    assert_eq!((one_way.forward_ns.min, one_way.forward_ns.max), (Some(500), Some(700)));
    assert_eq!((one_way.reverse_ns.min, one_way.reverse_ns.max), (Some(400), Some(1250)));
    let variation = |summary: TimeSummary| (summary.n, summary.max);
    assert_eq!(variation(closed.variation.rtt_ns), (1, Some(3000)));
    assert_eq!(closed.variation.forward_ns.map(variation), Some((1, Some(200))));
    assert_eq!(closed.variation.reverse_ns.map(variation), Some((1, Some(850))));
}

#[test]
fn stamps_that_cannot_be_make_no_one_way_delay() {
    let mut tracker = book_of(1, 0);
    tracker.arrived(Reply { far: Some((Nanos(0), Nanos(9000))), ..reply(0) }, Nanos(5000));
    let closed = tracker.close();
    assert_eq!((closed.rtt.len(), closed.one_way.expect("asked for").forward_ns.n), (1, 0));
}

/// The value at a percentile of a plain list, `None` where it is that of a missing reply or the list is too short.
fn exact(sorted: &[u64], n: u64, per_mille: u64) -> Option<u64> {
    let above = n * (1000 - per_mille) / 1000;
    if above < 10 { None } else { sorted.get((n - above) as usize - 1).copied() }
}

#[test]
fn a_stop_of_the_far_side_is_in_every_message_that_was_to_leave_meanwhile() {
    const RTT: u64 = 20_000;
    let (stop, end) = (400_000_000, 500_000_000);
    let schedule = Schedule::new(Nanos(1), PacketRate(10_000));
    let mut tracker = ReplyTracker::new(0, Nanos(1_000_000_000), 0, false, Times::default());
    let mut waits = Vec::new();
    for number in 0..10_000 {
        let intended = schedule.intended(number);
        tracker.sent(intended, intended);
        let received = if (stop..end).contains(&intended.0) { end + RTT } else { intended.0 + RTT };
        assert_eq!(tracker.arrived(reply(number), Nanos(received)), Some(number));
        waits.push(received - intended.0);
    }
    let closed = tracker.close();
    let of_trace: Vec<u64> = closed.trace.0.iter().map(|(intended, received)| received.0 - intended.0).collect();
    assert_eq!(of_trace, waits);
    // The thousand messages of the stop waited for 100 µs, 200 µs … 100 ms of it: its end is the sample's upper tenth.
    waits.sort_unstable();
    let rtt = closed.rtt.summary();
    for (figure, per_mille, wanted) in [(rtt.p50, 500, RTT), (rtt.p99, 990, 90_019_999), (rtt.p999, 999, 99_019_999)] {
        let exact = exact(&waits, 10_000, per_mille).expect("enough of them");
        assert!(exact.abs_diff(wanted) <= 100_000, "{exact} for {wanted}");
        assert!(figure.expect("supported").abs_diff(exact) * 1000 <= exact, "{figure:?} for {exact}");
    }
}

#[test]
fn a_sender_that_stops_does_not_hide_what_waits() {
    let schedule = Schedule::new(Nanos(1), PacketRate(10_000));
    let mut tracker = ReplyTracker::new(0, Nanos(1_000_000_000), 0, false, Times::default());
    // It wakes at 100 ms and sends the thousand overdue ones at once; each is answered at once.
    let woken = Nanos(100_000_000);
    for number in 0..1000 {
        tracker.sent(schedule.intended(number), woken);
        tracker.arrived(reply(number), woken);
    }
    let rtt = tracker.close().rtt.summary();
    assert_eq!((rtt.min, rtt.max), (Some(99_999), Some(99_999_999)));
    assert!(rtt.p50.expect("supported").abs_diff(50_000_000) < 150_000);
}

proptest! {
    /// Loss, lateness, copies and disorder leave the figures those of the plain list.
    #[test]
    fn figures_are_those_of_the_list(fates in prop::collection::vec((1u64..150_000, 0u8..10), 1..2000)) {
        let mut tracker = book_of(fates.len() as u64, 0);
        // One in ten is lost, one in ten copied.
        let mut events: Vec<(u64, u64)> = Vec::new();
        for (number, (delay, fate)) in fates.iter().enumerate() {
            let reply = (number as u64 * 1000 + delay, number as u64);
            events.extend(std::iter::repeat_n(reply, match fate { 0 => 0, 1 => 2, _ => 1 }));
        }
        events.sort_unstable();
        for (at, number) in &events {
            tracker.arrived(reply(*number), Nanos(*at));
        }
        let closed = tracker.close();
        let n = fates.len() as u64;
        let came = fates.iter().filter(|(_, fate)| *fate != 0);
        let mut in_time: Vec<u64> = came.clone().map(|(delay, _)| *delay).filter(|delay| *delay <= TIMEOUT.0).collect();
        in_time.sort_unstable();
        prop_assert_eq!(closed.tally.lost, n - came.clone().count() as u64);
        prop_assert_eq!(closed.tally.late, (came.count() - in_time.len()) as u64);
        prop_assert_eq!(closed.tally.duplicated, fates.iter().filter(|(_, fate)| *fate == 1).count() as u64);
        let pairs = fates.windows(2).filter(|pair| pair.iter().all(|(_, fate)| *fate != 0)).count() as u64;
        prop_assert_eq!(closed.variation.rtt_ns.n, pairs);
        let rtt = closed.rtt.summary();
        prop_assert_eq!(rtt.n, n);
        for (figure, per_mille) in [(rtt.p50, 500), (rtt.p90, 900), (rtt.p99, 990)] {
            match (figure, exact(&in_time, n, per_mille)) {
                (Some(figure), Some(exact)) => prop_assert!(figure.abs_diff(exact) * 1000 <= exact),
                (figure, exact) => prop_assert_eq!(figure, exact),
            }
        }
    }
}
