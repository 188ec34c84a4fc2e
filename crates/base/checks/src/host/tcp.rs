//! Buffers of sockets, TCP and queueing disciplines.

use model::{
    Reading,
    inspection::{Check, Finding, Goal, Read, Severity},
};

use super::look::Look;

const ESNET: (&str, &str) = ("ESnet, fasterdata.es.net, Host Tuning", "Linux Tuning");
const IP_SYSCTL: (&str, &str) = ("Linux Documentation/networking/ip-sysctl.rst", "TCP variables");
const RFC_6349: (&str, &str) = ("RFC 6349", "section 3.3, TCP throughput and the bandwidth-delay product");
const RFC_7323: (&str, &str) = ("RFC 7323", "section 2, window scale option");
const PAWS: (&str, &str) = ("RFC 7323", "section 5, protection against wrapped sequences");
const RFC_2018: (&str, &str) = ("RFC 2018", "section 3, SACK option");
const RFC_9438: (&str, &str) = ("RFC 9438", "section 5, CUBIC in fast and long-distance networks");
const RFC_5681: (&str, &str) = ("RFC 5681", "section 4.1, restarting idle connections");
const QDISC: (&str, &str) = ("tc-fq(8)", "description");
const SHAPERS: (&str, &str) = ("tc(8)", "classless and classful qdiscs");

/// Round-trip time of a path of which nobody said, in seconds: that of a building.
const RTT_S: f64 = 0.001;
/// A window takes about half of a buffer: the rest is for the kernel's own structures.
const SHARE: f64 = 2.0;
/// Largest buffer that is wanted by rate, as of ESnet's tables, in bytes.
const CAPS: [(f64, f64); 3] =
    [(10e9, (64_u64 << 20) as f64), (40e9, (128_u64 << 20) as f64), (f64::MAX, (1_u64 << 30) as f64)];
/// Disciplines that limit or delay packets.
const SHAPING: [&str; 8] = ["tbf", "netem", "htb", "hfsc", "cbq", "cake", "sfb", "plug"];
/// Congestion controls that fill a fast path.
const FOR_FAST_PATHS: [&str; 5] = ["cubic", "bbr", "bbr3", "htcp", "dctcp"];

pub(super) fn check(look: &Look<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if look.is_for(&[Goal::Throughput]) {
        findings.extend(buffers(look));
    }
    findings.extend(settings(look));
    findings.extend(default_qdisc(look));
    findings.extend(look.ports().filter_map(|port| {
        let shaper =
            port.settings.qdiscs.iter().find(|name| SHAPING.iter().any(|it| name.split(' ').next() == Some(it)));
        let read = Read::of(port.settings.qdiscs.join(", "), format!("tc qdisc show dev {}", port.name()));
        let finding = Finding::of(Check::QdiscShapes, port.name(), read, "fq", &[SHAPERS]);
        let mend = format!("tc qdisc del dev {} root", port.name());
        (!port.settings.qdiscs.is_empty()).then(|| finding.unless(shaper.is_none(), Severity::Warn, Some(mend)))
    }));
    findings
}

/// Buffers by the bandwidth-delay product of the fastest port.
fn buffers(look: &Look<'_>) -> Vec<Finding> {
    let Some(bps) = look.speed_bps() else { return Vec::new() };
    let rtt_s = look.conditions.rtt_s.unwrap_or(RTT_S);
    let cap = CAPS.iter().find(|(up_to, _)| bps <= *up_to).map_or(f64::MAX, |(_, cap)| *cap);
    let wanted = (SHARE * bps / 8.0 * rtt_s).min(cap).ceil() as u64;
    let conditions = |finding: Finding| {
        finding.with("rate", format!("{:.0} Mbit/s", bps / 1e6)).with("rtt", format!("{} ms", 1e3 * rtt_s))
    };
    let mut findings = Vec::new();
    for (check, key) in [(Check::ReceiveBuffer, "net.ipv4.tcp_rmem"), (Check::SendBuffer, "net.ipv4.tcp_wmem")] {
        for (object, reading) in look.settings_of_ends(key) {
            match reading {
                Reading::Known(text) => {
                    let fields: Vec<&str> = text.split_whitespace().collect();
                    let [least, first, most] = fields[..] else { continue };
                    let is_enough = most.parse().is_ok_and(|most: u64| most >= wanted);
                    let read = Read::of(text, format!("sysctl {key}"));
                    let mend = format!("sysctl -w {key}=\"{least} {first} {wanted}\"");
                    let finding = Finding::of(check, &object, read, format!("max >= {wanted}"), &[RFC_6349, ESNET]);
                    findings.push(conditions(finding.unless(is_enough, Severity::Warn, Some(mend))));
                }
                Reading::Absent => {}
                Reading::Unreadable { path, why } => {
                    findings.push(conditions(Finding::unknown(check, &object, &path, &why)));
                }
            }
        }
    }
    // Programs that choose their buffers themselves; the kernel's own choice does not end there.
    let limits = [(Check::ReceiveBufferLimit, "net.core.rmem_max"), (Check::SendBufferLimit, "net.core.wmem_max")];
    for (check, key) in limits {
        let Reading::Known(text) = look.setting(key) else { continue };
        let is_enough = text.parse().is_ok_and(|most: u64| most >= wanted);
        let finding =
            Finding::of(check, key, Read::of(text, format!("sysctl {key}")), format!(">= {wanted}"), &[ESNET]);
        let severity = if look.conditions.rtt_s.is_some() { Severity::Warn } else { Severity::Info };
        findings.push(conditions(finding.unless(is_enough, severity, Some(format!("sysctl -w {key}={wanted}")))));
    }
    findings
}

