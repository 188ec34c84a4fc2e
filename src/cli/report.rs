//! Options of `wireproof report`.

use std::path::PathBuf;

use clap::Args;
use model::RunId;

use super::{Identify, ReportFiles};

/// Document to write again or to check.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReportOptions {
    /// A run, the beginning of its name, or "last".
    #[arg(default_value = "last")]
    pub(crate) run: RunId,
    #[command(flatten)]
    pub(crate) files: ReportFiles,
    /// Replace names of hosts and users, MAC addresses, serial numbers, UUIDs and IP addresses, each word by the same one
    /// everywhere; photos are left out. Addresses of laboratories stay.
    #[arg(long)]
    pub(crate) redact: bool,
    /// Sign with this minisign secret key: SHA256SUMS.minisig covers SHA256SUMS, and that every file. The password is asked,
    /// or taken from WIREPROOF_KEY_PASSWORD.
    #[arg(long, value_name = "KEY")]
    pub(crate) sign: Option<PathBuf>,
    /// End with the status that verify had: 3 if a limit failed or a card is not fine, 4 if something is inconclusive, not
    /// comparable or was not run. Without it, the status is 0 once the report is written.
    #[arg(long, conflicts_with = "check")]
    pub(crate) check_limits: bool,
    /// Write nothing; check that the files of this report are unchanged. Exit status 3 if not.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["sign", "redact", "out", "meta"])]
    pub(crate) check: Option<PathBuf>,
    /// With --check: verify the signature too, by this minisign public key.
    #[arg(long, value_name = "PUBKEY", requires = "check")]
    pub(crate) key: Option<PathBuf>,
    /// Write nothing; print an example of a file for --meta.
    #[arg(long, conflicts_with_all = ["check", "sign", "redact"])]
    pub(crate) meta_template: bool,
    // Last, as its heading would stand over all that comes after it.
    #[command(flatten)]
    pub(crate) identify: Identify,
}
