//! Conclusions from a run that a list of runs shows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    bufferbloat::Grade,
    card_health::Health,
    comparison::{ConfigurationFigures, MetricFigures, TrialFigures},
    plausible::{Checked, at_most, each, finite, refuse, text},
    verdict::Verdict,
};

/// Facts that a run which can be read adds to the history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReadEntry {
    /// Whether no real wire or card was involved.
    pub simulated: bool,
    /// Verdict over all limits; null if the plan has none.
    pub verdict: Option<Verdict>,
    /// Health of the cards; null where the plan does not ask for it.
    pub health: Option<Health>,
    /// Grade of the latency under load, of several the worst; null where none was measured.
    pub grade: Option<Grade>,
    /// Version and build of the program.
    pub wireproof: String,
    /// Figures of each configuration over its trials.
    pub configurations: Vec<ConfigurationFigures>,
}

crate::json!(ReadEntry);

impl ReadEntry {
    /// Whether it is possible, of a store's row.
    pub fn check(&self) -> Checked {
        text("wireproof", &self.wireproof)?;
        each("configurations", &self.configurations, |of| {
            let words = of.spec.to_string();
            if of.configuration != words {
                return refuse("configuration", format!("it is {words}"));
            }
            each("figures", &of.figures, check_figure)
        })
    }
}

fn check_figure(of: &MetricFigures) -> Checked {
    let unit = of.figure.quantity().unit();
    if of.unit != unit {
        return refuse("unit", format!("it is {unit}"));
    }
    let TrialFigures { median, interval, .. } = &of.over_trials;
    median.map_or(Ok(()), |median| finite("median", median))?;
    interval.map_or(Ok(()), |interval| {
        finite("interval.low", interval.low)?;
        finite("interval.high", interval.high)?;
        at_most("interval.confidence", interval.confidence, 1.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Interval, Json, Metric, ProbeSpec, Protocol, fixture};

    fn entry(unit: &str, high: f64) -> ReadEntry {
        let spec: ProbeSpec = fixture::goodput(Protocol::Tcp).into();
        let interval = Some(Interval { low: 9e9, high, confidence: 0.96875 });
        let over_trials = TrialFigures { trials: 6, median: Some(9.4e9 / 7.0), interval };
        let figure = MetricFigures { figure: Metric::GoodputMean, unit: unit.to_owned(), over_trials };
        let configurations =
            vec![ConfigurationFigures { configuration: spec.to_string(), spec, figures: vec![figure] }];
        ReadEntry {
            simulated: true,
            verdict: Some(Verdict::NotRun),
            health: Some(Health::Fine),
            grade: Some(Grade::APlus),
            wireproof: "0.1.0".to_owned(),
            configurations,
        }
    }

    #[test]
    fn a_conclusion_is_read_as_it_was_written_and_another_programs_is_refused() {
        let right = entry("bit/s", 9.5e9);
        assert_eq!(ReadEntry::from_json(&right.to_json()).unwrap(), right);
        assert_eq!(right.check(), Ok(()));
        let field = |wrong: ReadEntry| wrong.check().unwrap_err().field;
        assert_eq!(field(entry("bytes", 9.5e9)), "configurations 1.figures 1.unit");
        assert_eq!(field(entry("bit/s", 1e300)), "configurations 1.figures 1.interval.high");
        let mut other = right.clone();
        other.configurations[0].configuration = "latency".to_owned();
        assert_eq!(field(other), "configurations 1.configuration");
        assert_eq!(field(ReadEntry { wireproof: "x".repeat(1 << 17), ..right }), "wireproof");
    }
}
