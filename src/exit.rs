//! How the program ends.

use std::process::ExitCode;

use model::{Conclusion, Verdict};

use crate::output::say;

/// What the exit status says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, and every limit passed, or there is none.
    Done,
    /// Could not do it.
    CouldNot,
    /// The words on the command line or in the plan are wrong.
    Words,
    /// A limit failed, or something is worse than in the run it is compared with.
    Failed,
    /// No limit failed and nothing is shown to be worse, but something is inconclusive or was not run.
    Inconclusive,
    /// Interrupted; finished trials are stored.
    Interrupted,
    /// Exit status of a foreign program that was run.
    Program(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::CouldNot => 1,
            Exit::Words => 2,
            Exit::Failed => 3,
            Exit::Inconclusive => 4,
            Exit::Interrupted => 130,
            Exit::Program(status) => status,
        })
    }
}

impl From<Option<Verdict>> for Exit {
    fn from(verdict: Option<Verdict>) -> Self {
        match verdict {
            None | Some(Verdict::Pass) => Self::Done,
            Some(Verdict::Fail) => Self::Failed,
            Some(Verdict::Inconclusive | Verdict::NotRun | Verdict::NotComparable) => Self::Inconclusive,
        }
    }
}

impl From<Conclusion> for Exit {
    fn from(conclusion: Conclusion) -> Self {
        match conclusion {
            Conclusion::NothingWorse => Self::Done,
            Conclusion::Worse => Self::Failed,
            Conclusion::NotDecidable | Conclusion::NothingNew | Conclusion::NothingInCommon => Self::Inconclusive,
        }
    }
}

/// An error in the command line or in a file of the user: exit status 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Words(pub(crate) String);

/// An error and what caused it. Many say the words of their cause themselves; these are not said twice.
pub(crate) fn in_words(error: &anyhow::Error) -> String {
    let causes = error.chain().map(ToString::to_string);
    causes
        .reduce(|said, cause| if said.contains(&cause) { said } else { format!("{said}: {cause}") })
        .unwrap_or_default()
}

/// Says what went wrong, and gives the exit status for it.
pub(crate) fn explain(error: &anyhow::Error) -> Exit {
    say(&format!("wireproof: {}", in_words(error)));
    if error.is::<Words>() { Exit::Words } else { Exit::CouldNot }
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn a_cause_that_the_message_has_already_is_said_once() {
        let gone = || Err::<(), _>(std::io::Error::other("the disk is gone"));
        let with = |words: &'static str| in_words(&gone().context(words).unwrap_err());
        assert_eq!(with("cannot write"), "cannot write: the disk is gone");
        assert_eq!(with("cannot write: the disk is gone; get another"), "cannot write: the disk is gone; get another");
    }
}
