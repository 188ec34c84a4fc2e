//! PCI Express between cards and the processor.

use std::collections::BTreeSet;

use model::{
    Reading,
    card::{Card, Hop, PcieLink},
    inspection::{Check, Finding, Goal, Read, Severity},
    settings::{PciSizes, Slot},
};

use super::context::{Context, Port};

const LINK: (&str, &str) = ("PCI Express Base Specification", "section 4.2, link training; section 7.5.3, link status");
const SLOTS: (&str, &str) = ("DMTF DSP0134 (SMBIOS)", "section 7.10, System Slots (type 9)");
const SIZES: (&str, &str) = ("PCI Express Base Specification", "section 7.5.3.4, device control register");
const INTEL: (&str, &str) =
    ("DPDK, Getting Started Guide for Linux", "How to get best performance with NICs on Intel platforms");
const AER: (&str, &str) = ("Linux Documentation/PCI/pcieaer-howto.rst", "AER Statistics / Counters");
const IOMMU: (&str, &str) = ("Linux Documentation/admin-guide/kernel-parameters.txt", "iommu=pt");
const ESNET: (&str, &str) = ("ESnet, fasterdata.es.net, 100G Benchmarking", "Host tuning: iommu=pt");

/// A payload of this many bytes has little overhead.
const PAYLOAD: u32 = 256;
const READ_REQUEST: u32 = 512;

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    // Functions of one card share its way.
    let mut seen = BTreeSet::new();
    let mut findings = Vec::new();
    for port in context.nics() {
        let Some(card) = port.card() else { continue };
        findings.extend(narrow(context, &port, card));
        findings.extend(card.hops.iter().zip(upstream(card)).filter_map(|(hop, above)| trained(&port, hop, above)));
        findings.extend(sizes(context, &port));
        findings.extend(errors(&port, &mut seen));
        findings.extend(iommu(context, &port));
    }
    findings
}

/// The device at the other end of each link; `None` at the root.
fn upstream(card: &Card) -> impl Iterator<Item = Option<&Hop>> {
    card.hops.iter().skip(1).map(Some).chain([None])
}

/// Whether the narrowest link on the way carries the ports behind it, and which slot would.
fn narrow(context: &Context<'_>, port: &Port<'_>, card: &Card) -> Option<Finding> {
    let card = match context.conditions.speed_bps {
        Some(bps) => Card { top_speed_mbps: Reading::Known((bps / 1e6) as u32), ..card.clone() },
        None => card.clone(),
    };
    let tightest = card.tightest()?;
    let (has, needs) = (tightest.has_bps, tightest.needs_bps);
    let link = words(&tightest.hop.link);
    let read = Read::of(
        format!("{link}: {}", gbps(has)),
        format!("/sys/bus/pci/devices/{}/current_link_width", tightest.hop.device),
    );
    let own = slot_of(context, &card);
    let own_name = own.map(|slot| slot.name.clone()).unwrap_or_default();
    let made_for = card.hops.first().map(|hop| most(&hop.link)).unwrap_or_default();
    let better = free_slots(context).filter(|slot| slot.usable_bps() >= Some(needs));
    let better: Vec<String> = better.map(|slot| format!("{} ({})", slot.name, slot_words(slot))).collect();
    let finding =
        Finding::of(Check::PcieNarrow, port.name(), read, format!(">= {}", gbps(needs)), &[LINK, INTEL, SLOTS])
            .with("device", &tightest.hop.device)
            .with("link", &link)
            .with("card", made_for)
            .with("slot", if own_name.is_empty() { "–".to_owned() } else { own_name })
            .with("has", gbps(has))
            .with("needs", gbps(needs))
            .with("ports", tightest.hop.ports.max(1))
            .with("better", if better.is_empty() { "–".to_owned() } else { better.join(", ") });
    Some(finding.unless(has >= needs, Severity::Warn, None))
}

/// The slot that a card is in: its address is that of a device on the card's way.
fn slot_of<'r>(context: &Context<'r>, card: &Card) -> Option<&'r Slot> {
    let is_on_way = |slot: &&Slot| {
        slot.address
            .as_ref()
            .is_some_and(|address| card.hops.iter().any(|hop| hop.device.starts_with(address.as_str())))
    };
    slots(context).find(is_on_way)
}

fn free_slots<'r>(context: &Context<'r>) -> impl Iterator<Item = &'r Slot> {
    slots(context).filter(|slot| slot.in_use == Some(false))
}

fn slots<'r>(context: &Context<'r>) -> impl Iterator<Item = &'r Slot> {
    let processor = context.readings.host.processor.as_ref();
    processor.and_then(|processor| processor.slots.known()).into_iter().flatten()
}

