//! The device that keeps a path MTU down.

use model::{
    Culprit, CulpritKind, Evidence, LimitedBy, Mtu, PathAdvice, PathAdviceKind, PathConclusion, PathResult, PathTo,
    Place, Trial, TrialAssessment,
    probe::LARGEST_PATH_MTU,
    trial::{Leg, PathDevice, Refusal},
};

/// Interfaces that have to drop larger packets let a VLAN tag (IEEE 802.1Q) pass on top of their MTU, be there one or not.
const VLAN_TAG: u32 = 4;

/// The conclusions of a path trial.
pub(super) fn assess(trial: &Trial, result: &PathResult) -> TrialAssessment {
    let (from, to) = (trial.endpoint_from.as_str(), trial.endpoint_to.as_str());
    let culprit = culprit(result, from, to);
    TrialAssessment {
        limited_by: limited_by(result, [from, to], culprit.as_ref()),
        culprit,
        ..TrialAssessment::default()
    }
}

/// The path MTU beside what the interfaces take, at the end of the device that keeps it down. `None` where no interface was read.
fn limited_by(result: &PathResult, ends: [&str; 2], culprit: Option<&Culprit>) -> Option<LimitedBy> {
    let [forward, reverse] = ways(result, ends);
    let mtu = [&forward, &reverse].iter().filter_map(|way| way.takes()).max()?.0;
    let path_mtu = forward.passes().min(reverse.passes());
    let endpoint = culprit.and_then(|it| it.host.clone()).filter(|host| ends.contains(&host.as_str()));
    Some(LimitedBy { place: Place::PathMtu, endpoint, evidence: vec![Evidence::PathMtu { mtu, path_mtu }] })
}

/// Both ways, the forward one first.
fn ways<'a>(result: &'a PathResult, [from, to]: [&'a str; 2]) -> [PathDirection<'a>; 2] {
    let devices = &result.devices;
    let forward = PathDirection { leg: &result.forward, sender: from, receiver: to, devices };
    [forward, PathDirection { leg: &result.reverse, sender: to, receiver: from, devices }]
}

/// One way, with the devices at its ends.
struct PathDirection<'a> {
    leg: &'a Leg,
    sender: &'a str,
    receiver: &'a str,
    devices: &'a [PathDevice],
}

/// The device that keeps the path MTU down, `from` being the near end and `to` the far one. `None` where each way takes
/// what the interfaces of both ends take. Where both ways take less, the worse one counts; the forward one where they
/// differ by no more than a VLAN tag, since one interface can then be behind both.
fn culprit(result: &PathResult, from: &str, to: &str) -> Option<Culprit> {
    let [forward, reverse] = ways(result, [from, to]);
    let worse = if reverse.passes() + VLAN_TAG < forward.passes() { [reverse, forward] } else { [forward, reverse] };
    worse.iter().find(|way| way.is_short()).map(PathDirection::culprit)
}

/// The conclusions from the path to a host that measures nothing. Its own devices are known where it was reached by ssh.
pub fn path_to(path: &PathTo) -> PathConclusion {
    let here = path.devices.first().map_or("", |device| &device.host);
    let address = path.address.to_string();
    let there = path.devices.iter().map(|device| device.host.as_str()).find(|host| *host != here).unwrap_or(&address);
    let way = PathDirection { leg: &path.leg, sender: here, receiver: there, devices: &path.devices };
    let culprit = way.is_short().then(|| way.culprit());
    PathConclusion { advice: advice(path, here, culprit.as_ref()), culprit }
}

