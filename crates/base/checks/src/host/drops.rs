//! Drops and damaged frames since the machine was started.

use model::{
    Delta, Reading, Source, Total,
    drop_counters::tells_of_damage,
    inspection::{Check, Finding, Read, Severity},
};

use super::context::{Context, Port, sysctl_command};

const LINK: (&str, &str) = ("Linux Documentation/networking/statistics.rst", "struct rtnl_link_stats64");
const SOFTNET: (&str, &str) = ("Linux Documentation/admin-guide/sysctl/net.rst", "netdev_max_backlog, netdev_budget");

/// Share of the received packets from which drops matter.
const SHARE: f64 = 1e-4;

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = context.nics().flat_map(|port| [drops(&port), damage(&port)]).collect();
    findings.extend(softnet(context, Check::Backlog, "dropped", "net.core.netdev_max_backlog", Severity::Warn));
    findings.extend(softnet(context, Check::Budget, "time_squeeze", "net.core.netdev_budget", Severity::Info));
    findings
}

/// Counters of an interface and its driver.
fn of_port<'r>(port: &Port<'r>) -> impl Iterator<Item = &'r Delta> {
    let (name, since) = (port.name(), port.end.since_start.as_ref());
    let all = since.into_iter().flat_map(|since| &since.drops);
    all.filter(move |delta| delta.of == name && [Source::Link, Source::Ethtool].contains(&delta.source))
}

fn words<'r>(deltas: impl Iterator<Item = &'r Delta>) -> String {
    let words: Vec<String> = deltas.map(|delta| format!("{} {}", delta.name.trim(), delta.delta)).collect();
    if words.is_empty() { "0".to_owned() } else { words.join(", ") }
}

fn drops(port: &Port<'_>) -> Finding {
    let all: Vec<&Delta> = of_port(port).filter(|delta| !tells_of_damage(&delta.name)).collect();
    // The kernel's own counters alone: those of a driver count the same again.
    let dropped = all.iter().filter(|delta| delta.source == Source::Link).map(|delta| delta.delta).max().unwrap_or(0);
    let counters = match port.readings().map(|readings| &readings.counters) {
        Some(Reading::Unreadable { path, why }) if !all.is_empty() => {
            return Finding::unknown(Check::Drops, port.name(), path, why);
        }
        counters => counters.and_then(Reading::known),
    };
    let counted = |name: &str| counters.and_then(|counters| counters.get(name)).copied().unwrap_or(0);
    let packets = counted("rx_packets").saturating_add(counted("tx_packets"));
    let severity = if dropped as f64 > SHARE * packets as f64 { Severity::Warn } else { Severity::Info };
    let read = Read::of(words(all.iter().copied()), format!("ip -s link show {0}; ethtool -S {0}", port.name()));
    Finding::of(Check::Drops, port.name(), read, 0, &[LINK]).with("packets", packets).unless(
        all.is_empty(),
        severity,
        None,
    )
}

fn damage(port: &Port<'_>) -> Finding {
    let damaged: Vec<&Delta> = of_port(port).filter(|delta| tells_of_damage(&delta.name)).collect();
    let read = Read::of(words(damaged.iter().copied()), format!("ip -s -s link show {}", port.name()));
    Finding::of(Check::Damage, port.name(), read, 0, &[LINK]).unless(damaged.is_empty(), Severity::Warn, None)
}

/// A counter of all cores, with the setting that it asks for. It counts on where the setting is as wanted already.
fn softnet(context: &Context<'_>, check: Check, counter: &str, key: &str, severity: Severity) -> Option<Finding> {
    let since = context.readings.ends.iter().find_map(|end| end.since_start.as_ref())?;
    let counted = since.drops.iter().filter(|delta| delta.source == Source::Softnet && delta.name == counter);
    let count: u64 = counted.map(|delta| delta.delta).total();
    let now = context.setting(key).known().copied()?;
    let read = Read::of(format!("{counter} {count}, {key} {now}"), "/proc/net/softnet_stat");
    let set = context.wanted(&format!("sysctl {key}")).and_then(|value| value.instead(now));
    let severity = if set.is_some() { severity } else { Severity::Info };
    let mend = set.map(|set| sysctl_command(key, &set));
    Some(Finding::of(check, key, read, format!("{counter} 0"), &[SOFTNET]).unless(count == 0, severity, mend))
}
