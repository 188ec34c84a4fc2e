//! Exit of the program.

pub(crate) mod failure;

use std::process::ExitCode;

use model::{Assessment, Conclusion, Verdict, card_health::Health};

use crate::output::say;

/// Meaning of the exit status.
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

/// The gravest first: of several that apply, a script is told this one.
const GRAVEST_FIRST: [Exit; 6] =
    [Exit::Words, Exit::Interrupted, Exit::Failed, Exit::CouldNot, Exit::Inconclusive, Exit::Done];

impl Exit {
    /// The graver of two.
    pub(crate) fn and(self, other: Self) -> Self {
        let rank = |exit: &Self| GRAVEST_FIRST.iter().position(|known| known == exit);
        [self, other].into_iter().min_by_key(rank).unwrap_or(self)
    }

    /// The status of a run with these conclusions.
    pub(crate) fn of_run(assessment: &Assessment, is_partial: bool) -> Self {
        Self::of(assessment.verdict, assessment.card.as_ref().map(|card| card.health), is_partial)
    }

    /// The status of a verdict and of the health of a card, of which something may not have been run.
    fn of(verdict: Option<Verdict>, health: Option<Health>, is_partial: bool) -> Self {
        let of_part = if is_partial { Self::Inconclusive } else { Self::Done };
        Self::from(verdict).and(health.map_or(Self::Done, Self::from)).and(of_part)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.status())
    }
}

impl Exit {
    /// Number.
    pub(crate) fn status(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::CouldNot => 1,
            Self::Words => 2,
            Self::Failed => 3,
            Self::Inconclusive => 4,
            Self::Interrupted => 130,
            Self::Program(status) => status,
        }
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

impl From<Health> for Exit {
    fn from(health: Health) -> Self {
        match health {
            Health::Fine => Self::Done,
            Health::Undecided => Self::Inconclusive,
            Health::OtherSlot | Health::NotFine => Self::Failed,
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

/// The command needs root.
#[derive(Debug, thiserror::Error)]
#[error("{0}; run the same command with sudo")]
pub(crate) struct NeedsRoot(pub(crate) String);

/// No disk has the room for what a command will write.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct NoRoom(pub(crate) String);

/// An error and what caused it. Many say the words of their cause themselves; these are not said twice.
pub(crate) fn in_words(error: &anyhow::Error) -> String {
    let causes = error.chain().map(ToString::to_string);
    causes
        .reduce(|said, cause| if said.contains(&cause) { said } else { format!("{said}: {cause}") })
        .unwrap_or_default()
}

/// Says what went wrong, keeps it for JSON, and gives the exit status for it.
pub(crate) fn explain(error: &anyhow::Error) -> Exit {
    failure::keep(error);
    say(&format!("wireproof: {}", in_words(error)));
    if error.is::<Words>() { Exit::Words } else { Exit::CouldNot }
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn a_failed_limit_wins_over_what_could_not_be_done() {
        let of = |exits: &[Exit]| exits.iter().copied().fold(Exit::Done, Exit::and);
        assert_eq!(of(&[Exit::CouldNot, Exit::Failed, Exit::Inconclusive]), Exit::Failed);
        assert_eq!(of(&[Exit::Inconclusive, Exit::CouldNot]), Exit::CouldNot);
        assert_eq!(of(&[Exit::Failed, Exit::Interrupted]), Exit::Interrupted);
        assert_eq!(of(&[Exit::Words, Exit::Failed]), Exit::Words);
        assert_eq!(of(&[]), Exit::Done);
    }

    #[test]
    fn a_run_of_which_something_was_left_out_did_not_pass() {
        assert_eq!(Exit::of(Some(Verdict::Pass), None, false), Exit::Done);
        assert_eq!([None, Some(Verdict::Pass)].map(|verdict| Exit::of(verdict, None, true)), [Exit::Inconclusive; 2]);
        assert_eq!(Exit::of(Some(Verdict::Fail), None, true), Exit::Failed);
    }

    #[test]
    fn a_script_is_told_whether_a_card_is_fine() {
        let of = |health| Exit::of(None, Some(health), false).status();
        let each = [Health::Fine, Health::Undecided, Health::OtherSlot, Health::NotFine];
        assert_eq!(each.map(of), [0, 4, 3, 3]);
        assert_eq!(Exit::of(None, Some(Health::NotFine), true), Exit::Failed, "found before it ended");
        assert_eq!(Exit::of(Some(Verdict::Fail), Some(Health::Fine), false), Exit::Failed);
    }

    #[test]
    fn a_cause_that_the_message_has_already_is_said_once() {
        let gone = || Err::<(), _>(std::io::Error::other("the disk is gone"));
        let with = |words: &'static str| in_words(&gone().context(words).unwrap_err());
        assert_eq!(with("cannot write"), "cannot write: the disk is gone");
        assert_eq!(with("cannot write: the disk is gone; get another"), "cannot write: the disk is gone; get another");
    }
}
