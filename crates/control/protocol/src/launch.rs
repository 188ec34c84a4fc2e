//! How an agent is started. No shell string is built anywhere: arguments stay arguments.

use std::{path::PathBuf, process::Command};

/// Where an agent shall run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The program to run as agent; normally this program's own file.
    pub program: PathBuf,
    /// Network namespace to enter before the agent is executed; `None` stays in the caller's.
    pub namespace: Option<String>,
    /// A program to start the agent through, with its arguments, like `exasock` or `onload -p latency`; empty for none.
    pub wrap: Vec<String>,
}

impl Launch {
    /// The program and its arguments.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        if let Some(namespace) = &self.namespace {
            command.args(["in-namespace", namespace, "--"]).args(&self.wrap).arg(&self.program);
        }
        command.args(["agent", "--stdio"]);
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_agent_enters_its_namespace_before_it_is_executed() {
        let launch = Launch { program: "/opt/wireproof".into(), namespace: Some("wp1-a".into()), wrap: vec![] };
        let command = launch.command();
        let args: Vec<_> = command.get_args().map(|arg| arg.to_string_lossy().into_owned()).collect();
        assert_eq!(args, ["in-namespace", "wp1-a", "--", "/opt/wireproof", "agent", "--stdio"]);
    }

    #[test]
    fn a_wrapper_stands_between_the_namespace_and_the_agent() {
        let wrap = vec!["onload".into(), "-p".into(), "latency".into()];
        let launch = Launch { program: "/opt/wireproof".into(), namespace: Some("wp1-a".into()), wrap };
        let args: Vec<_> = launch.command().get_args().map(|arg| arg.to_string_lossy().into_owned()).collect();
        assert_eq!(args[3..], ["onload", "-p", "latency", "/opt/wireproof", "agent", "--stdio"]);
    }
}
