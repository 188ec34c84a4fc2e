use model::{
    Bed, Privilege,
    nic::{StampSetting, Stamping},
};

use super::*;
use crate::layouts::tests::changes_of;

fn card(name: &str) -> NicFacts {
    NicFacts {
        name: name.into(),
        driver: "e1000e".into(),
        bus: format!("0000:01:00.{}", name.len() % 8).into(),
        mac: "02:00:00:00:00:01".into(),
        mtu: Mtu(1500),
        mtus: Some((46, 9216)),
        ..NicFacts::default()
    }
}

fn state_of(ports: Vec<NicFacts>) -> NicsState {
    NicsState { ports, ..NicsState::default() }
}

fn nics(a: &str, b: &str) -> Nics {
    Nics { names: [a.to_owned(), b.to_owned()], through: DutRequest::default() }
}

fn laid_out(state: &NicsState, mtu: Option<Mtu>, stamps: bool) -> Topology {
    let asked = nics("eth1", "eth2");
    let nics = asked.choose(state, mtu, NicConsent::default()).expect("free NICs");
    asked.topology(&NicPair { id: "1f".into(), nics, managers: state.managers.clone(), mtu, ipv6: true, stamps })
}

fn bed(state: &NicsState) -> Bed {
    laid_out(state, None, false).bed("ports:eth1,eth2", Privilege::Root)
}

/// The reason why eth1, changed like this, is not taken.
fn refused(change: impl FnOnce(&mut NicFacts), taking: NicConsent) -> Option<String> {
    let mut nic = card("eth1");
    change(&mut nic);
    let state = state_of(vec![nic, card("eth2")]);
    nics("eth1", "eth2").choose(&state, None, taking).err().map(|error| error.to_string())
}

#[test]
fn each_nic_is_moved_into_a_namespace_of_its_own() {
    let mut state = state_of(vec![card("eth1"), card("eth2")]);
    state.managers = vec![Manager::NetworkManager];
    assert_eq!(
        changes_of(&laid_out(&state, Some(Mtu(9000)), false)),
        [
            "eth1 left alone by NetworkManager",
            "eth2 left alone by NetworkManager",
            "namespace wp1f-a",
            "namespace wp1f-b",
            "net.ipv4.tcp_timestamps = 0 in wp1f-a",
            "net.ipv4.tcp_no_metrics_save = 1 in wp1f-a",
            "net.ipv6.conf.default.disable_ipv6 = 0 in wp1f-a",
            "net.ipv6.conf.default.accept_ra = 0 in wp1f-a",
            "net.ipv4.tcp_timestamps = 0 in wp1f-b",
            "net.ipv4.tcp_no_metrics_save = 1 in wp1f-b",
            "net.ipv6.conf.default.disable_ipv6 = 0 in wp1f-b",
            "net.ipv6.conf.default.accept_ra = 0 in wp1f-b",
            "port eth1 moved into wp1f-a",
            "port eth2 moved into wp1f-b",
            "wp1f-a/eth1 MTU 9000",
            "wp1f-b/eth2 MTU 9000",
            "wp1f-a/lo up",
            "wp1f-a/eth1 up",
            "wp1f-b/lo up",
            "wp1f-b/eth2 up",
            "address 198.18.0.1/24 on wp1f-a/eth1",
            "address 2001:2::1/64 on wp1f-a/eth1",
            "address 198.18.0.2/24 on wp1f-b/eth2",
            "address 2001:2::2/64 on wp1f-b/eth2",
        ]
    );
}

#[test]
fn nics_keep_their_mtu_and_cards_are_no_simulation() {
    let state = state_of(vec![card("eth1"), card("eth2")]);
    assert!(!changes_of(&laid_out(&state, None, false)).iter().any(|change| change.contains(" MTU ")));
    let cards = bed(&state);
    assert!(
        !cards.simulated && cards.endpoints.iter().all(|end| end.mtu == Mtu(1500) && end.driver == "e1000e".into())
    );
    let virtual_port = |name| NicFacts { bus: Reading::Absent, driver: "veth".into(), ..card(name) };
    let one_card = state_of(vec![card("eth1"), virtual_port("eth2")]);
    assert!(!bed(&one_card).simulated);
    let no_card = state_of(vec![virtual_port("eth1"), virtual_port("eth2")]);
    assert!(bed(&no_card).simulated);
}

