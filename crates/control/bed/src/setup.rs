//! Makes a bed on this machine, or takes one that stands.

use model::{Bed, Mtu, units::ETHERNET_MTUS};
use protocol::LabState;

use crate::{
    BedError, BedRef, TwoPorts, Wanted,
    cores::{self, Chosen},
    kept,
    lab::Lab,
    machine::Machine,
    ports::Ports,
};

/// MTU of a lab when none is asked for.
const ETHERNET_MTU: Mtu = Mtu(1500);

/// Sets up the bed that is wanted; whatever was made before a failure is undone.
pub(crate) fn make(machine: &mut Machine, id: &str, name: &str, wanted: &Wanted) -> Result<Bed, BedError> {
    match &wanted.bed {
        BedRef::Ports(ports) => make_ports(machine, id, name, ports, wanted),
        BedRef::Lab | BedRef::Senders(_) | BedRef::Named(_) | BedRef::Hosts(_) => make_lab(machine, id, name, wanted),
    }
}

fn make_ports(machine: &mut Machine, id: &str, name: &str, asked: &TwoPorts, wanted: &Wanted) -> Result<Bed, BedError> {
    // What a crash left in the namespaces of another run comes back first.
    machine.clean()?;
    let mut ports = choose_ports(machine, id, asked, wanted)?;
    ports.cores = choose_cores(wanted, &machine.lab_state(Some(&asked.names[0]))?)?;
    machine.set_up(id, ports.changes())?;
    Ok(ports.bed(name, wanted.privilege))
}

/// Two ports that can be taken, with no cores chosen yet. Changes nothing.
pub(crate) fn choose_ports(
    machine: &mut Machine,
    id: &str,
    asked: &TwoPorts,
    wanted: &Wanted,
) -> Result<Ports, BedError> {
    let state = machine.ports_state()?;
    let ipv6 = machine.lab_state(None)?.ipv6;
    let chosen = Ports::choose(id, &asked.names, &state, wanted.mtu, wanted.taking);
    Ok(Ports {
        ipv6,
        stamps: wanted.stamps,
        through: asked.through.clone(),
        ..chosen.map_err(|error| BedError::Port(Box::new(error)))?
    })
}

fn make_lab(machine: &mut Machine, id: &str, name: &str, wanted: &Wanted) -> Result<Bed, BedError> {
    let mtu = lab_mtu(wanted.mtu)?;
    let state = machine.lab_state(None)?;
    let (senders, cores) = (wanted.bed.senders(), choose_cores(wanted, &state)?);
    let lab = Lab { id: id.to_owned(), mtu, ipv6: state.ipv6, senders, cores };
    machine.set_up(id, lab.changes())?;
    Ok(lab.bed(name, wanted.privilege))
}

pub(crate) fn lab_mtu(asked: Option<Mtu>) -> Result<Mtu, BedError> {
    let mtu = asked.unwrap_or(ETHERNET_MTU);
    if ETHERNET_MTUS.contains(&mtu.0) { Ok(mtu) } else { Err(BedError::Mtu(mtu.0)) }
}

/// A bed that `bed up` made, with the cores for this run.
pub(crate) fn take_standing(machine: &mut Machine, name: &str, wanted: &Wanted) -> Result<Bed, BedError> {
    let mut bed = kept::find(machine, name)?;
    check_mtu(&bed, wanted.mtu)?;
    let cores = choose_cores(wanted, &machine.lab_state(None)?)?;
    for (endpoint, cores) in bed.endpoints.iter_mut().zip(cores) {
        (endpoint.cpus, endpoint.cpus_why) = (cores.cpus, cores.why);
    }
    Ok(bed)
}

pub(crate) fn check_mtu(bed: &Bed, asked: Option<Mtu>) -> Result<(), BedError> {
    match (asked, bed.endpoints.first()) {
        (Some(asked), Some(end)) if end.mtu != asked => {
            Err(BedError::OtherMtu { bed: bed.name.clone(), has: end.mtu.0, asked: asked.0 })
        }
        _ => Ok(()),
    }
}

pub(crate) fn choose_cores(wanted: &Wanted, state: &LabState) -> Result<[Chosen; 2], BedError> {
    let Some([near, far]) = &wanted.cpus else { return Ok(cores::choose(&state.cpus)) };
    Ok([as_asked(near, state)?, as_asked(far, state)?])
}

/// The cores of an end that has a machine for itself.
pub(crate) fn cores_of_end(
    machine: &mut Machine,
    interface: &str,
    asked: Option<&Vec<usize>>,
) -> Result<Chosen, BedError> {
    let state = machine.lab_state(Some(interface))?;
    asked.map_or_else(|| Ok(cores::choose_for_one(&state.cpus)), |asked| as_asked(asked, &state))
}

fn as_asked(cpus: &[usize], state: &LabState) -> Result<Chosen, BedError> {
    let usable = cores::usable(&state.cpus);
    match cpus.iter().find(|cpu| !usable.contains(cpu)) {
        Some(cpu) => Err(BedError::NoSuchCore { cpu: *cpu, allowed: usable }),
        None => Ok(Chosen { cpus: cpus.to_vec(), why: "as asked for".to_owned() }),
    }
}
