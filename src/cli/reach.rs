//! Options of a bed of two machines.

use std::ffi::OsString;

use agent::Agentless;
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

/// A machine that an agent stands in for (used by wireproof itself).
#[derive(Clone, Debug, Args)]
pub(crate) struct StandsFor {
    /// The machine, as ssh takes it.
    #[arg(long, required = false)]
    stands_for: String,
    /// Its system.
    #[arg(long, required = false)]
    system: String,
    /// First port that its programs listen at.
    #[arg(long, required = false)]
    far_port: u16,
    /// Port of its ssh server.
    #[arg(long)]
    ssh_port: Option<u16>,
    /// The ssh program and its options.
    #[arg(last = true)]
    ssh: Vec<String>,
}

impl StandsFor {
    /// The machine, which is reached as the user who called.
    pub(crate) fn machine(self) -> Agentless {
        let Self { stands_for: destination, system, far_port: port, ssh_port, ssh: program } = self;
        Agentless { ssh: agent::Ssh { program, destination, port: ssh_port, caller: caller() }, system, port }
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
