//! Options of `wireproof bypass`.

use std::ffi::OsString;

use clap::{Args, builder::NonEmptyStringValueParser};

/// Options of `wireproof bypass`.
#[derive(Clone, Debug, Args)]
pub(crate) struct BypassOptions {
    /// Interface to bypass; can be given again (default: all that are up and have an address, but for that of the
    /// default route and of your own session, which have to be named).
    #[arg(long, value_name = "IF", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) dev: Vec<String>,
    /// Blocking calls poll without pause: quickest, and one core stays busy (default: they poll for 50 µs, then
    /// they sleep).
    #[arg(long, conflicts_with = "sleep")]
    pub(crate) spin: bool,
    /// Blocking calls sleep at once.
    #[arg(long)]
    pub(crate) sleep: bool,
    /// Say at the end, on standard error, what became of each socket, and what the kernel counted meanwhile; --json says
    /// it as JSON, also without this.
    #[arg(long)]
    pub(crate) stats: bool,
    /// The program and its arguments.
    #[arg(required = true, last = true)]
    pub(crate) program: Vec<OsString>,
}
