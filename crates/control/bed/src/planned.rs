//! The setup as a dry run, and a survey of the machine.

use std::path::Path;

use model::{
    Bed, Endpoint, Mtu, Privilege,
    environment::{HostFacts, InterfaceFacts},
};
use protocol::LabState;

use crate::{
    changes::{changes, mtu_change},
    error::BedError,
    login::log_in,
    machine::Machine,
    make::{choose_cores, lay_out},
    wanted::Wanted,
};

/// Survey of a machine.
pub struct Survey {
    /// Facts about it.
    pub host: HostFacts,
    /// Interfaces.
    pub interfaces: Vec<InterfaceFacts>,
    /// State for making a lab.
    pub lab: LabState,
}

/// Surveys this machine.
pub fn survey(program: &Path) -> Result<Survey, BedError> {
    let mut machine = Machine::here(program)?;
    let interfaces = machine.endpoint_facts("this machine")?.interfaces;
    Ok(Survey { host: machine.host_facts()?, interfaces, lab: machine.lab_state(None)? })
}

/// A planned bed.
pub struct Planned {
    /// Ends, pinned if cores were requested.
    pub bed: Bed,
    /// The setup in words; empty for a kept bed.
    pub set_up: Vec<String>,
}

/// The setup for this bed. Changes nothing: kept beds are looked up, other machines are only read.
pub fn planned(wanted: &Wanted) -> Result<Planned, BedError> {
    let mut machines = log_in(Machine::here(&wanted.program)?, wanted)?;
    let name = wanted.bed.to_string();
    let (mut bed, mut topology) = lay_out("<id>", &name, wanted, Privilege::Root, &mut machines)?;
    if wanted.cpus.is_some() || wanted.dut_cpus.is_some() {
        choose_cores(&mut bed, wanted, topology.as_mut(), &mut machines)?;
    }
    let on = |machine: &Machine| -> Vec<String> {
        let at = if machine.name().is_empty() { String::new() } else { format!("{}: ", machine.name()) };
        let changes = topology.iter().flat_map(|topology| changes(topology, machine.name()));
        changes.map(|change| format!("{at}{change}")).collect()
    };
    Ok(Planned { bed, set_up: machines.iter().flat_map(on).collect() })
}

impl Planned {
    /// The changes for trials with these MTUs, in words.
    pub fn for_mtus(&self, mtus: &[Mtu]) -> Vec<String> {
        let at = |end: &Endpoint| if end.machine.is_empty() { String::new() } else { format!("{}: ", end.machine) };
        let change = |end: &Endpoint, mtu: Mtu| format!("{}{}", at(end), mtu_change(end, mtu));
        mtus.iter().flat_map(|mtu| self.bed.endpoints.iter().map(move |end| change(end, *mtu))).collect()
    }
}
