//! Programs that work against settings made by hand, or set them themselves.

use model::inspection::{Check, Finding, Goal, Read, Severity};

use super::context::Context;

const RED_HAT: (&str, &str) = (
    "Red Hat Enterprise Linux 9, Monitoring and managing system status and performance",
    "irqbalance: leave it running, ban single CPUs",
);
const SCALING: (&str, &str) =
    ("Linux Documentation/networking/scaling.rst", "RSS IRQ Configuration: it may override settings made by hand");
const NVIDIA: (&str, &str) = ("NVIDIA, Performance Tuning for Mellanox Adapters", "IRQ affinity: stop it");
const TUNED: (&str, &str) = ("tuned(8)", "dynamic tuning");

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let runs = |name: &str| context.readings.host.services.iter().any(|service| service == name);
    let mut findings = Vec::new();
    if context.is_for(&[Goal::Latency, Goal::Bypass, Goal::Router]) {
        let is_on = runs("irqbalance");
        let read = Read::of(if is_on { "irqbalance" } else { "–" }, "/proc/*/cgroup, /proc/*/comm");
        let sources = [RED_HAT, SCALING, NVIDIA];
        let mend = "systemctl stop irqbalance".to_owned();
        let finding = Finding::of(Check::Irqbalance, "irqbalance", read, "–", &sources);
        findings.push(finding.unless(!is_on, Severity::Info, Some(mend)));
    }
    if runs("tuned") {
        let read = Read::of("tuned", "/proc/*/cgroup, /proc/*/comm");
        findings.push(Finding::of(Check::Tuned, "tuned", read, "–", &[TUNED]).unless(false, Severity::Info, None));
    }
    findings
}
