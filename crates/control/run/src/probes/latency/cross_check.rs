//! Compares messages with the counters of the interfaces. Pure.

use model::{EndCounters, LatencyResult, LatencySpec, Protocol, frame_size::Headers};

use crate::cross_check::{SHARE, STRAY_PACKETS, passed};

/// Where an interface disagrees about the messages of a latency trial: the endpoint, the messages that were answered, and
/// how many the interface counted. `None` where they agree, or where nothing was read.
///
/// Each answered message was seen four times: leaving the near end, at the far end, leaving it, and back. No interface can see
/// more than was sent; copies that the path made come back as answers to themselves.
pub(super) fn crossed(
    (from, to): (&str, &str),
    spec: &LatencySpec,
    result: &LatencyResult,
    [near, far]: [&EndCounters; 2],
) -> Option<(String, u64, u64)> {
    let headers = Headers { ip: spec.ip, protocol: spec.protocol, tcp_timestamps: result.tcp_timestamps };
    let answered = result.answered;
    let most = answered.max(result.sent + spec.warmup + result.duplicated);
    let slack = SHARE * answered as f64 + STRAY_PACKETS;
    let seen_by = [(from, near, "tx"), (to, far, "rx"), (to, far, "tx"), (from, near, "rx")];
    seen_by.into_iter().find_map(|(endpoint, counters, way)| {
        let (packets, payload) = passed(counters, way, headers)?;
        // Segments can hold several messages, and acknowledgements none; a datagram is one packet.
        let messages = match spec.protocol {
            Protocol::Udp => packets,
            Protocol::Tcp => payload / u64::from(result.payload_size.0.max(1)),
        };
        // Answers that were lost on their way back were answers all the same.
        let least = answered.saturating_sub(result.lost.unwrap_or_default() + result.late);
        let agrees = messages as f64 >= least as f64 - slack && messages as f64 <= most as f64 + slack;
        (!agrees).then(|| (endpoint.to_owned(), answered, messages))
    })
}

#[cfg(test)]
mod tests {
    use model::{Amount, FrameSize, IpVersion, Nanos, PayloadSize, Stack, WaitMode};

    use super::*;
    use crate::cross_check::fixture::counted;

    /// Counts of the near and the far interface for 10 000 answered 64-byte frames, each in messages out and in.
    fn check_messages(near: (u64, u64), far: (u64, u64)) -> Option<(String, u64, u64)> {
        let spec = LatencySpec {
            protocol: Protocol::Udp,
            ip: IpVersion::V4,
            stack: Stack::Kernel,
            frame_size: FrameSize(64),
            amount: Amount::Count(9_000),
            warmup: 1_000,
            mode: WaitMode::Spin,
            rate: None,
            timeout: Nanos::from_secs(1),
            stamps: false,
            tcp_load: None,
        };
        let result =
            LatencyResult { sent: 9_000, answered: 10_000, payload_size: PayloadSize(18), ..LatencyResult::default() };
        let end = |(out, back): (u64, u64)| {
            let (mut tx, rx) = (counted("tx", out, out * 60), counted("rx", back, back * 60));
            tx.deltas.extend(rx.deltas);
            tx
        };
        crossed(("a", "b"), &spec, &result, [&end(near), &end(far)])
    }

    #[test]
    fn each_answered_message_is_seen_four_times() {
        assert_eq!(check_messages((10_000, 10_000), (10_000, 10_000)), None);
        assert_eq!(check_messages((10_005, 10_002), (10_003, 10_001)), None, "neighbours may ask for each other");
        assert_eq!(check_messages((10_000, 10_000), (10_000, 20_000)), Some(("b".into(), 10_000, 20_000)));
        assert_eq!(check_messages((5_000, 10_000), (10_000, 10_000)), Some(("a".into(), 10_000, 5_000)));
    }
}
