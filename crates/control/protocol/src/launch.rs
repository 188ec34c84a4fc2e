//! Launches an agent. The only shell string is for the shell at the other end of ssh: elsewhere, arguments stay
//! arguments.

use std::{path::PathBuf, process::Command};

use crate::ssh::Ssh;

/// Place and program of an agent.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The machine.
    pub place: Place,
    /// The program to run as agent, normally this program's own file: its path at that place, or here if it is copied
    /// first.
    pub program: PathBuf,
    /// Network namespace to enter before the agent is executed; `None` stays in the caller's.
    pub namespace: Option<String>,
    /// A program with arguments that starts the agent, like `exasock` or `onload -p latency`; empty for none.
    pub wrap: Vec<String>,
    /// The machine that it stands in for by that machine's own commands; `None` for the machine that it is on.
    pub stands_for: Option<Agentless>,
}

/// A machine on which nothing of ours runs.
#[derive(Clone, Debug)]
pub struct Agentless {
    /// The ssh connection.
    pub ssh: Ssh,
    /// System, as in `uname -s`.
    pub system: String,
    /// First port that its programs listen at.
    pub port: u16,
}

/// Machine of an agent.
#[derive(Clone, Debug)]
pub enum Place {
    /// This machine.
    Local,
    /// Another machine.
    Remote {
        /// The ssh connection.
        ssh: Ssh,
        /// Whether to become root there, by sudo without a password.
        sudo: bool,
        /// Whether to copy the program there first, over the same connection.
        copied: bool,
    },
}

/// Reads the program from standard input, runs it as agent with the rest of the input, and always removes it. Errors
/// are printed. Arguments: the program's length in bytes, and the words that start it.
const RUN_COPY: &str = "set -eu; umask 077; bytes=$1; shift; \
    dir=$(mktemp -d \"${TMPDIR:-/tmp}/wireproof.XXXXXXXX\"); \
    trap \"rm -rf \\\"$dir\\\"\" EXIT; trap \"exit 1\" HUP INT TERM PIPE; \
    file=$dir/wireproof; \
    { head -c \"$bytes\" >\"$file\" && [ \"$(wc -c <\"$file\")\" -eq \"$bytes\" ]; } || { \
    echo \"there is no room for $((bytes / 1000000 + 1)) MB in $dir, or the connection ended: $(df -h \"$dir\" | tail -n 1)\" >&2; exit 1; }; \
    chmod 700 \"$file\"; \
    \"$file\" --version >/dev/null || { \
    echo \"the copy in $dir cannot be run there: is that folder mounted noexec, or is the system too old?\" >&2; exit 1; }; \
    \"$@\" \"$file\" agent --stdio --remove-self";

impl Launch {
    /// An agent on this machine, in the caller's namespace.
    pub fn here(program: PathBuf) -> Self {
        Self { place: Place::Local, program, namespace: None, wrap: Vec::new(), stands_for: None }
    }

    /// The program and its arguments. `length` is the size of the program's file in bytes, if it is copied.
    pub(crate) fn command(&self, length: u64) -> Command {
        let words = self.words();
        match &self.place {
            Place::Local => {
                let mut command = Command::new(&words[0]);
                command.args(&words[1..]);
                command
            }
            Place::Remote { ssh, sudo, copied: false } => ssh.command(&[become_root(*sudo), words].concat()),
            Place::Remote { ssh, sudo, copied: true } => {
                let script = ["sh", "-c", RUN_COPY, "sh"].map(str::to_owned);
                ssh.command(&[script.to_vec(), vec![length.to_string()], become_root(*sudo)].concat())
            }
        }
    }

    /// The file to copy, if any.
    pub(crate) fn copied(&self) -> Option<&PathBuf> {
        matches!(self.place, Place::Remote { copied: true, .. }).then_some(&self.program)
    }

