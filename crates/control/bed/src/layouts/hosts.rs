//! `hosts:ssh://…`: this machine and others, in the hosts' own network namespaces.

mod asked;
mod ground;

use std::net::IpAddr;

pub use self::asked::HostsReferenceError;
use self::{
    asked::{Asked, Hosts},
    ground::FoundMachine,
};
use super::{Parsed, testers::end_name};
use crate::{
    error::{BedError, HostsError},
    machine::Machine,
    reference::Remote,
    through::DutRequest,
    topology::{Interface, Node, Role, Topology},
    wanted::{BedRef, LaidOut, Layout, Rights, Wanted},
};

/// Usage.
pub(super) const USAGE: &str = "hosts:ssh://[USER@]HOST?dev=INTERFACE (this machine and another one)";

pub(super) fn parse(text: &str) -> Parsed {
    let parsed = || text.parse::<Hosts>().map(|hosts| BedRef::new(text, hosts)).map_err(Into::into);
    text.starts_with(Hosts::SCHEME).then(parsed)
}

impl Layout for Hosts {
    fn rights(&self) -> Rights {
        Rights::Any
    }

    fn senders(&self) -> usize {
        self.far.len()
    }

    fn hosts(&self) -> Vec<Remote> {
        self.far.iter().map(|far| far.remote.clone()).collect()
    }

    fn through(&self) -> Option<&DutRequest> {
        self.through.known()
    }

    fn commands_for_dut(&self, networks: u16) -> Vec<String> {
        self.commands_for_dut(networks)
    }

    fn lay_out(&self, _: &str, wanted: &Wanted, machines: &mut [Machine]) -> Result<LaidOut, BedError> {
        let grounds: Vec<FoundMachine> =
            machines.iter_mut().map(|machine| ground(machine, wanted)).collect::<Result<_, _>>()?;
        self.check_different(&grounds)?;
        let far = grounds.iter().skip(1).zip(&self.far).map(|(ground, far)| ground.end(&far.end, wanted.mtu));
        let far: Vec<Interface> = far.collect::<Result<_, _>>()?;
        let near = match &self.near.interface {
            Some(_) => self.near.clone(),
            None => towards_all(&mut machines[0], &grounds[0], &far)?,
        };
        let near = grounds[0].end(&near, wanted.mtu)?;
        let ends: Vec<_> =
            machines.iter().map(|machine| machine.name().to_owned()).zip([near].into_iter().chain(far)).collect();
        check_addresses(&ends)?;
        Ok(LaidOut::New(self.topology(ends)))
    }
}

impl Hosts {
    /// A single far host receives from here; several send to here, where their total is counted.
    fn topology(&self, mut ends: Vec<(String, Interface)>) -> Topology {
        let count = ends.len();
        if count > 2 {
            ends.rotate_left(1);
        }
        let tester = |(place, (host, interface)): (usize, (String, Interface))| {
            let role = Role::Tester(end_name(place, count));
            Node { host, role, interfaces: vec![interface], ..Node::default() }
        };
        let names: Vec<String> = (0..count).map(|place| end_name(place, count)).collect();
        let nodes = ends.into_iter().enumerate().map(tester).collect();
        let layout = if count > 2 { "hosts-several" } else { "hosts" }.to_owned();
        Topology { layout, nodes, links: Vec::new(), dut: self.through.device(&names), simulated: false }
    }

    /// Refuses the same machine under two names.
    fn check_different(&self, grounds: &[FoundMachine]) -> Result<(), HostsError> {
        let destinations = || self.far.iter().map(|far| far.remote.destination.clone());
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
}

/// Refuses the same address at two ends: packets to it would not leave their host.
fn check_addresses(ends: &[(String, Interface)]) -> Result<(), HostsError> {
    for (place, (machine, end)) in ends.iter().enumerate() {
        for (before, other) in &ends[..place] {
            let is_there = |address| other.addresses.iter().any(|(there, _)| there == address);
            if let Some((address, _)) = end.addresses.iter().find(|(address, _)| is_there(address)) {
                let (host, other) = (before.clone(), machine.clone());
                return Err(HostsError::SameAddress { host, other, address: *address });
            }
        }
    }
    Ok(())
}

/// The one interface here from which all of these ends are reached.
fn towards_all(near: &mut Machine, ground: &FoundMachine, ends: &[Interface]) -> Result<Asked, BedError> {
    let mut all: Vec<Asked> = Vec::new();
    for end in ends {
        let asked = ground.towards(end, &sources(near, end)?)?;
        if !all.contains(&asked) {
            all.push(asked);
        }
    }
    match all.len() {
        1 => Ok(all.remove(0)),
        _ => Err(HostsError::SeveralWays { host: near.name().to_owned() }.into()),
    }
}

/// Reads the state of a machine.
fn ground(machine: &mut Machine, wanted: &Wanted) -> Result<FoundMachine, BedError> {
    let interfaces = machine.endpoint_facts("this machine")?.interfaces;
    let mut ground = FoundMachine { allowed: machine.allowed.clone(), interfaces };
    if !wanted.taking.uplink {
        let of_ssh = machine.ssh.and_then(|address| ground.holder(address)).map(|interface| interface.name.clone());
        ground.allowed.protected = machine.uplinks()?.into_iter().chain(of_ssh).collect();
    }
    machine.allowed.clone_from(&ground.allowed);
    Ok(ground)
}

/// Source addresses of packets to this end, of the same IP version.
fn sources(machine: &mut Machine, to: &Interface) -> Result<Vec<IpAddr>, BedError> {
    let found = to.addresses.iter().map(|(address, _)| machine.source_for(*address));
    Ok(found.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}
