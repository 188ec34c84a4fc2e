//! Names of configurations that tell them from their neighbours.

use std::collections::BTreeMap;

use crate::{
    alike::distinct,
    probe::{Amount, Probe, ProbeSpec},
    run::Run,
};

/// Names of the configurations of a run. A configuration is named without what is ordinary; where that leaves two with one name, how
/// long or how often they were measured is part of it, and then their warm-up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    shared: BTreeMap<String, Shared>,
}

/// Differences between configurations that share a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Shared {
    amount: bool,
    warmup: bool,
}

impl Names {
    /// Names of all configurations that the run planned or measured.
    pub fn of_run(run: &Run) -> Self {
        Self::of(run.plan.specs().into_iter().chain(run.trials.iter().map(|trial| trial.measured.spec())))
    }

    /// Names of these configurations.
    pub fn of(specs: impl IntoIterator<Item = ProbeSpec>) -> Self {
        let mut timings: BTreeMap<String, Vec<Timing>> = BTreeMap::new();
        for spec in distinct(specs) {
            let probe = spec.probe();
            timings.entry(spec.to_string()).or_default().push((probe.amount(), probe.warmup()));
        }
        Self { shared: timings.into_iter().map(|(name, all)| (name, Shared::of(&all))).collect() }
    }

    /// The amount, where the name of a configuration needs it.
    pub fn amount(&self, probe: &dyn Probe) -> Option<Amount> {
        self.shared(probe).amount.then(|| probe.amount()).flatten()
    }

    /// The warm-up, where the name of a configuration needs it.
    pub fn warmup(&self, probe: &dyn Probe) -> Option<Amount> {
        self.shared(probe).warmup.then(|| probe.warmup()).flatten()
    }

    fn shared(&self, probe: &dyn Probe) -> Shared {
        self.shared.get(&format!("{} {probe}", probe.name())).copied().unwrap_or_default()
    }

    /// The name in English, as documents for programs have it.
    pub fn name(&self, spec: &ProbeSpec) -> String {
        let words = |amount| match amount {
            Amount::Count(count) => format!("{count} round trips"),
            Amount::Duration(duration) => duration.to_string(),
        };
        let amount = self.amount(spec.probe()).map(|amount| format!(" {}", words(amount)));
        let warmup = self.warmup(spec.probe()).map(|warmup| format!(" after {}", words(warmup)));
        [Some(spec.to_string()), amount, warmup].into_iter().flatten().collect()
    }
}

/// Amount and warm-up of a configuration.
type Timing = (Option<Amount>, Option<Amount>);

impl Shared {
    /// Warm-ups tell configurations apart that their amounts do not.
    fn of(all: &[Timing]) -> Self {
        let pairs =
            || all.iter().enumerate().flat_map(|(index, one)| all[..index].iter().map(move |other| (one, other)));
        Self {
            amount: pairs().any(|((one, _), (other, _))| one != other),
            warmup: pairs().any(|(one, other)| one.0 == other.0 && one.1 != other.1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Nanos, Protocol, fixture};

    fn lasting(seconds: u64) -> ProbeSpec {
        ProbeSpec::Goodput(crate::GoodputSpec {
            duration: Nanos::from_secs(seconds),
            ..fixture::goodput(Protocol::Tcp)
        })
    }

    #[test]
    fn configurations_of_one_name_are_told_apart_by_their_durations() {
        let all = [2, 3, 3, 4].map(lasting);
        let names = Names::of(all.clone());
        let named = all.map(|spec| names.name(&spec));
        let plain = "goodput TCP IPv4 1 stream";
        assert_eq!(named, ["2 s", "3 s", "3 s", "4 s"].map(|duration| format!("{plain} {duration}")));
        assert_eq!(Names::of([lasting(3), lasting(3)]).name(&lasting(3)), plain, "they are one");
        assert_eq!(Names::default().name(&lasting(3)), plain);
    }
    #[test]
    fn configurations_of_one_amount_are_told_apart_by_their_warm_up() {
        let warmed = |seconds, warmup| match lasting(seconds) {
            ProbeSpec::Goodput(spec) => {
                ProbeSpec::Goodput(crate::GoodputSpec { warmup: Nanos::from_secs(warmup), ..spec })
            }
            other => other,
        };
        let named = |all: &[ProbeSpec]| all.iter().map(|spec| Names::of(all.to_vec()).name(spec)).collect::<Vec<_>>();
        let plain = "goodput TCP IPv4 1 stream";
        let two = named(&[warmed(3, 1), warmed(3, 2)]);
        assert_eq!(two, ["after 1 s", "after 2 s"].map(|end| format!("{plain} {end}")));
        let three = named(&[warmed(3, 1), warmed(3, 2), warmed(4, 2)]);
        assert_eq!(three, ["3 s after 1 s", "3 s after 2 s", "4 s after 2 s"].map(|end| format!("{plain} {end}")));
        assert_eq!(named(&[warmed(3, 1), warmed(4, 2)]), ["3 s", "4 s"].map(|end| format!("{plain} {end}")));
    }
}
