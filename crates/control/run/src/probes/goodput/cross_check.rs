//! Compares payload and datagrams with the counters of the interfaces. Pure.

use model::{Batch, EndCounters, Flow, GoodputSpec, Protocol, Total, frame_size::Headers};

use crate::cross_check::{SHARE, STRAY_PACKETS, passed};

/// Where the interface disagrees with the program: the endpoint, what the program counted there, and what the interface
/// counted, in bytes of payload (TCP) or in datagrams (UDP). `None` where they agree, or where nothing was read.
///
/// Packets that were sent and not lost on the way must be seen by both interfaces, and neither can see more than was sent; where
/// nothing was lost, the two bounds are one. Both sums are those of the whole transfer, and of all flows of the trial that the
/// interface sent or received.
pub(super) fn crossed(
    flow: &Flow,
    all: &[Flow],
    spec: &GoodputSpec,
    sender: &EndCounters,
    receiver: &EndCounters,
) -> Option<(String, u64, u64)> {
    let (.., unit) = program(flow)?;
    let sent_there = |other: &&Flow| other.from == flow.from;
    let received_there = |other: &&Flow| other.to == flow.to;
    let ends = [
        (&flow.from, all.iter().filter(sent_there).collect::<Vec<_>>(), sender, "tx"),
        (&flow.to, all.iter().filter(received_there).collect(), receiver, "rx"),
    ];
    ends.into_iter().find_map(|(endpoint, flows, counters, way)| {
        let programs: Vec<_> = flows.iter().filter_map(|flow| program(flow)).collect();
        let sent: u64 = programs.iter().map(|(sent, ..)| *sent).total();
        let received: u64 = programs.iter().map(|(_, received, _)| *received).total();
        let own = if way == "tx" { sent } else { received };
        let interface = interface(flow, spec, counters, way)?;
        let slack = SHARE * own as f64 + STRAY_PACKETS * unit;
        let most = sent.saturating_add(flows.iter().map(|flow| resent(flow)).total());
        let agrees = interface as f64 >= received as f64 - slack && interface as f64 <= most as f64 + slack;
        (!agrees).then(|| (endpoint.clone(), own, interface))
    })
}

/// Counts of the two programs, and the share of one packet.
fn program(flow: &Flow) -> Option<(u64, u64, f64)> {
    match (&flow.sent.datagrams, &flow.received.datagrams) {
        (Some(sent), Some(received)) => Some((sent.sent, received.received.saturating_add(received.duplicated), 1.0)),
        _ => Some((flow.sent.total_bytes, flow.received.total_bytes, flow.sent.tcp.first()?.mss.into())),
    }
}

/// Bytes that TCP sent more than once; each segment is full at most.
fn resent(flow: &Flow) -> u64 {
    flow.sent.tcp.iter().map(|connection| connection.retransmits.saturating_mul(connection.mss.into())).total()
}

/// The same by the interface's counters; `None` where they were not read.
fn interface(flow: &Flow, spec: &GoodputSpec, counters: &EndCounters, way: &str) -> Option<u64> {
    let tcp_timestamps = flow.sent.tcp.first().is_some_and(|connection| connection.timestamps);
    let headers = Headers { ip: spec.ip, protocol: spec.protocol, tcp_timestamps };
    let (packets, payload) = passed(counters, way, headers)?;
    Some(match (spec.protocol, &flow.sent.datagrams) {
        (Protocol::Udp, Some(sent)) if spec.batch == Batch::Gso => payload / u64::from(sent.payload_size.0.max(1)),
        (Protocol::Udp, Some(_)) => packets,
        _ => payload,
    })
}

#[cfg(test)]
mod tests {
    use model::{
        GoodputReceived, GoodputSent, Mtu, Nanos, PayloadSize, fixture,
        trial::{DatagramsReceived, DatagramsSent, TcpState},
    };

    use super::*;
    use crate::cross_check::fixture::counted;

    fn spec(protocol: Protocol, batch: Batch) -> GoodputSpec {
        GoodputSpec { duration: Nanos::from_secs(2), batch, ..fixture::goodput(protocol) }
    }

    fn flow(sent: GoodputSent, received: GoodputReceived) -> Flow {
        Flow { from: "a".into(), to: "b".into(), sent, received }
    }

    fn udp(sent: u64, received: u64, payload: u32) -> Flow {
        let sent = DatagramsSent {
            payload_size: PayloadSize(payload),
            sent,
            through_kernel: None,
            zero_copy: None,
            intended_bps: None,
            pacing: None,
        };
        let received = DatagramsReceived { received, ..DatagramsReceived::default() };
        flow(
            GoodputSent { datagrams: Some(sent), ..GoodputSent::default() },
            GoodputReceived { datagrams: Some(received), ..GoodputReceived::default() },
        )
    }