fn advice(path: &PathTo, here: &str, culprit: Option<&Culprit>) -> Vec<PathAdvice> {
    let (v6, length) = if path.address.is_ipv6() { (" -6", 128) } else { ("", 32) };
    let because = |kind, command: Option<String>| PathAdvice { kind, command };
    let mut all = Vec::new();
    let passes = path.leg.mtu;
    // Also on a path without a culprit: TCP and UDP of this host go by what the kernel has learnt.
    if let (Some(known), Some(passes)) = (path.route_mtu, passes)
        && known < passes
    {
        all.push(because(PathAdviceKind::Forget, Some(format!("ip{v6} route flush cache"))));
    }
    if path.no_discovery.is_some_and(|setting| setting != 0) && path.address.is_ipv4() {
        all.push(because(PathAdviceKind::Discover, Some("sysctl -w net.ipv4.ip_no_pmtu_disc=0".to_owned())));
    }
    let Some(culprit) = culprit else { return all };
    match culprit.kind {
        CulpritKind::OwnInterface | CulpritKind::PeerInterface => {}
        CulpritKind::BridgeMember => {
            let ours = path.devices.iter().filter(|device| device.host == here);
            let wanted = ours.map(|device| device.mtu.0).max();
            // Another system may have another command.
            let own = culprit.device.as_ref().filter(|_| culprit.host.as_deref() == Some(here));
            let command = own.zip(wanted).map(|(device, mtu)| format!("ip link set dev {device} mtu {mtu}"));
            all.push(because(PathAdviceKind::RaiseMember, command));
        }
        CulpritKind::MiddleHop => all.push(because(PathAdviceKind::AskRouter, None)),
        CulpritKind::BlackHole | CulpritKind::IcmpFiltered => {
            all.push(because(PathAdviceKind::AskRouter, None));
            if let Some(Mtu(mtu)) = passes {
                let via = path.gateway.map_or_else(String::new, |gateway| format!(" via {gateway}"));
                let (address, interface) = (path.address, &path.interface);
                let command = format!("ip{v6} route replace {address}/{length}{via} dev {interface} mtu {mtu}");
                all.push(because(PathAdviceKind::SetRoute, Some(command)));
            }
            if path.tcp_mtu_probing == Some(0) {
                all.push(because(PathAdviceKind::ProbeTcp, Some("sysctl -w net.ipv4.tcp_mtu_probing=1".to_owned())));
            }
        }
    }
    all
}

impl PathDirection<'_> {
    /// The largest packet that passes, in bytes.
    fn passes(&self) -> u32 {
        self.leg.mtu.map_or(0, |mtu| mtu.0)
    }

    /// MTU of the larger interface of both ends, as far as a search goes.
    fn takes(&self) -> Option<Mtu> {
        let most = self.own_mtu(self.sender).max(self.own_mtu(self.receiver));
        most.map(|mtu| mtu.min(LARGEST_PATH_MTU))
    }

    /// Whether either end's interface would take more than passes.
    fn is_short(&self) -> bool {
        self.leg.refusal != Refusal::Largest && self.leg.mtu < self.takes()
    }

    fn own_mtu(&self, host: &str) -> Option<Mtu> {
        self.on_path(host).map(|device| device.mtu).min()
    }

    fn on_path(&self, host: &str) -> impl Iterator<Item = &PathDevice> {
        self.at(host).filter(|device| device.on_path)
    }

    fn at(&self, host: &str) -> impl Iterator<Item = &PathDevice> {
        self.devices.iter().filter(move |device| device.host == host)
    }

    fn culprit(&self) -> Culprit {
        match &self.leg.refusal {
            Refusal::Largest | Refusal::Interface => {
                let smallest = self.on_path(self.sender).min_by_key(|device| device.mtu);
                self.device(self.sender, smallest, CulpritKind::OwnInterface)
            }
            Refusal::TooBig { by, .. } => between(Some(by.to_string()), CulpritKind::MiddleHop),
            Refusal::Silent { last_router, routers_answer } => self.silent().unwrap_or_else(|| {
                let kind = match routers_answer {
                    Some(false) => CulpritKind::IcmpFiltered,
                    _ => CulpritKind::BlackHole,
                };
                between(last_router.map(|router| router.to_string()), kind)
            }),
        }
    }

    /// A device at one of the ends that drops all that is larger than what passes, the receiver's before the sender's.
    fn silent(&self) -> Option<Culprit> {
        let passed = self.leg.mtu?.0;
        let drops = |device: &&PathDevice| (device.mtu.0..=device.mtu.0 + VLAN_TAG).contains(&passed);
        if let Some(device) = self.on_path(self.receiver).find(drops) {
            return Some(self.device(self.receiver, Some(device), CulpritKind::PeerInterface));
        }
        let members = |host| self.at(host).filter(|device| device.master.is_some());
        let member = members(self.receiver).chain(members(self.sender)).find(drops)?;
        Some(named(&member.host, member, CulpritKind::BridgeMember))
    }

    /// This device, or the member that pulls it down.
    fn device(&self, host: &str, device: Option<&PathDevice>, kind: CulpritKind) -> Culprit {
        let Some(device) = device else {
            return Culprit { host: Some(host.to_owned()), device: None, kind };
        };
        self.weakest_member(device)
            .map_or_else(|| named(host, device, kind), |member| named(host, member, CulpritKind::BridgeMember))
    }

    /// The member of the bridge that this device is, or belongs to, with the bridge's MTU, while others could take more.
    fn weakest_member(&self, device: &PathDevice) -> Option<&PathDevice> {
        let bridge = self.at(&device.host).find(|bridge| {
            bridge.mtu == device.mtu && (bridge.name == device.name || device.master.as_ref() == Some(&bridge.name))
        })?;
        let members = || self.at(&device.host).filter(|member| member.master.as_ref() == Some(&bridge.name));
        let others_take_more = members().any(|member| member.mtu > bridge.mtu);
        members().find(|member| others_take_more && member.mtu == bridge.mtu)
    }
}

