//! `wireproof bypass`: a program of somebody else, its UDP past the kernel.

use agent::bypass::{self, BypassError, Event, Notice, Options};
use model::{bypass::Wait, json::pretty, plain::plain_json};
use report::{
    BypassDocument,
    bypass::{Words, ours},
};

use super::{language, own_program};
use crate::{
    cli::{BypassOptions, Common},
    exit::{Exit, explain},
    output::say,
};

/// Stands beside wireproof, as cargo names it.
const LIBRARY: &str = "libwireproof_preload.so";

/// Runs the program; standard input and output are its own, messages go to standard error.
pub(super) fn bypass(options: &BypassOptions, common: &Common) -> anyhow::Result<Exit> {
    let wait = match (options.spin, options.sleep) {
        (true, _) => Wait::Spin,
        (_, true) => Wait::Sleep,
        _ => Wait::Auto,
    };
    let library = own_program()?.with_file_name(LIBRARY);
    let (interfaces, program) = (options.dev.clone(), options.program.clone());
    let (quiet, speech) = (common.quiet, Words::of(language(common)));
    let tell = move |notice: Notice| {
        if !quiet && let Some(line) = line(&notice, speech) {
            say(&ours(&line));
        }
    };
    let (status, account) = match bypass::run(&Options { interfaces, wait, library, program }, tell) {
        Ok(ended) => ended,
        Err(error) => return failed(error),
    };
    match (options.stats, common.json) {
        (_, true) => say(&plain_json(&pretty(&serde_json::to_string(&BypassDocument::of(&account))?))),
        (true, _) => say(&speech.account(&account)),
        (false, _) if !quiet => speech.by_the_kernel(&account).iter().for_each(|line| say(line)),
        _ => {}
    }
    Ok(Exit::Program(status))
}

/// A program that cannot be run ends as a shell would end, and an interface that cannot be meant as wrong words.
fn failed(error: BypassError) -> anyhow::Result<Exit> {
    let status = error.status();
    let are_words_wrong = matches!(error, BypassError::Interface(_));
    let exit = explain(&error.into());
    Ok(if are_words_wrong { Exit::Words } else { status.map_or(exit, Exit::Program) })
}

/// Messages while the program runs; none in normal operation.
fn line(notice: &Notice, speech: Words) -> Option<String> {
    Some(match notice {
        Notice::Obstacle(obstacle) => speech.obstacle(obstacle),
        Notice::Passed(passed) => speech.stays(&passed.interface, &passed.why),
        Notice::Nothing { were_passed } => speech.nothing(*were_passed),
        Notice::Waits { processes } => speech.waits(*processes),
        Notice::Event(Event::Refused { program, why }) => speech.refused(program, why),
        Notice::Event(Event::Interface { name, health }) => speech.health(name, *health),
        Notice::Event(Event::Trouble(error)) => error.to_string(),
        Notice::Event(Event::NotSet(what)) => speech.not_set(what),
        Notice::Event(Event::Claimed(_) | Event::Ended(_) | Event::UngrantedSockets { .. }) => return None,
    })
}
