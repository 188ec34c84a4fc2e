//! Round trips.

mod cross_check;

use model::{
    Doubt, LatencyResult, LatencySpec, Measured, Mtu, SideFigures, SoFar, WaitMode, frame_size::Headers,
    probe::LATENCY_LEAST_PAYLOAD,
};

use self::cross_check::crossed;
use super::{
    Assembled, Ends, PairReports, Rules, Sides,
    doubts::{through_kernel, too_slow},
    goodput::flows,
};
use crate::{cross_check::packets_disagree, misfit::Misfit};

/// Fewer segments than this share of the messages, and several messages shared one.
const EACH_ALONE: f64 = 0.99;

/// Share of the RTT's 99th percentile that the tester's own lateness may have without a doubt.
const TESTERS_SHARE: f64 = 0.5;

impl Rules for LatencySpec {
    fn fit(&self, probe: String, mtu: Mtu) -> Result<(), Misfit> {
        // Timestamps are off in the lab; where they are on, the probe finds out when it is connected.
        let headers = Headers { ip: self.ip, protocol: self.protocol, tcp_timestamps: false };
        let frame = headers.frame_of(self.frame_size, LATENCY_LEAST_PAYLOAD, mtu);
        frame.map(drop).map_err(|error| Misfit::FrameSize { probe, error })
    }

    fn assemble(&self, ends: &Ends<'_>, sides: Vec<Sides>) -> Option<Assembled> {
        let (
            SideFigures::LatencyNear { mut result, load: near },
            SideFigures::LatencyFar { answered, overflowed, through_kernel, zero_copy, load: far },
        ) = sides.into_iter().next()?
        else {
            return None;
        };
        (result.answered, result.far_overflowed) = (answered, overflowed);
        if ends.receiver.agentless {
            // Nobody counts there: a reply that came was an answer.
            result.answered = (result.sent + self.warmup).saturating_sub(result.missing());
        }
        result.through_kernel = result.through_kernel.zip(through_kernel).map(|(near, far)| near + far);
        result.zero_copy = result.zero_copy.zip(zero_copy).map(|(near, far)| near && far);
        if let Some((transfer, (near, far))) = self.transfer().zip(near.zip(far)) {
            result.load = flows(&transfer, ends, vec![(*near, *far)])?;
        }
        assembled(self, ends, result, ends.counters.first()?.seconds)
    }

    fn so_far(&self, ends: &Ends<'_>, reports: &[PairReports]) -> Option<Assembled> {
        let Some(SoFar::Latency { seconds, result }) = &reports.first()?.latest[0] else { return None };
        if result.sent > 0 { assembled(self, ends, result.clone(), *seconds) } else { None }
    }
}

fn assembled(spec: &LatencySpec, ends: &Ends<'_>, result: Box<LatencyResult>, seconds: f64) -> Option<Assembled> {
    let doubts = doubts(spec, &result, ends)?;
    Some(Assembled { measured: Measured::Latency { spec: spec.clone(), result }, seconds, doubts })
}

fn doubts(spec: &LatencySpec, result: &LatencyResult, ends: &Ends<'_>) -> Option<Vec<Doubt>> {
    let (from, near) = ends.counted().next()?;
    let (to, far) = ends.counted().last()?;
    // The interfaces count the TCP load too.
    let crossed = spec.tcp_load.is_none().then(|| crossed((from, to), spec, result, [near, far])).flatten();
    let mut doubts: Vec<Doubt> = crossed.map(packets_disagree).into_iter().collect();
    if result.missing() > 0 {
        doubts.push(Doubt::RepliesMissing { lost: result.lost.unwrap_or_default(), late: result.late });
    }
    doubts.extend(result.intended_pps.and_then(|intended| too_slow(intended, result.achieved_pps)));
    doubts.extend(behind_schedule(result));
    doubts.extend(joined(result));
    if result.load.iter().any(|flow| flow.received.ended_early) {
        doubts.push(Doubt::DataEndedEarly);
    }
    if spec.mode == WaitMode::BusyPoll && result.napi.is_none() {
        doubts.push(Doubt::NothingToPoll { endpoint: from.to_owned() });
    }
    // Each message and each answer is a datagram that leaves one end and comes to the other.
    doubts.extend(through_kernel(result.through_kernel, result.answered.saturating_mul(4)));
    Some(doubts)
}

/// The RTT counts from the schedule, and so holds how late the tester itself was.
fn behind_schedule(result: &LatencyResult) -> Option<Doubt> {
    let (behind_ns, rtt_ns) = (result.pacing.as_ref()?.behind_ns.p99?, result.rtt_ns.p99?);
    (behind_ns as f64 > TESTERS_SHARE * rtt_ns as f64).then_some(Doubt::BehindSchedule { behind_ns, rtt_ns })
}

/// Messages that shared segments. Unanswered messages may never have left the sender's buffer.
fn joined(result: &LatencyResult) -> Option<Doubt> {
    let (messages, segments) = (result.answered, result.segments?);
    ((segments as f64) < EACH_ALONE * messages as f64).then_some(Doubt::MessagesJoined { messages, segments })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_shared_segments_are_a_doubt() {
        let of = |answered, segments| joined(&LatencyResult { answered, segments, ..LatencyResult::default() });
        assert_eq!(of(1000, Some(995)), None);
        assert_eq!(of(1000, Some(500)), Some(Doubt::MessagesJoined { messages: 1000, segments: 500 }));
        assert_eq!(of(400, Some(500)), None, "the others may not have left");
        assert_eq!(of(1000, None), None, "over UDP");
    }
}
