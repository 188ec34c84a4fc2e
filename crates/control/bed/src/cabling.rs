//! Detects the cables between idle ports of this machine.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use model::{Change, NicFacts, NicsState, Reading, card::Cable, change::LinkUp, environment::InterfaceFacts};

use crate::{
    changes::unmanaged_nic,
    error::BedError,
    layouts::why_not,
    machine::{Machine, random_id},
};

/// Time for autonegotiation of two cards, and so for a port without a cable.
const NEGOTIATION: Duration = Duration::from_secs(10);

/// Result of the detection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cabling {
    /// Tested ports in their state at that time: up if they have a link.
    pub tried: Vec<InterfaceFacts>,
    /// Ports left alone, with the reasons.
    pub left: Vec<(String, String)>,
    /// Detected cables.
    pub cables: Vec<Cable>,
}

/// Sets idle ports up, lets each send a few frames that no switch forwards, and sets them down again. Ports in use are
/// left alone.
pub fn cabling(program: &Path) -> Result<Cabling, BedError> {
    let mut machine = Machine::here(program)?;
    let state = machine.nics_state()?;
    let (idle, left) = idle(&state);
    machine.set_up(&random_id(), changes(&idle, &state))?;
    let heard = hear(&mut machine, &idle);
    let given_back = machine.give_back();
    match heard {
        Ok((tried, cables)) => given_back.map(|()| Cabling { tried, left, cables }),
        Err(error) => Err(error.and_then_of(given_back)),
    }
}

/// The tested ports, and the cables between those with a link.
fn hear(machine: &mut Machine, idle: &[&NicFacts]) -> Result<(Vec<InterfaceFacts>, Vec<Cable>), BedError> {
    let tried = wait_for_links(machine, idle)?;
    let linked = tried.iter().filter(|port| is_up(port)).map(|port| port.name.clone()).collect();
    let cables = machine.cables(linked)?;
    Ok((tried, cables))
}

/// Ports to test, and the others with the reasons. An interface on no bus that is no veth has no cable.
fn idle(state: &NicsState) -> (Vec<&NicFacts>, Vec<(String, String)>) {
    let could_have_a_cable = |port: &&NicFacts| port.bus != Reading::Absent || port.kind == "veth";
    let (mut idle, mut left) = (Vec::new(), Vec::new());
    for port in state.ports.iter().filter(could_have_a_cable) {
        match why_not(port) {
            None => idle.push(port),
            Some(why) => left.push((port.name.clone(), why)),
        }
    }
    (idle, left)
}

fn changes(idle: &[&NicFacts], state: &NicsState) -> Vec<Change> {
    let quiet = idle.iter().flat_map(|port| unmanaged_nic(&port.name, &port.mac, &state.managers));
    let up = idle.iter().map(|port| Change::from(LinkUp { namespace: String::new(), interface: port.name.clone() }));
    quiet.chain(up).collect()
}

/// The ports once all have a link, or the time is over.
fn wait_for_links(machine: &mut Machine, idle: &[&NicFacts]) -> Result<Vec<InterfaceFacts>, BedError> {
    let until = Instant::now() + NEGOTIATION;
    loop {
        let mut ports = machine.endpoint_facts("this machine")?.interfaces;
        ports.retain(|port| idle.iter().any(|idle| idle.name == port.name));
        if ports.iter().all(is_up) || Instant::now() > until {
            return Ok(ports);
        }
        thread::sleep(Duration::from_millis(100));
    }
}

fn is_up(port: &InterfaceFacts) -> bool {
    port.state == "up"
}

#[cfg(test)]
mod tests {
    use model::Manager;

    use super::*;

    #[test]
    fn ports_in_use_are_left_alone_and_what_has_no_cable_is_not_spoken_of() {
        let port = |name: &str, bus: &str| NicFacts {
            name: name.into(),
            bus: Reading::from(bus).filled(),
            ..NicFacts::default()
        };
        let used = NicFacts { addresses: vec!["198.18.9.1/24".into()], ..port("eth2", "0000:01:00.1") };
        let ports = vec![port("lo", ""), port("tun0", ""), port("eth1", "0000:01:00.0"), used];
        let state = NicsState { ports, managers: vec![Manager::NetworkManager], ..NicsState::default() };
        let (idle, left) = idle(&state);
        assert_eq!(idle.iter().map(|port| port.name.as_str()).collect::<Vec<_>>(), ["eth1"]);
        assert!(left.len() == 1 && left[0].0 == "eth2" && left[0].1.contains("198.18.9.1/24"), "{left:?}");
        let changes: Vec<String> = changes(&idle, &state).iter().map(ToString::to_string).collect();
        assert!(
            changes.len() == 2 && changes[0].contains("NetworkManager") && changes[1].ends_with("up"),
            "{changes:?}"
        );
    }
}
