//! This machine and others, which are reached by the user's own ssh.

mod ends;
mod error;
mod reference;

use std::{net::IpAddr, time::Duration};

use model::{Bed, BedKind, ClockRelation, Endpoint, Privilege};
use protocol::{Caller, Look, Ssh, look};

pub(crate) use self::reference::{Far, address, machine_of};
use self::{
    ends::{End, Ground},
    reference::Asked,
};
pub use self::{
    error::HostsError,
    reference::{Hosts, HostsReferenceError},
};
use crate::{
    BedError, Wanted,
    lab::end_name,
    machine::{Machine, given_back_if_not, random_id},
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

/// The machines with their agents, this one first, and the address of each that ssh goes by.
struct Reached {
    machines: Vec<Machine>,
    ssh: Vec<Option<IpAddr>>,
}

impl Reached {
    /// What a crash left there would be taken for the user's own otherwise.
    fn clean(&mut self) -> Result<(), BedError> {
        self.machines.iter_mut().filter(|machine| machine.may_change).try_for_each(|machine| machine.clean().map(drop))
    }
}

/// The machines, and what their ends are to be. Nothing is changed yet.
struct Group {
    machines: Vec<Machine>,
    ends: Vec<End>,
}

/// Makes the bed; whatever was changed before a failure is undone.
pub(crate) fn make(here: Machine, hosts: &Hosts, wanted: &Wanted) -> Result<(Bed, Vec<Machine>), BedError> {
    let mut reached = log_in(here, hosts, wanted)?;
    reached.clean()?;
    let Group { mut machines, ends } = look_over(reached, hosts, wanted)?;
    let made = set_up(&mut machines, &ends).and_then(|()| bed(&mut machines, &ends, hosts, wanted));
    given_back_if_not(made, machines)
}

fn set_up(machines: &mut [Machine], ends: &[End]) -> Result<(), BedError> {
    machines.iter_mut().zip(ends).try_for_each(|(machine, end)| machine.set_up(&random_id(), end.changes.clone()))
}

/// The bed as it would be, and in words what would be changed on which machine.
pub(crate) fn plan(hosts: &Hosts, wanted: &Wanted) -> Result<(Bed, Vec<String>), BedError> {
    let reached = log_in(Machine::here(&wanted.program)?, hosts, wanted)?;
    let Group { mut machines, ends } = look_over(reached, hosts, wanted)?;
    let bed = bed(&mut machines, &ends, hosts, wanted)?;
    let of_end = |(machine, end): (&Machine, &End)| -> Vec<String> {
        end.changes.iter().map(|change| format!("{}: {change}", machine.name)).collect()
    };
    Ok((bed, machines.iter().zip(&ends).flat_map(of_end).collect()))
}

fn log_in(mut near: Machine, hosts: &Hosts, wanted: &Wanted) -> Result<Reached, BedError> {
    let here = near.host_facts()?;
    near.name.clone_from(&here.hostname);
    let mut looks = Vec::new();
    let mut machines = vec![near];
    for asked in &hosts.far {
        let ssh = ssh(asked, &wanted.reach);
        let look = look(&ssh)?;
        let mut far = start_agent(&ssh, &look, look.uid != 0 && look.sudo, &here.architecture, wanted)?;
        let taken: Vec<&str> = machines.iter().map(|machine| machine.name.as_str()).collect();
        far.name = name(&taken, &far.host_facts()?.hostname, &asked.destination);
        machines.push(far);
        looks.push(look);
    }
    // Of the connections from here, the first says where we must not cut ourselves off; the far ends have one each.
    let there = looks.iter().map(|look| (look.far, look.uid == 0 || look.sudo));
    let here = looks.iter().take(1).map(|look| (look.near, wanted.privilege == Privilege::Root));
    let ways: Vec<_> = here.chain(there).collect();
    for (machine, (_, may_change)) in machines.iter_mut().zip(&ways) {
        machine.may_change = *may_change;
    }
    Ok(Reached { machines, ssh: ways.into_iter().map(|(ssh, _)| ssh).collect() })
}

/// Looks over what there is on the machines, and says what the ends are to be.
fn look_over(Reached { mut machines, ssh }: Reached, hosts: &Hosts, wanted: &Wanted) -> Result<Group, BedError> {
    let mut grounds = Vec::new();
    for (machine, ssh) in machines.iter_mut().zip(ssh) {
        grounds.push(ground(machine, ssh, wanted)?);
    }
    check_different(&grounds, hosts)?;
    let there = grounds.iter().skip(1).zip(&hosts.far);
    let there = there.map(|(ground, asked)| ground.end(&asked.end, wanted.mtu));
    let mut ends: Vec<End> = there.collect::<Result<_, _>>()?;
    let asked = match &hosts.near.interface {
        Some(_) => hosts.near.clone(),
        None => towards_all(&mut machines[0], &grounds[0], &ends)?,
    };
    ends.insert(0, grounds[0].end(&asked, wanted.mtu)?);
    check_addresses(&machines, &ends)?;
    Ok(Group { machines, ends })
}

/// How this machine is reached.
pub(crate) fn ssh(asked: &Far, reach: &Reach) -> Ssh {
    let program = if reach.ssh.is_empty() { vec!["ssh".to_owned()] } else { reach.ssh.clone() };
    Ssh { program, destination: asked.destination.clone(), port: asked.port, caller: reach.caller.clone() }
}

/// Refuses one machine under two names.
fn check_different(grounds: &[Ground], hosts: &Hosts) -> Result<(), HostsError> {
    let destinations = || hosts.far.iter().map(|far| far.destination.clone());
    for (index, (ground, to)) in grounds.iter().skip(1).zip(destinations()).enumerate() {
        if ground.is_same_machine(&grounds[0]) {
            return Err(HostsError::Itself { to });
        }
        if let Some((_, other)) =
            grounds[1..=index].iter().zip(destinations()).find(|(other, _)| ground.is_same_machine(other))
        {
            return Err(HostsError::Twice { to, other });
        }
    }
    Ok(())
}

/// Refuses one address at two ends: packets to it would go no further than their own host.
fn check_addresses(machines: &[Machine], ends: &[End]) -> Result<(), HostsError> {
    let ends: Vec<_> = machines.iter().zip(ends).collect();
    for (place, (machine, end)) in ends.iter().enumerate() {
        for (before, other) in &ends[..place] {
            if let Some(address) = end.addresses.iter().find(|address| other.addresses.contains(address)) {
                let (host, other) = (before.name.clone(), machine.name.clone());
                return Err(HostsError::SameAddress { host, other, address: *address });
            }
        }
    }
    Ok(())
}

/// The one interface here that all of these ends are reached from.
fn towards_all(near: &mut Machine, ground: &Ground, ends: &[End]) -> Result<Asked, BedError> {
    let mut all: Vec<Asked> = Vec::new();
    for end in ends {
        let asked = ground.towards(end, &sources(near, &end.addresses)?)?;
        if !all.contains(&asked) {
            all.push(asked);
        }
    }
    match all.len() {
        1 => Ok(all.remove(0)),
        _ => Err(HostsError::SeveralWays { host: near.name.clone() }.into()),
    }
}

/// Starts the machine agent there: from our own file, or from the one that is there; by sudo where it has to become root.
pub(crate) fn start_agent(
    ssh: &Ssh,
    look: &Look,
    sudo: bool,
    architecture: &str,
    wanted: &Wanted,
) -> Result<Machine, BedError> {
    let to = ssh.destination.clone();
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

/// A name by which people tell a machine from those that have one.
fn name(taken: &[&str], hostname: &str, destination: &str) -> String {
    let as_asked = destination.rsplit_once('@').map_or(destination, |(_, host)| host);
    let numbered = (2..).map(|number| format!("{hostname} ({number})"));
    let names = [hostname.to_owned(), as_asked.to_owned()].into_iter().chain(numbered);
    names.into_iter().find(|name| !taken.contains(&name.as_str())).unwrap_or_default()
}

/// Looks over a machine whose ssh connection ends at this address.
fn ground(machine: &mut Machine, ssh: Option<IpAddr>, wanted: &Wanted) -> Result<Ground, BedError> {
    let may_change = machine.may_change;
    let interfaces = machine.endpoint_facts(&machine.name.clone())?.interfaces;
    let mut ground = Ground { host: machine.name.clone(), interfaces, protected: Vec::new(), may_change };
    if !wanted.taking.uplink {
        ground.protected = machine.uplinks()?;
        let of_ssh = ssh.and_then(|address| ground.holder(address)).map(|interface| interface.name.clone());
        ground.protected.extend(of_ssh);
    }
    machine.protected.clone_from(&ground.protected);
    Ok(ground)
}

/// Addresses that packets to these leave from, those of the same IP version.
fn sources(machine: &mut Machine, to: &[IpAddr]) -> Result<Vec<IpAddr>, BedError> {
    let found: Vec<Option<IpAddr>> = to.iter().map(|address| machine.source_for(*address)).collect::<Result<_, _>>()?;
    Ok(found.into_iter().flatten().collect())
}

/// One far host is measured from here; several send to here, where what they do together is counted.
fn bed(machines: &mut [Machine], ends: &[End], hosts: &Hosts, wanted: &Wanted) -> Result<Bed, BedError> {
    let count = ends.len();
    let order: Vec<usize> = if count > 2 { (1..count).chain([0]).collect() } else { (0..count).collect() };
    let mut endpoints = Vec::new();
    for (place, index) in order.into_iter().enumerate() {
        let is_last = place + 1 == count;
        let cpus = wanted.cpus.as_ref().map(|cpus| &cpus[usize::from(is_last)]);
        endpoints.push(endpoint(&end_name(place, count), &mut machines[index], &ends[index], cpus)?);
    }
    let mut errors: Vec<Duration> = Vec::new();
    for machine in machines {
        errors.push(machine.read_clock()?.error);
    }
    errors.sort_unstable();
    let error: Duration = errors.iter().rev().take(2).sum();
    Ok(Bed {
        kind: BedKind::Hosts,
        name: hosts.to_string(),
        simulated: false,
        privilege: wanted.privilege,
        clocks: ClockRelation::Estimated { error_ns: error.as_nanos() as u64 },
        wrap: Vec::new(),
        dut: hosts.through.device(&endpoints),
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
        assert_eq!(name(&["one"], "two", "me@198.18.0.2"), "two");
        assert_eq!(name(&["debian"], "debian", "me@198.18.0.2"), "198.18.0.2");
        assert_eq!(name(&["debian"], "debian", "debian"), "debian (2)");
    }
}
