//! What would be set up, without doing it; and what there is.

use std::path::Path;

use model::{
    Bed, Cards, Change, Endpoint, Mtu, Privilege,
    environment::{HostFacts, InterfaceFacts},
};
use protocol::{LabState, Reply, Request};

use crate::{
    BedError, BedRef, Wanted, hosts, kept,
    lab::Lab,
    machine::Machine,
    setup::{check_mtu, choose_cores, choose_ports, lab_mtu},
};

/// What a machine has.
pub struct Survey {
    /// Facts about it.
    pub host: HostFacts,
    /// Its interfaces.
    pub interfaces: Vec<InterfaceFacts>,
    /// What a lab could be made with.
    pub lab: LabState,
}

/// Looks this machine over.
pub fn survey(program: &Path) -> Result<Survey, BedError> {
    let mut machine = Machine::here(program)?;
    let interfaces = machine.endpoint_facts("this machine")?.interfaces;
    Ok(Survey { host: machine.host_facts()?, interfaces, lab: machine.lab_state(None)? })
}

/// The network cards of this machine.
pub fn cards(program: &Path) -> Result<Cards, BedError> {
    let mut machine = Machine::here(program)?;
    match machine.ask(Request::Cards)? {
        Reply::Cards(cards) => Ok(*cards),
        other => Err(machine.confused(&other)),
    }
}

/// A bed as it would be.
pub struct Planned {
    /// Its ends, not pinned yet.
    pub bed: Bed,
    /// What would be set up, in words; empty for a bed that stands.
    pub set_up: Vec<String>,
}

/// What would be set up for this bed. Nothing is: a bed that stands is only looked up, another machine only looked over.
pub fn planned(wanted: &Wanted) -> Result<Planned, BedError> {
    let mtu = wanted.mtu;
    if wanted.cpus.is_some() && !matches!(wanted.bed, BedRef::Hosts(_)) {
        choose_cores(wanted, &Machine::here(&wanted.program)?.lab_state(None)?)?;
    }
    match &wanted.bed {
        BedRef::Lab | BedRef::Senders(_) => {
            let (id, senders, cores) = ("<id>".to_owned(), wanted.bed.senders(), Default::default());
            let lab = Lab { id, mtu: lab_mtu(mtu)?, ipv6: true, senders, cores };
            let set_up = lab.changes().iter().map(ToString::to_string).collect();
            Ok(Planned { bed: lab.bed(&wanted.bed.to_string(), Privilege::Root), set_up })
        }
        BedRef::Ports(names) => {
            let ports = choose_ports(&mut Machine::here(&wanted.program)?, "<id>", names, wanted)?;
            let set_up = ports.changes().iter().map(ToString::to_string).collect();
            Ok(Planned { bed: ports.bed(&wanted.bed.to_string(), Privilege::Root), set_up })
        }
        BedRef::Named(name) => {
            let bed = kept::find(&mut Machine::here(&wanted.program)?, name)?;
            check_mtu(&bed, mtu)?;
            Ok(Planned { bed, set_up: Vec::new() })
        }
        BedRef::Hosts(hosts) => {
            let (bed, set_up) = hosts::plan(hosts, wanted)?;
            Ok(Planned { bed, set_up })
        }
    }
}

impl Planned {
    /// What would be changed for trials that have these MTUs, in words.
    pub fn for_mtus(&self, mtus: &[Mtu]) -> Vec<String> {
        let at = |end: &Endpoint| if end.machine.is_empty() { String::new() } else { format!("{}: ", end.machine) };
        let change = |end: &Endpoint, mtu: Mtu| format!("{}{}", at(end), mtu_change(end, mtu));
        mtus.iter().flat_map(|mtu| self.bed.endpoints.iter().map(move |end| change(end, *mtu))).collect()
    }
}

/// What sets an end of a bed to this MTU.
pub(crate) fn mtu_change(end: &Endpoint, mtu: Mtu) -> Change {
    Change::Mtu { namespace: end.namespace.clone(), interface: end.interface.clone(), mtu }
}