    fn words(&self) -> Vec<String> {
        let program = self.program.display().to_string();
        let enter: Vec<String> = match &self.namespace {
            Some(namespace) => [&program, "in-namespace", namespace, "--"].map(str::to_owned).to_vec(),
            None => Vec::new(),
        };
        let agent = [&program, "agent", "--stdio"].map(str::to_owned).to_vec();
        let stands_for = self.stands_for.as_ref().map(Agentless::words).unwrap_or_default();
        [enter, self.wrap.clone(), agent, stands_for].concat()
    }
}

impl Agentless {
    /// Arguments of the agent, which is started with the environment of this process: it runs ssh as the same user.
    fn words(&self) -> Vec<String> {
        let Self { ssh, system, port } = self;
        let far_port = port.to_string();
        let own = ["--stands-for", &ssh.destination, "--system", system, "--far-port", &far_port];
        let port = ssh.port.iter().flat_map(|port| ["--ssh-port".to_owned(), port.to_string()]);
        let ssh = ["--".to_owned()].into_iter().chain(ssh.program.iter().cloned());
        own.map(str::to_owned).into_iter().chain(port).chain(ssh).collect()
    }
}

/// Without a password prompt, which could not be answered.
fn become_root(needed: bool) -> Vec<String> {
    if needed { vec!["sudo".to_owned(), "-n".to_owned()] } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(launch: &Launch) -> Vec<String> {
        launch.command(7).get_args().map(|arg| arg.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_port_agent_enters_its_namespace_before_it_is_executed() {
        let launch = Launch { namespace: Some("wp1-a".into()), ..Launch::here("/opt/wireproof".into()) };
        assert_eq!(args(&launch), ["in-namespace", "wp1-a", "--", "/opt/wireproof", "agent", "--stdio"]);
        assert_eq!(args(&Launch::here("/opt/wireproof".into())), ["agent", "--stdio"]);
    }

    #[test]
    fn a_wrapper_stands_between_the_namespace_and_the_agent() {
        let wrap = vec!["onload".into(), "-p".into(), "latency".into()];
        let launch = Launch { wrap, ..Launch::here("/opt/wireproof".into()) };
        assert_eq!(launch.command(0).get_program(), "onload");
        assert_eq!(args(&launch), ["-p", "latency", "/opt/wireproof", "agent", "--stdio"]);
        let launch = Launch { namespace: Some("wp1-a".into()), ..launch };
        assert_eq!(args(&launch)[3..], ["onload", "-p", "latency", "/opt/wireproof", "agent", "--stdio"]);
    }

    #[test]
    fn an_agent_that_stands_in_for_another_machine_is_told_how_to_reach_it() {
        let program = ["ssh", "-F", "my config"].map(str::to_owned).into();
        let ssh = Ssh { program, destination: "me@beastie".into(), port: Some(2222), caller: None };
        let stands_for = Some(Agentless { ssh, system: "FreeBSD".into(), port: 17198 });
        let words = args(&Launch { stands_for, ..Launch::here("/opt/wireproof".into()) });
        assert_eq!(
            words.join(" "),
            "agent --stdio --stands-for me@beastie --system FreeBSD --far-port 17198 --ssh-port 2222 -- ssh -F my config"
        );
    }

    #[test]
    fn an_agent_elsewhere_is_started_through_ssh_and_sudo() {
        let ssh = Ssh { program: vec!["ssh".into()], destination: "far".into(), port: None, caller: None };
        let there = |copied| Launch {
            place: Place::Remote { ssh: ssh.clone(), sudo: true, copied },
            ..Launch::here("/opt/wire proof".into())
        };
        let words = args(&there(false));
        assert_eq!(words[words.len() - 2..], ["far", "'sudo' '-n' '/opt/wire proof' 'agent' '--stdio'"]);
        let words = args(&there(true));
        let script = &words[words.len() - 1];
        assert!(script.starts_with("'sh' '-c' 'set -eu;") && script.ends_with("'sh' '7' 'sudo' '-n'"), "{script}");
        assert!(!RUN_COPY.contains(['\'', '!', '\n']), "whatever shell the user has there");
    }
}
