//! Failures as values, for those who ask for JSON.

use std::{
    io,
    sync::{Mutex, PoisonError},
};

use agent::{bypass::BypassError, router::RouterError};
use bed::{BedError, Refusal};
use protocol::{AgentError, FailureKind, Fault, SshError};
use report::{ErrorDocument, FailureCategory as Category, FailureEntry};
use run::RunError;
use store::StoreError;

use super::{Exit, NeedsRoot, NoRoom, Words, in_words};

/// Failures so far, in the order in which they were said.
static SAID: Mutex<Vec<FailureEntry>> = Mutex::new(Vec::new());

/// Keeps a failure for the document at the end.
pub(crate) fn keep(error: &anyhow::Error) {
    SAID.lock().unwrap_or_else(PoisonError::into_inner).push(entry(error));
}

/// The document of what failed; `None` where nothing did.
pub(crate) fn document(exit: Exit) -> Option<ErrorDocument> {
    let said = SAID.lock().unwrap_or_else(PoisonError::into_inner).clone();
    of_several(said, exit)
}

fn of_several(mut said: Vec<FailureEntry>, exit: Exit) -> Option<ErrorDocument> {
    if said.is_empty() && exit == Exit::Interrupted {
        said.push(FailureEntry {
            kind: Category::Interrupted,
            message: "interrupted before there was anything to report".to_owned(),
            advice: None,
        });
    }
    let more = said.split_off(said.len().min(1));
    said.pop().map(|first| ErrorDocument::of(first, more, exit.status()))
}

/// A failure of the command line, of which clap wrote this text.
pub(crate) fn of_words(written: &str) -> ErrorDocument {
    let tips = written.lines().filter_map(|line| line.trim_start().strip_prefix("tip: "));
    let tips: Vec<&str> = tips.collect();
    let message = written.split("\n\n").next().unwrap_or_default();
    let message = message.strip_prefix("error: ").unwrap_or(message);
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let advice = if tips.is_empty() { remedy(&message).map(str::to_owned) } else { Some(tips.join("; ")) };
    let entry = FailureEntry { kind: Category::Usage, message, advice };
    ErrorDocument::of(entry, Vec::new(), Exit::Words.status())
}

/// Remedy in a message about a value: the possible values, or the words behind a semicolon that stands in no quotation.
fn remedy(message: &str) -> Option<&str> {
    let reason = message.rsplit_once("' for '").map_or(message, |(_, reason)| reason);
    if let Some((_, values)) = reason.rsplit_once('[') {
        let values = values.strip_suffix(']').filter(|values| values.starts_with("possible values: "));
        if values.is_some() {
            return values;
        }
    }
    let is_quoted = |at: usize| reason[..at].matches('"').count() % 2 == 1;
    reason.match_indices("; ").find(|(at, _)| !is_quoted(*at)).map(|(at, semicolon)| &reason[at + semicolon.len()..])
}

fn entry(error: &anyhow::Error) -> FailureEntry {
    let message = in_words(error);
    let (kind, advice) = error.chain().find_map(of_cause).unwrap_or((Category::Other, Advice::InMessage));
    let advice = match advice {
        Advice::InMessage => message.split_once("; ").map(|(_, advice)| advice.to_owned()),
        Advice::Given(advice) => advice,
    };
    FailureEntry { kind, message, advice }
}

/// Place of an error's advice.
#[derive(Debug, PartialEq)]
enum Advice {
    /// In its message, behind the first semicolon, as all errors of this program have it.
    InMessage,
    /// Here, or nowhere.
    Given(Option<String>),
}

type Known = (Category, Advice);

