//! Interrupts, queues and memory nodes.

use std::collections::BTreeSet;

use model::{
    inspection::{Check, Finding, Goal, Read, Severity},
    settings::Interrupt,
};

use super::look::{Look, Port};

const RSS_CONFIGURATION: (&str, &str) = ("Linux Documentation/networking/scaling.rst", "RSS IRQ Configuration");
const RPS: (&str, &str) = ("Linux Documentation/networking/scaling.rst", "RPS: Receive Packet Steering");
const ESNET: (&str, &str) = ("ESnet, fasterdata.es.net, Host Tuning, 40G/100G Tuning", "Interrupt and CPU binding");
const ISOLATION: (&str, &str) = ("Linux Documentation/admin-guide/kernel-parameters.txt", "isolcpus=");

pub(super) fn check(look: &Look<'_>) -> Vec<Finding> {
    let ports: Vec<Port<'_>> = look.nics().collect();
    let checks = [node, one_core, isolated, channels, steering, hash];
    ports.iter().flat_map(|port| checks.iter().filter_map(|check| check(look, port))).collect()
}

/// Cores that interrupts of a port are delivered to.
fn cores(interrupts: &[Interrupt]) -> BTreeSet<usize> {
    interrupts.iter().flat_map(|interrupt| interrupt.cores.iter().copied()).collect()
}

fn list(cores: impl IntoIterator<Item = usize>) -> String {
    cores.into_iter().map(|core| core.to_string()).collect::<Vec<_>>().join(",")
}

/// The command that gives the interrupts to these cores in turn.
fn spread(port: &Port<'_>, cores: &[usize]) -> Option<String> {
    let turn = cores.iter().cycle();
    let one = |(interrupt, core): (&Interrupt, &usize)| {
        format!("echo {core} > /proc/irq/{}/smp_affinity_list", interrupt.number)
    };
    let all: Vec<String> = port.settings.interrupts.iter().zip(turn).map(one).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

const PLACE: &str = "/proc/irq/*/effective_affinity_list";

fn node(look: &Look<'_>, port: &Port<'_>) -> Option<Finding> {
    let (node, own) = (port.settings.node?, &port.settings.node_cores);
    let several = look.readings.host.numa_nodes.copied().is_some_and(|nodes| nodes > 1);
    (several && !own.is_empty() && !port.settings.interrupts.is_empty()).then_some(())?;
    let used = cores(&port.settings.interrupts);
    let is_near = used.iter().all(|core| own.contains(core));
    let wanted = format!("{} (node {node})", list(own.iter().copied()));
    let finding =
        Finding::of(Check::IrqNode, port.name(), Read::of(list(used), PLACE), wanted, &[RSS_CONFIGURATION, ESNET]);
    Some(finding.unless(is_near, Severity::Warn, spread(port, own)))
}

fn one_core(look: &Look<'_>, port: &Port<'_>) -> Option<Finding> {
    let queues = port.settings.channels()?.receive;
    let used = cores(&port.settings.interrupts);
    (queues > 1 && look.cores() > 1 && port.settings.interrupts.len() > 1 && !used.is_empty()).then_some(())?;
    let near = if port.settings.node_cores.is_empty() {
        (0..look.cores()).collect()
    } else {
        port.settings.node_cores.clone()
    };
    let severity = if look.is_for(&[Goal::Latency]) { Severity::Info } else { Severity::Warn };
    let is_spread = used.len() > 1;
    let finding = Finding::of(Check::IrqOneCore, port.name(), Read::of(list(used), PLACE), "> 1", &[RSS_CONFIGURATION]);
    Some(finding.with("queues", queues).unless(is_spread, severity, spread(port, &near)))
}

fn isolated(look: &Look<'_>, port: &Port<'_>) -> Option<Finding> {
    let isolated = numbers(look.readings.host.isolated_cpus.known()?)?;
    let hit: Vec<usize> = cores(&port.settings.interrupts).into_iter().filter(|core| isolated.contains(core)).collect();
    let others: Vec<usize> = (0..look.cores()).filter(|core| !isolated.contains(core)).collect();
    let is_clear = hit.is_empty();
    let severity = if look.is_for(&[Goal::Latency, Goal::Bypass]) { Severity::Warn } else { Severity::Info };
    let wanted = list(others.iter().copied());
    let finding = Finding::of(Check::IrqIsolated, port.name(), Read::of(list(hit), PLACE), wanted, &[ISOLATION]);
    Some(finding.unless(is_clear, severity, spread(port, &others)))
}

/// Numbers of a list of the kernel.
fn numbers(list: &str) -> Option<BTreeSet<usize>> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse::<usize>().ok()?..=last.parse::<usize>().ok()?.min(1 << 16))
    };
    let ranges: Option<Vec<_>> = list.split(',').map(range).collect();
    Some(ranges?.into_iter().flatten().collect())
}

