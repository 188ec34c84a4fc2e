//! Input of a report.

use jiff::tz::TimeZone;
use model::{Assessment, Limited, ProbeSpec, Run, Trial, TrialAssessment};

use crate::{lang::Lang, limited::place_at, texts::Texts};

/// Everything a report is made of.
#[derive(Clone, Copy, Debug)]
pub struct Material<'a> {
    /// The run.
    pub run: &'a Run,
    /// The assessment.
    pub assessment: &'a Assessment,
    /// The files that stand beside the report.
    pub files: &'a [RawFile],
    /// Time zone of the reader, which all times are shown in.
    pub zone: &'a TimeZone,
}

static UTC: TimeZone = TimeZone::UTC;

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
    /// A run and its assessment, without files, in UTC.
    pub fn of(run: &'a Run, assessment: &'a Assessment) -> Self {
        Self { run, assessment, files: &[], zone: &UTC }
    }

    /// Texts for a document about it.
    pub(crate) fn texts(&self, lang: Lang) -> Texts {
        Texts::about(lang, [self.run], self.zone.clone())
    }

    /// Texts for a document about several.
    pub(crate) fn texts_of(materials: &[Self], lang: Lang) -> Texts {
        let zone = materials.first().map_or(TimeZone::UTC, |one| one.zone.clone());
        Texts::about(lang, materials.iter().map(|one| one.run), zone)
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
