//! Options of a bed of two machines.

use std::ffi::OsString;

use bed::Caller;
use clap::Args;
use kernel::privilege;

/// How another machine is reached.
#[derive(Clone, Debug, Args)]
pub(crate) struct Reach {
    /// With "hosts": the ssh program and its options, like "ssh -F FILE" (words are split at spaces).
    #[arg(long, value_name = "PROGRAM ARGS", default_value = "ssh", hide_default_value = true)]
    ssh: String,
    /// With "hosts": copy this program to the other machine for the run; it is removed there.
    #[arg(long)]
    push: bool,
}

impl Reach {
    /// The same for a bed; ssh is run as the user who called, also through sudo.
    pub(crate) fn of_bed(&self) -> bed::Reach {
        bed::Reach { ssh: self.ssh.split_whitespace().map(str::to_owned).collect(), caller: caller(), push: self.push }
    }
}

fn caller() -> Option<Caller> {
    // An unknown one is refused before any command.
    let user = privilege::sudo_user().ok().flatten()?;
    let own = [("HOME", user.home.into_os_string()), ("USER", user.name.clone().into()), ("LOGNAME", user.name.into())];
    let agent = privilege::callers_variable("SSH_AUTH_SOCK").map(|socket| ("SSH_AUTH_SOCK", socket));
    let environment = own.into_iter().chain(agent).map(|(name, value): (&str, OsString)| (name.to_owned(), value));
    Some(Caller { run_as: privilege::run_as_sudo_user, environment: environment.collect() })
}
