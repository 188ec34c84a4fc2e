//! Drops and damaged frames since the machine was started.

use std::collections::BTreeMap;

use ::freebsd::interfaces::Interface;
use model::inspection::{Check, Finding, Read, Severity};

use super::context::Context;

const NETSTAT: (&str, &str) = ("netstat(1)", "-i: Ierrs, Idrop, Oerrs, Drop; -s: statistics of protocols");

/// Share of the packets from which drops matter.
const SHARE: f64 = 1e-4;
/// Columns of packets that were dropped.
const DROPS: [&str; 3] = ["Idrop", "Oerrs", "Drop"];
/// A protocol with the words of its drops, of all its packets, and the setting that they ask for twice of.
const OF_STACK: [(&str, &str, &str, Option<&str>); 4] = [
    ("udp", "dropped due to full socket buffer", "datagram received", Some("net.inet.udp.recvspace")),
    ("ip", "output packet dropped due to no bufs, etc.", "packet sent from this host", None),
    ("ip", "fragment dropped", "total packet received", None),
    ("ip6", "output packet dropped due to no bufs, etc.", "packet sent from this host", None),
];

type Counters = BTreeMap<String, u64>;

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    context.nics().flat_map(|nic| of_interface(context, nic)).chain(of_stack(context)).collect()
}

fn count(counters: &Counters, name: &str) -> u64 {
    counters.get(name).copied().unwrap_or(0)
}

fn severity(dropped: u64, packets: u64) -> Severity {
    if dropped as f64 > SHARE * packets as f64 { Severity::Warn } else { Severity::Info }
}

/// The names with their counts, those at 0 left out.
fn words(counters: &Counters, names: &[&str]) -> String {
    let seen = names.iter().map(|name| (name, count(counters, name))).filter(|(_, count)| *count > 0);
    let words: Vec<String> = seen.map(|(name, count)| format!("{name} {count}")).collect();
    if words.is_empty() { "0".to_owned() } else { words.join(", ") }
}

fn of_interface(context: &Context<'_>, nic: &Interface) -> Vec<Finding> {
    let Some(counters) = context.readings.counters.known().and_then(|all| all.get(&nic.name)) else {
        return Vec::new();
    };
    let packets = count(counters, "Ipkts").saturating_add(count(counters, "Opkts"));
    let one = |(check, names): (Check, &[&str])| {
        let lost = names.iter().fold(0_u64, |sum, name| sum.saturating_add(count(counters, name)));
        let read = Read::of(words(counters, names), format!("netstat -idn -I {}", nic.name));
        let finding = Finding::of(check, &nic.name, read, 0, &[NETSTAT]).with("packets", packets);
        finding.unless(lost == 0, severity(lost, packets), None)
    };
    let all: [(Check, &[&str]); 2] = [(Check::Drops, &DROPS), (Check::InputErrors, &["Ierrs"])];
    all.into_iter().map(one).collect()
}

fn of_stack(context: &Context<'_>) -> Vec<Finding> {
    let Some(protocols) = context.readings.protocols.known() else { return Vec::new() };
    let one = |(protocol, words, all, key): &(&str, &str, &str, Option<&str>)| {
        let counters = protocols.get(*protocol)?;
        let dropped = *counters.get(*words)?;
        let packets = count(counters, all);
        let read = Read::of(format!("{words}: {dropped}"), format!("netstat -s -p {protocol}"));
        let mend = key.and_then(|key| Some(format!("sysctl {key}={}", context.number(key)?.saturating_mul(2))));
        let finding = Finding::of(Check::StackDrops, protocol, read, 0, &[NETSTAT]).with("packets", packets);
        Some(finding.unless(dropped == 0, severity(dropped, packets), mend))
    };
    OF_STACK.iter().filter_map(one).collect()
}
