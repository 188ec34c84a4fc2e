//! This machine and another one, which is reached by the user's own ssh.

mod ends;
mod error;
mod reference;

use std::net::IpAddr;

use model::{Bed, BedKind, ClockRelation, Endpoint, Privilege};
use protocol::{Caller, Look, Ssh, look};

use self::ends::{End, Ground};
pub use self::{
    error::HostsError,
    reference::{Hosts, HostsReferenceError},
};
use crate::{
    BedError, Wanted,
    machine::{Machine, random_id},
    setup::cores_of_end,
};

/// How another machine is reached.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// The program with its arguments: `ssh`, or what the user wants in its place.
    pub ssh: Vec<String>,
    /// Who it is called as, where we are root by sudo.
    pub caller: Option<Caller>,
    /// Whether our own program is copied there for the run.
    pub push: bool,
}

/// Two machines with their agents, and what their ends are to be. Nothing is changed yet.
struct Pair {
    machines: [Machine; 2],
    ends: [End; 2],
}

/// Makes the bed; whatever was changed before a failure is undone.
pub(crate) fn make(here: Machine, hosts: &Hosts, wanted: &Wanted) -> Result<(Bed, Vec<Machine>), BedError> {
    let Pair { mut machines, ends } = log_in(here, hosts, wanted)?;
    for (machine, end) in machines.iter_mut().zip(&ends) {
        machine.set_up(&random_id(), end.changes.clone())?;
    }
    let bed = bed(&mut machines, &ends, hosts, wanted)?;
    Ok((bed, machines.into()))
}

/// The bed as it would be, and in words what would be changed on which machine.
pub(crate) fn plan(hosts: &Hosts, wanted: &Wanted) -> Result<(Bed, Vec<String>), BedError> {
    let Pair { mut machines, ends } = log_in(Machine::here(&wanted.program)?, hosts, wanted)?;
    let bed = bed(&mut machines, &ends, hosts, wanted)?;
    let of_end = |(machine, end): (&Machine, &End)| -> Vec<String> {
        end.changes.iter().map(|change| format!("{}: {change}", machine.name)).collect()
    };
    Ok((bed, machines.iter().zip(&ends).flat_map(of_end).collect()))
}

fn log_in(mut near: Machine, hosts: &Hosts, wanted: &Wanted) -> Result<Pair, BedError> {
    let Reach { ssh, caller, .. } = &wanted.reach;
    let program = if ssh.is_empty() { vec!["ssh".to_owned()] } else { ssh.clone() };
    let ssh = Ssh { program, destination: hosts.destination.clone(), port: hosts.port, caller: caller.clone() };
    let look = look(&ssh)?;
    let here = near.host_facts()?;
    let mut far = start_agent(&ssh, &look, &here.architecture, wanted)?;
    [near.name, far.name] = names(&here.hostname, &far.host_facts()?.hostname, &hosts.destination);
    let near_ground = ground(&mut near, look.near, wanted.privilege == Privilege::Root, wanted)?;
    let far_ground = ground(&mut far, look.far, look.uid == 0 || look.sudo, wanted)?;
    if far_ground.is_same_machine(&near_ground) {
        return Err(HostsError::Itself { to: hosts.destination.clone() }.into());
    }
    let there = far_ground.end(hosts.far.name(), &hosts.far.addresses, wanted.mtu)?;
    let asked = match &hosts.near.interface {
        Some(_) => hosts.near.clone(),
        None => near_ground.towards(&there, &sources(&mut near, &there.addresses)?)?,
    };
    let here = near_ground.end(asked.name(), &asked.addresses, wanted.mtu)?;
    Ok(Pair { machines: [near, far], ends: [here, there] })
}

