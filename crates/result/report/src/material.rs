//! Input of a report.

use model::{Assessment, Limited, ProbeSpec, Run, Trial, TrialAssessment};

use crate::{limited::place_at, texts::Texts};

/// Everything a report is made of.
#[derive(Clone, Copy, Debug)]
pub struct Material<'a> {
    /// The run.
    pub run: &'a Run,
    /// The assessment.
    pub assessment: &'a Assessment,
    /// The files that stand beside the report.
    pub files: &'a [RawFile],
}

/// A file beside the report: one of its sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawFile {
    /// Its name in the report's folder.
    pub name: String,
    /// Its length.
    pub bytes: usize,
    /// SHA-256 of its content, 64 hexadecimal digits.
    pub sha256: String,
}

impl<'a> Material<'a> {
    /// A run and its assessment, without files.
    pub fn of(run: &'a Run, assessment: &'a Assessment) -> Self {
        Self { run, assessment, files: &[] }
    }

    /// `limited by receiver CPU (b)` for each place that limited a configuration or one way of it, with its count where trials name
    /// several. Empty where none is known.
    pub(crate) fn limits(&self, spec: &ProbeSpec, way: Option<(&str, &str)>, t: &Texts) -> Vec<String> {
        let goes = |row: &&Limited| match (&row.way, way) {
            (Some((from, to)), Some(way)) => (from.as_str(), to.as_str()) == way,
            _ => true,
        };
        let words = |row: &Limited| {
            let place = place_at(row.by.place, row.by.endpoint.as_deref(), t);
            let all = row.trials.len() == row.of;
            let count = if all { String::new() } else { format!(" ({}/{})", row.trials.len(), row.of) };
            t.with("limited-by", &[("place", &(place + &count))])
        };
        self.assessment.limited.iter().filter(|row| row.spec == *spec).filter(goes).map(words).collect()
    }

    /// Each trial with its assessment.
    pub(crate) fn trials(&self) -> impl Iterator<Item = (&'a Trial, &'a TrialAssessment)> + use<'a> {
        self.run.trials.iter().zip(&self.assessment.trials)
    }
}
