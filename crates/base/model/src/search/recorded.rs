//! Trials that somebody recorded, as CSV.

use std::str::FromStr;

use super::{Ratio, TrialResult};
use crate::{plain::one_line, units::Nanos};

/// Recorded trials that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrialsError {
    /// There is nothing but a head, or not even that.
    #[error("there is no trial; write \"load,duration,loss_ratio\" in the first line, and a trial in each further one")]
    Empty,
    /// More than anybody records, of which each goal would say something.
    #[error("there are more than {most} trials; leave some out", most = MOST_TRIALS)]
    TooMany,
    /// The first line does not name the columns.
    #[error("line 1 names no column \"{0}\"; write \"load,duration,loss_ratio\" there")]
    Head(&'static str),
    /// A line has no such value.
    #[error("line {line}: {why}")]
    Line {
        /// Counts from 1.
        line: usize,
        /// The fault and its remedy.
        why: String,
    },
}

const LOAD: &str = "load";
const DURATION: &str = "duration";
const LOSS: &str = "loss_ratio";
/// Column that may be absent.
const EFFECTIVE: &str = "effective_duration";

const MOST_TRIALS: usize = 100_000;

/// Letters of a cell that a message shows.
const MOST_SHOWN: usize = 40;

/// Reads trials from CSV. The first line names the columns `load`, `duration` and `loss_ratio`, in any order and among others;
/// `effective_duration` may be one. Durations are seconds, or have a unit; ratios are shares of 1, or have a percent sign.
pub fn parse_trials(csv: &str) -> Result<Vec<TrialResult>, TrialsError> {
    let csv = csv.strip_prefix('\u{feff}').unwrap_or(csv);
    let mut lines = csv.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let Some((_, head)) = lines.next() else { return Err(TrialsError::Empty) };
    let columns = Columns::of(head)?;
    let trial =
        |(index, line): (usize, &str)| columns.trial(line).map_err(|why| TrialsError::Line { line: index + 1, why });
    let trials = lines.take(MOST_TRIALS + 1).map(trial).collect::<Result<Vec<_>, _>>()?;
    match trials.len() {
        0 => Err(TrialsError::Empty),
        1..=MOST_TRIALS => Ok(trials),
        _ => Err(TrialsError::TooMany),
    }
}

/// Place of each column.
struct Columns {
    load: usize,
    duration: usize,
    loss: usize,
    effective: Option<usize>,
}

impl Columns {
    fn of(head: &str) -> Result<Self, TrialsError> {
        let place = |name: &str| cells(head).position(|cell| cell == name);
        let required = |name: &'static str| place(name).ok_or(TrialsError::Head(name));
        Ok(Self {
            load: required(LOAD)?,
            duration: required(DURATION)?,
            loss: required(LOSS)?,
            effective: place(EFFECTIVE),
        })
    }

    fn trial(&self, line: &str) -> Result<TrialResult, String> {
        let cell = |place: usize, name: &str| {
            cells(line).nth(place).filter(|cell| !cell.is_empty()).ok_or_else(|| format!("there is no {name}"))
        };
        let time = |place: usize, name: &str| positive(name, cell(place, name)?, seconds);
        let loss = cell(self.loss, LOSS)?;
        let loss_ratio = loss.parse::<Ratio>().ok().filter(|loss| (0.0..=1.0).contains(&loss.0));
        let duration_s = time(self.duration, DURATION)?;
        Ok(TrialResult {
            load: positive(LOAD, cell(self.load, LOAD)?, |text| text.parse().ok())?,
            duration_s,
            effective_s: self.effective.map_or(Ok(duration_s), |place| time(place, EFFECTIVE))?,
            loss_ratio: loss_ratio.ok_or_else(|| wrong(LOSS, loss, "a share from 0 to 1, like 0.005 or 0.5%"))?.0,
        })
    }
}

fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(|cell| cell.trim().trim_matches('"').trim())
}

/// A number above zero; loads have no unit, as all of them have the same.
fn positive(name: &str, text: &str, read: impl FnOnce(&str) -> Option<f64>) -> Result<f64, String> {
    let example =
        if name == LOAD { "a number above 0 without a unit, like 1000000" } else { "seconds above 0, like 60" };
    read(text).filter(|number| number.is_finite() && *number > 0.0).ok_or_else(|| wrong(name, text, example))
}

/// Seconds as a number, or as a time with its unit.
fn seconds(text: &str) -> Option<f64> {
    f64::from_str(text).ok().or_else(|| Nanos::from_str(text).ok().map(Nanos::as_secs_f64))
}

fn wrong(name: &str, text: &str, example: &str) -> String {
    let shown: String = text.chars().take(MOST_SHOWN).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    format!("{name} \"{}{more}\" is not right; write {example}", one_line(&shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(csv: &str) -> String {
        parse_trials(csv).expect_err("a fault").to_string()
    }

    #[test]
    fn trials_are_read_whatever_the_order_of_the_columns() {
        let trial = TrialResult { load: 1e6, duration_s: 60.0, effective_s: 60.0, loss_ratio: 0.005 };
        for csv in [
            "load,duration,loss_ratio\n1000000,60,0.005\n",
            "\u{feff}loss_ratio, load ,when,duration\r\n0.5 %,1e6,noon,1 min\r\n\r\n",
            "\"load\",\"duration\",\"loss_ratio\"\n\"1000000\",\"60s\",\"0.005\"",
        ] {
            assert_eq!(parse_trials(csv), Ok(vec![trial]), "{csv}");
        }
        let longer = "load,duration,loss_ratio,effective_duration\n1000000,60,0.005,67";
        assert_eq!(parse_trials(longer), Ok(vec![TrialResult { effective_s: 67.0, ..trial }]));
    }

    #[test]
    fn a_wrong_line_is_named_with_what_it_should_hold() {
        let line = |line: &str| error(&format!("load,duration,loss_ratio\n1,1,0\n{line}\n"));
        assert!(error("").contains("there is no trial") && error("load,duration,loss_ratio\n").contains("no trial"));
        assert_eq!(error("1,1,0"), "line 1 names no column \"load\"; write \"load,duration,loss_ratio\" there");
        assert!(error("load,duration,loss\n1,1,0").contains("no column \"loss_ratio\""));
        assert_eq!(line("1,1"), "line 3: there is no loss_ratio");
        assert!(line("1 Mpps,1,0").contains("load \"1 Mpps\" is not right; write a number above 0 without a unit"));
        assert!(line("0,1,0").contains("load \"0\"") && line("inf,1,0").contains("load \"inf\""));
        assert!(line("1,-1,0").contains("duration \"-1\"") && line("1,nan,0").contains("seconds above 0"));
        assert!(line("1,1,1.01").contains("a share from 0 to 1") && line("1,1,101%").contains("loss_ratio \"101%\""));
        assert!(line("1,1,-0.1").contains("loss_ratio \"-0.1\""));
        let long = line(&format!("{},1,0", "9x".repeat(5000)));
        assert!(long.len() < 200 && long.contains("9x…"), "{long}");
        assert!(line("\u{1b}[31m,1,0").contains("\\u{1b}[31m"));
        assert!(
            error(&format!("load,duration,loss_ratio\n{}", "1,1,0\n".repeat(100_001))).contains("more than 100000")
        );
    }
}
