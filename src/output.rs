//! Output of the program. Foreign names, as of processes, hosts and runs, never control the terminal.

use std::{
    io::{ErrorKind, Write, stderr, stdout},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use anyhow::Context;
use model::{
    json::pretty,
    plain::{plain, plain_json},
};

/// Whether something was printed to standard output.
static PRINTED: AtomicBool = AtomicBool::new(false);

/// Whether something was printed to standard output, where at most one document may stand.
pub(crate) fn has_printed() -> bool {
    PRINTED.load(Relaxed)
}

/// Writes a line to standard error. Nobody reading it any more, as after `2>&1 | head`, is no reason to stop measuring.
pub(crate) fn say(text: &str) {
    let _ = writeln!(stderr(), "{}", plain(text));
}

/// Prints text to standard output.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    print_as_it_is(&plain(text))
}

/// Prints a value as one JSON document.
pub(crate) fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print_as_it_is(&(plain_json(&pretty(&serde_json::to_string(value)?)) + "\n"))
}

/// Prints a value as one line of JSON.
pub(crate) fn print_json_line(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print_as_it_is(&(plain_json(&serde_json::to_string(value)?) + "\n"))
}

/// Prints output for programs. A reader that ended early, like `head`, is no error.
pub(crate) fn print_as_it_is(text: &str) -> anyhow::Result<()> {
    PRINTED.store(true, Relaxed);
    match stdout().write_all(text.as_bytes()).and_then(|()| stdout().flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error).context("cannot write to standard output"),
        _ => Ok(()),
    }
}
