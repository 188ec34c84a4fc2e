//! MTUs of the devices on a path, and path MTU discovery.

use model::{
    environment::{EndpointFacts, InterfaceFacts},
    inspection::{Check, Finding, Goal, Read, Severity},
};

use super::context::{Context, Port};

const BRIDGES: (&str, &str) = ("IEEE 802.1Q", "section 6.5.8, maximum service data unit size");
const LINKS: (&str, &str) = ("ip-link(8)", "mtu");
const RFC_8899: (&str, &str) = ("RFC 8899", "section 1.1, black holes");
const RFC_1191: (&str, &str) = ("RFC 1191", "section 6.3, purging stale PMTU information");
const ESNET: (&str, &str) = ("ESnet, fasterdata.es.net, Network Tuning", "MTU issues and jumbo frames");

/// MTU of plain Ethernet.
const ETHERNET: u32 = 1500;
const JUMBO: u32 = 9000;

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for port in context.ports() {
        findings.extend([member, lower, peer].iter().filter_map(|check| check(&port)));
    }
    findings.extend(context.nics().filter_map(|port| jumbo(context, &port)));
    findings.extend(learned(context));
    findings.extend(discovery(context));
    findings
}

fn place(name: &str) -> String {
    format!("/sys/class/net/{name}/mtu")
}

fn set(name: &str, mtu: u32) -> Option<String> {
    Some(format!("ip link set dev {name} mtu {mtu}"))
}

/// A bridge, bond or team or a member of one, against the others: the largest MTU of all is wanted.
fn member(port: &Port<'_>) -> Option<Finding> {
    let all = &port.end.interfaces;
    let master = port.facts.master.as_deref().unwrap_or(port.name());
    let is_member = |it: &&InterfaceFacts| it.master.as_deref() == Some(master);
    all.iter().find(is_member)?;
    let both = all.iter().filter(|it| is_member(it) || it.name == master);
    let largest = both.filter_map(|it| it.mtu.copied()).max()?;
    let mtu = port.mtu()?;
    let read = Read::of(mtu, place(port.name()));
    let finding = Finding::of(Check::MtuMember, port.name(), read, largest, &[BRIDGES]).with("master", master);
    Some(finding.unless(mtu == largest, Severity::Warn, set(port.name(), largest)))
}

/// An interface that stands on another one, like a VLAN.
fn lower(port: &Port<'_>) -> Option<Finding> {
    let lower = port.settings.lower.as_ref()?;
    let (mtu, below) = (port.mtu()?, port.end.interfaces.iter().find(|it| it.name == *lower)?.mtu.copied()?);
    let read = Read::of(mtu, place(port.name()));
    let finding = Finding::of(Check::MtuLower, port.name(), read, format!("<= {below}"), &[LINKS]).with("lower", lower);
    Some(finding.unless(mtu <= below, Severity::Warn, set(lower, mtu)))
}

fn peer(port: &Port<'_>) -> Option<Finding> {
    let (other, mtu) = (port.settings.other_end.as_ref()?, port.mtu()?);
    let read = Read::of(mtu, place(port.name()));
    let name = if other.namespace.is_empty() {
        other.interface.clone()
    } else {
        format!("{} ({})", other.interface, other.namespace)
    };
    let largest = mtu.max(other.mtu);
    let finding = Finding::of(Check::MtuPeer, port.name(), read, other.mtu, &[LINKS]).with("peer", name);
    let mend = if mtu == largest {
        let within = if other.namespace.is_empty() { String::new() } else { format!("-n {} ", other.namespace) };
        Some(format!("ip {within}link set dev {} mtu {largest}", other.interface))
    } else {
        set(port.name(), largest)
    };
    Some(finding.unless(mtu == other.mtu, Severity::Warn, mend))
}

fn jumbo(context: &Context<'_>, port: &Port<'_>) -> Option<Finding> {
    let is_fast = context.speed_of(port).is_some_and(|bps| bps >= 10e9);
    let mtu = port.mtu().filter(|_| is_fast && context.is_for(&[Goal::Throughput]))?;
    let finding =
        Finding::of(Check::Jumbo, port.name(), Read::of(mtu, place(port.name())), format!(">= {JUMBO}"), &[ESNET]);
    Some(finding.unless(mtu >= JUMBO, Severity::Info, set(port.name(), JUMBO)))
}

/// MTUs that the kernel keeps of paths, which are below those of its interfaces.
fn learned(context: &Context<'_>) -> Vec<Finding> {
    let of_end = |end: &EndpointFacts| -> Vec<Finding> {
        let least = end.interfaces.iter().filter(|it| it.state == "up").filter_map(|it| it.mtu.copied()).min();
        let all = end.since_start.iter().flat_map(|since| since.learned_mtus.clone());
        let one = |(to, mtu): (String, u32)| {
            let version = if to.contains(':') { "-6 " } else { "" };
            let read = Read::of(mtu, format!("ip {version}route get {to}"));
            let wanted = least.unwrap_or(ETHERNET);
            let mend = format!("ip {version}route flush cache");
            let finding = Finding::of(Check::RouteMtu, &to, read, wanted, &[RFC_1191, RFC_8899]);
            finding.unless(mtu >= wanted, Severity::Warn, Some(mend))
        };
        all.map(one).collect()
    };
    context.readings.ends.iter().flat_map(of_end).collect()
}

fn discovery(context: &Context<'_>) -> Vec<Finding> {
    let has_jumbo = context.ports().any(|port| port.mtu().is_some_and(|mtu| mtu > ETHERNET));
    let probing = if has_jumbo { Severity::Warn } else { Severity::Info };
    let mut findings = context.sysctl(Check::MtuProbing, "net.ipv4.tcp_mtu_probing", probing);
    findings.extend(context.sysctl(Check::PathMtuDiscovery, "net.ipv4.ip_no_pmtu_disc", Severity::Warn));
    findings
}
