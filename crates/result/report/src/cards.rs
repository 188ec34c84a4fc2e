//! Network cards as text for a terminal.

use std::fmt::Display;

use model::{
    Card, Cards, Reading,
    alike::distinct,
    card::{Hop, LaneReadings, Module, ModuleReadings, Readings, Refused, Shortfall},
    environment::InterfaceFacts,
    environment::Port,
};
use unicode_width::UnicodeWidthStr;

use crate::{
    lang::Lang,
    show,
    texts::{Texts, name_and_fields},
};

/// Light below this is none: a receiver of any kind hears nothing at -40 dBm.
const DARK_MW: f64 = 1e-4;

/// Ports, then cards without an interface.
pub fn cards(cards: &Cards, lang: Lang) -> String {
    let t = Texts::of(lang);
    if cards.ports.is_empty() && cards.refused.is_empty() {
        return format!("{}\n", t.get("cards-none"));
    }
    let parts = cards.ports.iter().map(|port| self::port(port, t));
    parts.chain(cards.refused.iter().map(|refused| self::refused(refused, t))).collect::<Vec<_>>().join("\n")
}

/// The bus's shortfall for a card's ports; `None` if it suffices, or if that is unknown.
pub fn narrow_bus(card: &Card, lang: Lang) -> Option<String> {
    card.shortfall().map(|short| bus(&short, "card-bus-narrow", Texts::of(lang)))
}

fn port(port: &Port, t: &Texts) -> String {
    let Port { interface, readings } = port;
    let nothing = Card::default();
    let card = interface.card.as_ref().unwrap_or(&nothing);
    let rows = [
        ("card-driver", driver(interface, t)),
        ("card-mac", mac(interface, card, t)),
        ("card-link", link(interface, readings, card, t)),
        ("card-connector", connector(card, t)),
        ("card-signal", show::reading(&readings.module, t, |module| signal(module, t))),
        ("card-temperature", temperatures(readings)),
        ("card-addresses", interface.addresses.join(", ")),
        ("card-bus", hops(card, t)),
        ("card-capacity", capacity(card, t)),
        ("card-counters", counters(readings, t)),
    ];
    format!("{}  {}\n{}", interface.name, card.model, table(&rows, t))
}

/// Labels of one width, whatever the language; a row without a value is left out.
fn table(rows: &[(&str, String)], t: &Texts) -> String {
    let labels: Vec<String> = rows.iter().map(|(key, _)| t.get(key)).collect();
    let width = labels.iter().map(|label| label.width()).max().unwrap_or_default();
    let said = labels.iter().zip(rows).filter(|(_, (_, value))| !value.is_empty());
    said.map(|(label, (_, value))| format!("  {label}{}  {value}\n", " ".repeat(width - label.width()))).collect()
}

/// Driver and firmware. What cannot be read for one reason is said once.
fn driver(interface: &InterfaceFacts, t: &Texts) -> String {
    let firmware = |version: &String| t.with("card-firmware", &[("version", version)]);
    let driver = show::reading(&interface.driver, t, String::clone);
    let version = show::reading(&interface.driver_version, t, String::clone);
    let firmware = show::reading(&interface.firmware_version, t, firmware);
    let version = if version == driver { String::new() } else { version };
    let parts = [format!("{driver} {version}").trim().to_owned(), firmware];
    distinct(parts.iter().map(String::as_str).filter(|part| !part.is_empty())).join(", ")
}

fn mac(interface: &InterfaceFacts, card: &Card, t: &Texts) -> String {
    let own = show::reading(&interface.mac, t, String::clone);
    if card.permanent_mac == Reading::Absent || card.permanent_mac == interface.mac {
        return own;
    }
    let permanent = show::reading(&card.permanent_mac, t, String::clone);
    format!("{own} ({})", t.with("card-permanent-mac", &[("mac", &permanent)]))
}