fn slot_words(slot: &Slot) -> String {
    let lanes = slot.lanes.or(slot.length_lanes).map(|lanes| format!("x{lanes}"));
    let generation = slot.generation.map(|generation| format!("Gen{generation}"));
    [generation, lanes].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// A link that has less than both of its ends can have.
fn trained(port: &Port<'_>, hop: &Hop, above: Option<&Hop>) -> Option<Finding> {
    let above = above?;
    let width = |link: &PcieLink| link.most_width.known().and_then(|width| width.parse::<u32>().ok());
    let can_width = width(&hop.link)?.min(width(&above.link)?);
    let can_speed = gigatransfers(&hop.link.most_speed)?.min(gigatransfers(&above.link.most_speed)?);
    let (is_width, is_speed) = (hop.link.width.parse::<u32>().ok()?, gigatransfers(&hop.link.speed)?);
    let read = Read::of(words(&hop.link), format!("/sys/bus/pci/devices/{}/current_link_speed", hop.device));
    let finding =
        Finding::of(Check::PcieTrainedDown, port.name(), read, format!("x{can_width} {can_speed} GT/s"), &[LINK])
            .with("device", &hop.device);
    // A link that rests may be slower, and never narrower.
    let severity = if is_width < can_width { Severity::Warn } else { Severity::Info };
    Some(finding.unless(is_width >= can_width && is_speed >= can_speed, severity, None))
}

fn gigatransfers(speed: &Reading<String>) -> Option<f64> {
    speed.known()?.split_whitespace().next()?.parse().ok()
}

fn words(link: &PcieLink) -> String {
    let speed = link.speed.known().map_or("", |speed| speed.trim_end_matches(" PCIe"));
    format!("x{} {speed}", link.width)
}

/// Width and speed that the card was made for.
fn most(link: &PcieLink) -> String {
    let speed = link.most_speed.known().map_or("", |speed| speed.trim_end_matches(" PCIe"));
    format!("x{} {speed}", link.most_width.known().map_or("?", String::as_str))
}

fn gbps(bps: f64) -> String {
    format!("{:.1} Gbit/s", bps / 1e9)
}

fn sizes(context: &Context<'_>, port: &Port<'_>) -> Vec<Finding> {
    let pci = &port.settings.pci;
    let Some(own) = pci.first() else { return Vec::new() };
    let place = format!("lspci -vv -s {}", own.device);
    let sizes: PciSizes = match &own.sizes {
        Reading::Known(sizes) => *sizes,
        Reading::Absent => return Vec::new(),
        Reading::Unreadable { path, why } => {
            return vec![Finding::unknown(Check::PciePayload, port.name(), path, why)];
        }
    };
    let most = pci.iter().filter_map(|device| device.sizes.known()).map(|sizes| sizes.payload_most).min();
    let payload = PAYLOAD.min(most.unwrap_or(PAYLOAD));
    let is_for_data = context.is_for(&[Goal::Throughput, Goal::Router, Goal::Bypass]);
    let severity = if is_for_data { Severity::Warn } else { Severity::Info };
    // setpci writes VALUE:MASK.
    let mend = format!("setpci -s {} CAP_EXP+8.w=2000:7000", own.device);
    vec![
        Finding::of(
            Check::PciePayload,
            port.name(),
            Read::of(sizes.payload, place.clone()),
            format!(">= {payload}"),
            &[SIZES],
        )
        .unless(sizes.payload >= payload, severity, None),
        Finding::of(
            Check::PcieReadRequest,
            port.name(),
            Read::of(sizes.read_request, place),
            format!(">= {READ_REQUEST}"),
            &[SIZES],
        )
        .unless(sizes.read_request >= READ_REQUEST, severity, Some(mend)),
    ]
}

/// Errors of the devices on the way; a device that several ports share is spoken of once.
fn errors<'r>(port: &Port<'r>, seen: &mut BTreeSet<&'r str>) -> Option<Finding> {
    let errors: Vec<(&String, &u64)> =
        port.readings()?.bus_errors.iter().filter(|(name, _)| seen.insert(name.as_str())).collect();
    let value: Vec<String> = errors.iter().map(|(name, count)| format!("{name} {count}")).collect();
    let first = port.settings.pci.first().map(|own| own.device.as_str())?;
    let read = Read::of(
        if value.is_empty() { "0".to_owned() } else { value.join(", ") },
        format!("/sys/bus/pci/devices/{first}/aer_dev_*"),
    );
    let is_serious = errors.iter().any(|(name, _)| !name.contains(" correctable "));
    let severity = if is_serious { Severity::Warn } else { Severity::Info };
    Some(Finding::of(Check::PcieErrors, port.name(), read, 0, &[AER]).unless(errors.is_empty(), severity, None))
}

fn iommu(context: &Context<'_>, port: &Port<'_>) -> Option<Finding> {
    let kind = port.settings.iommu.known()?;
    let device = port.settings.pci.first()?.device.as_str();
    let read = Read::of(kind, format!("/sys/bus/pci/devices/{device}/iommu_group/type"));
    let is_fast = context.speed_of(port).is_some_and(|bps| bps >= 10e9);
    let severity = if is_fast { Severity::Warn } else { Severity::Info };
    let finding = Finding::of(Check::Iommu, port.name(), read, "identity (iommu=pt)", &[IOMMU, ESNET]);
    Some(finding.unless(!kind.starts_with("DMA"), severity, None))
}
