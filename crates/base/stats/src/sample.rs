//! The whole sample of a trial beside the figures that summarise it.

use model::{
    TimeSummary, Trial,
    plausible::{Checked, Implausible},
    trial::Sample,
};

use crate::TimeHistogram;

/// Whether a trial is possible: its figures, and its whole sample beside them.
pub fn check(trial: &Trial) -> Checked {
    trial.check()?;
    let Some(sample) = trial.sample().filter(|sample| !sample.histogram.is_empty()) else { return Ok(()) };
    agrees(sample).map_err(|why| Implausible { field: "histogram".to_owned(), why })
}

/// Whether a sample is as large as its summary says, with the same smallest and largest time and the same percentiles.
fn agrees(Sample { name, summary, histogram }: Sample<'_>) -> Result<(), String> {
    let sample = TimeHistogram::decode(histogram).map_err(|error| error.to_string())?.summary();
    if sample.n != summary.n {
        return Err(format!("it has {} times, {name} {}", sample.n, summary.n));
    }
    for ((figure, told), (_, found)) in known(summary).into_iter().zip(known(&sample)) {
        let Some(told) = told else { continue };
        if !found.is_some_and(|found| is_near(found, told)) {
            let found = found.map_or_else(|| "unknown".to_owned(), |found| found.to_string());
            return Err(format!("its {figure} is {found}, that of {name} {told}"));
        }
    }
    Ok(())
}

fn known(times: &TimeSummary) -> [(&'static str, Option<u64>); 6] {
    let TimeSummary { min, p50, p90, p99, p999, max, .. } = *times;
    [("min", min), ("p50", p50), ("p90", p90), ("p99", p99), ("p999", p999), ("max", max)]
}

/// A histogram has three digits of each time.
fn is_near(found: u64, told: u64) -> bool {
    found.abs_diff(told) <= 1 + told / 500
}

#[cfg(test)]
mod tests {
    use model::{LatencyResult, Measured, Plan, ProbeSpec, fixture};
    use proptest::prelude::*;

    use super::*;

    fn trial(summary: TimeSummary, histogram: String) -> Trial {
        let plan = Plan::parse("name = \"t\"\n[[latency]]\nprotocol = \"udp\"\nframe_sizes = [64]", &[]).unwrap();
        let ProbeSpec::Latency(spec) = plan.specs().remove(0) else { panic!("latency") };
        let missing = summary.n.saturating_sub(100);
        let result = LatencyResult {
            sent: summary.n,
            lost: Some(missing),
            rtt_ns: summary,
            histogram,
            ..LatencyResult::default()
        };
        fixture::trial(Measured::Latency { spec, result: Box::new(result) })
    }

    fn of(times: impl IntoIterator<Item = u64>) -> TimeHistogram {
        let mut sample = TimeHistogram::new();
        times.into_iter().for_each(|nanos| sample.record(nanos));
        sample
    }

    #[test]
    fn figures_that_are_not_of_the_sample_are_named() {
        let sample = of((1..=100).map(|number| number * 12_345));
        let (summary, histogram) = (sample.summary(), sample.encode());
        let checked = |summary: TimeSummary, histogram: &str| {
            check(&trial(summary, histogram.to_owned())).map_err(|error| error.to_string())
        };
        assert_eq!(checked(summary.clone(), &histogram), Ok(()));
        assert_eq!(checked(summary.clone(), ""), Ok(()), "it was not kept");
        let wrong = |change: fn(&mut TimeSummary)| {
            let mut changed = summary.clone();
            change(&mut changed);
            checked(changed, &histogram).unwrap_err()
        };
        assert_eq!(wrong(|it| it.n = 101), "histogram cannot be: it has 100 times, rtt_ns 101");
        assert_eq!(wrong(|it| it.min = Some(12_000)), "histogram cannot be: its min is 12344, that of rtt_ns 12000");
        assert!(wrong(|it| it.p90 = Some(1_200_000)).contains("its p90 is "));
        assert!(wrong(|it| it.p99 = Some(1_230_000)).ends_with("its p99 is unknown, that of rtt_ns 1230000"));
        assert!(wrong(|it| it.max = Some(2_000_000)).contains("its max is "));
        assert!(checked(summary.clone(), "no base64!").unwrap_err().contains("histogram cannot be: it is not base64"));
        assert!(checked(summary, &histogram[..histogram.len() - 4]).unwrap_err().contains("not an HDR histogram"));
    }

    #[test]
    fn a_trial_whose_figures_are_not_possible_is_refused_without_a_look_at_its_sample() {
        let refused = check(&Trial { duration_s: -1.0, ..trial(TimeSummary::default(), "no base64!".to_owned()) });
        assert_eq!(refused.unwrap_err().field, "duration_s");
    }

    proptest! {
        #[test]
        fn every_sample_agrees_with_its_own_summary(
            times in prop::collection::vec(0u64..=70_000_000_000, 0..1500), missing in 0u64..30,
        ) {
            let mut sample = of(times);
            (0..missing).for_each(|_| sample.record_missing());
            let (summary, histogram) = (sample.summary(), sample.encode());
            prop_assert_eq!(agrees(Sample { name: "rtt_ns", summary: &summary, histogram: &histogram }), Ok(()));
        }
    }
}
