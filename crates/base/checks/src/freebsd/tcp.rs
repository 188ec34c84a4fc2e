//! Buffers of sockets, and TCP.

use model::{
    Reading,
    inspection::{Check, Finding, Goal, Read, Severity},
};

use super::{
    context::Context,
    setting::{Setting, at_least, place, unreadable},
};

const ESNET: (&str, &str) = ("ESnet, fasterdata.es.net, Host Tuning", "FreeBSD Tuning");
const TCP: (&str, &str) = ("tcp(4)", "MIB variables");
const MOD_CC: (&str, &str) = ("mod_cc(4)", "net.inet.tcp.cc.algorithm");
const SOCKBUF: (&str, &str) =
    ("FreeBSD sys/kern/uipc_sockbuf.c", "sb_max_adj: kern.ipc.maxsockbuf without its overhead");
const RFC_6349: (&str, &str) = ("RFC 6349", "section 3.3, TCP throughput and the bandwidth-delay product");
const RFC_7323: (&str, &str) = ("RFC 7323", "section 2, window scale option");
const PAWS: (&str, &str) = ("RFC 7323", "section 5, protection against wrapped sequences");
const RFC_2018: (&str, &str) = ("RFC 2018", "section 3, SACK option");
const RFC_9438: (&str, &str) = ("RFC 9438", "section 5, CUBIC in fast and long-distance networks");

/// Round-trip time of a path of which nobody said, in seconds: as within a building.
const RTT_S: f64 = 0.001;
/// From this round-trip time on, the congestion control decides.
const LONG_RTT_S: f64 = 0.01;
/// Largest buffer that is wanted by rate, as of ESnet's tables, in bytes.
const CAPS: [(f64, f64); 3] =
    [(10e9, (64_u64 << 20) as f64), (40e9, (128_u64 << 20) as f64), (f64::MAX, (1_u64 << 30) as f64)];
/// A cluster of 2048 bytes costs an mbuf of 256 besides.
const WITH_OVERHEAD: f64 = (2048.0 + 256.0) / 2048.0;
/// Congestion controls that fill a fast path.
const FOR_FAST_PATHS: [&str; 5] = ["cubic", "htcp", "dctcp", "cdg", "bbr"];

/// `net.inet.tcp.rfc1323`: 1 for both options, 2 for windows alone, 3 for time stamps alone (FreeBSD 13 and later).
const SETTINGS: [Setting; 6] = [
    Setting {
        check: Check::WindowScaling,
        key: "net.inet.tcp.rfc1323",
        wanted: "1",
        is_wanted: |value| ["1", "2"].contains(&value),
        severity: |_| Some(Severity::Fail),
        sources: &[RFC_7323, TCP],
    },
    Setting {
        check: Check::Timestamps,
        key: "net.inet.tcp.rfc1323",
        wanted: "1",
        is_wanted: |value| ["1", "3"].contains(&value),
        severity: |context| Some(if context.is_for(&[Goal::Throughput]) { Severity::Warn } else { Severity::Info }),
        sources: &[PAWS, TCP],
    },
    Setting {
        check: Check::SelectiveAcks,
        key: "net.inet.tcp.sack.enable",
        wanted: "1",
        is_wanted: |value| value != "0",
        severity: |_| Some(Severity::Warn),
        sources: &[RFC_2018, TCP],
    },
    Setting {
        check: Check::BufferAuto,
        key: "net.inet.tcp.sendbuf_auto",
        wanted: "1",
        is_wanted: |value| value != "0",
        severity: |context| context.is_for(&[Goal::Throughput]).then_some(Severity::Warn),
        sources: &[ESNET, TCP],
    },
    Setting {
        check: Check::BufferAuto,
        key: "net.inet.tcp.recvbuf_auto",
        wanted: "1",
        is_wanted: |value| value != "0",
        severity: |context| context.is_for(&[Goal::Throughput]).then_some(Severity::Warn),
        sources: &[ESNET, TCP],
    },
    Setting {
        check: Check::MetricsCache,
        key: "net.inet.tcp.hostcache.expire",
        wanted: "1",
        is_wanted: |value| ["0", "1"].contains(&value),
        severity: |context| context.is_for(&[Goal::Throughput]).then_some(Severity::Info),
        sources: &[ESNET, TCP],
    },
];

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if context.is_for(&[Goal::Throughput]) {
        findings.extend(buffers(context));
        findings.extend(congestion_control(context));
    }
    findings.extend(SETTINGS.iter().filter_map(|setting| setting.judge(context)));
    findings
}

/// Buffers by the bandwidth-delay product of the fastest port.
fn buffers(context: &Context<'_>) -> Vec<Finding> {
    let Some(bps) = context.speed_bps() else { return Vec::new() };
    let rtt_s = context.conditions.rtt_s.unwrap_or(RTT_S);
    let cap = CAPS.iter().find(|(up_to, _)| bps <= *up_to).map_or(f64::MAX, |(_, cap)| *cap);
    let wanted = (bps / 8.0 * rtt_s).min(cap);
    let all = [
        (Check::ReceiveBuffer, "net.inet.tcp.recvbuf_max", wanted, &[RFC_6349, ESNET]),
        (Check::SendBuffer, "net.inet.tcp.sendbuf_max", wanted, &[RFC_6349, ESNET]),
        (Check::SocketBufferLimit, "kern.ipc.maxsockbuf", wanted * WITH_OVERHEAD, &[SOCKBUF, ESNET]),
    ];
    let one = |(check, key, wanted, sources): (Check, &str, f64, &[(&str, &str); 2])| {
        let finding = at_least(context, (check, key), wanted.ceil() as u64, Severity::Warn, sources);
        finding.with("rate", format!("{:.0} Mbit/s", bps / 1e6)).with("rtt", format!("{} ms", 1e3 * rtt_s))
    };
    all.into_iter().map(one).collect()
}

/// Over a short path each control fills it.
fn congestion_control(context: &Context<'_>) -> Option<Finding> {
    let key = "net.inet.tcp.cc.algorithm";
    let name = match context.value(key) {
        Reading::Known(name) => name,
        Reading::Absent => return None,
        Reading::Unreadable { why, .. } => return Some(unreadable(Check::CongestionControl, key, &why)),
    };
    let is_long = context.conditions.rtt_s.is_some_and(|rtt_s| rtt_s >= LONG_RTT_S);
    let severity = if is_long { Severity::Warn } else { Severity::Info };
    let is_loaded =
        context.readings.modules.known().is_some_and(|files| files.iter().any(|file| file == "cc_cubic.ko"));
    let load = if is_loaded { "" } else { "kldload -n cc_cubic; " };
    let finding = Finding::of(Check::CongestionControl, key, Read::of(name, place(key)), "cubic", &[RFC_9438, MOD_CC]);
    let mend = format!("{load}sysctl {key}=cubic");
    Some(finding.unless(FOR_FAST_PATHS.contains(&name), severity, Some(mend)))
}
