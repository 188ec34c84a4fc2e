//! Links of cards, their modules, and messages of the kernel about them.

use ::freebsd::interfaces::{Interface, Media};
use model::{
    card::{Cause, Refused},
    inspection::{Check, Finding, Read, Severity},
};

use super::context::{Context, ifconfig};
use crate::light::LitInterface;

const IFCONFIG: (&str, &str) = ("ifconfig(8)", "media, status; -m: supported media");
const AUTONEGOTIATION: (&str, &str) = ("IEEE 802.3", "clause 28 and annex 28B, auto-negotiation and its priorities");
const PCICONF: (&str, &str) = ("pciconf(8)", "-l: a device without driver is noneN");
const DMESG: (&str, &str) = ("dmesg(8)", "system message buffer");

/// Messages that are shown.
const MOST_MESSAGES: usize = 3;

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let checks = [link, speed, asked, duplex, light];
    let found = context.nics().flat_map(|nic| checks.iter().filter_map(move |check| check(context, nic)));
    found.chain(refused(context)).chain(complaints(context)).collect()
}

/// Cards without a driver; one that was given to a virtual machine is meant to have none.
fn refused(context: &Context<'_>) -> Vec<Finding> {
    let is_asked = context.conditions.interface.is_none();
    let of = |card: &Refused| {
        let read = Read::of(format!("{}: –", card.model), "pciconf -lv");
        let severity = if card.cause == Cause::GivenAway { Severity::Info } else { Severity::Fail };
        Finding::of(Check::CardRefused, &card.device, read, "–", &[PCICONF]).unless(false, severity, None)
    };
    context.readings.cards.refused.iter().filter(|_| is_asked).map(of).collect()
}

fn link(_: &Context<'_>, nic: &Interface) -> Option<Finding> {
    let status = nic.status.as_deref()?;
    let finding = Finding::of(Check::LinkDown, &nic.name, Read::of(status, ifconfig(nic)), "active", &[IFCONFIG]);
    Some(finding.unless(status.starts_with("active"), Severity::Warn, None))
}

fn speed_mbps(nic: &Interface) -> Option<u32> {
    nic.media.as_ref().and_then(Media::speed_mbps)
}

fn speed(_: &Context<'_>, nic: &Interface) -> Option<Finding> {
    let (is, top) = (speed_mbps(nic)?, nic.top_speed_mbps?);
    let read = Read::of(format!("{is} Mbit/s"), ifconfig(nic));
    let wanted = format!("{top} Mbit/s");
    let finding = Finding::of(Check::LinkSlow, &nic.name, read, wanted, &[IFCONFIG, AUTONEGOTIATION]);
    Some(finding.unless(is >= top, Severity::Warn, autoselect(nic)))
}

fn asked(context: &Context<'_>, nic: &Interface) -> Option<Finding> {
    let wanted = context.conditions.speed_bps?;
    let is = f64::from(speed_mbps(nic)?) * 1e6;
    let read = Read::of(format!("{:.0} Mbit/s", is / 1e6), ifconfig(nic));
    let finding = Finding::of(Check::SpeedShort, &nic.name, read, format!(">= {:.0} Mbit/s", wanted / 1e6), &[]);
    Some(finding.unless(is >= wanted, Severity::Fail, None))
}

fn duplex(_: &Context<'_>, nic: &Interface) -> Option<Finding> {
    let full = nic.media.as_ref()?.is_full_duplex?;
    let read = Read::of(if full { "full-duplex" } else { "half-duplex" }, ifconfig(nic));
    let finding = Finding::of(Check::HalfDuplex, &nic.name, read, "full-duplex", &[AUTONEGOTIATION]);
    Some(finding.unless(full, Severity::Fail, autoselect(nic)))
}

fn autoselect(nic: &Interface) -> Option<String> {
    Some(format!("ifconfig {} media autoselect", nic.name))
}

fn light(_: &Context<'_>, nic: &Interface) -> Option<Finding> {
    let interface = LitInterface { name: &nic.name, place: ifconfig(nic), speed_mbps: speed_mbps(nic), subport: None };
    crate::light::light(interface, nic.light.as_ref()?)
}

/// Messages of the kernel, the last ones.
fn complaints(context: &Context<'_>) -> Option<Finding> {
    let all = &context.readings.boot.known()?.complaints;
    let last: Vec<&str> = all.iter().rev().take(MOST_MESSAGES).rev().map(String::as_str).collect();
    let value = if last.is_empty() { "–".to_owned() } else { last.join("; ") };
    let finding = Finding::of(Check::KernelComplains, "", Read::of(value, "dmesg"), "–", &[DMESG]);
    Some(finding.unless(all.is_empty(), Severity::Warn, None))
}
