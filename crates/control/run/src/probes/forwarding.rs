//! Correctness of forwarding.

use model::{CheckOutcome, Doubt, EndCounters, ForwardingResult, ForwardingSpec, Measured, Mtu, SideFigures, Source};

use super::{Assembled, Ends, Rules, Sides};
use crate::{cross_check::packets_disagree, misfit::Misfit};

/// Frames of the near end's kernel beside the crafted ones: neighbours are asked for, and multicast groups reported. Far fewer than
/// [`crate::cross_check::STRAY_PACKETS`]: no connections begin and end, and a single foreign frame can fail a check.
const OF_THE_KERNEL: u64 = 8;

impl Rules for ForwardingSpec {
    fn fit(&self, _probe: String, _mtu: Mtu) -> Result<(), Misfit> {
        Ok(())
    }

    fn may_be_left_out(&self) -> bool {
        true
    }

    fn assemble(&self, ends: &Ends<'_>, sides: Vec<Sides>) -> Option<Assembled> {
        let (SideFigures::Forwarding(near), SideFigures::Forwarding(far)) = sides.into_iter().next()? else {
            return None;
        };
        let (near_end, counters) = ends.counted().next()?;
        let result = ForwardingResult::of(&near, &far);
        let doubts = foreign_frames(&result, near_end, counters).into_iter().collect();
        Some(Assembled {
            measured: Measured::Forwarding { spec: self.clone(), result },
            seconds: counters.seconds,
            doubts,
        })
    }
}

/// Frames that left the near end beside the crafted ones, where a check failed: another program may have sent the wrong frames.
fn foreign_frames(result: &ForwardingResult, near: &str, counters: &EndCounters) -> Option<Doubt> {
    let failed = result.checks.iter().any(|check| matches!(check.outcome, CheckOutcome::Failed { .. }));
    let left = counters.sum(Source::Link, "tx_packets");
    (failed && left > result.sent + OF_THE_KERNEL).then(|| packets_disagree((near.to_owned(), result.sent, left)))
}

#[cfg(test)]
mod tests {
    use model::{CheckResult, ForwardingCheck, ForwardingFault};

    use super::*;
    use crate::cross_check::fixture::counted;

    #[test]
    fn wrong_frames_that_another_program_may_have_sent_are_doubted() {
        let fault = ForwardingFault::Twice { frames: 3 };
        let of = |outcome| ForwardingResult {
            sent: 4450,
            checks: vec![CheckResult { check: ForwardingCheck::Duplicates, frames: 4453, wrong: 3, outcome }],
            ..ForwardingResult::default()
        };
        let failed = of(CheckOutcome::Failed { fault });
        let doubt = Some(Doubt::PacketsDisagree { endpoint: "a".into(), program: 4450, interface: 4470 });
        assert_eq!(foreign_frames(&failed, "a", &counted("tx", 4470, 0)), doubt);
        assert_eq!(foreign_frames(&failed, "a", &counted("tx", 4455, 0)), None, "of the kernel itself");
        assert_eq!(foreign_frames(&of(CheckOutcome::Passed), "a", &counted("tx", 4470, 0)), None, "harmless");
    }
}
