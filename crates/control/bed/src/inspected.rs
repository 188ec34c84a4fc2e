//! Readings of a host for an inspection: of this one, or of one that the user's own ssh reaches.

use std::path::Path;

use model::inspection::HostReadings;
use protocol::remote_facts;

use crate::{
    error::BedError,
    login::{ssh, start_agent},
    machine::Machine,
    reference::{Remote, SSH, remote},
    wanted::Reach,
};

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

impl std::fmt::Display for InspectedRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Remote { destination, port } = &self.0;
        f.write_str(destination)?;
        port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

/// Reads this machine.
pub fn inspected_here(program: &Path) -> Result<HostReadings, BedError> {
    readings(&mut Machine::here(program)?)
}

/// Reads another machine. Changes nothing there; a copied program is removed.
pub fn inspected_there(host: &InspectedRef, reach: &Reach, program: &Path) -> Result<HostReadings, BedError> {
    readings(&mut there(host, reach, program)?)
}

/// Another machine, as root where that is possible.
pub(crate) fn there(host: &InspectedRef, reach: &Reach, program: &Path) -> Result<Machine, BedError> {
    let ssh = ssh(&host.0, reach);
    let remote = remote_facts(&ssh)?;
    start_agent(&ssh, &remote, remote.uid != 0 && remote.sudo, std::env::consts::ARCH, reach, program)
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
