//! Bounds of a plan of a store, which is a user's file and may say anything.
//!
//! They are wider than [`Plan::check`], which becomes stricter from version to version: a run that was measured stays readable.

use super::Plan;
use crate::{
    plausible::{self, Checked, Within},
    units::Nanos,
};

/// Trials of a run of one sender: those of a tenth of a second take longer than a day.
const TRIALS: u64 = 1 << 20;

/// Size of a section, known before its probes are listed.
pub(super) struct Extent {
    /// Probes of one repeat.
    pub(super) probes: u64,
    /// Longest time.
    pub(super) longest: Nanos,
}

impl Extent {
    /// A section of probes for each combination of so many values.
    pub(super) fn of(lengths: &[usize], times: &[Nanos]) -> Self {
        let probes = lengths.iter().fold(1_u64, |probes, length| probes.saturating_mul(*length as u64));
        Self { probes, longest: times.iter().copied().max().unwrap_or_default() }
    }
}

/// Number of MTUs that a section is measured with: without any, the one of the bed.
pub(super) fn mtus<T>(mtus: &[T]) -> usize {
    mtus.len().max(1)
}

impl Plan {
    /// Whether a stored plan is possible: its lists, texts and times, and the trials that it asks for.
    pub fn check_stored(&self) -> Checked {
        plausible::parts(self)?;
        let mut trials = 0_u64;
        for (name, items) in self.items() {
            for (number, item) in items.into_iter().enumerate() {
                let Extent { probes, longest } = item.extent();
                let time = plausible::seconds("duration", longest.0 as f64 / 1e9);
                time.and_then(|()| item.check_stored()).within(format_args!("{name} {}", number + 1))?;
                // A path probe may prove the MTU of each.
                trials = trials.saturating_add(probes.saturating_mul(2));
            }
        }
        plausible::whole("repeats", self.repeats.get().into(), TRIALS)?;
        plausible::whole("trials", trials.saturating_mul(self.repeats.get().into()), TRIALS)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    const PLAN: &str = "name = \"t\"\n[[latency]]\nprotocol = \"udp\"\nframe_sizes = [64]\n[[goodput]]\nprotocol = \"udp\"\nduration = \"2 s\"\n\
        [[packets]]\nframe_sizes = [64]\nduration = \"1 s\"\n[[path]]\n[[transactions]]\nkind = \"rr\"\nduration = \"1 s\"\n";

    fn refused(change: impl FnOnce(&mut Plan)) -> String {
        let mut plan = Plan::parse(PLAN, &[]).unwrap();
        assert_eq!(plan.check_stored(), Ok(()));
        change(&mut plan);
        plan.check_stored().unwrap_err().to_string()
    }

    #[test]
    fn a_plan_that_asks_for_more_than_a_life_is_refused_before_its_trials_are_listed() {
        let repeats = refused(|plan| plan.repeats = NonZeroU32::MAX);
        assert_eq!(repeats, "repeats cannot be: 4294967295 is more than 1048576");
        let both = refused(|plan| {
            plan.repeats = NonZeroU32::new(10_000).unwrap();
            plan.latency[0].frame_sizes = vec![crate::FrameSize(64); 1_000];
        });
        assert!(both.starts_with("trials cannot be: "), "{both}");
        let product = refused(|plan| {
            plan.packets[0].frame_sizes = vec![crate::FrameSize(64); 60_000];
            plan.packets[0].mtus = vec![crate::Mtu(1500); 60_000];
        });
        assert_eq!(product.split(':').next(), Some("trials cannot be"));
        let list = refused(|plan| plan.goodput[0].mtus = vec![crate::Mtu(1500); 70_000]);
        assert_eq!(list, "goodput 1.mtus cannot be: its length 70000 is more than 65536");
    }

    #[test]
    fn times_counts_and_texts_of_a_plan_are_bounded() {
        let long = refused(|plan| plan.goodput[0].warmup = Nanos(u64::MAX));
        assert!(long.starts_with("goodput 1.duration cannot be: "), "{long}");
        let timeout = refused(|plan| plan.transactions[0].timeout = Nanos(u64::MAX));
        assert!(timeout.starts_with("transactions 1.duration cannot be: "), "{timeout}");
        let count = refused(|plan| plan.latency[0].count = std::num::NonZeroU64::new(u64::MAX));
        assert!(count.starts_with("latency 1.count cannot be: "), "{count}");
        let hops = refused(|plan| plan.path[0].hops = Some(u32::MAX));
        assert!(hops.starts_with("path 1.hops cannot be: "), "{hops}");
        let name = refused(|plan| plan.name = "x".repeat(100_000));
        assert_eq!(name, "name cannot be: its length 100000 is more than 65536");
        let search = refused(|plan| plan.packets[0].goal = vec![crate::search::Goal::throughput(Nanos::from_secs(1))]);
        assert!(search.starts_with("packets 1.search cannot be: goals are those of a search"), "{search}");
    }
}
