//! One module for each command, in the order of its output.

mod bed;
mod beforehand;
mod bypass;
mod capture;
mod compare;
mod complete;
mod concluded;
mod device_table;
mod doctor;
mod dry_run;
mod history;
mod import;
mod inspect;
mod man;
mod measure;
mod path_to;
mod plans;
mod references;
mod repeat;
mod report;
mod resume;
mod rfc2544;
mod room;
mod router;
mod run_output;
mod runs;
mod series;
mod several;
mod sides;
mod table;
mod tune;
mod tuned;
mod wanted;
mod watch;
mod words;

use std::{env, path::PathBuf};

use ::report::{ErrorDocument, FailureCategory, Lang, Notice};
use anyhow::Context;
pub(crate) use complete::answer_shell;
use kernel::privilege;
use serde::Serialize;

use crate::{
    cli::{self, Cli, Command, Common, PacketsAction, ProbeCommand, StandsFor},
    exit::{Exit, explain, failure},
    output::{has_printed, print, print_json, print_json_line, say},
    zone,
};

/// Runs the command.
pub(crate) fn run(cli: Cli) -> Exit {
    let (json, place) = (cli.common.json, Place::of(&cli.command));
    let exit = act(cli).unwrap_or_else(|error| explain(&error));
    if json && let Some(document) = failure::document(exit) {
        place.tell(&document);
    }
    exit
}

/// Name of a command that reports its failure as JSON.
#[derive(Clone, Copy)]
enum Place {
    /// On standard output, in the place of its document.
    Document,
    /// On standard output, as a line behind its others.
    Line,
    /// On standard error, because standard output is another program's.
    Error,
}

impl Place {
    fn of(command: &Command) -> Self {
        match command {
            Command::Watch { .. } => Self::Line,
            Command::Bypass { .. } => Self::Error,
            _ => Self::Document,
        }
    }

    /// Nobody is left to hear of a failure.
    fn tell(self, document: &ErrorDocument) {
        match self {
            Self::Document if has_printed() => {}
            // Watching is often ended by a signal.
            Self::Line if document.failure.kind == FailureCategory::Interrupted => {}
            Self::Document | Self::Line => drop(print_json_line(document)),
            Self::Error => say(&serde_json::to_string(document).unwrap_or_default()),
        }
    }
}

fn act(cli: Cli) -> anyhow::Result<Exit> {
    let common = cli.common;
    // An unknown user has nobody's rights.
    privilege::sudo_user()?;
    if cli.command.keeps_files() {
        privilege::reach_files_as_sudo_user()?;
        if let Some(value) = zone::unknown() {
            say(&Notice::UnknownZone { value: &value }.text(language(&common)));
        }
    }
    match cli.command {
        Command::Verify { plan, options, identify, tune: Some(profile) } => {
            tuned::verify(&plan, profile.as_deref(), &options, &identify, &common)
        }
        Command::Verify { plan, options, identify, tune: None } => measure::verify(&plan, &options, &identify, &common),
        Command::Probe(ProbeCommand::Packets { action: Some(action), .. }) => match action {
            PacketsAction::Capture(options) => capture::capture(&options, &common),
            PacketsAction::Send(options) => sides::send_alone(&options, &common),
            PacketsAction::Receive(options) => sides::receive(&options, &common),
        },
        Command::Probe(command) => measure::probe(&command, &common),
        Command::Bed { action } => bed::act(action, &common),
        Command::Bypass { options } => bypass::bypass(&options, &common),
        Command::Router { action } => router::act(&action, &common),
        Command::Tune { action } => tune::act(&action, &common),
        Command::Runs { csv } if csv || common.json => history::export(&common),
        Command::Runs { .. } => runs::list(&common),
        Command::Import { file, name, condition } => import::import(&file, name, &condition, &common),
        Command::References => references::list(&common),
        Command::Compare { compared } => compare::compare(&compared, &common),
        Command::Baseline { action } => compare::baseline(&action, &common),
        Command::Report { options } => report::report(&options, &common),
        Command::Resume { run, bed, files, reach, ports, wrap } => {
            resume::resume(&run, &files, &resume::Allowed { bed, reach, ports, wrap: wrap.words() }, &common)
        }
        Command::Rfc2544 { action: Some(action), .. } => rfc2544::act(&action, &common),
        Command::Rfc2544 { action: None, tests, options } => measure::rfc2544(&tests, &options, &common),
        Command::Inspect { options } => inspect::inspect(&options, &common),
        Command::Doctor { cabling: true } => doctor::cabling(&common),
        Command::Doctor { cabling: false } => doctor::doctor(&common),
        Command::Watch { options } => watch::watch(&options, &common),
        Command::Clean => bed::clean(&common),
        Command::Schema { of } => words::schema(&of),
        Command::Completions { shell } => words::completions(shell),
        Command::Man { dir } => words::man(&dir, language(&common)),
        Command::Agent { remove_self, stands_for, .. } => serve(remove_self, stands_for),
        Command::InNamespace { namespace, program } => bed::enter(&namespace, &program),
    }
}

fn serve(from_a_copy: bool, stands_for: Option<StandsFor>) -> anyhow::Result<Exit> {
    if from_a_copy {
        agent::remove_own_copy()?;
    }
    agent::serve_stdio(stands_for.map(StandsFor::machine))?;
    Ok(Exit::Done)
}

/// The language to speak.
fn language(common: &Common) -> Lang {
    cli::language(common.lang)
}

/// This program's own file, which agents run too and other programs of ours stand beside.
fn own_program() -> anyhow::Result<PathBuf> {
    env::current_exe().context("cannot find wireproof's own file, by which it finds its programs")
}

/// Prints a value as JSON where that is asked for, else its words.
fn answer(value: &impl Serialize, words: impl FnOnce() -> String, common: &Common) -> anyhow::Result<()> {
    if common.json { print_json(value) } else { print(&words()) }
}

/// Prints progress, unless --quiet is given.
fn tell(notice: Notice<'_>, common: &Common) {
    if !common.quiet {
        say(&notice.text(language(common)));
    }
}
