//! File descriptors.

use std::fs::File;

use rustix::{io::fcntl_dupfd_cloexec, stdio};

use crate::error::{On, Result};

/// Reserves standard output for the caller; other writes go to standard error from now on.
pub fn take_stdout() -> Result<File> {
    let own = fcntl_dupfd_cloexec(stdio::stdout(), 3).on("fcntl(F_DUPFD_CLOEXEC)", "standard output")?;
    stdio::dup2_stdout(stdio::stderr()).on("dup2", "standard output")?;
    Ok(own.into())
}
