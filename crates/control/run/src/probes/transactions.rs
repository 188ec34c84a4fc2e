//! Transactions.

use model::{Doubt, Exchange, Measured, Mtu, SideFigures, SoFar, TransactionsResult, TransactionsSpec, WaitMode};

use super::{Assembled, Ends, PairReports, Rules, Sides, doubts::too_slow};
use crate::misfit::{LEAST_TCP_MTU, Misfit};

impl Rules for TransactionsSpec {
    /// A datagram larger than the MTU is sent in fragments, as by any other program.
    fn fit(&self, probe: String, mtu: Mtu) -> Result<(), Misfit> {
        let is_udp = matches!(self.exchange, Exchange::Rr { protocol: model::Protocol::Udp, .. });
        if !is_udp && mtu.0 < LEAST_TCP_MTU { Err(Misfit::SmallMtu { probe, mtu }) } else { Ok(()) }
    }

    fn assemble(&self, ends: &Ends<'_>, sides: Vec<Sides>) -> Option<Assembled> {
        let (SideFigures::TransactionsNear(mut result), SideFigures::TransactionsFar(served)) =
            sides.into_iter().next()?
        else {
            return None;
        };
        (result.server, result.backlog) = (served.server, served.backlog);
        Some(assembled(self, ends, result))
    }

    fn so_far(&self, ends: &Ends<'_>, reports: &[PairReports]) -> Option<Assembled> {
        let Some(SoFar::Transactions(result)) = &reports.first()?.latest[0] else { return None };
        (result.counted_s > 0.0).then(|| assembled(self, ends, result.clone()))
    }
}

fn assembled(spec: &TransactionsSpec, ends: &Ends<'_>, result: Box<TransactionsResult>) -> Assembled {
    let (seconds, mut doubts) = (result.counted_s, doubts(&result));
    if spec.mode == WaitMode::BusyPoll && result.napi.is_none() {
        doubts.extend(ends.counted().next().map(|(from, _)| Doubt::NothingToPoll { endpoint: from.to_owned() }));
    }
    Assembled { measured: Measured::Transactions { spec: spec.clone(), result }, seconds, doubts }
}

fn doubts(result: &TransactionsResult) -> Vec<Doubt> {
    let ended = result.per_second().map(|rate| rate + result.failures() as f64 / result.counted_s);
    let late = behind_schedule(result);
    // Without a lateness of the client's own, the server and the number of connections set the rate.
    let slow = result.intended_per_s.zip(ended).and_then(|(intended, ended)| too_slow(intended, ended));
    let slow = slow.filter(|_| late.is_some());
    let silent = result.seconds.iter().filter(|completed| **completed == 0).count();
    let is_stalled = silent > 0 && silent < result.seconds.len();
    let paced = result.intended_per_s.is_some_and(|intended| intended < 10.0);
    let stalled = (is_stalled && !paced).then_some(Doubt::Stalled { seconds: silent as u64 });
    slow.into_iter().chain(stalled).chain(late).collect()
}

/// The response time counts from the schedule, and so includes the client's own lateness.
fn behind_schedule(result: &TransactionsResult) -> Option<Doubt> {
    const CLIENTS_SHARE: f64 = 0.5;
    let (behind_ns, rtt_ns) = (result.pacing.as_ref()?.behind_ns.p99?, result.response_ns.p99?);
    (behind_ns as f64 > CLIENTS_SHARE * rtt_ns as f64).then_some(Doubt::BehindSchedule { behind_ns, rtt_ns })
}

#[cfg(test)]
mod tests {
    use model::{Failed, FailureKind, TimeSummary, trial::Pacing};

    use super::*;

    #[test]
    fn a_schedule_that_was_not_kept_and_a_second_without_an_answer_are_doubts() {
        let fine = TransactionsResult {
            counted_s: 2.0,
            completed: 1990,
            seconds: vec![1000, 990],
            intended_per_s: Some(1000.0),
            failed: vec![Failed { kind: FailureKind::Timeout, count: 10 }],
            ..TransactionsResult::default()
        };
        assert_eq!(doubts(&fine), [], "a failed transaction was sent as well");
        let slow = TransactionsResult { completed: 1000, ..fine.clone() };
        assert_eq!(doubts(&slow), [], "the server answered slowly");
        let silent = TransactionsResult { seconds: vec![1990, 0], ..fine.clone() };
        assert_eq!(doubts(&silent), [Doubt::Stalled { seconds: 1 }]);
        let p99 = |p99| TimeSummary { p99: Some(p99), ..TimeSummary::default() };
        let pacing = Some(Pacing { behind_ns: p99(60), ..Pacing::default() });
        let late = TransactionsResult { pacing, response_ns: p99(100), ..fine };
        let behind = Doubt::BehindSchedule { behind_ns: 60, rtt_ns: 100 };
        assert_eq!(doubts(&late), std::slice::from_ref(&behind));
        let slow = TransactionsResult { completed: 1000, ..late };
        assert_eq!(doubts(&slow), [Doubt::SenderTooSlow { intended: 1000.0, achieved: 505.0 }, behind]);
    }
}
