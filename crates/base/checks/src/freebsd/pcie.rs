//! PCI Express between cards and the processor.

use ::freebsd::{interfaces::Interface, pci::Device};
use model::{
    Reading,
    card::{Card, Hop, PcieLink},
    inspection::{Check, Finding, Goal, Read, Severity},
};

use super::context::Context;

const LINK: (&str, &str) = ("PCI Express Base Specification", "section 4.2, link training; section 7.5.3, link status");
const SIZES: (&str, &str) = ("PCI Express Base Specification", "section 7.5.3.4, device control register");
const ERRORS: (&str, &str) = ("PCI Express Base Specification", "section 7.8.4, advanced error reporting");
const PCICONF: (&str, &str) = ("pciconf(8)", "-c: link and speed in use, and at most in brackets");

const PLACE: &str = "pciconf -lvbc";
/// A payload of this many bytes has little overhead.
const PAYLOAD: u32 = 256;
const READ_REQUEST: u32 = 512;

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for nic in context.nics() {
        let Some(card) = context.port(nic).and_then(|port| port.interface.card.as_ref()) else { continue };
        findings.extend(narrow(context, nic, card));
        findings.extend(trained(nic, card));
        if let Some(device) = device(context, nic) {
            findings.extend(
                [payload(context, nic, device), read_request(nic, device), errors(nic, device)].into_iter().flatten(),
            );
        }
    }
    findings
}

/// The device of an interface with its capabilities.
fn device<'r>(context: &Context<'r>, nic: &Interface) -> Option<&'r Device> {
    let address = context.port(nic)?.interface.bus.known()?;
    context.readings.devices.known()?.iter().find(|device| device.address == *address)
}

fn gbps(bps: f64) -> String {
    format!("{:.1} Gbit/s", bps / 1e9)
}

fn words(width: &str, speed: Option<&String>) -> String {
    format!("x{width} {}", speed.map_or("", |speed| speed.trim_end_matches(" PCIe")))
}

fn now(link: &PcieLink) -> String {
    words(&link.width, link.speed.known())
}

fn most(link: &PcieLink) -> String {
    words(link.most_width.known().map_or("?", String::as_str), link.most_speed.known())
}

/// Whether the narrowest link on the way carries the ports behind it. FreeBSD's commands say nothing of slots.
fn narrow(context: &Context<'_>, nic: &Interface, card: &Card) -> Option<Finding> {
    let mbps = (context.speed_of(nic)? / 1e6) as u32;
    let card = Card { top_speed_mbps: Reading::Known(mbps), ..card.clone() };
    let tightest = card.tightest()?;
    let (has, needs, link) = (tightest.has_bps, tightest.needs_bps, now(&tightest.hop.link));
    let read = Read::of(format!("{link}: {}", gbps(has)), PLACE);
    let finding = Finding::of(Check::PcieNarrow, &nic.name, read, format!(">= {}", gbps(needs)), &[LINK, PCICONF])
        .with("device", &tightest.hop.device)
        .with("link", &link)
        .with("card", card.hops.first().map(|hop| most(&hop.link)).unwrap_or_default())
        .with("slot", "–")
        .with("has", gbps(has))
        .with("needs", gbps(needs))
        .with("ports", tightest.hop.ports.max(1))
        .with("better", "–");
    Some(finding.unless(has >= needs, Severity::Warn, None))
}

/// Trained width and speed against the most of both ends, or of the card alone where the kernel's messages do not name the other end.
fn trained(nic: &Interface, card: &Card) -> Option<Finding> {
    let hop = card.hops.first()?;
    let (own_width, own_speed) = (width(&hop.link.most_width)?, gigatransfers(&hop.link.most_speed)?);
    let (is_width, is_speed) = (hop.link.width.parse::<u32>().ok()?, gigatransfers(&hop.link.speed)?);
    let above = card
        .hops
        .get(1)
        .and_then(|above: &Hop| Some((width(&above.link.most_width)?, gigatransfers(&above.link.most_speed)?)));
    let (check, can_width, can_speed) = match above {
        Some((width, speed)) => (Check::PcieTrainedDown, own_width.min(width), own_speed.min(speed)),
        None => (Check::PcieBelowCard, own_width, own_speed),
    };
    let read = Read::of(now(&hop.link), PLACE);
    let wanted = format!("x{can_width} {can_speed:.1} GT/s");
    let finding = Finding::of(check, &nic.name, read, wanted, &[LINK, PCICONF]).with("device", &hop.device);
    // A link that rests may be slower, and never narrower.
    let is_bad = check == Check::PcieTrainedDown && is_width < can_width;
    let severity = if is_bad { Severity::Warn } else { Severity::Info };
    Some(finding.unless(is_width >= can_width && is_speed >= can_speed, severity, None))
}

fn width(lanes: &Reading<String>) -> Option<u32> {
    lanes.known()?.parse().ok()
}

fn gigatransfers(speed: &Reading<String>) -> Option<f64> {
    speed.known()?.split_whitespace().next()?.parse().ok()
}

/// A card that can do less is asked for that.
fn payload(context: &Context<'_>, nic: &Interface, device: &Device) -> Option<Finding> {
    let (is, most) = device.payload?;
    let wanted = PAYLOAD.min(most);
    let is_fast = context.is_fast() && context.is_for(&[Goal::Throughput, Goal::Router, Goal::Bypass]);
    let severity = if is_fast { Severity::Warn } else { Severity::Info };
    let finding =
        Finding::of(Check::PciePayload, &nic.name, Read::of(is, PLACE), format!(">= {wanted}"), &[SIZES, PCICONF]);
    Some(finding.unless(is >= wanted, severity, None))
}

fn read_request(nic: &Interface, device: &Device) -> Option<Finding> {
    let is = device.read_request?;
    let read = Read::of(is, PLACE);
    let finding = Finding::of(Check::PcieReadRequest, &nic.name, read, format!(">= {READ_REQUEST}"), &[SIZES, PCICONF]);
    Some(finding.unless(is >= READ_REQUEST, Severity::Info, None))
}

/// Kinds of errors that were seen. Most boards set one of the corrected kinds while they start.
fn errors(nic: &Interface, device: &Device) -> Option<Finding> {
    let [fatal, other, corrected] = device.errors?;
    let value = format!("{fatal} fatal, {other} non-fatal, {corrected} corrected");
    let is_serious = fatal > 0 || other > 0;
    let finding = Finding::of(Check::PcieErrors, &nic.name, Read::of(value, PLACE), "0 fatal, 0 non-fatal", &[ERRORS]);
    let severity = if is_serious { Severity::Warn } else { Severity::Info };
    Some(finding.unless(!is_serious && corrected <= 1, severity, None))
}
