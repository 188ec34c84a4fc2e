//! Interrupts, queues and memory nodes.

use std::collections::BTreeSet;

use model::{
    Reading, core_list,
    inspection::{Check, Finding, Goal, Read, Severity},
    settings::Interrupt,
};

use super::context::{Context, Port};

const RSS_CONFIGURATION: (&str, &str) = ("Linux Documentation/networking/scaling.rst", "RSS IRQ Configuration");
const RPS: (&str, &str) = ("Linux Documentation/networking/scaling.rst", "RPS: Receive Packet Steering");
const ESNET: (&str, &str) = ("ESnet, fasterdata.es.net, Host Tuning, 40G/100G Tuning", "Interrupt and CPU binding");
const ISOLATION: (&str, &str) = ("Linux Documentation/admin-guide/kernel-parameters.txt", "isolcpus=");

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let ports: Vec<Port<'_>> = context.nics().collect();
    let checks = [node, one_core, isolated, channels, steering, hash];
    ports.iter().flat_map(|port| checks.iter().filter_map(|check| check(context, port))).collect()
}

/// Interrupts of a port; none where they could not be read.
fn interrupts<'r>(port: &Port<'r>) -> &'r [Interrupt] {
    port.settings.interrupts.known().map_or(&[], Vec::as_slice)
}

/// Cores that interrupts of a port are delivered to.
fn cores(port: &Port<'_>) -> BTreeSet<usize> {
    interrupts(port).iter().flat_map(|interrupt| interrupt.cores.iter().copied()).collect()
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
    let all: Vec<String> = interrupts(port).iter().zip(turn).map(one).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

const PLACE: &str = "/proc/irq/*/effective_affinity_list";

fn node(context: &Context<'_>, port: &Port<'_>) -> Option<Finding> {
    let (node, own) = (port.settings.node?, &port.settings.node_cores);
    let several = context.readings.host.numa_nodes.copied().is_some_and(|nodes| nodes > 1);
    (several && !own.is_empty() && !interrupts(port).is_empty()).then_some(())?;
    let used = cores(port);
    let is_near = used.iter().all(|core| own.contains(core));
    let wanted = format!("{} (node {node})", list(own.iter().copied()));
    let finding =
        Finding::of(Check::IrqNode, port.name(), Read::of(list(used), PLACE), wanted, &[RSS_CONFIGURATION, ESNET]);
    Some(finding.unless(is_near, Severity::Warn, spread(port, own)))
}

fn one_core(context: &Context<'_>, port: &Port<'_>) -> Option<Finding> {
    let queues = port.settings.channels()?.receive;
    let used = cores(port);
    (queues > 1 && context.cores() > 1 && interrupts(port).len() > 1 && !used.is_empty()).then_some(())?;
    let near = if port.settings.node_cores.is_empty() {
        (0..context.cores()).collect()
    } else {
        port.settings.node_cores.clone()
    };
    let severity = if context.is_for(&[Goal::Latency]) { Severity::Info } else { Severity::Warn };
    let is_spread = used.len() > 1;
    let finding = Finding::of(Check::IrqOneCore, port.name(), Read::of(list(used), PLACE), "> 1", &[RSS_CONFIGURATION]);
    Some(finding.with("queues", queues).unless(is_spread, severity, spread(port, &near)))
}

fn isolated(context: &Context<'_>, port: &Port<'_>) -> Option<Finding> {
    let isolated = core_list::parse(context.readings.host.isolated_cpus.known()?)?;
    let hit: Vec<usize> = cores(port).into_iter().filter(|core| isolated.contains(core)).collect();
    let others: Vec<usize> = (0..context.cores()).filter(|core| !isolated.contains(core)).collect();
    let is_clear = hit.is_empty();
    let severity = if context.is_for(&[Goal::Latency, Goal::Bypass]) { Severity::Warn } else { Severity::Info };
    let wanted = list(others.iter().copied());
    let finding = Finding::of(Check::IrqIsolated, port.name(), Read::of(list(hit), PLACE), wanted, &[ISOLATION]);
    Some(finding.unless(is_clear, severity, spread(port, &others)))
}

/// Queues by the cores of the card's node. Only combined ones are in a profile: a card may refuse others beside them.
fn channels(context: &Context<'_>, port: &Port<'_>) -> Option<Finding> {
    let channels = port.settings.channels()?;
    let value = context.wanted_of("channels-combined", port)?;
    let near = if port.settings.node_cores.is_empty() { context.cores() } else { port.settings.node_cores.len() };
    let wanted = value.of_driver(Some(channels.most), near)?;
    let read = Read::of(channels.receive, format!("ethtool -l {}", port.name()));
    let (kind, severity) = if channels.combined { ("combined", Severity::Warn) } else { ("rx", Severity::Info) };
    let mend = format!("ethtool -L {} {kind} {wanted}", port.name());
    let finding = Finding::of(Check::Channels, port.name(), read, format!(">= {wanted}"), &value.documents());
    Some(finding.unless(channels.receive >= wanted, severity, Some(mend)))
}

fn steering(context: &Context<'_>, port: &Port<'_>) -> Option<Finding> {
    let masks = &port.settings.receive_steering;
    let is_single = masks.len() == 1 && port.settings.channels().is_none_or(|channels| channels.most == 1);
    (is_single && context.cores() > 1 && context.is_for(&[Goal::Throughput, Goal::Router])).then_some(())?;
    let is_on = masks.iter().any(|mask| mask.contains(|digit: char| digit.is_ascii_hexdigit() && digit != '0'));
    let path = format!("/sys/class/net/{}/queues/rx-0/rps_cpus", port.name());
    let mask = core_list::mask(&(0..context.cores()).collect::<Vec<_>>());
    let mend = format!("echo {mask} > {path}");
    let finding = Finding::of(Check::ReceiveSteering, port.name(), Read::of(masks.join(" "), path), mask, &[RPS]);
    Some(finding.unless(is_on, Severity::Info, Some(mend)))
}

fn hash(context: &Context<'_>, port: &Port<'_>) -> Option<Finding> {
    let value = context.wanted_of("offload rx-hashing", port)?;
    (port.settings.channels()?.receive > 1).then_some(())?;
    let offload = match port.settings.offload("rx-hashing") {
        Reading::Known(offload) => offload,
        Reading::Absent => return None,
        Reading::Unreadable { path, why } => {
            return Some(Finding::unknown(Check::ReceiveHash, port.name(), &path, &why));
        }
    };
    let read = Read::of(if offload.on { "on" } else { "off" }, format!("ethtool -k {}", port.name()));
    let mend = offload.changeable.then(|| format!("ethtool -K {} rx-hashing on", port.name()));
    let severity = if offload.changeable { Severity::Warn } else { Severity::Info };
    Some(
        Finding::of(Check::ReceiveHash, port.name(), read, "on", &value.documents()).unless(offload.on, severity, mend),
    )
}
