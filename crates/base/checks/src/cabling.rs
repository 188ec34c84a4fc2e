//! Cables between NICs of one machine.

use model::{
    card::Cable,
    check::{Check, Finding, Lack, Severity, Subject},
    environment::InterfaceFacts,
};

/// Each NIC that was tried, with the NIC that it is cabled to, and those that were left alone with the reason.
pub fn cabling(tried: &[InterfaceFacts], cables: &[Cable], left: &[(String, String)]) -> Vec<Check> {
    if tried.is_empty() && left.is_empty() {
        return vec![Check::ok(Subject::Cabling, Finding::NoPorts)];
    }
    let left = left.iter().map(|(port, why)| Finding::LeftAlone { port: port.clone(), why: why.clone() });
    let left = left.map(|found| Check::ok(Subject::Cabling, found));
    tried.iter().map(|nic| cable(nic, cables)).chain(left).collect()
}

fn cable(nic: &InterfaceFacts, cables: &[Cable]) -> Check {
    let name = nic.name.clone();
    if nic.state != "up" {
        return Check::ok(Subject::Cabling, Finding::NoLink(name));
    }
    let hears: Vec<String> = cables.iter().filter(|it| it.to == name).map(|it| it.from.clone()).collect();
    let heard_by: Vec<String> = cables.iter().filter(|it| it.from == name).map(|it| it.to.clone()).collect();
    let is_one_way = hears.is_empty() != heard_by.is_empty();
    let found = Finding::Cable { port: name, speed_mbps: nic.speed_mbps, hears, heard_by };
    if is_one_way {
        return Check::not(Subject::Cabling, Severity::Warn, found, Lack::OtherDirection);
    }
    Check::ok(Subject::Cabling, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(state: &str, cables: &[(&str, &str)]) -> (Severity, Finding) {
        let nic = InterfaceFacts { name: "eth1".into(), state: state.into(), ..InterfaceFacts::default() };
        let cables: Vec<Cable> =
            cables.iter().map(|(from, to)| Cable { from: (*from).into(), to: (*to).into() }).collect();
        let check = cabling(&[nic], &cables, &[]).remove(0);
        (check.severity, check.read)
    }

    fn cabled(hears: &[&str], heard_by: &[&str]) -> Finding {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        Finding::Cable { port: "eth1".into(), speed_mbps: None, hears: names(hears), heard_by: names(heard_by) }
    }

    #[test]
    fn a_cable_is_whole_one_way_elsewhere_or_not_there() {
        let whole = found("up", &[("eth1", "eth2"), ("eth2", "eth1"), ("eth3", "eth4")]);
        assert_eq!(whole, (Severity::Ok, cabled(&["eth2"], &["eth2"])));
        assert_eq!(found("up", &[("eth2", "eth1")]), (Severity::Warn, cabled(&["eth2"], &[])));
        assert_eq!(found("up", &[("eth1", "eth2")]), (Severity::Warn, cabled(&[], &["eth2"])));
        assert_eq!(found("up", &[("eth3", "eth4")]), (Severity::Ok, cabled(&[], &[])));
        assert_eq!(found("down", &[]), (Severity::Ok, Finding::NoLink("eth1".into())));
        assert_eq!(cabling(&[], &[], &[])[0].read, Finding::NoPorts);
    }
}