/// Queues by the cores of the card's node. Only combined ones are in a profile: a card may refuse others beside them.
fn channels(look: &Look<'_>, port: &Port<'_>) -> Option<Finding> {
    let channels = port.settings.channels()?;
    let value = look.wanted_of("channels-combined", port)?;
    let near = if port.settings.node_cores.is_empty() { look.cores() } else { port.settings.node_cores.len() };
    let wanted = value.of_driver(Some(channels.most), near)?;
    let read = Read::of(channels.receive, format!("ethtool -l {}", port.name()));
    let (kind, severity) = if channels.combined { ("combined", Severity::Warn) } else { ("rx", Severity::Info) };
    let mend = format!("ethtool -L {} {kind} {wanted}", port.name());
    let finding = Finding::of(Check::Channels, port.name(), read, format!(">= {wanted}"), &value.documents());
    Some(finding.unless(channels.receive >= wanted, severity, Some(mend)))
}

fn steering(look: &Look<'_>, port: &Port<'_>) -> Option<Finding> {
    let masks = &port.settings.receive_steering;
    let is_single = masks.len() == 1 && port.settings.channels().is_none_or(|channels| channels.most == 1);
    (is_single && look.cores() > 1 && look.is_for(&[Goal::Throughput, Goal::Router])).then_some(())?;
    let is_on = masks.iter().any(|mask| mask.contains(|digit: char| digit.is_ascii_hexdigit() && digit != '0'));
    let path = format!("/sys/class/net/{}/queues/rx-0/rps_cpus", port.name());
    let mask = mask(look.cores());
    let mend = format!("echo {mask} > {path}");
    let finding = Finding::of(Check::ReceiveSteering, port.name(), Read::of(masks.join(" "), path), mask, &[RPS]);
    Some(finding.unless(is_on, Severity::Info, Some(mend)))
}

/// A mask of the first cores, in groups of 32 bits.
fn mask(cores: usize) -> String {
    let groups = cores.div_ceil(32).max(1);
    let group = |number: usize| match cores.saturating_sub(32 * number) {
        bits @ 0..32 => (1_u64 << bits) - 1,
        _ => 0xffff_ffff,
    };
    let (first, rest) = (group(groups - 1), (0..groups - 1).rev().map(|number| format!(",{:08x}", group(number))));
    format!("{first:x}") + &rest.collect::<String>()
}

fn hash(look: &Look<'_>, port: &Port<'_>) -> Option<Finding> {
    let offload = port.settings.offloads.get("rx-hashing")?;
    let value = look.wanted_of("offload rx-hashing", port)?;
    (port.settings.channels()?.receive > 1).then_some(())?;
    let read = Read::of(if offload.on { "on" } else { "off" }, format!("ethtool -k {}", port.name()));
    let mend = offload.changeable.then(|| format!("ethtool -K {} rx-hashing on", port.name()));
    let severity = if offload.changeable { Severity::Warn } else { Severity::Info };
    Some(
        Finding::of(Check::ReceiveHash, port.name(), read, "on", &value.documents()).unless(offload.on, severity, mend),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_and_lists_are_those_of_the_kernel() {
        assert_eq!([1, 4, 32, 33, 64].map(mask), ["1", "f", "ffffffff", "1,ffffffff", "ffffffff,ffffffff"]);
        assert_eq!(numbers("0-2,5"), Some([0, 1, 2, 5].into()));
        assert_eq!((numbers("(null)"), numbers("")), (None, None));
    }
}
