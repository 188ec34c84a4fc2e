//! Buffers of sockets, TCP and queueing disciplines.

use model::inspection::{Check, Finding, Goal, Read, Severity};

use super::context::Context;

const SHAPERS: (&str, &str) = ("tc(8)", "classless and classful qdiscs");

/// Round-trip time of a path of which nobody said, in seconds: as within a building.
const RTT_S: f64 = 0.001;
/// Disciplines that limit or delay packets.
const SHAPING: [&str; 8] = ["tbf", "netem", "htb", "hfsc", "cbq", "cake", "sfb", "plug"];
pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if context.is_for(&[Goal::Throughput]) {
        findings.extend(buffers(context));
    }
    findings.extend(settings(context));
    findings.extend(context.ports().filter_map(|port| {
        let shaper =
            port.settings.qdiscs.iter().find(|name| SHAPING.iter().any(|it| name.split(' ').next() == Some(it)));
        let read = Read::of(port.settings.qdiscs.join(", "), format!("tc qdisc show dev {}", port.name()));
        let finding = Finding::of(Check::QdiscShapes, port.name(), read, "fq", &[SHAPERS]);
        let mend = format!("tc qdisc del dev {} root", port.name());
        (!port.settings.qdiscs.is_empty()).then(|| finding.unless(shaper.is_none(), Severity::Warn, Some(mend)))
    }));
    findings
}

/// Buffers by the bandwidth-delay product of the fastest port. Without a round-trip time, those that a building needs matter most.
fn buffers(context: &Context<'_>) -> Vec<Finding> {
    let (Some(speed), Some(bdp)) = (context.link_speed(), &context.profile.bdp) else { return Vec::new() };
    let least = bdp.bytes(Some(speed), Some(context.conditions.rtt_s.unwrap_or(RTT_S)));
    let rtt_s = context.conditions.rtt_s.unwrap_or(f64::from(bdp.rtt_ms) / 1e3);
    // Programs that choose their buffers themselves are limited by the last two; the kernel's own choice does not end there.
    let all = [
        (Check::ReceiveBuffer, "net.ipv4.tcp_rmem"),
        (Check::SendBuffer, "net.ipv4.tcp_wmem"),
        (Check::ReceiveBufferLimit, "net.core.rmem_max"),
        (Check::SendBufferLimit, "net.core.wmem_max"),
    ];
    let mut findings: Vec<Finding> =
        all.into_iter().flat_map(|(check, key)| context.sysctl(check, key, Severity::Warn)).collect();
    for finding in &mut findings {
        let is_limit = [Check::ReceiveBufferLimit, Check::SendBufferLimit].contains(&finding.check);
        let most = finding.read.value.split_whitespace().last().and_then(|most| most.parse::<u64>().ok());
        let is_far = is_limit || most.is_some_and(|most| most >= least);
        if finding.severity == Severity::Warn && context.conditions.rtt_s.is_none() && is_far {
            finding.severity = Severity::Info;
        }
        let (rate, rtt) = (format!("{:.0} Mbit/s", speed.0 as f64 / 1e6), format!("{} ms", 1e3 * rtt_s));
        finding.values.extend([("rate".to_owned(), rate), ("rtt".to_owned(), rtt)]);
    }
    findings
}

fn settings(context: &Context<'_>) -> Vec<Finding> {
    let is_for_data = context.is_for(&[Goal::Throughput]);
    let for_data = if is_for_data { Severity::Warn } else { Severity::Info };
    let settings = [
        (Check::WindowScaling, "net.ipv4.tcp_window_scaling", Severity::Fail),
        (Check::SelectiveAcks, "net.ipv4.tcp_sack", Severity::Warn),
        (Check::Timestamps, "net.ipv4.tcp_timestamps", for_data),
        (Check::CongestionControl, "net.ipv4.tcp_congestion_control", Severity::Warn),
        (Check::MetricsCache, "net.ipv4.tcp_no_metrics_save", Severity::Info),
        (Check::SlowStartAfterIdle, "net.ipv4.tcp_slow_start_after_idle", Severity::Info),
        (Check::DefaultQdisc, "net.core.default_qdisc", for_data),
    ];
    settings.into_iter().flat_map(|(check, key, severity)| context.sysctl(check, key, severity)).collect()
}