fn named(host: &str, device: &PathDevice, kind: CulpritKind) -> Culprit {
    Culprit { host: Some(host.to_owned()), device: Some(device.name.clone()), kind }
}

fn between(host: Option<String>, kind: CulpritKind) -> Culprit {
    Culprit { host, device: None, kind }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SILENT: Refusal = Refusal::Silent { last_router: None, routers_answer: None };

    fn leg(mtu: u32, refusal: Refusal) -> Leg {
        Leg { mtu: Some(Mtu(mtu)), refusal, routers: Some(1) }
    }

    fn device(host: &str, name: &str, mtu: u32) -> PathDevice {
        PathDevice {
            host: host.to_owned(),
            name: name.to_owned(),
            kind: String::new(),
            mtu: Mtu(mtu),
            master: None,
            on_path: true,
        }
    }

    fn member(host: &str, name: &str, mtu: u32, master: &str) -> PathDevice {
        PathDevice { master: Some(master.to_owned()), on_path: false, ..device(host, name, mtu) }
    }

    fn result(forward: Leg, reverse: Leg, devices: Vec<PathDevice>) -> PathResult {
        PathResult { forward, reverse, devices, packets: 4, hops: vec![] }
    }

    fn ends(a: u32, b: u32) -> Vec<PathDevice> {
        vec![device("a", "eth0", a), device("b", "eth1", b)]
    }

    fn found(host: &str, device: Option<&str>, kind: CulpritKind) -> Option<Culprit> {
        let host = (!host.is_empty()).then(|| host.to_owned());
        Some(Culprit { host, device: device.map(str::to_owned), kind })
    }

    #[test]
    fn a_path_that_takes_what_its_ends_take_has_no_culprit() {
        let clean = result(leg(1500, Refusal::Interface), leg(1500, Refusal::Interface), ends(1500, 1500));
        assert_eq!(culprit(&clean, "a", "b"), None);
        let loopback = result(leg(65_535, Refusal::Largest), leg(65_535, Refusal::Largest), ends(65_536, 65_536));
        assert_eq!(culprit(&loopback, "a", "b"), None);
        let room_for_a_tag = result(leg(1504, SILENT), leg(1500, Refusal::Interface), ends(1500, 1500));
        assert_eq!(culprit(&room_for_a_tag, "a", "b"), None);
    }

    #[test]
    fn the_smaller_interface_is_the_culprit_seen_from_either_end() {
        let near = result(leg(1500, Refusal::Interface), leg(1504, SILENT), ends(1500, 9000));
        assert_eq!(culprit(&near, "a", "b"), found("a", Some("eth0"), CulpritKind::OwnInterface));
        let far = result(leg(1500, SILENT), leg(1500, Refusal::Interface), ends(9000, 1500));
        assert_eq!(culprit(&far, "a", "b"), found("b", Some("eth1"), CulpritKind::PeerInterface));
    }

    #[test]
    fn a_member_that_pulls_its_bridge_down_is_named() {
        let devices = || {
            let bridge = [device("b", "br0", 1400), member("b", "eth1", 9000, "br0"), member("b", "tap0", 1400, "br0")];
            [device("a", "eth0", 9000)].into_iter().chain(bridge).collect::<Vec<_>>()
        };
        let tap = found("b", Some("tap0"), CulpritKind::BridgeMember);
        let sending = result(leg(9000, Refusal::Interface), leg(1400, Refusal::Interface), devices());
        assert_eq!(culprit(&sending, "a", "b"), tap);
        let receiving = result(leg(1404, SILENT), leg(9000, Refusal::Interface), devices());
        assert_eq!(culprit(&receiving, "a", "b"), tap);
    }

    #[test]
    fn a_member_smaller_than_its_bridge_is_named_although_the_bridge_takes_more() {
        let mut devices = ends(1500, 1500);
        devices.extend([device("a", "br0", 1500), member("a", "eth7", 1400, "br0")]);
        let silent = result(leg(1404, SILENT), leg(1500, Refusal::Interface), devices);
        assert_eq!(culprit(&silent, "a", "b"), found("a", Some("eth7"), CulpritKind::BridgeMember));
    }

    #[test]
    fn a_bridge_that_is_smaller_than_all_its_members_is_to_blame_itself() {
        let devices = vec![device("a", "br0", 1400), member("a", "eth0", 1500, "br0"), device("b", "eth1", 1500)];
        let short = result(leg(1400, Refusal::Interface), leg(1500, Refusal::Interface), devices);
        assert_eq!(culprit(&short, "a", "b"), found("a", Some("br0"), CulpritKind::OwnInterface));
    }

    #[test]
    fn between_the_ends_a_router_is_named_or_nobody() {
        let by = "198.18.0.1".parse().expect("an address");
        let says_so = Refusal::TooBig { by, mtu: Mtu(1400) };
        let hole = Refusal::Silent { last_router: Some(by), routers_answer: Some(true) };
        let filtered = Refusal::Silent { last_router: None, routers_answer: Some(false) };
        for (refusal, host, kind) in [
            (says_so, "198.18.0.1", CulpritKind::MiddleHop),
            (hole, "198.18.0.1", CulpritKind::BlackHole),
            (filtered, "", CulpritKind::IcmpFiltered),
            (SILENT, "", CulpritKind::BlackHole),
        ] {
            let short = result(leg(1300, refusal), leg(1500, Refusal::Interface), ends(1500, 1500));
            assert_eq!(culprit(&short, "a", "b"), found(host, None, kind));
        }
    }

    #[test]
    fn the_worse_way_counts() {
        let by = "198.18.0.1".parse().expect("an address");
        let says_so = leg(1400, Refusal::TooBig { by, mtu: Mtu(1400) });
        let both = result(leg(1450, SILENT), says_so, ends(1500, 1500));
        assert_eq!(culprit(&both, "a", "b"), found("198.18.0.1", None, CulpritKind::MiddleHop));
        let nothing = Leg { mtu: None, refusal: SILENT, routers: None };
        let none = result(leg(1400, Refusal::Interface), nothing, ends(1400, 1500));
        assert_eq!(culprit(&none, "a", "b"), found("", None, CulpritKind::BlackHole));
    }

    fn to(leg: Leg, devices: Vec<PathDevice>) -> PathTo {
        PathTo {
            address: "198.19.0.2".parse().expect("an address"),
            interface: "eth0".to_owned(),
            source: "198.18.0.1".parse().expect("an address"),
            gateway: Some("198.18.0.2".parse().expect("an address")),
            method: model::PathMethod::Echo,
            leg,
            hops: vec![],
            devices,
            route_mtu: None,
            tcp: None,
            tcp_mtu_probing: Some(0),
            no_discovery: Some(0),
            packets: 12,
            took: model::Nanos::from_millis(80),
        }
    }

    fn kinds(conclusion: &PathConclusion) -> Vec<PathAdviceKind> {
        conclusion.advice.iter().map(|advice| advice.kind).collect()
    }

    #[test]
    fn a_host_that_is_reached_with_the_interfaces_mtu_needs_no_remedy() {
        let clean = to(leg(1500, Refusal::Interface), vec![device("here", "eth0", 1500)]);
        assert_eq!(path_to(&clean), PathConclusion::default());
    }

    #[test]
    fn a_black_hole_is_met_by_the_route_or_by_tcp_itself() {
        let by = "198.18.0.2".parse().expect("an address");
        let hole = Refusal::Silent { last_router: Some(by), routers_answer: Some(true) };
        let found = path_to(&to(leg(1400, hole), vec![device("here", "eth0", 1500)]));
        assert_eq!(found.culprit.as_ref().map(|it| it.kind), Some(CulpritKind::BlackHole));
        assert_eq!(kinds(&found), [PathAdviceKind::AskRouter, PathAdviceKind::SetRoute, PathAdviceKind::ProbeTcp]);
        let route = found.advice[1].command.as_deref();
        assert_eq!(route, Some("ip route replace 198.19.0.2/32 via 198.18.0.2 dev eth0 mtu 1400"));
    }

    #[test]
    fn devices_of_the_host_are_named_where_they_are_known() {
        let hole = Refusal::Silent { last_router: None, routers_answer: Some(true) };
        let far = |mtu| vec![device("here", "eth0", 9000), device("beastie", "ix0", mtu)];
        let found = path_to(&to(leg(1500, hole.clone()), far(1500)));
        let kind = |it: &PathConclusion| it.culprit.as_ref().map(|it| (it.kind, it.device.clone(), it.host.clone()));
        let named = |device: &str| (Some(device.to_owned()), Some("beastie".to_owned()));
        let (device, host) = named("ix0");
        assert_eq!(kind(&found), Some((CulpritKind::PeerInterface, device, host)));
        let mut bridged = far(9000);
        bridged.extend([member("beastie", "ix0", 9000, "bridge0"), member("beastie", "tap0", 1500, "bridge0")]);
        let found = path_to(&to(leg(1500, hole), bridged));
        let (device, host) = named("tap0");
        assert_eq!(kind(&found), Some((CulpritKind::BridgeMember, device, host)));
        assert_eq!(found.advice[0].command, None, "its system is another one");
    }

    #[test]
    fn a_member_below_its_bridge_is_raised_and_a_stale_mtu_forgotten() {
        let bridge =
            [device("here", "br0", 1400), member("here", "eth1", 9000, "br0"), member("here", "tap0", 1400, "br0")];
        let mut small = to(leg(1400, Refusal::Interface), bridge.into());
        small.route_mtu = Some(Mtu(1280));
        small.no_discovery = Some(1);
        // The bridge gives what it has, so the path is not short of it.
        assert_eq!(kinds(&path_to(&small)), [PathAdviceKind::Forget, PathAdviceKind::Discover]);
        let by = "198.18.0.2".parse().expect("an address");
        let told = to(leg(1300, Refusal::TooBig { by, mtu: Mtu(1300) }), vec![device("here", "eth0", 1500)]);
        assert_eq!(kinds(&path_to(&told)), [PathAdviceKind::AskRouter]);
    }
}
