//! Offloads and queues of cards.

use ::freebsd::interfaces::Interface;
use model::inspection::{Check, Finding, Goal, REBOOT, Read, Severity};

use super::context::{Context, FAST_BPS, ifconfig};

const IFCONFIG: (&str, &str) = ("ifconfig(8)", "rxcsum, txcsum, tso, lro");
const HANDBOOK: (&str, &str) = ("FreeBSD Handbook, Advanced Networking", "Bridging; hardware offloads and forwarding");
const IFLIB: (&str, &str) = ("iflib(4)", "dev.X.N.iflib.override_nrxqs");

/// Queues that are enough for any rate here.
const QUEUES: u64 = 8;
/// Offloads that carry bulk data, by the names that ifconfig prints.
const FOR_DATA: [&str; 4] = ["RXCSUM", "TXCSUM", "TSO4", "LRO"];
/// Offloads of a router: it merges nothing.
const FOR_ROUTERS: [&str; 2] = ["RXCSUM", "TXCSUM"];

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    context
        .nics()
        .flat_map(|nic| offloads(context, nic).into_iter().chain(lro(context, nic)).chain(queues(context, nic)))
        .collect()
}

/// Offloads that the card has and that are off.
fn offloads(context: &Context<'_>, nic: &Interface) -> Vec<Finding> {
    let wanted: &[&str] = match context.conditions.goal {
        Goal::Throughput => &FOR_DATA,
        Goal::Router => &FOR_ROUTERS,
        Goal::Latency | Goal::Bypass => &[],
    };
    let can = |name: &&&str| nic.capabilities.iter().any(|capability| capability == **name);
    let one = |name: &&str| {
        let on = nic.options.iter().any(|option| option == name);
        let read = Read::of(format!("{name}: {}", if on { "on" } else { "off" }), ifconfig(nic));
        let mend = format!("ifconfig {} {}", nic.name, name.to_ascii_lowercase());
        let finding = Finding::of(Check::OffloadOff, &nic.name, read, format!("{name}: on"), &[IFCONFIG]);
        finding.unless(on, Severity::Warn, Some(mend))
    };
    wanted.iter().filter(can).map(one).collect()
}

/// Packets that are forwarded have to leave as they came.
fn lro(context: &Context<'_>, nic: &Interface) -> Option<Finding> {
    let on = nic.options.iter().any(|option| option == "LRO");
    let has_it = on || nic.capabilities.iter().any(|capability| capability == "LRO");
    (has_it && context.is_for(&[Goal::Router, Goal::Bypass])).then_some(())?;
    let read = Read::of(if on { "on" } else { "off" }, ifconfig(nic));
    let finding = Finding::of(Check::LroForwarding, &nic.name, read, "off", &[IFCONFIG, HANDBOOK]);
    Some(finding.unless(!on, Severity::Warn, Some(format!("ifconfig {} -lro", nic.name))))
}

/// Receive queues of a fast card by their interrupts, where the driver names them so.
fn queues(context: &Context<'_>, nic: &Interface) -> Option<Finding> {
    context.speed_of(nic).filter(|bps| *bps >= FAST_BPS)?;
    let name = nic.driver.as_deref().unwrap_or(&nic.name);
    let has = context.readings.interrupts.known()?.iter().filter(|row| row.queue_of(name).is_some()).count() as u64;
    let wanted = context.number("hw.ncpu")?.min(QUEUES);
    (has > 0).then_some(())?;
    let driver = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let prefix = format!("dev.{driver}.{}.iflib.", &name[driver.len()..]);
    let is_iflib = context.readings.values.known()?.keys().any(|key| key.starts_with(&prefix));
    let mend = is_iflib.then(|| format!("echo '{prefix}override_nrxqs=\"{wanted}\"' >> /boot/loader.conf"));
    let severity = if context.is_for(&[Goal::Latency]) { Severity::Info } else { Severity::Warn };
    let read = Read::of(has, "vmstat -i");
    let finding = Finding::of(Check::Channels, &nic.name, read, format!(">= {wanted}"), &[IFLIB]).with(REBOOT, true);
    Some(finding.unless(has >= wanted, severity, mend))
}
