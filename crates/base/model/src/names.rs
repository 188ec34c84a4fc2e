//! Names of configurations that tell them from their neighbours.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    alike::distinct,
    probe::{Amount, Probe, ProbeSpec},
    run::Run,
};

/// Names of the configurations of a run. A configuration is named without what is ordinary; where that leaves two with one name, how
/// long or how often they were measured is part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    shared: BTreeSet<String>,
}

impl Names {
    /// Of all configurations that the run planned or measured.
    pub fn of_run(run: &Run) -> Self {
        Self::of(run.plan.specs().into_iter().chain(run.trials.iter().map(|trial| trial.measured.spec())))
    }

    /// Of these configurations.
    pub fn of(specs: impl IntoIterator<Item = ProbeSpec>) -> Self {
        let mut amounts: BTreeMap<String, Vec<Option<Amount>>> = BTreeMap::new();
        for spec in distinct(specs) {
            amounts.entry(spec.to_string()).or_default().push(spec.probe().amount());
        }
        let differ = |amounts: &[Option<Amount>]| amounts.iter().any(|amount| *amount != amounts[0]);
        Self { shared: amounts.into_iter().filter(|(_, all)| differ(all)).map(|(name, _)| name).collect() }
    }

    /// What has to be added to the name of a configuration.
    pub fn amount(&self, probe: &dyn Probe) -> Option<Amount> {
        let name = format!("{} {probe}", probe.name());
        self.shared.contains(&name).then(|| probe.amount()).flatten()
    }

    /// The name in English, as documents for programs have it.
    pub fn name(&self, spec: &ProbeSpec) -> String {
        match self.amount(spec.probe()) {
            None => spec.to_string(),
            Some(Amount::Count(count)) => format!("{spec} {count} round trips"),
            Some(Amount::Duration(duration)) => format!("{spec} {duration}"),
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
}
