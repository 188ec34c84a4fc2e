//! Settings of a router.

use model::{
    Reading,
    inspection::{Check, Finding, Goal, Read, Severity},
};

use super::look::Look;

const IP_SYSCTL: (&str, &str) =
    ("Linux Documentation/networking/ip-sysctl.rst", "ip_forward, rp_filter, conf/all/forwarding");
const RFC_3704: (&str, &str) = ("RFC 3704", "section 2.2 and 2.3, strict and feasible reverse path forwarding");

/// A setting with its wanted value, the test of it, and the severity of another one.
type Setting = (Check, &'static str, &'static str, fn(&str) -> bool, Severity, &'static [(&'static str, &'static str)]);

const SETTINGS: [Setting; 3] = [
    (Check::Forwarding, "net.ipv4.ip_forward", "1", |value| value == "1", Severity::Warn, &[IP_SYSCTL]),
    (Check::Forwarding6, "net.ipv6.conf.all.forwarding", "1", |value| value != "0", Severity::Info, &[IP_SYSCTL]),
    (
        Check::ReversePath,
        "net.ipv4.conf.all.rp_filter",
        "2",
        |value| value != "1",
        Severity::Info,
        &[IP_SYSCTL, RFC_3704],
    ),
];

pub(super) fn check(look: &Look<'_>) -> Vec<Finding> {
    if !look.is_for(&[Goal::Router]) {
        return Vec::new();
    }
    let of = |(check, key, wanted, is_wanted, severity, sources): &Setting| -> Vec<Finding> {
        let judged = |reading: Reading<&str>| match reading {
            Reading::Known(value) => {
                let finding = Finding::of(*check, key, Read::of(value, format!("sysctl {key}")), wanted, sources);
                Some(finding.unless(is_wanted(value), *severity, Some(format!("sysctl -w {key}={wanted}"))))
            }
            Reading::Absent => None,
            Reading::Unreadable { path, why } => Some(Finding::unknown(*check, key, &path, &why)),
        };
        look.settings_of_ends(key).into_iter().filter_map(|(_, reading)| judged(reading)).collect()
    };
    SETTINGS.iter().flat_map(of).collect()
}
