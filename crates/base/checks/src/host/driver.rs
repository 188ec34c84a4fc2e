//! Rings, coalescing and offloads of drivers.

use model::{
    Reading,
    change::DriverNumber,
    inspection::{Check, Finding, Goal, Read, Severity},
    settings::Offload,
    tuning::{ProfileValue, Setting},
};

use super::context::{Context, Port};

const XDP: (&str, &str) = ("Linux Documentation/networking/af_xdp.rst", "Multi-Buffer Support");

/// The discipline that takes its length from its interface, also later on.
const FIFO: &str = "pfifo_fast";

/// Below this an XDP program sees one buffer: a page, less headroom and the structure at its end.
const XDP_MTU: u32 = 3498;

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for port in context.nics() {
        let checks = [receive_ring, transmit_ring, transmit_queue, coalescing];
        findings.extend(checks.iter().filter_map(|check| check(context, &port)));
    }
    for port in context.ports().filter(|port| port.facts.card.is_some() || port.settings.kind == "veth") {
        findings.extend(offloads(context, &port));
        findings.extend(xdp_mtu(context, &port));
    }
    findings
}

fn receive_ring(context: &Context<'_>, port: &Port<'_>) -> Option<Finding> {
    ring(context, port, Check::RingReceive, DriverNumber::RingRx, "rx")
}

fn transmit_ring(context: &Context<'_>, port: &Port<'_>) -> Option<Finding> {
    ring(context, port, Check::RingTransmit, DriverNumber::RingTx, "tx")
}

fn ring(context: &Context<'_>, port: &Port<'_>, check: Check, number: DriverNumber, word: &str) -> Option<Finding> {
    let value = context.wanted_of(&number.to_string(), port)?;
    let (is, most) = match port.settings.number(number) {
        Reading::Known(known) => known,
        Reading::Absent => return None,
        Reading::Unreadable { path, why } => return Some(Finding::unknown(check, port.name(), &path, &why)),
    };
    let wanted = value.of_driver(most, context.cores())?;
    let read = Read::of(is, format!("ethtool -g {}", port.name()));
    let mend = format!("ethtool -G {} {word} {wanted}", port.name());
    let finding = Finding::of(check, port.name(), read, format!(">= {wanted}"), &value.documents());
    Some(finding.unless(is >= wanted, Severity::Warn, Some(mend)))
}

fn transmit_queue(context: &Context<'_>, port: &Port<'_>) -> Option<Finding> {
    let (value, check) = (context.wanted_of("interface tx_queue_len", port)?, Check::TransmitQueue);
    let length = match &port.settings.transmit_queue {
        Reading::Known(length) => *length,
        Reading::Absent => return None,
        Reading::Unreadable { path, why } => return Some(Finding::unknown(check, port.name(), path, why)),
    };
    let has_fifo = port.settings.qdiscs.iter().any(|qdisc| qdisc.split(' ').next() == Some(FIFO));
    let read = Read::of(length, format!("/sys/class/net/{}/tx_queue_len", port.name()));
    let mend = format!("ip link set dev {} txqueuelen {}", port.name(), value.value);
    let is_wanted = !has_fifo || value.instead(&length.to_string()).is_none();
    let finding = Finding::of(check, port.name(), read, format!(">= {}", value.value), &value.documents());
    Some(finding.unless(is_wanted, Severity::Warn, Some(mend)))
}

/// Latency wants none, data wants some: a driver without the structure has nothing to say.
fn coalescing(context: &Context<'_>, port: &Port<'_>) -> Option<Finding> {
    let number = |number| port.settings.number(number).into_known().map(|(now, _)| now);
    let (us, frames) = (number(DriverNumber::RxUsecs)?, number(DriverNumber::RxFrames)?);
    let is_adaptive = number(DriverNumber::AdaptiveRx)? != 0;
    let (value, name) = (context.wanted_of("rx-usecs", port)?, port.name());
    let adaptive = context.wanted_of("adaptive-rx", port);
    let word = |on: bool| if on { "on" } else { "off" };
    let words = |us: &str| match adaptive {
        Some(adaptive) => format!("adaptive-rx {} rx-usecs {us}", word(adaptive.value != "0")),
        None => format!("rx-usecs {us}"),
    };
    let text = format!("adaptive-rx {}, rx-usecs {us}, rx-frames {frames}", word(is_adaptive));
    let is_wanted = value.instead(&us.to_string()).is_none();
    let (check, is_wanted, wanted) = match adaptive {
        Some(adaptive) => {
            let is_adaptive = u8::from(is_adaptive).to_string();
            (Check::CoalescingLatency, is_wanted && adaptive.instead(&is_adaptive).is_none(), words(&value.value))
        }
        // Either of both collects packets as well.
        None => {
            let collects = is_adaptive || frames != 1;
            (Check::CoalescingThroughput, is_wanted || collects, words("> 0"))
        }
    };
    let finding = Finding::of(check, name, Read::of(text, format!("ethtool -c {name}")), wanted, &value.documents());
    Some(finding.unless(is_wanted, Severity::Warn, Some(format!("ethtool -C {name} {}", words(&value.value)))))
}

/// Offloads of the profile. The receive hash is judged with the queues.
fn offloads(context: &Context<'_>, port: &Port<'_>) -> Vec<Finding> {
    let one = |value: &ProfileValue| {
        let Setting::Offload(feature) = &value.setting else { return None };
        let check = match (feature.as_str(), value.value.as_str()) {
            ("rx-hashing", _) => return None,
            ("rx-lro", "off") => Check::LroForwarding,
            (_, "on") => Check::OffloadOff,
            _ => return None,
        };
        context.holds(value, port).then_some(())?;
        let name = port.name();
        let Offload { on, changeable } = match port.settings.offload(feature) {
            Reading::Known(offload) => offload,
            Reading::Absent => return None,
            Reading::Unreadable { path, why } => return Some(Finding::unknown(check, name, &path, &why)),
        };
        // A driver that cannot do it says nothing of a setting.
        (on || changeable).then_some(())?;
        let now = if on { "on" } else { "off" };
        let read = Read::of(format!("{feature}: {now}"), format!("ethtool -k {name}"));
        let mend = format!("ethtool -K {name} {feature} {}", value.value);
        let wanted = format!("{feature}: {}", value.value);
        let finding = Finding::of(check, name, read, wanted, &value.documents());
        Some(finding.unless(now == value.value, Severity::Warn, Some(mend)))
    };
    context.profile.values.iter().filter_map(one).collect()
}

fn xdp_mtu(context: &Context<'_>, port: &Port<'_>) -> Option<Finding> {
    let mtu = port.mtu().filter(|_| context.is_for(&[Goal::Bypass]))?;
    let read = Read::of(mtu, format!("/sys/class/net/{}/mtu", port.name()));
    let mend = format!("ip link set dev {} mtu 1500", port.name());
    let finding = Finding::of(Check::XdpMtu, port.name(), read, format!("<= {XDP_MTU}"), &[XDP]);
    Some(finding.unless(mtu <= XDP_MTU, Severity::Warn, Some(mend)))
}
