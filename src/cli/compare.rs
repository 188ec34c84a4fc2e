//! Options of the commands that compare.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use model::{Percent, RunId};

/// Runs to compare.
#[derive(Clone, Debug, Args)]
pub(crate) struct Compared {
    /// Runs: a name, its beginning, "last", "baseline" or "baseline:NAME". The others are compared with the first; a
    /// single one is compared with the baseline of its plan and bed.
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<RunId>,
    /// How much worse a time or a rate may be, in percent of the reference. More loss and a smaller path MTU are always
    /// worse.
    #[arg(long, allow_hyphen_values = true, default_value = "0%", value_name = "PERCENT")]
    pub(crate) tolerance: Percent,
    /// Folder for the files of the comparison; without it none is written.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Forms of the comparison, like html,pdf,md; each is a file in the folder.
    #[arg(long = "format", value_enum, value_delimiter = ',', default_values_t = [ComparedFormat::Html, ComparedFormat::Json], requires = "out", value_name = "FORMS")]
    pub(crate) formats: Vec<ComparedFormat>,
}

/// A form of a comparison. Its name is the ending of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ComparedFormat {
    /// One page for a browser, with everything in it.
    Html,
    /// A document on A4, to hand over and to print.
    Pdf,
    /// Markdown, for wikis and issues.
    Md,
    /// Everything, for programs.
    Json,
}

impl ComparedFormat {
    /// Name of the file.
    pub(crate) fn file_name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |form| format!("compare.{}", form.get_name()))
    }
}

/// Uses of baselines.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum BaselineAction {
    /// Make a run the baseline of its plan and bed.
    Set {
        /// A run, the beginning of its name, or "last".
        run: RunId,
        /// A name for it, to keep several; compare with "baseline:NAME".
        #[arg(long, default_value = "", hide_default_value = true, value_parser = parse_name)]
        name: String,
    },
    /// List the baselines.
    #[command(alias = "list")]
    Show,
}

/// A name stands in lists and behind "baseline:".
fn parse_name(text: &str) -> Result<String, String> {
    const LONGEST: usize = 60;
    if text.chars().count() > LONGEST || text.chars().any(char::is_control) {
        return Err(format!("a name is one line of at most {LONGEST} characters"));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::parse_name;

    #[test]
    fn a_baseline_has_a_name_of_one_line() {
        assert_eq!(parse_name("release 1"), Ok("release 1".to_owned()));
        assert!(parse_name("a\nb").is_err() && parse_name(&"x".repeat(61)).is_err());
    }
}
