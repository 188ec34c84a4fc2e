//! MTUs of the interfaces on a path, path MTU discovery, and forwarding.

use ::freebsd::interfaces::Interface;
use model::inspection::{Check, Finding, Goal, Read, Severity};

use super::{
    context::{Context, FAST_BPS, ifconfig},
    setting::Setting,
};

const BRIDGE: (&str, &str) = ("if_bridge(4), lagg(4)", "all members have one MTU");
const VLAN: (&str, &str) = ("vlan(4)", "MTU of the parent");
const ROUTE: (&str, &str) = ("route(8)", "-mtu");
const TCP: (&str, &str) = ("tcp(4)", "net.inet.tcp.path_mtu_discovery, net.inet.tcp.pmtud_blackhole_detection");
const RFC_4821: (&str, &str) = ("RFC 4821", "section 2, packetization layer path MTU discovery");
const RFC_1191: (&str, &str) = ("RFC 1191", "section 3, host specification");
const ESNET: (&str, &str) = ("ESnet, fasterdata.es.net, Network Tuning", "MTU issues and jumbo frames");
const INET: (&str, &str) = ("inet(4), inet6(4)", "net.inet.ip.forwarding, net.inet6.ip6.forwarding");

/// MTU of plain Ethernet.
const ETHERNET: u32 = 1500;
const JUMBO: u32 = 9000;

const SETTINGS: [Setting; 4] = [
    Setting {
        check: Check::MtuProbing,
        key: "net.inet.tcp.pmtud_blackhole_detection",
        wanted: "1",
        is_wanted: |value| value != "0",
        severity: |context| {
            let has_jumbo = context.nics().any(|nic| nic.mtu.is_some_and(|mtu| mtu > ETHERNET));
            Some(if has_jumbo { Severity::Warn } else { Severity::Info })
        },
        sources: &[TCP, RFC_4821],
    },
    Setting {
        check: Check::PathMtuDiscovery,
        key: "net.inet.tcp.path_mtu_discovery",
        wanted: "1",
        is_wanted: |value| value != "0",
        severity: |_| Some(Severity::Warn),
        sources: &[TCP, RFC_1191],
    },
    Setting {
        check: Check::Forwarding,
        key: "net.inet.ip.forwarding",
        wanted: "1",
        is_wanted: |value| value != "0",
        severity: |context| context.is_for(&[Goal::Router]).then_some(Severity::Warn),
        sources: &[INET],
    },
    Setting {
        check: Check::Forwarding6,
        key: "net.inet6.ip6.forwarding",
        wanted: "1",
        is_wanted: |value| value != "0",
        severity: |context| context.is_for(&[Goal::Router]).then_some(Severity::Info),
        sources: &[INET],
    },
];

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = context
        .interfaces()
        .flat_map(|interface| [member(context, interface), lower(context, interface)])
        .flatten()
        .collect();
    findings.extend(context.nics().filter_map(|nic| jumbo(context, nic)));
    findings.extend(route(context));
    findings.extend(SETTINGS.iter().filter_map(|setting| setting.judge(context)));
    findings
}

fn set(name: &str, mtu: u32) -> Option<String> {
    Some(format!("ifconfig {name} mtu {mtu}"))
}

/// A bridge or an aggregated link or a member of one, against the others: the largest MTU of all is wanted.
fn member(context: &Context<'_>, interface: &Interface) -> Option<Finding> {
    let all = context.all();
    let holds = |master: &&Interface| master.members.contains(&interface.name);
    let master = all.iter().find(holds).or((!interface.members.is_empty()).then_some(interface))?;
    let both = all.iter().filter(|it| master.members.contains(&it.name) || it.name == master.name);
    let largest = both.filter_map(|it| it.mtu).max()?;
    let mtu = interface.mtu?;
    let read = Read::of(mtu, ifconfig(interface));
    let finding = Finding::of(Check::MtuMember, &interface.name, read, largest, &[BRIDGE]).with("master", &master.name);
    Some(finding.unless(mtu == largest, Severity::Warn, set(&interface.name, largest)))
}

/// A VLAN against the interface that it stands on.
fn lower(context: &Context<'_>, interface: &Interface) -> Option<Finding> {
    let lower = interface.parent.as_ref()?;
    let (mtu, below) = (interface.mtu?, context.all().iter().find(|it| it.name == *lower)?.mtu?);
    let read = Read::of(mtu, ifconfig(interface));
    let finding =
        Finding::of(Check::MtuLower, &interface.name, read, format!("<= {below}"), &[VLAN]).with("lower", lower);
    Some(finding.unless(mtu <= below, Severity::Warn, set(lower, mtu)))
}

fn jumbo(context: &Context<'_>, nic: &Interface) -> Option<Finding> {
    let is_fast = context.speed_of(nic).is_some_and(|bps| bps >= FAST_BPS);
    let mtu = nic.mtu.filter(|_| is_fast && context.is_for(&[Goal::Throughput]))?;
    let finding = Finding::of(Check::Jumbo, &nic.name, Read::of(mtu, ifconfig(nic)), format!(">= {JUMBO}"), &[ESNET]);
    Some(finding.unless(mtu >= JUMBO, Severity::Info, set(&nic.name, JUMBO)))
}

/// The default route against the interface that it leaves by.
fn route(context: &Context<'_>) -> Option<Finding> {
    let route = context.readings.route.known()?;
    let interface = context.interfaces().find(|it| it.name == route.interface)?;
    let (mtu, most) = (route.mtu?, interface.mtu?);
    let read = Read::of(mtu, "route -n get default");
    let finding = Finding::of(Check::RouteMtuBelow, &route.destination, read, most, &[ROUTE]);
    let mend = route.gateway.as_ref().map(|gateway| format!("route change default {gateway} -mtu {most}"));
    Some(finding.with("lower", &interface.name).unless(mtu >= most, Severity::Warn, mend))
}