/// State, speed and how it came about.
pub(crate) fn link(interface: &InterfaceFacts, readings: &Readings, card: &Card, t: &Texts) -> String {
    let state = show::reading(&readings.up, t, |up| match (up, readings.carrier) {
        (false, _) => t.get("card-link-down"),
        (true, Some(false)) => t.get("card-link-no-carrier"),
        (true, _) => t.get("card-link-up"),
    });
    let speed = |mbps: u32| show::rate(f64::from(mbps) * 1e6);
    let top = card.top_speed_mbps.copied().map(|mbps| t.with("card-link-top", &[("speed", &speed(mbps))]));
    let duplex = readings.full_duplex.filter(|full| !full).map(|_| t.get("card-link-half-duplex"));
    let agreed = readings.autonegotiation.filter(|on| !on).map(|_| t.get("card-link-fixed"));
    let mtu = format!("MTU {}", show::reading_or_none(&interface.mtu, t, u32::to_string));
    let own = Some(show::reading(&interface.speed_mbps, t, |mbps| speed(*mbps))).filter(|speed| !speed.is_empty());
    let parts = [Some(state), own, top, duplex, agreed, Some(mtu)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Connector and module of the cable.
pub(crate) fn connector(card: &Card, t: &Texts) -> String {
    let connector = show::reading(&card.connector, t, |connector| t.of_value("card-connector", connector));
    let module = show::reading(&card.module, t, |module| self::module(module, t));
    [connector, module].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

pub(crate) fn module(module: &Module, t: &Texts) -> String {
    let Module { form, maker, part, serial, wavelength_nm } = module;
    let values: [(&str, &dyn Display); 4] = [("form", form), ("maker", maker), ("part", part), ("serial", serial)];
    let light = wavelength_nm.map(|nm| format!(", {nm} nm"));
    t.with("card-module", &values) + &light.unwrap_or_default()
}

/// Optical power of each lane, and the module's own readings.
pub(crate) fn signal(readings: &ModuleReadings, t: &Texts) -> String {
    let lanes = readings.lanes.iter().map(|lane| {
        let LaneReadings { received_mw, sent_mw, bias_ma } = lane;
        let values: [(&str, &dyn Display); 3] =
            [("received", &light(*received_mw)), ("sent", &light(*sent_mw)), ("bias", &format!("{bias_ma:.1} mA"))];
        let heard = if *received_mw < DARK_MW { t.get("card-signal-none") + ", " } else { String::new() };
        heard + &t.with("card-signal-lane", &values)
    });
    let supply = format!("{:.1} °C, {:.2} V", readings.celsius, readings.volts);
    lanes.chain([supply]).collect::<Vec<_>>().join("; ")
}

/// Power of light, also in decibels of a milliwatt.
fn light(mw: f64) -> String {
    if mw <= 0.0 { "0 mW".to_owned() } else { format!("{mw:.3} mW ({:.1} dBm)", 10.0 * mw.log10()) }
}

/// Each sensor; empty where there is none.
pub(crate) fn temperatures(readings: &Readings) -> String {
    let one = |(label, celsius): &(String, f64)| format!("{label} {celsius:.0} °C").trim_start().to_owned();
    readings.temperatures.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn hops(card: &Card, t: &Texts) -> String {
    let speed = |hop: &Hop| show::reading_or_none(&hop.link.speed, t, String::clone);
    let one = |hop: &Hop| format!("{} x{} {}", hop.device, hop.link.width, speed(hop));
    card.hops.iter().map(one).collect::<Vec<_>>().join(" → ")
}

/// Whether the bus suffices for the ports: available and needed rate of the tightest link.
fn capacity(card: &Card, t: &Texts) -> String {
    let tightest = card.tightest();
    let said = tightest.map(|link| match link.has_bps < link.needs_bps {
        true => bus(&link, "card-bus-narrow", t),
        false => bus(&link, "card-bus-enough", t),
    });
    said.unwrap_or_else(|| if card.hops.is_empty() { String::new() } else { t.get("card-bus-unknown") })
}

fn bus(link: &Shortfall<'_>, key: &str, t: &Texts) -> String {
    let Hop { device, link: lanes, ports } = link.hop;
    let values: [(&str, &dyn Display); 6] = [
        ("device", device),
        ("width", &lanes.width),
        ("speed", &show::reading_or_none(&lanes.speed, t, String::clone)),
        ("has", &show::rate(link.has_bps)),
        ("ports", ports),
        ("needs", &show::rate(link.needs_bps)),
    ];
    t.with(key, &values)
}

/// Traffic always, and whatever else is not zero.
fn counters(readings: &Readings, t: &Texts) -> String {
    const TRAFFIC: [&str; 4] = ["rx_packets", "tx_packets", "rx_bytes", "tx_bytes"];
    show::reading(&readings.counters, t, |counters| {
        let said = counters.iter().filter(|(name, count)| **count > 0 || TRAFFIC.contains(&name.as_str()));
        said.map(|(name, count)| format!("{name} {}", show::grouped(*count))).collect::<Vec<_>>().join(", ")
    })
}

fn refused(refused: &Refused, t: &Texts) -> String {
    let Refused { device, model, driver, cause, log } = refused;
    let fix = t.get(&format!("refused-{}-fix", name_and_fields(cause).0));
    let rows = [("card-driver", driver.clone()), ("refused-why", t.of_value("refused", cause)), ("refused-fix", fix)];
    let log: String = log.iter().map(|line| format!("    {line}\n")).collect();
    format!("{}\n{}{log}", t.with("refused-card", &[("device", device), ("model", model)]), table(&rows, t))
}

#[cfg(test)]
mod tests {
    use model::card::{Cause, Connector, PcieLink};

    use super::*;

    /// Two ports of 10 Gbit/s behind four lanes of 5 GT/s.
    fn two_ports() -> Cards {
        let link = PcieLink { width: "4".into(), speed: "5.0 GT/s PCIe".into(), ..PcieLink::default() };
        let card = Card {
            model: "Intel Corporation 82599ES".into(),
            permanent_mac: "02:00:00:00:00:01".into(),
            top_speed_mbps: Reading::Known(10_000),
            connector: Connector::Fibre.into(),
            module: Module { form: "SFP".into(), wavelength_nm: Some(850), ..Module::default() }.into(),
            hops: vec![Hop { device: "0000:01:00.0".into(), link, ports: 2 }],
        };
        let interface =
            InterfaceFacts { name: "eth1".into(), driver: "ixgbe".into(), card: Some(card), ..Default::default() };
        let lanes = vec![LaneReadings { received_mw: 0.0, sent_mw: 0.5, bias_ma: 7.0 }];
        let readings = Readings {
            up: Reading::Known(true),
            carrier: Some(false),
            temperatures: vec![("loc1".into(), 54.0)],
            module: ModuleReadings { celsius: 38.5, volts: 3.3, lanes, received_limits: None }.into(),
            counters: std::collections::BTreeMap::from([
                ("rx_packets".to_owned(), 12_345),
                ("rx_errors".to_owned(), 0),
            ])
            .into(),
            ..Readings::default()
        };
        Cards { ports: vec![Port { interface, readings }], refused: vec![] }
    }

    #[test]
    fn a_card_is_said_with_its_narrow_bus_its_light_and_its_heat() {
        let text = cards(&two_ports(), Lang::En);
        for said in ["eth1  Intel Corporation 82599ES", "no signal", "0.500 mW (-3.0 dBm)", "loc1 54 °C", "850 nm"] {
            assert!(text.contains(said), "{said}: {text}");
        }
        assert!(text.contains("14.63 Gbit/s") && text.contains("20.00 Gbit/s"), "{text}");
        assert!(text.contains("rx_packets 12,345") && !text.contains("rx_errors"), "{text}");
    }

    #[test]
    fn every_cause_is_explained_in_both_languages() {
        let causes = [
            Cause::NoDriver,
            Cause::GivenAway,
            Cause::UnsupportedModule,
            Cause::TooFewVectors,
            Cause::NoFirmware,
            Cause::BadNvm,
            Cause::NoAddresses,
            Cause::Unknown,
        ];
        let refused = |cause| Refused {
            device: "0000:01:00.0".into(),
            model: "a card".into(),
            driver: "ixgbe".into(),
            cause,
            log: vec!["said by the kernel".into()],
        };
        let all = Cards { ports: vec![], refused: causes.map(refused).to_vec() };
        let (en, ja) = (cards(&all, Lang::En), cards(&all, Lang::Ja));
        assert!(en.matches("said by the kernel").count() == 8 && !en.contains('⟦') && !ja.contains('⟦'), "{en}{ja}");
        assert_ne!(en, ja);
    }

    #[test]
    fn labels_line_up_in_both_languages() {
        for lang in [Lang::En, Lang::Ja] {
            let text = cards(&two_ports(), lang);
            let t = Texts::of(lang);
            let column = |key: &str, value: &str| {
                let line = text.lines().find(|line| line.trim_start().starts_with(&t.get(key))).unwrap();
                line[..line.find(value).unwrap()].width()
            };
            assert_eq!(column("card-driver", "ixgbe"), column("card-temperature", "loc1"), "{text}");
        }
    }
}
