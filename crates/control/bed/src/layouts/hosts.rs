//! `hosts:ssh://…`: this machine and others, in the hosts' own network namespaces.

mod asked;
mod ground;

use std::net::{IpAddr, ToSocketAddrs};

pub use self::asked::HostsReferenceError;
use self::{
    asked::{Asked, Far, Hosts},
    ground::{FoundMachine, routed},
};
use super::{Parsed, testers::end_name};
use crate::{
    error::{BedError, HostsError},
    machine::Machine,
    through::DutRequest,
    topology::{Interface, Node, Role, Topology},
    wanted::{AskedHost, BedRef, LaidOut, Layout, Rights, Wanted},
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

    fn hosts(&self) -> Vec<AskedHost> {
        let of = |far: &Far| AskedHost { remote: far.remote.clone(), agentless: far.agentless, port: far.port };
        self.far.iter().map(of).collect()
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
        if let Some(agentless) = grounds.iter().find(|ground| ground.allowed.agentless).filter(|_| self.far.len() > 1) {
            return Err(HostsError::AgentlessSender { host: agentless.allowed.host.clone() }.into());
        }
        let far = grounds.iter().skip(1).zip(&self.far).map(|(ground, far)| ground.end(&far.end, wanted.mtu));
        let far: Vec<Interface> = far.collect::<Result<_, _>>()?;
        let near = match &self.near.interface {
            Some(_) => self.near.clone(),
            None => towards_all(&mut machines[0], &grounds[0], &far)?,
        };
        let near = grounds[0].end(&near, wanted.mtu)?;
        self.far.iter().zip(&far).try_for_each(|(asked, end)| check_claimed(asked, end, &near))?;
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

/// Refuses a routed address that the far agent alone names, unless ssh connects to it: packets for it may reach a stranger.
fn check_claimed(asked: &Far, end: &Interface, near: &Interface) -> Result<(), HostsError> {
    if !asked.end.addresses.is_empty() {
        return Ok(());
    }
    let mut addresses = routed(near, end);
    if !addresses.is_empty() {
        // A name that ssh alone knows has none.
        let known: Vec<IpAddr> =
            (asked.remote.host(), 0).to_socket_addrs().map(|it| it.map(|it| it.ip()).collect()).unwrap_or_default();
        addresses.retain(|address| !known.contains(address));
    }
    if addresses.is_empty() {
        return Ok(());
    }
    let options: Vec<_> = end.addresses.iter().map(|(address, length)| format!("&addr={address}/{length}")).collect();
    Err(HostsError::Claimed {
        to: asked.remote.destination.clone(),
        interface: end.name.clone(),
        near: near.name.clone(),
        addresses,
        options: options.concat(),
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The end of a far machine that says it has this address, as seen from 198.18.0.1/24.
    fn claimed(reference: &str, address: &str) -> Result<(), String> {
        let hosts: Hosts = reference.parse().expect("two machines");
        let network = |address: &str| (address.parse().expect("an address"), 24);
        let end = |name: &str, address: &str| Interface {
            name: name.to_owned(),
            addresses: vec![network(address)],
            ..Interface::default()
        };
        let near = end("eth0", "198.18.0.1");
        check_claimed(&hosts.far[0], &end("eth1", address), &near).map_err(|error| error.to_string())
    }

    #[test]
    fn a_far_machine_aims_packets_at_nobody_beyond_the_link() {
        let bed = "hosts:ssh://me@198.18.9.2?dev=eth1";
        assert_eq!(claimed(bed, "198.18.0.2"), Ok(()), "on the link of the end here");
        assert_eq!(claimed(bed, "198.18.9.2"), Ok(()), "ssh connects to it");
        let why = claimed(bed, "198.18.7.9").expect_err("anybody's");
        assert!(
            why.starts_with("me@198.18.9.2 says that eth1 has 198.18.7.9, which is in no network of eth0"),
            "{why}"
        );
        assert!(why.ends_with("add &addr=198.18.7.9/24 behind dev=eth1"), "{why}");
        assert_eq!(claimed("hosts:ssh://198.18.9.2?dev=eth1&addr=198.18.7.9/24", "198.18.7.9"), Ok(()), "said here");
    }
}
