//! Rings, coalescing and offloads of drivers.

use model::{
    inspection::{Check, Finding, Goal, Read, Severity},
    settings::Offload,
};

use super::look::{Look, Port};

const ESNET: (&str, &str) = ("ESnet, fasterdata.es.net, Host Tuning, NIC Tuning", "Linux: ethtool -G");
const RED_HAT: (&str, &str) = (
    "Red Hat Enterprise Linux 9, Monitoring and managing system status and performance",
    "Tuning the network performance",
);
const COALESCING: (&str, &str) = ("ethtool(8)", "-C --coalesce");
const SEGMENTATION: (&str, &str) =
    ("Linux Documentation/networking/segmentation-offloads.rst", "Generic Receive Offload");
const FEATURES: (&str, &str) = ("Linux Documentation/networking/netdev-features.rst", "Part I and III: feature sets");
const XDP: (&str, &str) = ("Linux Documentation/networking/af_xdp.rst", "Multi-Buffer Support");

/// Receive descriptors for a fast port and for others.
const DESCRIPTORS: u32 = 2048;
const DESCRIPTORS_SLOW: u32 = 256;
const FAST_BPS: f64 = 10e9;
/// Below this an XDP program sees one buffer: a page, less headroom and the structure at its end.
const XDP_MTU: u32 = 3498;

/// Offloads that carry bulk data, with the words of ethtool that switch them.
const FOR_DATA: [(&str, &str); 6] = [
    ("rx-gro", "gro"),
    ("tx-generic-segmentation", "gso"),
    ("tx-tcp-segmentation", "tso"),
    ("rx-checksum", "rx"),
    ("tx-checksum-ip-generic", "tx"),
    ("tx-checksum-ipv4", "tx"),
];

pub(super) fn check(look: &Look<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for port in look.nics() {
        findings.extend([receive_ring, transmit_ring, coalescing].iter().filter_map(|check| check(look, &port)));
    }
    for port in look.ports().filter(|port| port.facts.card.is_some() || port.settings.kind == "veth") {
        findings.extend(offloads(look, &port));
        findings.extend([lro, xdp_mtu].iter().filter_map(|check| check(look, &port)));
    }
    findings
}

fn receive_ring(look: &Look<'_>, port: &Port<'_>) -> Option<Finding> {
    let rings = port.settings.rings()?;
    let is_fast = look.speed_of(port).is_some_and(|bps| bps >= FAST_BPS);
    let is_for_data = look.is_for(&[Goal::Throughput, Goal::Router, Goal::Bypass]);
    let wanted = if is_fast && is_for_data { DESCRIPTORS } else { DESCRIPTORS_SLOW }.min(rings.receive_most);
    ring(port, Check::RingReceive, "rx", (rings.receive, wanted))
}

fn transmit_ring(_: &Look<'_>, port: &Port<'_>) -> Option<Finding> {
    let rings = port.settings.rings()?;
    ring(port, Check::RingTransmit, "tx", (rings.transmit, DESCRIPTORS_SLOW.min(rings.transmit_most)))
}

fn ring(port: &Port<'_>, check: Check, word: &str, (is, wanted): (u32, u32)) -> Option<Finding> {
    let read = Read::of(is, format!("ethtool -g {}", port.name()));
    let mend = format!("ethtool -G {} {word} {wanted}", port.name());
    let finding = Finding::of(check, port.name(), read, format!(">= {wanted}"), &[ESNET, RED_HAT]);
    Some(finding.unless(is >= wanted, Severity::Warn, Some(mend)))
}

/// Latency wants none, data wants some: a driver without the structure has nothing to say.
fn coalescing(look: &Look<'_>, port: &Port<'_>) -> Option<Finding> {
    let now = port.settings.coalescing()?;
    let adaptive = if now.adaptive { "on" } else { "off" };
    let value = format!("adaptive-rx {adaptive}, rx-usecs {}, rx-frames {}", now.receive_us, now.receive_frames);
    let (read, name) = (Read::of(value, format!("ethtool -c {}", port.name())), port.name());
    Some(if look.is_for(&[Goal::Latency]) {
        let is_prompt = !now.adaptive && now.receive_us == 0;
        let mend = format!("ethtool -C {name} adaptive-rx off rx-usecs 0");
        let wanted = "adaptive-rx off, rx-usecs 0";
        Finding::of(Check::CoalescingLatency, name, read, wanted, &[COALESCING, RED_HAT]).unless(
            is_prompt,
            Severity::Warn,
            Some(mend),
        )
    } else {
        // The rings of virtio suppress interrupts by themselves.
        let suppresses = port.facts.driver.known().is_some_and(|driver| driver == "virtio_net");
        let collects = suppresses || now.adaptive || now.receive_us > 0 || now.receive_frames != 1;
        let mend = format!("ethtool -C {name} rx-usecs 50");
        Finding::of(Check::CoalescingThroughput, name, read, "rx-usecs > 0", &[COALESCING, RED_HAT]).unless(
            collects,
            Severity::Warn,
            Some(mend),
        )
    })
}

fn offloads(look: &Look<'_>, port: &Port<'_>) -> Vec<Finding> {
    if !look.is_for(&[Goal::Throughput, Goal::Router]) {
        return Vec::new();
    }
    let one = |(name, word): &(&str, &str)| {
        let Offload { on, changeable } = *port.settings.offloads.get(*name)?;
        // A driver that cannot do it says nothing of a setting.
        (on || changeable).then_some(())?;
        let read =
            Read::of(format!("{name}: {}", if on { "on" } else { "off" }), format!("ethtool -k {}", port.name()));
        let mend = format!("ethtool -K {} {word} on", port.name());
        let finding =
            Finding::of(Check::OffloadOff, port.name(), read, format!("{name}: on"), &[SEGMENTATION, FEATURES]);
        Some(finding.unless(on, Severity::Warn, Some(mend)))
    };
    FOR_DATA.iter().filter_map(one).collect()
}

/// Packets that are forwarded have to leave as they came; XDP takes none that were merged.
fn lro(look: &Look<'_>, port: &Port<'_>) -> Option<Finding> {
    let forwards = look.is_for(&[Goal::Router, Goal::Bypass]) || port.facts.master.is_some();
    let Offload { on, .. } = *port.settings.offloads.get("rx-lro").filter(|_| forwards)?;
    let read = Read::of(if on { "on" } else { "off" }, format!("ethtool -k {}", port.name()));
    let mend = format!("ethtool -K {} lro off", port.name());
    let finding = Finding::of(Check::LroForwarding, port.name(), read, "off", &[SEGMENTATION]);
    Some(finding.unless(!on, Severity::Warn, Some(mend)))
}

fn xdp_mtu(look: &Look<'_>, port: &Port<'_>) -> Option<Finding> {
    let mtu = port.mtu().filter(|_| look.is_for(&[Goal::Bypass]))?;
    let read = Read::of(mtu, format!("/sys/class/net/{}/mtu", port.name()));
    let mend = format!("ip link set dev {} mtu 1500", port.name());
    let finding = Finding::of(Check::XdpMtu, port.name(), read, format!("<= {XDP_MTU}"), &[XDP]);
    Some(finding.unless(mtu <= XDP_MTU, Severity::Warn, Some(mend)))
}