/// Starts the machine agent there: from our own file, or from the one that is there.
fn start_agent(ssh: &Ssh, look: &Look, architecture: &str, wanted: &Wanted) -> Result<Machine, BedError> {
    let to = ssh.destination.clone();
    let sudo = look.uid != 0 && look.sudo;
    if !wanted.reach.push {
        let program = look.wireproof.as_ref().ok_or(HostsError::NoProgram { to })?;
        return Machine::there(ssh.clone(), sudo, false, program.into());
    }
    if look.architecture != architecture {
        let there = look.architecture.clone();
        return Err(HostsError::Architecture { to, there, here: architecture.to_owned() }.into());
    }
    Machine::there(ssh.clone(), sudo, true, wanted.program.clone())
}

/// Names by which people tell the two apart.
fn names(near: &str, far: &str, destination: &str) -> [String; 2] {
    let as_asked = destination.rsplit_once('@').map_or(destination, |(_, host)| host);
    let far = match (far == near, as_asked == near) {
        (false, _) => far.to_owned(),
        (true, false) => as_asked.to_owned(),
        (true, true) => format!("{far} (far)"),
    };
    [near.to_owned(), far]
}

/// Looks over a machine whose ssh connection ends at this address.
fn ground(machine: &mut Machine, ssh: Option<IpAddr>, may_change: bool, wanted: &Wanted) -> Result<Ground, BedError> {
    let interfaces = machine.endpoint_facts(&machine.name.clone())?.interfaces;
    let mut ground = Ground { host: machine.name.clone(), interfaces, protected: Vec::new(), may_change };
    if !wanted.taking.uplink {
        ground.protected = machine.uplinks()?;
        let of_ssh = ssh.and_then(|address| ground.holder(address)).map(|interface| interface.name.clone());
        ground.protected.extend(of_ssh);
    }
    machine.protected.clone_from(&ground.protected);
    machine.may_change = may_change;
    Ok(ground)
}

/// Addresses that packets to these leave from, those of the same IP version.
fn sources(machine: &mut Machine, to: &[IpAddr]) -> Result<Vec<IpAddr>, BedError> {
    let found: Vec<Option<IpAddr>> = to.iter().map(|address| machine.source_for(*address)).collect::<Result<_, _>>()?;
    Ok(found.into_iter().flatten().collect())
}

fn bed(machines: &mut [Machine; 2], ends: &[End; 2], hosts: &Hosts, wanted: &Wanted) -> Result<Bed, BedError> {
    let mut endpoints = Vec::new();
    for (index, (machine, end)) in machines.iter_mut().zip(ends).enumerate() {
        endpoints.push(endpoint(["a", "b"][index], machine, end, wanted.cpus.as_ref().map(|cpus| &cpus[index]))?);
    }
    let [near, far] = machines;
    let error = near.read_clock()?.error + far.read_clock()?.error;
    Ok(Bed {
        kind: BedKind::Hosts,
        name: hosts.to_string(),
        simulated: false,
        privilege: wanted.privilege,
        clocks: ClockRelation::Estimated { error_ns: error.as_nanos() as u64 },
        wrap: Vec::new(),
        endpoints,
    })
}

fn endpoint(name: &str, machine: &mut Machine, end: &End, cpus: Option<&Vec<usize>>) -> Result<Endpoint, BedError> {
    let cores = cores_of_end(machine, &end.interface, cpus)?;
    Ok(Endpoint {
        name: name.to_owned(),
        machine: machine.name.clone(),
        namespace: String::new(),
        interface: end.interface.clone(),
        driver: end.driver.clone(),
        mtu: end.mtu,
        addresses: end.addresses.clone(),
        cpus: cores.cpus,
        cpus_why: cores.why,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_of_one_name_are_told_apart() {
        assert_eq!(names("one", "two", "me@198.18.0.2"), ["one", "two"]);
        assert_eq!(names("debian", "debian", "me@198.18.0.2"), ["debian", "198.18.0.2"]);
        assert_eq!(names("debian", "debian", "debian"), ["debian", "debian (far)"]);
    }
}
