//! Other machines, reached by the user's own ssh.

use std::path::Path;

use model::Privilege;
use protocol::{Agentless, RemoteFacts, Ssh, remote_facts};

use crate::{
    error::{BedError, HostsError},
    machine::Machine,
    reference::Remote,
    wanted::{Reach, Wanted},
};

/// The system that our program is for, as in `uname -s`.
const LINUX: &str = "Linux";

/// The machines of a bed with their agents, this one first. Changes nothing.
pub(crate) fn log_in(mut here: Machine, wanted: &Wanted) -> Result<Vec<Machine>, BedError> {
    let hosts = wanted.bed.layout().hosts();
    if hosts.is_empty() {
        return Ok(vec![here]);
    }
    let facts = here.host_facts()?;
    here.allowed.host.clone_from(&facts.hostname);
    here.allowed.root = wanted.privilege == Privilege::Root;
    let mut machines = vec![here];
    for asked in &hosts {
        let ssh = ssh(&asked.remote, &wanted.reach);
        let remote = remote_facts(&ssh)?;
        // The first connection tells which interface here must stay up; each far end has one.
        if machines.len() == 1 {
            machines[0].ssh = remote.near;
        }
        let by_sudo = remote.uid != 0 && remote.sudo;
        let mut far = match asked.agentless || remote.system != LINUX {
            true => Machine::agentless(Agentless { ssh, system: remote.system, port: asked.port }, &wanted.program)?,
            false => start_agent(&ssh, &remote, by_sudo, &facts.architecture, &wanted.reach, &wanted.program)?,
        };
        let taken: Vec<&str> = machines.iter().map(Machine::name).collect();
        far.allowed.host = name(&taken, &far.host_facts()?.hostname, asked.remote.host());
        far.allowed.root = !far.allowed.agentless && (remote.uid == 0 || remote.sudo);
        far.ssh = remote.far;
        machines.push(far);
    }
    Ok(machines)
}

/// The ssh connection to a machine.
pub(crate) fn ssh(asked: &Remote, reach: &Reach) -> Ssh {
    let program = if reach.ssh.is_empty() { vec!["ssh".to_owned()] } else { reach.ssh.clone() };
    Ssh { program, destination: asked.destination.clone(), port: asked.port, caller: reach.caller.clone() }
}

/// Starts the machine agent there, from a copy of our file or from the one there; by sudo if needed.
pub(crate) fn start_agent(
    ssh: &Ssh,
    facts: &RemoteFacts,
    sudo: bool,
    architecture: &str,
    reach: &Reach,
    program: &Path,
) -> Result<Machine, BedError> {
    let to = ssh.destination.clone();
    if facts.system != LINUX {
        return Err(HostsError::System { to, system: facts.system.clone() }.into());
    }
    if !reach.push {
        let by_hand = ssh.by_hand(&["command", "-v", "wireproof"]);
        let program = facts.wireproof.as_ref().ok_or(HostsError::NoProgram { to, by_hand })?;
        return Machine::there(ssh.clone(), sudo, false, program.into());
    }
    if facts.architecture != architecture {
        let there = facts.architecture.clone();
        return Err(HostsError::Architecture { to, there, here: architecture.to_owned() }.into());
    }
    Machine::there(ssh.clone(), sudo, true, program.to_owned())
}

/// A name for a machine that differs from those taken.
fn name(taken: &[&str], hostname: &str, as_asked: &str) -> String {
    let numbered = (2..).map(|number| format!("{hostname} ({number})"));
    let names = [hostname.to_owned(), as_asked.to_owned()].into_iter().chain(numbered);
    names.into_iter().find(|name| !taken.contains(&name.as_str())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_of_one_name_are_told_apart() {
        assert_eq!(name(&["one"], "two", "198.18.0.2"), "two");
        assert_eq!(name(&["debian"], "debian", "198.18.0.2"), "198.18.0.2");
        assert_eq!(name(&["debian"], "debian", "debian"), "debian (2)");
    }
}