    fn tcp(bytes: u64, retransmits: u64) -> Flow {
        let connection = TcpState {
            congestion: "cubic".into(),
            rtt_us: 100,
            rtt_var_us: 10,
            min_rtt_us: 50,
            cwnd_segments: 10,
            mss: 1460,
            path_mtu: Mtu(1500),
            retransmits,
            warmup_retransmits: None,
            reorderings: 0,
            busy_us: 0,
            receive_window_limited_us: 0,
            send_buffer_limited_us: 0,
            timestamps: false,
            ..TcpState::default()
        };
        flow(
            GoodputSent { total_bytes: bytes, tcp: vec![connection], ..GoodputSent::default() },
            GoodputReceived { total_bytes: bytes, ..GoodputReceived::default() },
        )
    }

    /// With the counts of the sending and the receiving interface, in packets and bytes.
    fn check(flow: &Flow, batch: Batch, sent: (u64, u64), received: (u64, u64)) -> Option<(String, u64, u64)> {
        let protocol = if flow.sent.datagrams.is_some() { Protocol::Udp } else { Protocol::Tcp };
        let (sender, receiver) = (counted("tx", sent.0, sent.1), counted("rx", received.0, received.1));
        crossed(flow, std::slice::from_ref(flow), &spec(protocol, batch), &sender, &receiver)
    }

    #[test]
    fn datagrams_are_packets() {
        let full = (100_000, 151_400_000);
        assert_eq!(check(&udp(100_000, 100_000, 1472), Batch::Mmsg, full, full), None);
        let doubled = check(&udp(100_000, 100_000, 1472), Batch::Mmsg, full, (200_000, 302_800_000));
        assert_eq!(doubled, Some(("b".into(), 100_000, 200_000)));
        let half = check(&udp(100_000, 100_000, 1472), Batch::Mmsg, (50_000, 75_700_000), full);
        assert_eq!(half, Some(("a".into(), 100_000, 50_000)));
    }

    #[test]
    fn what_is_lost_may_be_lost_before_or_behind_an_interface() {
        let (all, some) = ((100_000, 151_400_000), (60_000, 90_840_000));
        for (sent, received) in [(all, all), (all, some), (some, some)] {
            assert_eq!(check(&udp(100_000, 60_000, 1472), Batch::Mmsg, sent, received), None);
        }
        let too_few = check(&udp(100_000, 60_000, 1472), Batch::Mmsg, all, (50_000, 75_700_000));
        assert_eq!(too_few, Some(("b".into(), 60_000, 50_000)));
    }

    #[test]
    fn segments_are_counted_by_their_payload_however_they_are_joined() {
        // 44 datagrams of 1472 bytes in each packet, and each by itself.
        let joined = (1_000, 1_000 * (44 * 1472 + 42));
        let single = (44_000, 44_000 * (1472 + 42));
        assert_eq!(check(&udp(44_000, 44_000, 1472), Batch::Gso, joined, single), None);
        let missing = check(&udp(44_000, 44_000, 1472), Batch::Gso, joined, (22_000, 22_000 * (1472 + 42)));
        assert_eq!(missing, Some(("b".into(), 44_000, 22_000)));
    }

    #[test]
    fn tcp_is_compared_by_payload_with_acknowledgements_and_retransmissions_taken_off() {
        let bytes = 1460 * 100_000;
        let data = |segments: u64| (segments, segments * (1460 + 54));
        assert_eq!(check(&tcp(bytes, 0), Batch::Mmsg, data(100_000), data(100_000)), None);
        // 50 000 acknowledgements of data that goes the other way.
        let with_acks = (150_000, 100_000 * (1460 + 54) + 50_000 * 54);
        assert_eq!(check(&tcp(bytes, 0), Batch::Mmsg, with_acks, with_acks), None);
        assert_eq!(check(&tcp(bytes, 10_000), Batch::Mmsg, data(110_000), data(100_000)), None);
        assert!(check(&tcp(bytes, 0), Batch::Mmsg, data(110_000), data(100_000)).is_some());
    }

    #[test]
    fn nothing_read_is_nothing_to_compare() {
        let nothing = EndCounters::default();
        let spec = spec(Protocol::Udp, Batch::Mmsg);
        let flow = udp(100_000, 100_000, 1472);
        assert_eq!(crossed(&flow, std::slice::from_ref(&flow), &spec, &nothing, &nothing), None);
    }
}
