//! Options of the commands that write a report.

use std::{env, path::PathBuf};

use clap::{Args, ValueEnum};
use report::Bars;
use verdict::Chosen;

/// Where to write the report, and in which forms.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReportFiles {
    /// Folder for the files of the report (default: beside the store).
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Forms of the report, like html,pdf,csv; each is a file in the folder.
    #[arg(long = "format", value_enum, value_delimiter = ',', default_values_t = [Format::Html, Format::Json], value_name = "FORMS")]
    pub(crate) formats: Vec<Format>,
    /// References to compare with, like rx2540-exanic-2015; all, also where conditions forbid it, or none (default: all that
    /// can be compared; none for a simulated bed).
    #[arg(long, value_name = "ID,ID…", value_parser = parse_references)]
    references: Option<Chosen>,
    /// Print a histogram of each configuration whose latency was measured, with its percentiles.
    #[arg(long, conflicts_with = "json")]
    pub(crate) histogram: bool,
    /// Print failed and open criteria, and doubts, as annotations of GitHub Actions.
    #[arg(long, conflicts_with = "json")]
    pub(crate) annotate: bool,
}

impl ReportFiles {
    /// Runs to compare with, ordinary where nothing was said.
    pub(crate) fn chosen(&self) -> Chosen {
        self.references.clone().unwrap_or_default()
    }

    /// Bars of the histograms, where these are asked for.
    pub(crate) fn histograms(&self) -> Option<Bars> {
        let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let locale = || set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG")).unwrap_or_default();
        self.histogram.then(|| bars(&locale()))
    }
}

/// Bars that a locale like `ja_JP.UTF-8` can show.
fn bars(locale: &str) -> Bars {
    let charset = locale.split_once('.').map_or("", |(_, charset)| charset).to_ascii_lowercase();
    if charset.starts_with("utf-8") || charset.starts_with("utf8") { Bars::Blocks } else { Bars::Ascii }
}

fn parse_references(text: &str) -> Result<Chosen, String> {
    match text {
        "all" => Ok(Chosen::All),
        "none" => Ok(Chosen::None),
        ids => {
            let ids: Vec<String> = ids.split(',').map(|id| id.trim().to_owned()).collect();
            match ids.iter().find(|id| !model::reference::is_id(id)) {
                Some(id) => Err(format!("\"{id}\" names no reference; \"wireproof references\" lists them")),
                None => Ok(Chosen::Named(ids)),
            }
        }
    }
}

/// A form of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One page for a browser, with everything in it.
    Html,
    /// A document on A4, to hand over and to print.
    Pdf,
    /// Markdown, for wikis and issues.
    Md,
    /// The figures of all trials, for a spreadsheet.
    Csv,
    /// Everything, for programs.
    Json,
    /// JUnit XML: criteria as tests, for CI systems.
    Junit,
    /// SARIF: failed and open criteria and doubts, for systems that show findings.
    Sarif,
    /// Test Anything Protocol: criteria as tests.
    Tap,
}

impl Format {
    /// Its word on the command line.
    pub(crate) fn word(self) -> String {
        self.to_possible_value().map_or_else(String::new, |form| form.get_name().to_owned())
    }

    /// Name of the file.
    pub(crate) fn file_name(self) -> String {
        // CI systems look for XML.
        format!("report.{}{}", self.word(), if self == Self::Junit { ".xml" } else { "" })
    }

    /// Whether it shows a report of several runs.
    pub(crate) fn is_of_several(self) -> bool {
        matches!(self, Self::Html | Self::Pdf | Self::Md | Self::Json)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_those_of_the_locale() {
        for locale in ["ja_JP.UTF-8", "C.utf8", "en_US.UTF-8@euro"] {
            assert_eq!(bars(locale), Bars::Blocks, "{locale}");
        }
        for locale in ["", "C", "POSIX", "ja_JP.eucJP", "en_US"] {
            assert_eq!(bars(locale), Bars::Ascii, "{locale}");
        }
    }
}
