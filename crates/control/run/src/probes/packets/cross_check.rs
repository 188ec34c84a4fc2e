//! Compares numbered packets with the counters of both ends' interfaces. Pure.

use model::{EndCounters, PacketStream, Source};

use crate::cross_check::{SHARE, STRAY_PACKETS};

/// Every interface that disagrees: its endpoint, the frames that sender or receiver counted there, and those that the interface
/// counted. One that was not read is left out, and so is one that saw next to nothing: there are drivers that do not count what
/// XDP sends or takes.
///
/// A frame that was counted at the receiver was seen by both interfaces, and neither can see more than was sent, and the copies
/// that the path made.
pub(super) fn crossed<'a>(
    streams: &[PacketStream],
    counted: impl IntoIterator<Item = (&'a str, &'a EndCounters)>,
) -> Vec<(String, u64, u64)> {
    let ways = |(endpoint, counters)| {
        let (out, back) = (Expected::leaving(endpoint, streams), Expected::arriving(endpoint, streams));
        [(endpoint, out, counters, "tx_packets"), (endpoint, back, counters, "rx_packets")]
    };
    let ends = counted.into_iter().flat_map(ways);
    ends.filter_map(|(endpoint, seen, counters, name)| {
        let interface = counters.sum(Source::Link, name);
        (!seen.agrees(interface)).then(|| (endpoint.to_owned(), seen.own, interface))
    })
    .collect()
}

/// Packets that an interface must have seen one way.
struct Expected {
    own: u64,
    least: u64,
    most: u64,
}

impl Expected {
    fn leaving(endpoint: &str, streams: &[PacketStream]) -> Self {
        let (sent, received, _) = totals(streams, |stream| stream.from == endpoint);
        Self { own: sent, least: received, most: sent }
    }

    fn arriving(endpoint: &str, streams: &[PacketStream]) -> Self {
        let (sent, received, copies) = totals(streams, |stream| stream.to == endpoint);
        Self { own: received, least: received, most: sent.max(received) + copies }
    }

    fn agrees(&self, interface: u64) -> bool {
        let slack = SHARE * self.own as f64 + STRAY_PACKETS;
        let interface = interface as f64;
        let sees_them = interface > STRAY_PACKETS && self.own > 0;
        !sees_them || (interface >= self.least as f64 - slack && interface <= self.most as f64 + slack)
    }
}

/// Frames sent, frames received, and copies received beside them.
fn totals(streams: &[PacketStream], is_meant: impl Fn(&PacketStream) -> bool) -> (u64, u64, u64) {
    streams.iter().filter(|stream| is_meant(stream)).fold((0, 0, 0), |(sent, received, copies), stream| {
        let arrived = &stream.received;
        (sent + stream.sent.frames, received + arrived.frames + arrived.corrupt, copies + arrived.duplicated)
    })
}

#[cfg(test)]
mod tests {
    use model::{Delta, fixture};

    use super::*;

    fn stream(sent: u64, frames: u64, duplicated: u64) -> PacketStream {
        let mut stream = fixture::packet_stream(sent, frames);
        stream.received.duplicated = duplicated;
        stream
    }

    fn counters(name: &str, delta: u64) -> EndCounters {
        let delta = Delta { source: Source::Link, of: "eth0".into(), name: name.into(), delta };
        EndCounters { deltas: vec![delta], ..EndCounters::default() }
    }

    /// With the counts of the sender's and of the receiver's interface.
    fn check(streams: &[PacketStream], sent: u64, received: u64) -> Vec<(String, u64, u64)> {
        let (a, b) = (counters("tx_packets", sent), counters("rx_packets", received));
        crossed(streams, [("a", &a), ("b", &b)])
    }

    #[test]
    fn what_was_lost_may_be_lost_before_or_behind_an_interface() {
        for (sent, received) in [(1_000_000, 1_000_000), (1_000_000, 600_000), (600_000, 600_007)] {
            assert_eq!(check(&[stream(1_000_000, 600_000, 0)], sent, received), []);
        }
        let too_few = check(&[stream(1_000_000, 600_000, 0)], 1_000_000, 500_000);
        assert_eq!(too_few, [("b".to_owned(), 600_000, 500_000)]);
    }

    #[test]
    fn nothing_sees_more_than_was_sent_and_copied() {
        let doubled = check(&[stream(1_000_000, 1_000_000, 0)], 1_000_000, 2_000_000);
        assert_eq!(doubled, [("b".to_owned(), 1_000_000, 2_000_000)]);
        assert_eq!(check(&[stream(1_000_000, 1_000_000, 1_000_000)], 1_000_000, 2_000_000), [], "the path copied them");
        let others = check(&[stream(1_000_000, 1_000_000, 0)], 1_500_000, 1_000_000);
        assert_eq!(others, [("a".to_owned(), 1_000_000, 1_500_000)]);
    }

    #[test]
    fn streams_of_one_interface_are_summed() {
        assert_eq!(check(&[stream(500_000, 500_000, 0), stream(500_000, 500_000, 0)], 1_000_000, 1_000_000), []);
    }

    #[test]
    fn a_driver_that_does_not_count_what_xdp_takes_is_not_compared() {
        assert_eq!(check(&[stream(1_000_000, 1_000_000, 0)], 1_000_000, 12), []);
        let nothing = EndCounters::default();
        assert_eq!(crossed(&[stream(1_000_000, 1_000_000, 0)], [("a", &nothing), ("b", &nothing)]), []);
    }
}
