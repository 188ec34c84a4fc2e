//! Memory of the network stack.

use model::inspection::{Check, Finding, Read, Severity};

use super::{context::Context, setting::at_least};

const INTEL: (&str, &str) = ("Intel, FreeBSD driver for 10 Gigabit adapters (ix), README", "kern.ipc.nmbclusters");
const HANDBOOK: (&str, &str) =
    ("FreeBSD Handbook, Configuration, Services, Logging and Power Management", "Network limits, kern.ipc.nmbclusters");
const NETSTAT: (&str, &str) = ("netstat(1)", "-m: requests denied, current and max");

const CLUSTERS_KEY: &str = "kern.ipc.nmbclusters";
/// Clusters for the queues of a fast card.
const CLUSTERS: u64 = 262_144;

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if context.is_fast() {
        findings.push(at_least(
            context,
            (Check::MbufClusters, CLUSTERS_KEY),
            CLUSTERS,
            Severity::Warn,
            &[INTEL, HANDBOOK],
        ));
    }
    findings.extend(short(context));
    findings
}

/// Kinds of buffers that were denied or are nearly used up; one finding where there are none.
fn short(context: &Context<'_>) -> Vec<Finding> {
    let Some(mbufs) = context.readings.mbufs.known() else { return Vec::new() };
    let kinds: Vec<&str> = mbufs.short().collect();
    if kinds.is_empty() {
        let read = Read::of("0 denied", "netstat -m");
        return vec![Finding::of(Check::MbufsShort, "", read, "0 denied", &[NETSTAT])];
    }
    let one = |kind: &&str| {
        let denied = mbufs.denied.get(*kind).map(|count| format!("{count} denied"));
        let used = mbufs.uses.get(*kind).and_then(|of| Some(format!("{} of {} in use", of.current, of.most?)));
        let read = Read::of(denied.or(used).unwrap_or_default(), "netstat -m");
        let key = key(kind);
        let least = if key == CLUSTERS_KEY && context.is_fast() { CLUSTERS } else { 0 };
        let mend = context.number(key).map(|is| format!("sysctl {key}={}", is.saturating_mul(2).max(least)));
        let finding = Finding::of(Check::MbufsShort, kind, read, "0 denied, < 90 % in use", &[NETSTAT, HANDBOOK]);
        finding.unless(false, Severity::Warn, mend)
    };
    kinds.iter().map(one).collect()
}

/// The limit of a kind of buffers, by the words of netstat.
fn key(kind: &str) -> &'static str {
    match kind {
        "4k" | "4k jumbo clusters" => "kern.ipc.nmbjumbop",
        "9k" | "9k jumbo clusters" => "kern.ipc.nmbjumbo9",
        "16k" | "16k jumbo clusters" => "kern.ipc.nmbjumbo16",
        "mbufs" => "kern.ipc.nmbufs",
        _ => CLUSTERS_KEY,
    }
}