#[test]
fn a_nic_that_is_not_there_is_named_with_those_that_are() {
    let mut state = state_of(vec![card("lo"), card("eth1"), NicFacts { kind: "bridge".into(), ..card("br0") }]);
    state.elsewhere = vec![("wpx-a".into(), "eth3".into())];
    let why =
        |name: &str| nics("eth1", name).choose(&state, None, NicConsent::default()).expect_err("not there").to_string();
    assert_eq!(why("eth9"), "there is no interface \"eth9\" here; there are: eth1");
    assert!(why("eth3").starts_with("eth3 is in the network namespace \"wpx-a\"; take it out"), "{}", why("eth3"));
    assert!(why("br0").starts_with("br0 is a bridge, which cannot be a port"), "{}", why("br0"));
    assert!(why("lo").starts_with("lo is the loopback interface"), "{}", why("lo"));
}

#[test]
fn what_others_stand_on_is_not_taken() {
    let strict = NicConsent { in_use: true, uplink: true };
    let why = refused(|port| port.master = Some("br0".into()), strict).expect("a member");
    assert!(why.starts_with("eth1 belongs to br0; take it out first (ip link set eth1 nomaster)"), "{why}");
    let why = refused(|port| port.on_top = vec!["eth1.5".into()], strict).expect("a parent");
    assert!(why.starts_with("eth1 carries eth1.5, which would stop"), "{why}");
    let why = refused(|port| port.lasting = vec!["a route of several hops (ip route delete x)".into()], strict);
    assert!(why.expect("lasting").contains("could not be put back"));
}

#[test]
fn nics_in_use_and_uplinks_are_taken_only_when_told() {
    let used = |port: &mut NicFacts| port.addresses = vec!["198.18.7.1/24".into()];
    let why = refused(used, NicConsent::default()).expect("in use");
    assert!(why.contains("in use (198.18.7.1/24)") && why.contains("--take-ports-in-use"), "{why}");
    assert_eq!(refused(used, NicConsent { in_use: true, uplink: false }), None);

    let uplink = |port: &mut NicFacts| (port.is_uplink, port.routes) = (true, vec!["route add 0.0.0.0/0".into()]);
    let why = refused(uplink, NicConsent { in_use: true, uplink: false }).expect("the uplink");
    assert!(why.contains("default route") && why.contains("--i-know-this-is-my-uplink"), "{why}");
    assert_eq!(refused(uplink, NicConsent { in_use: false, uplink: true }), None);

    let session = |port: &mut NicFacts| port.carries_session = true;
    let why = refused(session, NicConsent { in_use: true, uplink: false }).expect("our own session");
    assert!(why.contains("your ssh session comes in through eth1"), "{why}");
}

#[test]
fn a_card_is_told_to_stamp_where_it_can_and_nobody_else_told_it_to() {
    let told = |stamping: Option<Stamping>, stamps| {
        let state = state_of(vec![NicFacts { stamping, ..card("eth1") }, card("eth2")]);
        changes_of(&laid_out(&state, None, stamps)).into_iter().find(|change| change.contains("stamps packets"))
    };
    let free = Stamping { can_stamp_all: true, set: StampSetting::default() };
    assert_eq!(told(Some(free), true).as_deref(), Some("wp1f-a/eth1 stamps packets"));
    assert_eq!(told(Some(free), false), None, "nobody asked for stamps");
    assert_eq!(told(None, true), None, "its driver does not say that it can");
    assert_eq!(told(Some(Stamping { can_stamp_all: false, ..free }), true), None);
    // As for ptp4l: departures on request, and arriving PTP messages.
    let clock = StampSetting { departures: 1, arrivals: 12 };
    assert_eq!(told(Some(Stamping { set: clock, ..free }), true), None, "somebody keeps a clock by it");
}

#[test]
fn an_mtu_that_the_driver_refuses_is_refused_before() {
    let state = state_of(vec![card("eth1"), card("eth2")]);
    let error = nics("eth1", "eth2").choose(&state, Some(Mtu(16_000)), NicConsent::default()).expect_err("too large");
    assert_eq!(error.to_string(), "--mtu 16000: eth1 (e1000e) takes an MTU from 46 to 9216");
}
