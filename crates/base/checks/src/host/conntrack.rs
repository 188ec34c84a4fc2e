//! Tracking of connections by netfilter.

use model::{
    Delta, Reading, Source,
    environment::EndpointFacts,
    inspection::{Check, Finding, Goal, Read, Severity},
};

use super::context::{Context, sysctl_command};

const SYSCTL: (&str, &str) = ("Linux Documentation/networking/nf_conntrack-sysctl.rst", "nf_conntrack_max");
const NOTRACK: (&str, &str) = ("nft(8)", "statements, notrack");

const MOST: &str = "net.netfilter.nf_conntrack_max";
const COUNT: &str = "net.netfilter.nf_conntrack_count";
const STATISTICS: &str = "/proc/net/stat/nf_conntrack";

/// Columns of packets that were dropped, and of connections that gave way, because the table was full.
const FULL: [&str; 2] = ["drop", "early_drop"];

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let of_end = |end: &EndpointFacts| -> Vec<Finding> {
        let Some(since) = &end.since_start else { return Vec::new() };
        let several = context.readings.ends.len() > 1;
        let object = if several { format!("{}: nf_conntrack", end.endpoint) } else { "nf_conntrack".to_owned() };
        match &since.connections {
            Reading::Known(count) => {
                let is_router = context.is_for(&[Goal::Router]);
                let most = end.sysctls.get(MOST).and_then(Reading::known).and_then(|most| most.parse().ok());
                let table = most.filter(|most| *most > 0).map(|most| table(&object, *count, most));
                let drops = drops(&object, &since.drops, most);
                is_router.then(|| tracking(&object, *count)).into_iter().chain(table).chain([drops]).collect()
            }
            Reading::Absent => Vec::new(),
            Reading::Unreadable { path, why } => vec![Finding::unknown(Check::ConnectionTable, &object, path, why)],
        }
    };
    context.readings.ends.iter().flat_map(of_end).collect()
}

/// A namespace without a rule that needs them tracks no connections, whether the module is loaded or not.
fn tracking(object: &str, count: u64) -> Finding {
    let read = Read::of(count, format!("sysctl {COUNT}"));
    Finding::of(Check::ConnectionTracking, object, read, 0, &[NOTRACK]).unless(count == 0, Severity::Info, None)
}

fn table(object: &str, count: u64, most: u64) -> Finding {
    let nearly = most - most / 10;
    let read = Read::of(format!("{count} of {most}"), format!("sysctl {COUNT} {MOST}"));
    let severity = if count >= most { Severity::Fail } else { Severity::Warn };
    let mend = sysctl_command(MOST, &most.saturating_mul(2).to_string());
    let finding = Finding::of(Check::ConnectionTable, object, read, format!("< {nearly}"), &[SYSCTL]);
    finding.unless(count < nearly, severity, Some(mend))
}

/// Drops for want of room. Connections that were inserted twice at once (`insert_failed`) are worth knowing.
fn drops(object: &str, all: &[Delta], most: Option<u64>) -> Finding {
    let counted: Vec<&Delta> = all.iter().filter(|delta| delta.source == Source::Conntrack).collect();
    let words: Vec<String> = counted.iter().map(|delta| format!("{} {}", delta.name, delta.delta)).collect();
    let read = if words.is_empty() { "0".to_owned() } else { words.join(", ") };
    let was_full = counted.iter().any(|delta| FULL.contains(&delta.name.as_str()));
    let severity = if was_full { Severity::Warn } else { Severity::Info };
    let mend = most.filter(|_| was_full).map(|most| sysctl_command(MOST, &most.saturating_mul(2).to_string()));
    let finding = Finding::of(Check::ConnectionDrops, object, Read::of(read, STATISTICS), 0, &[SYSCTL]);
    finding.unless(counted.is_empty(), severity, mend)
}
