//! Readings of a host for an inspection: of this one, or of one that the user's own ssh reaches.

use std::{net::IpAddr, path::Path, time::Duration};

use freebsd::Said;
use model::inspection::HostReadings;
use protocol::{Bounds, RemoteFacts, Ssh, remote_facts};

use crate::{
    error::BedError,
    login::{ssh, start_agent},
    machine::Machine,
    reference::{Remote, SSH, remote},
    wanted::Reach,
};

/// Time limit of a session that asks the commands of another system.
const SESSION: Duration = Duration::from_secs(30);

/// Readings of a host, as its system gives them.
#[derive(Clone, Debug, PartialEq)]
pub enum Inspected {
    /// Linux, read by the machine agent.
    Linux(Box<HostReadings>),
    /// FreeBSD: the output of its own commands.
    FreeBsd(Box<Said>),
}

/// A host to inspect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InspectedRef(Remote);

impl std::str::FromStr for InspectedRef {
    type Err = String;

    /// `[ssh://][USER@]HOST[:PORT]`
    fn from_str(text: &str) -> Result<Self, String> {
        let named = remote(text.strip_prefix(SSH).unwrap_or(text));
        named.map(Self).map_err(|why| format!("{why}; write it like user@host or user@host:2222"))
    }
}

impl InspectedRef {
    /// Its name, without the user and the port.
    pub fn host(&self) -> &str {
        let destination = &self.0.destination;
        destination.rsplit_once('@').map_or(destination, |(_, host)| host)
    }
}

impl std::fmt::Display for InspectedRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Remote { destination, port } = &self.0;
        f.write_str(destination)?;
        port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

/// Reads this machine.
pub fn inspected_here(program: &Path) -> Result<Inspected, BedError> {
    Ok(Inspected::Linux(Box::new(readings(&mut Machine::here(program)?)?)))
}

/// Reads another machine. Changes nothing there; a copied program is removed. On FreeBSD nothing of ours runs.
pub fn inspected_there(host: &InspectedRef, reach: &Reach, program: &Path) -> Result<Inspected, BedError> {
    Ok(reached(host, reach, program)?.0)
}

/// The same, with the address there of the ssh connection.
pub fn reached(host: &InspectedRef, reach: &Reach, program: &Path) -> Result<(Inspected, Option<IpAddr>), BedError> {
    let (ssh, remote) = logged_in(host, reach)?;
    Ok((read(&ssh, &remote, reach, program)?, remote.far))
}

fn read(ssh: &Ssh, remote: &RemoteFacts, reach: &Reach, program: &Path) -> Result<Inspected, BedError> {
    if remote.system == "FreeBSD" {
        let bounds = Bounds { bytes: freebsd::LONGEST_SESSION, time: SESSION };
        let ran = ssh.run(&["/bin/sh", "-c", freebsd::script()], bounds)?;
        return Ok(Inspected::FreeBsd(Box::new(Said::of(&ran.out))));
    }
    Ok(Inspected::Linux(Box::new(readings(&mut start(ssh, remote, reach, program)?)?)))
}

/// Another machine, as root where that is possible.
pub(crate) fn there(host: &InspectedRef, reach: &Reach, program: &Path) -> Result<Machine, BedError> {
    let (ssh, remote) = logged_in(host, reach)?;
    start(&ssh, &remote, reach, program)
}

fn logged_in(host: &InspectedRef, reach: &Reach) -> Result<(Ssh, RemoteFacts), BedError> {
    let ssh = ssh(&host.0, reach);
    let remote = remote_facts(&ssh)?;
    Ok((ssh, remote))
}

fn start(ssh: &Ssh, remote: &RemoteFacts, reach: &Reach, program: &Path) -> Result<Machine, BedError> {
    start_agent(ssh, remote, remote.uid != 0 && remote.sudo, std::env::consts::ARCH, reach, program)
}

fn readings(machine: &mut Machine) -> Result<HostReadings, BedError> {
    let host = machine.host_facts()?;
    let end = machine.endpoint_facts(&host.hostname)?;
    Ok(HostReadings { host, ends: vec![end], refused: machine.refused()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_named_as_for_ssh() {
        let of = |text: &str| text.parse::<InspectedRef>();
        let port = Some(2222);
        assert_eq!(of("me@bench2:2222"), Ok(InspectedRef(Remote { destination: "me@bench2".into(), port })));
        assert_eq!(of("ssh://bench2"), of("bench2"));
        assert!(of("-oProxyCommand=x").unwrap_err().contains("user@host"));
    }
}
