//! `wireproof router`: forwards between interfaces by XDP.

use std::{
    io::Read,
    process::{Child, Command, Stdio},
    sync::{Arc, atomic::AtomicBool},
};

use agent::router::{self, Asked, RouterError};
use anyhow::Context;
use model::Router;
use report::{RouterDocument, router_is_up};
use signal_hook::{
    consts::{SIGHUP, TERM_SIGNALS},
    flag,
};

use super::{answer, bed::tell_undone, language, own_program};
use crate::{
    cli::{Common, RouterAction, RouterOptions},
    exit::Exit,
    output::print_as_it_is,
};

/// Last byte of the owner's output, as soon as the router forwards.
const READY: &str = "\0";

/// `wireproof router …`
pub(super) fn act(action: &RouterAction, common: &Common) -> anyhow::Result<Exit> {
    match action {
        RouterAction::Up(options) if options.own => own_router(options, common),
        RouterAction::Up(options) if options.keep => {
            show(&router::keep(&asked(options))?, common)?;
            Ok(Exit::Done)
        }
        RouterAction::Up(options) => up(options, common),
        RouterAction::Down => tell_undone(&router::down()?, common),
        RouterAction::Stats => {
            let router = router::statistics()?;
            answer(&RouterDocument::of(&router), || report::router(&router, language(common)), common)?;
            Ok(Exit::Done)
        }
    }
}

fn asked(options: &RouterOptions) -> Asked {
    Asked { interfaces: options.interfaces.clone(), generic: options.generic, uplink: options.i_know_this_is_my_uplink }
}

/// Starts the process that owns the router, and waits until it forwards.
fn up(options: &RouterOptions, common: &Common) -> anyhow::Result<Exit> {
    let mut owner = start(options, common).context("cannot start the process that is to own the router")?;
    let mut said = String::new();
    if let Some(mut output) = owner.stdout.take() {
        output.read_to_string(&mut said).context("cannot read from the process that owns the router")?;
    }
    if let Some(said) = said.strip_suffix(READY) {
        print_as_it_is(said)?;
        return Ok(Exit::Done);
    }
    print_as_it_is(&said)?;
    let status = owner.wait().context("cannot wait for the process that owns the router")?;
    // Where a signal ended it, nobody has said so yet.
    match status.code() {
        Some(status) => Ok(Exit::Program(status as u8)),
        None => Err(RouterError::Owner(format!("the process that owns the router ended: {status}")).into()),
    }
}

fn start(options: &RouterOptions, common: &Common) -> anyhow::Result<Child> {
    let is_given = [
        ("--json", common.json),
        ("--quiet", common.quiet),
        ("--generic", options.generic),
        ("--i-know-this-is-my-uplink", options.i_know_this_is_my_uplink),
    ];
    let mut command = Command::new(own_program()?);
    command.args(["router", "up", "--own", "--lang", &language(common).to_string()]);
    command.args(is_given.iter().filter(|(_, is_given)| *is_given).map(|(word, _)| word));
    command.arg("--").args(&options.interfaces);
    Ok(command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?)
}

/// Is the process that owns the router, until it is asked to end.
fn own_router(options: &RouterOptions, common: &Common) -> anyhow::Result<Exit> {
    let interrupt = Arc::new(AtomicBool::new(false));
    for signal in TERM_SIGNALS.iter().copied().chain([SIGHUP]) {
        flag::register(signal, Arc::clone(&interrupt))?;
    }
    let ready = |router: &Router| {
        show(router, common)?;
        print_as_it_is(READY)?;
        Ok(kernel::fd::leave_terminal()?)
    };
    router::run::<anyhow::Error>(&asked(options), ready, &interrupt)?;
    Ok(Exit::Done)
}

fn show(router: &Router, common: &Common) -> anyhow::Result<()> {
    let lang = language(common);
    let words = || report::router(router, lang) + &router_is_up(lang);
    answer(&RouterDocument::of(router), words, common)
}