/// A setting of an end: its check, its key, the wanted value with the test of it, and the severity of another one.
struct Setting {
    check: Check,
    key: &'static str,
    wanted: &'static str,
    is_wanted: fn(&str) -> bool,
    severity: fn(&Look<'_>) -> Option<Severity>,
    sources: &'static [(&'static str, &'static str)],
}

const SETTINGS: [Setting; 6] = [
    Setting {
        check: Check::WindowScaling,
        key: "net.ipv4.tcp_window_scaling",
        wanted: "1",
        is_wanted: |value| value != "0",
        severity: |_| Some(Severity::Fail),
        sources: &[RFC_7323],
    },
    Setting {
        check: Check::SelectiveAcks,
        key: "net.ipv4.tcp_sack",
        wanted: "1",
        is_wanted: |value| value != "0",
        severity: |_| Some(Severity::Warn),
        sources: &[RFC_2018],
    },
    Setting {
        check: Check::Timestamps,
        key: "net.ipv4.tcp_timestamps",
        wanted: "1",
        is_wanted: |value| value != "0",
        severity: |look| Some(if look.is_for(&[Goal::Throughput]) { Severity::Warn } else { Severity::Info }),
        sources: &[PAWS],
    },
    Setting {
        check: Check::CongestionControl,
        key: "net.ipv4.tcp_congestion_control",
        wanted: "cubic",
        is_wanted: |value| FOR_FAST_PATHS.contains(&value),
        severity: |look| look.is_for(&[Goal::Throughput]).then_some(Severity::Warn),
        sources: &[RFC_9438, ESNET],
    },
    Setting {
        check: Check::MetricsCache,
        key: "net.ipv4.tcp_no_metrics_save",
        wanted: "1",
        is_wanted: |value| value != "0",
        severity: |look| look.is_for(&[Goal::Throughput]).then_some(Severity::Info),
        sources: &[ESNET, IP_SYSCTL],
    },
    Setting {
        check: Check::SlowStartAfterIdle,
        key: "net.ipv4.tcp_slow_start_after_idle",
        wanted: "0",
        is_wanted: |value| value == "0",
        severity: |look| look.is_for(&[Goal::Latency, Goal::Throughput]).then_some(Severity::Info),
        sources: &[IP_SYSCTL, RFC_5681],
    },
];

fn settings(look: &Look<'_>) -> Vec<Finding> {
    let of = |setting: &Setting| -> Vec<Finding> {
        let Setting { check, key, wanted, is_wanted, severity, sources } = setting;
        let Some(severity) = severity(look) else { return Vec::new() };
        let of_end = |(end, reading): (String, Reading<&str>)| match reading {
            Reading::Known(value) => {
                let object = if end.is_empty() { (*key).to_owned() } else { format!("{end}: {key}") };
                let read = Read::of(value, format!("sysctl {key}"));
                let finding = Finding::of(*check, &object, read, wanted, sources);
                Some(finding.unless(is_wanted(value), severity, Some(format!("sysctl -w {key}={wanted}"))))
            }
            Reading::Absent => None,
            Reading::Unreadable { path, why } => Some(Finding::unknown(*check, key, &path, &why)),
        };
        look.settings_of_ends(key).into_iter().filter_map(of_end).collect()
    };
    SETTINGS.iter().flat_map(of).collect()
}

fn default_qdisc(look: &Look<'_>) -> Option<Finding> {
    let key = "net.core.default_qdisc";
    let Reading::Known(value) = look.setting(key) else { return None };
    let is_fair = ["fq", "fq_codel", "cake"].contains(&value);
    let finding =
        Finding::of(Check::DefaultQdisc, key, Read::of(value, format!("sysctl {key}")), "fq", &[QDISC, ESNET]);
    let severity = if look.is_for(&[Goal::Throughput]) { Severity::Warn } else { Severity::Info };
    Some(finding.unless(is_fair, severity, Some(format!("sysctl -w {key}=fq"))))
}
