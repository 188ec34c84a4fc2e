//! File descriptors.

use std::fs::File;

use rustix::{
    io::fcntl_dupfd_cloexec,
    process::{chdir, setsid},
    stdio,
};

use crate::error::{On, Result};

/// Reserves standard output for the caller; other writes go to standard error from now on.
pub fn take_stdout() -> Result<File> {
    let own = fcntl_dupfd_cloexec(stdio::stdout(), 3).on("fcntl(F_DUPFD_CLOEXEC)", "standard output")?;
    stdio::dup2_stdout(stdio::stderr()).on("dup2", "standard output")?;
    Ok(own.into())
}

/// Leaves the caller's terminal and folder: a session of its own, and nothing at standard input, output and error.
pub fn leave_terminal() -> Result<()> {
    const NOTHING: &str = "/dev/null";
    let nothing = File::options().read(true).write(true).open(NOTHING).on("open", NOTHING)?;
    setsid().on("setsid", "this process")?;
    chdir("/").on("chdir", "/")?;
    stdio::dup2_stdin(&nothing).on("dup2", "standard input")?;
    stdio::dup2_stdout(&nothing).on("dup2", "standard output")?;
    stdio::dup2_stderr(&nothing).on("dup2", "standard error")
}
