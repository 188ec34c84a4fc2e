//! Settings of a router.

use model::{
    Reading,
    inspection::{Check, Finding, Goal, Read, Severity},
};

use super::context::Context;

const IP_SYSCTL: (&str, &str) = ("Linux Documentation/networking/ip-sysctl.rst", "conf/all/forwarding");

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    if !context.is_for(&[Goal::Router]) {
        return Vec::new();
    }
    let mut findings = context.sysctl(Check::Forwarding, "net.ipv4.ip_forward", Severity::Warn);
    findings.extend(forwarding6(context));
    findings.extend(context.sysctl(Check::ReversePath, "net.ipv4.conf.all.rp_filter", Severity::Info));
    findings
}

/// In no profile: with it, a host drops the default route that a router advertisement gave (`accept_ra`).
fn forwarding6(context: &Context<'_>) -> Vec<Finding> {
    let (check, key) = (Check::Forwarding6, "net.ipv6.conf.all.forwarding");
    let judged = |(_, reading): (String, Reading<&str>)| match reading {
        Reading::Known(value) => {
            let finding = Finding::of(check, key, Read::of(value, format!("sysctl {key}")), "1", &[IP_SYSCTL]);
            Some(finding.unless(value != "0", Severity::Info, Some(format!("sysctl -w {key}=1"))))
        }
        Reading::Absent => None,
        Reading::Unreadable { path, why } => Some(Finding::unknown(check, key, &path, &why)),
    };
    context.settings_of_ends(key).into_iter().filter_map(judged).collect()
}
