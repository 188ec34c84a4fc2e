//! Cables between NICs of one machine.

use model::{
    card::Cable,
    check::{Check, Finding, Lack, Severity, Subject},
    environment::InterfaceFacts,
};

/// Each pair of NICs that hear each other, each other NIC that was tried, and those that were left alone with the reason.
pub fn cabling(tried: &[InterfaceFacts], cables: &[Cable], left: &[(String, String)]) -> Vec<Check> {
    if tried.is_empty() && left.is_empty() {
        return vec![Check::ok(Subject::Cabling, Finding::NoPorts)];
    }
    let pairs = tried.iter().enumerate().flat_map(|(at, one)| tried[at + 1..].iter().map(move |other| (one, other)));
    let pairs = pairs.filter_map(|(one, other)| pair(one, other, cables));
    let is_cabled = |nic: &&InterfaceFacts| cables.iter().any(|cable| [&cable.from, &cable.to].contains(&&nic.name));
    let alone = tried.iter().filter(|nic| !is_cabled(nic)).map(alone);
    let left = left.iter().map(|(port, why)| Finding::LeftAlone { port: port.clone(), why: why.clone() });
    pairs.chain(alone.chain(left).map(|found| Check::ok(Subject::Cabling, found))).collect()
}

/// Two NICs of which at least one hears the other.
fn pair(one: &InterfaceFacts, other: &InterfaceFacts, cables: &[Cable]) -> Option<Check> {
    let hears = |to: &InterfaceFacts, from: &InterfaceFacts| {
        cables.iter().any(|cable| cable.from == from.name && cable.to == to.name)
    };
    let one_way = |from: &InterfaceFacts, to: &InterfaceFacts| {
        let speeds_mbps = [from.speed_mbps.copied(), to.speed_mbps.copied()];
        let found = Finding::OneWay { from: from.name.clone(), to: to.name.clone(), speeds_mbps };
        Check::not(Subject::Cabling, Severity::Warn, found, Lack::OtherDirection)
    };
    match (hears(other, one), hears(one, other)) {
        (true, true) => {
            let ports = [one.name.clone(), other.name.clone()];
            let speeds_mbps = [one.speed_mbps.copied(), other.speed_mbps.copied()];
            let found = Finding::Cable { ports, speeds_mbps };
            Some(Check::ok(Subject::Cabling, found))
        }
        (true, false) => Some(one_way(one, other)),
        (false, true) => Some(one_way(other, one)),
        (false, false) => None,
    }
}

/// A NIC that no other one of this machine hears or is heard by.
fn alone(nic: &InterfaceFacts) -> Finding {
    let port = nic.name.clone();
    if nic.state == "up" {
        Finding::LinkElsewhere { port, speed_mbps: nic.speed_mbps.copied() }
    } else {
        Finding::NoLink { port }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Findings for these NICs, which are up, and these cables.
    fn found(nics: &[&str], cables: &[(&str, &str)]) -> Vec<(Severity, Finding)> {
        let nic =
            |name: &&str| InterfaceFacts { name: (*name).into(), state: "up".into(), ..InterfaceFacts::default() };
        let nics: Vec<InterfaceFacts> = nics.iter().map(nic).collect();
        let cables: Vec<Cable> =
            cables.iter().map(|(from, to)| Cable { from: (*from).into(), to: (*to).into() }).collect();
        cabling(&nics, &cables, &[]).into_iter().map(|check| (check.severity, check.read)).collect()
    }

    fn cabled(one: &str, other: &str) -> (Severity, Finding) {
        (Severity::Ok, Finding::Cable { ports: [one.into(), other.into()], speeds_mbps: [None; 2] })
    }

    fn elsewhere(port: &str) -> (Severity, Finding) {
        (Severity::Ok, Finding::LinkElsewhere { port: port.into(), speed_mbps: None })
    }

    #[test]
    fn each_pair_stands_once_and_what_is_no_pair_behind_it() {
        let both = [("p1", "p2"), ("p2", "p1"), ("p4", "p3"), ("p3", "p4")];
        let all = found(&["p1", "p2", "p3", "p4", "p5"], &both);
        assert_eq!(all, [cabled("p1", "p2"), cabled("p3", "p4"), elsewhere("p5")]);
        // A hub: everybody hears everybody.
        let hub: Vec<_> =
            ["a", "b", "c"].iter().flat_map(|&a| ["a", "b", "c"].map(|b| (a, b))).filter(|(a, b)| a != b).collect();
        assert_eq!(found(&["a", "b", "c"], &hub), [cabled("a", "b"), cabled("a", "c"), cabled("b", "c")]);
    }

    #[test]
    fn a_cable_that_carries_one_way_says_which() {
        let one_way = |from: &str, to: &str| {
            (Severity::Warn, Finding::OneWay { from: from.into(), to: to.into(), speeds_mbps: [None; 2] })
        };
        assert_eq!(found(&["p1", "p2"], &[("p2", "p1")]), [one_way("p2", "p1")]);
        assert_eq!(found(&["p1", "p2"], &[("p1", "p2")]), [one_way("p1", "p2")]);
    }

    #[test]
    fn a_port_without_a_link_and_a_machine_without_ports_say_so() {
        let down = InterfaceFacts { name: "p1".into(), state: "down".into(), ..InterfaceFacts::default() };
        assert_eq!(cabling(&[down], &[], &[])[0].read, Finding::NoLink { port: "p1".into() });
        assert_eq!(cabling(&[], &[], &[])[0].read, Finding::NoPorts);
        let left = [("p2".to_owned(), "in use".to_owned())];
        assert_eq!(cabling(&[], &[], &left)[0].read, Finding::LeftAlone { port: "p2".into(), why: "in use".into() });
    }
}
