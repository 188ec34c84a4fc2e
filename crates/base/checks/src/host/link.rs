//! Links of cards and their modules.

use model::{
    card::{Cause, Refused},
    inspection::{Check, Finding, Read, Severity},
};

use super::context::{Context, Port};
use crate::light::LitInterface;

const AUTONEGOTIATION: (&str, &str) = ("IEEE 802.3", "clause 28 and annex 28B, auto-negotiation and its priorities");
const PAUSE: (&str, &str) = ("IEEE 802.3", "annex 31B, MAC Control PAUSE operation");
const FEC: (&str, &str) = ("IEEE 802.3", "clauses 74, 91 and 108, forward error correction");
const OPERSTATES: (&str, &str) = ("Linux Documentation/networking/operstates.rst", "2. Querying from userspace");

/// `ETHTOOL_FEC_NONE` and `ETHTOOL_FEC_OFF`.
const NO_FEC: u32 = 1 | 1 << 2;
/// A link of this rate and more needs error correction on most of its media.
const FEC_FROM_BPS: f64 = 25e9;

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let ports: Vec<Port<'_>> = context.nics().collect();
    let checks = [link, speed, asked, duplex, pause, fec, light];
    let found = ports.iter().flat_map(|port| checks.iter().filter_map(|check| check(context, port)));
    found.chain(refused(context)).collect()
}

/// Cards without an interface; one that was given away is meant to have none.
fn refused(context: &Context<'_>) -> Vec<Finding> {
    let is_asked = context.conditions.interface.is_none();
    let of = |card: &Refused| {
        let read = Read::of(format!("{}: –", card.model), format!("/sys/bus/pci/devices/{}", card.device));
        let severity = if card.cause == Cause::GivenAway { Severity::Info } else { Severity::Fail };
        Finding::of(Check::CardRefused, &card.device, read, "net/", &[]).unless(false, severity, None)
    };
    context.readings.refused.iter().filter(|_| is_asked).map(of).collect()
}

fn link(_: &Context<'_>, port: &Port<'_>) -> Option<Finding> {
    let carrier = port.readings()?.carrier?;
    let read = Read::of(u8::from(carrier), format!("/sys/class/net/{}/carrier", port.name()));
    Some(Finding::of(Check::LinkDown, port.name(), read, 1, &[OPERSTATES]).unless(carrier, Severity::Warn, None))
}

fn speed(_: &Context<'_>, port: &Port<'_>) -> Option<Finding> {
    let (is, top) = (port.facts.speed_mbps.copied()?, port.card()?.top_speed_mbps.copied()?);
    let read = Read::of(format!("{is} Mbit/s"), format!("ethtool {}", port.name()));
    let finding = Finding::of(Check::LinkSlow, port.name(), read, format!("{top} Mbit/s"), &[AUTONEGOTIATION]);
    let mend = format!("ethtool -s {} autoneg on", port.name());
    Some(finding.unless(is >= top, Severity::Warn, Some(mend)))
}

fn asked(context: &Context<'_>, port: &Port<'_>) -> Option<Finding> {
    let wanted = context.conditions.speed_bps?;
    let is = f64::from(port.facts.speed_mbps.copied()?) * 1e6;
    let read = Read::of(format!("{:.0} Mbit/s", is / 1e6), format!("ethtool {}", port.name()));
    let finding = Finding::of(Check::SpeedShort, port.name(), read, format!(">= {:.0} Mbit/s", wanted / 1e6), &[]);
    Some(finding.unless(is >= wanted, Severity::Fail, None))
}

fn duplex(_: &Context<'_>, port: &Port<'_>) -> Option<Finding> {
    let full = port.readings()?.full_duplex?;
    let read = Read::of(if full { "full" } else { "half" }, format!("ethtool {}", port.name()));
    let mend = format!("ethtool -s {} autoneg on", port.name());
    let finding = Finding::of(Check::HalfDuplex, port.name(), read, "full", &[AUTONEGOTIATION]);
    Some(finding.unless(full, Severity::Fail, Some(mend)))
}

/// A side sends pause frames that the other one does not obey, or the other way round.
fn pause(_: &Context<'_>, port: &Port<'_>) -> Option<Finding> {
    let (own, [symmetric, asymmetric]) = (port.settings.pause()?, port.settings.partner_pause?);
    let word = |on: bool| if on { "on" } else { "off" };
    let value = format!(
        "rx {} tx {}; partner: pause {} asym {}",
        word(own.receive),
        word(own.transmit),
        word(symmetric),
        word(asymmetric)
    );
    let partner_has_any = symmetric || asymmetric;
    let agrees = if own.negotiated { true } else { (own.receive || own.transmit) == partner_has_any };
    let wanted = format!("autoneg on, rx {0} tx {0}", word(partner_has_any));
    let read = Read::of(value, format!("ethtool -a {}", port.name()));
    let mend = format!("ethtool -A {} autoneg on rx {1} tx {1}", port.name(), word(partner_has_any));
    let finding = Finding::of(Check::PauseOneSided, port.name(), read, wanted, &[PAUSE, AUTONEGOTIATION]);
    Some(finding.unless(agrees, Severity::Warn, Some(mend)))
}

fn fec(_: &Context<'_>, port: &Port<'_>) -> Option<Finding> {
    let fec = port.settings.fec.copied()?;
    let is_fast = f64::from(port.facts.speed_mbps.copied()?) * 1e6 >= FEC_FROM_BPS;
    let is_off = fec & !NO_FEC == 0;
    let read = Read::of(if is_off { "off" } else { "on" }, format!("ethtool --show-fec {}", port.name()));
    let mend = format!("ethtool --set-fec {} encoding auto", port.name());
    is_fast.then(|| {
        Finding::of(Check::FecOff, port.name(), read, "on", &[FEC]).unless(!is_off, Severity::Warn, Some(mend))
    })
}

fn light(_: &Context<'_>, port: &Port<'_>) -> Option<Finding> {
    let interface = LitInterface {
        name: port.name(),
        place: format!("ethtool -m {}", port.name()),
        speed_mbps: port.facts.speed_mbps.copied(),
        subport: port.settings.subport,
    };
    crate::light::light(interface, port.readings()?.module.known()?)
}