/// Category and advice of an error; `None` where its cause tells.
fn of_cause(error: &(dyn std::error::Error + 'static)) -> Option<Known> {
    if error.is::<Words>() {
        return Some((Category::Usage, Advice::InMessage));
    }
    if error.is::<NeedsRoot>() {
        return Some((Category::Privilege, Advice::InMessage));
    }
    if error.is::<NoRoom>() {
        return Some((Category::Store, Advice::InMessage));
    }
    if let Some(error) = error.downcast_ref::<StoreError>() {
        return Some(of_store(error));
    }
    if let Some(error) = error.downcast_ref::<BedError>() {
        return Some(of_bed(error));
    }
    if let Some(error) = error.downcast_ref::<RunError>() {
        return Some(match error {
            RunError::Misfit(_) => (Category::Usage, Advice::InMessage),
            RunError::Bed(error) => of_bed(error),
            RunError::Trial { error, .. } => of_agent(error, Category::Measurement),
            RunError::Impossible { .. } => (Category::Measurement, Advice::Given(None)),
            RunError::Confused { .. } => (Category::Bug, Advice::Given(None)),
        });
    }
    if let Some(error) = error.downcast_ref::<BypassError>() {
        let kind = match error {
            BypassError::NoRoot | BypassError::UserNamespace => Category::Privilege,
            BypassError::Interface(_) => Category::Usage,
            BypassError::Kernel(error) => of_kernel(error),
            BypassError::Program { .. } | BypassError::NoLibrary(_) | BypassError::LibraryPath(_) => Category::File,
            BypassError::Grant(_) => Category::Other,
        };
        return Some((kind, Advice::InMessage));
    }
    if let Some(error) = error.downcast_ref::<RouterError>() {
        let kind = match error {
            RouterError::NoRoot => Category::Privilege,
            RouterError::Missing { .. } | RouterError::Twice(_) => Category::Usage,
            RouterError::Kernel(error) => of_kernel(error),
            RouterError::Program(_) | RouterError::Busy(_) => Category::Kernel,
            _ => Category::Other,
        };
        return Some((kind, Advice::InMessage));
    }
    if let Some(error) = error.downcast_ref::<kernel::Error>() {
        return Some((of_kernel(error), Advice::InMessage));
    }
    error.is::<io::Error>().then_some((Category::File, Advice::InMessage))
}

fn of_store(error: &StoreError) -> Known {
    let advice = match error {
        StoreError::OtherName { .. } | StoreError::Unreadable { .. } | StoreError::Impossible { .. } => {
            Advice::Given(None)
        }
        _ => Advice::InMessage,
    };
    (Category::Store, advice)
}

fn of_bed(error: &BedError) -> Known {
    match error {
        BedError::Agent(error) | BedError::SetUp(error) => of_agent(error, Category::Bed),
        BedError::Orphaned(_) => (Category::Bed, Advice::Given(None)),
        BedError::Lost { .. } => (Category::Host, Advice::Given(None)),
        BedError::NotUndone { error, .. } => match of_bed(error) {
            (kind, Advice::InMessage) => (kind, Advice::Given(None)),
            known => known,
        },
        BedError::Refused(Refusal::NotRoot { .. }) => (Category::Privilege, Advice::Given(None)),
        BedError::Ssh(SshError::Refused { advice, .. }) => (Category::Host, Advice::Given(advice.clone())),
        BedError::Ssh(_) | BedError::Hosts(_) => (Category::Host, Advice::InMessage),
        BedError::Interrupted => (Category::Interrupted, Advice::Given(None)),
        _ => (Category::Bed, Advice::InMessage),
    }
}

fn of_agent(error: &AgentError, otherwise: Category) -> Known {
    match &error.fault {
        Fault::Failed(failure) => {
            let kind = match failure.kind {
                FailureKind::Privilege => Category::Privilege,
                FailureKind::Bug => Category::Bug,
                FailureKind::Kernel => Category::Kernel,
                FailureKind::Measurement => Category::Measurement,
                FailureKind::Change => Category::Bed,
                FailureKind::Cancelled => otherwise,
            };
            (kind, Advice::Given(failure.advice.clone()))
        }
        Fault::OtherBuild { .. } | Fault::Stuck { .. } => (otherwise, Advice::InMessage),
        Fault::Confused(_) => (Category::Bug, Advice::Given(None)),
        _ => (otherwise, Advice::Given(None)),
    }
}

fn of_kernel(error: &kernel::Error) -> Category {
    match error.io_kind() {
        io::ErrorKind::PermissionDenied => Category::Privilege,
        _ => Category::Kernel,
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Context;
    use protocol::Failure;

    use super::*;

    fn known(error: impl Into<anyhow::Error>) -> (Category, Option<String>) {
        let entry = entry(&error.into());
        (entry.kind, entry.advice)
    }

    fn of_agent(failure: Failure) -> AgentError {
        AgentError { agent: "agent at endpoint a".into(), fault: Fault::Failed(Box::new(failure)) }
    }

    #[test]
    fn a_failure_has_a_kind_and_its_advice() {
        let advice = |text: &str| Some(text.to_owned());
        assert_eq!(known(Words("no plan x; give a file".into())), (Category::Usage, advice("give a file")));
        let needs_root = NeedsRoot("beds that stay belong to root".into());
        assert_eq!(known(needs_root), (Category::Privilege, advice("run the same command with sudo")));
        let no_room = NoRoom("the disk of /x is full; make room there".into());
        assert_eq!(known(no_room), (Category::Store, advice("make room there")));
        let absent = StoreError::Absent { path: "/x/runs.db".into() };
        let (kind, told) = known(anyhow::Error::new(absent).context("cannot list"));
        assert_eq!(kind, Category::Store);
        assert!(told.is_some_and(|told| told.starts_with("measure something first")));
        let full = Err::<(), _>(io::Error::other("no space left")).context("cannot write x").unwrap_err();
        assert_eq!(known(full), (Category::File, None));
        assert_eq!(known(anyhow::anyhow!("it is late")), (Category::Other, None));
    }

    #[test]
    fn what_happened_after_a_failure_is_not_taken_for_advice() {
        let refused = || of_agent(Failure::new(FailureKind::Change, "eth1", "cannot set eth1; it is busy"));
        assert_eq!(known(BedError::SetUp(refused())), (Category::Bed, None));
        let exists = BedError::NotUndone {
            error: Box::new(BedError::Exists("x".into())),
            undoing: Box::new(BedError::Orphaned(refused())),
        };
        assert_eq!(known(exists), (Category::Bed, None));
        let advised = Failure::new(FailureKind::Privilege, "", "may not").advised("be root");
        let trial = RunError::Trial { step: "latency".into(), error: of_agent(advised) };
        assert_eq!(known(trial), (Category::Privilege, Some("be root".into())));
    }

    #[test]
    fn the_first_of_several_failures_is_the_one_and_an_interruption_is_one_too() {
        let entries = ["first", "second"].map(|words| entry(&anyhow::anyhow!(words)));
        let both = of_several(entries.to_vec(), Exit::CouldNot).unwrap();
        assert_eq!((both.failure.message.as_str(), both.exit_status), ("first", 1));
        assert_eq!(both.more[0].message, "second");
        assert!(of_several(Vec::new(), Exit::Inconclusive).is_none());
        let interrupted = of_several(Vec::new(), Exit::Interrupted).unwrap();
        assert_eq!((interrupted.failure.kind, interrupted.exit_status), (Category::Interrupted, 130));
    }

    #[test]
    fn wrong_words_keep_their_tip_and_lose_the_usage() {
        let written = "error: unrecognized subcommand 'verfy'\n\n  tip: a similar subcommand exists: 'verify'\n\nUsage: wireproof\n";
        let document = of_words(written);
        assert_eq!(document.exit_status, 2);
        assert_eq!(document.failure.message, "unrecognized subcommand 'verfy'");
        assert_eq!(document.failure.advice.as_deref(), Some("a similar subcommand exists: 'verify'"));
    }

    #[test]
    fn wrong_values_keep_their_remedy() {
        let advice = |written: &str| {
            of_words(&format!("error: {written}\n\nFor more information, try '--help'.\n")).failure.advice
        };
        let told = |text: &str| Some(text.to_owned());
        let values = "invalid value 'fr' for '--lang <LANG>'\n  [possible values: en, ja]";
        assert_eq!(advice(values), told("possible values: en, ja"));
        let number =
            "invalid value 'a; b' for '--duration <D>': \"a; b\" does not start with a number; write it like \"10 s\"";
        assert_eq!(advice(number), told("write it like \"10 s\""));
        assert_eq!(advice("invalid value 'a; b' for '--duration <D>': \"a; b\" is too large"), None);
    }
}
