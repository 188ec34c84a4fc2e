//! ifconfig(8): `ifconfig -vm`, or less of it.

use model::card::{LaneReadings, Module, ModuleReadings};

use crate::text::{between, lines};

/// Most interfaces of a machine, and entries of each.
const MOST: usize = 4096;

/// An interface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interface {
    /// Name, like `ix0`.
    pub name: String,
    /// `UP`, `RUNNING` and others.
    pub flags: Vec<String>,
    /// Offloads and others that are on: `TSO4`, `LRO`, `RXCSUM` …
    pub options: Vec<String>,
    /// Offloads and others that it can have (with `-m`).
    pub capabilities: Vec<String>,
    /// MTU.
    pub mtu: Option<u32>,
    /// MAC address.
    pub mac: Option<String>,
    /// MAC address that the card was made with, where the interface has another one (FreeBSD 11 to 14 say it always).
    pub hardware_mac: Option<String>,
    /// Addresses with prefix length.
    pub addresses: Vec<String>,
    /// Cable, speed and pause.
    pub media: Option<Media>,
    /// The highest speed in Mbit/s that it can have (with `-m`).
    pub top_speed_mbps: Option<u32>,
    /// `active`, `no carrier` and others.
    pub status: Option<String>,
    /// Name of the driver and number (FreeBSD 14 with `-v`).
    pub driver: Option<String>,
    /// Ports of a bridge or of an aggregated link.
    pub members: Vec<String>,
    /// Groups that it belongs to, like `bridge` or `vlan`.
    pub groups: Vec<String>,
    /// Interface below a VLAN.
    pub parent: Option<String>,
    /// Module in its cage.
    pub module: Option<Module>,
    /// Diagnostics of the module.
    pub light: Option<ModuleReadings>,
}

/// Cable and speed of an interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Media {
    /// Kind of Ethernet, like `10Gbase-SR`; empty without a link.
    pub kind: String,
    /// Whether it agrees on speed with the other end.
    pub is_negotiated: bool,
    /// Whether it sends and receives at the same time; `None` without a link.
    pub is_full_duplex: Option<bool>,
    /// Pause frames that are heeded.
    pub takes_pause: bool,
    /// Pause frames that are sent.
    pub sends_pause: bool,
}

impl Media {
    /// Speed in Mbit/s.
    pub fn speed_mbps(&self) -> Option<u32> {
        speed_mbps(&self.kind)
    }
}

/// Speed in Mbit/s of a kind of Ethernet, as its name begins: `1000baseT`, `2500Base-T`, `10Gbase-SR`, `50GBase-CR2`.
fn speed_mbps(kind: &str) -> Option<u32> {
    let unit = kind.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let number: f64 = kind[..kind.len() - unit.len()].parse().ok()?;
    let unit = unit.to_ascii_lowercase();
    let factor = if unit.starts_with("gbase") { 1e3 } else { 1.0 };
    let is_speed = unit.trim_start_matches('g').starts_with("base");
    (is_speed && number < 1e6).then_some((number * factor) as u32)
}

/// Interfaces in the order of the output.
pub fn read(text: &str) -> Vec<Interface> {
    let mut found: Vec<Interface> = Vec::new();
    for line in lines(text) {
        if let Some(interface) = header(line) {
            if found.len() == MOST {
                return found;
            }
            found.push(interface);
        } else if let Some(interface) =
            found.last_mut().filter(|_| line.starts_with([' ', '\t']) || line.starts_with("options="))
        {
            detail(interface, line.trim());
        }
    }
    found
}

/// `ix0: flags=8843<UP,BROADCAST> metric 0 mtu 1500`; as of FreeBSD 14 flags have more digits.
fn header(line: &str) -> Option<Interface> {
    let (name, rest) = line.split_once(": flags=")?;
    if name.is_empty() || name.contains(char::is_whitespace) {
        return None;
    }
    let mtu = rest.rsplit_once(" mtu ").and_then(|(_, mtu)| mtu.split_whitespace().next()?.parse().ok());
    Some(Interface { name: name.to_owned(), flags: names(rest), mtu, ..Interface::default() })
}

/// Names between `<` and `>`.
fn names(text: &str) -> Vec<String> {
    let list = between(text, "<", ">").unwrap_or_default();
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn detail(interface: &mut Interface, line: &str) {
    if line.starts_with("options=") {
        interface.options = names(line);
        return;
    }
    if line.starts_with("capabilities=") {
        interface.capabilities = names(line);
        return;
    }
    let Some((key, value)) = line.split_once(' ') else { return };
    let first = || value.split_whitespace().next().unwrap_or_default().to_owned();
    match key {
        "ether" => interface.mac = Some(first()),
        "hwaddr" => interface.hardware_mac = Some(first()),
        "inet" | "inet6" if interface.addresses.len() < MOST => interface.addresses.extend(address(value)),
        "media:" => interface.media = Some(media(value)),
        // One of the supported ones.
        "media" => interface.top_speed_mbps = interface.top_speed_mbps.max(speed_mbps(&first())),
        "status:" => interface.status = Some(value.to_owned()),
        "groups:" => interface.groups = value.split_whitespace().map(str::to_owned).collect(),
        "drivername:" => interface.driver = Some(first()),
        "member:" | "laggport:" if interface.members.len() < MOST => interface.members.push(first()),
        "vlan:" => {
            let parent = value.split_once("parent interface: ").map(|(_, parent)| parent.trim().to_owned());
            interface.parent = parent.filter(|parent| !parent.is_empty() && parent != "<none>");
        }
        "plugged:" => {
            interface.module.get_or_insert_default().form = value.split(' ').next().unwrap_or_default().to_owned()
        }
        "vendor:" => vendor(interface.module.get_or_insert_default(), value),
        "module" | "lane" | "RX:" => light(interface.light.get_or_insert_default(), line),
        _ => {}
    }
}

/// `198.18.0.1 netmask 0xffffff00 …` or `fe80::1%ix0 prefixlen 64 …`.
fn address(value: &str) -> Option<String> {
    let words: Vec<&str> = value.split_whitespace().collect();
    let behind = |key: &str| words.iter().position(|word| *word == key).and_then(|at| words.get(at + 1));
    let prefix = match (behind("prefixlen"), behind("netmask")) {
        (Some(length), _) => length.parse().ok()?,
        (None, Some(mask)) => u32::from_str_radix(mask.strip_prefix("0x")?, 16).ok()?.count_ones(),
        _ => return words.first().map(|&word| word.to_owned()),
    };
    let address = words.first()?.split('%').next()?;
    // `198.18.0.1/24` where the output was asked for in that form.
    Some(if address.contains('/') { address.to_owned() } else { format!("{address}/{prefix}") })
}

/// `Ethernet autoselect (10Gbase-SR <full-duplex,rxpause>)`, or a fixed one: `Ethernet 10Gbase-Twinax <full-duplex>`.
fn media(value: &str) -> Media {
    let value = value.strip_prefix("Ethernet ").unwrap_or(value);
    let is_negotiated = value.starts_with("autoselect");
    let current = if is_negotiated { between(value, "(", ")").unwrap_or_default() } else { value };
    let options = names(value);
    let has = |name: &str| options.iter().any(|option| option == name);
    let kind = current.split_whitespace().next().unwrap_or_default();
    let has_link = kind.starts_with(|letter: char| letter.is_ascii_digit());
    Media {
        kind: if has_link { kind.to_owned() } else { String::new() },
        is_negotiated,
        is_full_duplex: has_link.then(|| has("full-duplex")),
        takes_pause: has("rxpause"),
        sends_pause: has("txpause"),
    }
}

/// `Intel Corp PN: FTLX8571D3BCV-IT SN: AM411QD DATE: 2012-01-29`.
fn vendor(module: &mut Module, value: &str) {
    let (maker, rest) = value.split_once(" PN: ").unwrap_or((value, ""));
    let (part, rest) = rest.split_once(" SN: ").unwrap_or((rest, ""));
    let serial = rest.split_once(" DATE: ").map_or(rest, |(serial, _)| serial);
    for (place, word) in [(&mut module.maker, maker), (&mut module.part, part), (&mut module.serial, serial)] {
        word.trim().clone_into(place);
    }
}

/// `module temperature: 47.06 C voltage: 3.33 Volts`; `lane 1: RX power: 0.62 mW (-2.06 dBm) TX bias: 7.22 mA`, as of FreeBSD 15 also
/// `lane 1: TX power: 0.60 mW`; before FreeBSD 12 `RX: 0.55 mW (-2.52 dBm) TX: 0.61 mW`.
fn light(readings: &mut ModuleReadings, line: &str) {
    const MOST_LANES: usize = 16;
    let number = |before: &str| {
        let (_, rest) = line.split_once(before)?;
        rest.split_whitespace().next()?.parse::<f64>().ok().filter(|number| number.is_finite())
    };
    if line.starts_with("module ") {
        readings.celsius = number("temperature: ").unwrap_or_default();
        readings.volts = number("oltage: ").unwrap_or_default();
        return;
    }
    let lane = between(line, "lane ", ":").map_or(Some(1), |lane| lane.parse().ok());
    let Some(lane) = lane.filter(|lane| (1..=MOST_LANES).contains(lane)) else { return };
    if readings.lanes.len() < lane {
        readings.lanes.resize(lane, LaneReadings::default());
    }
    let place = &mut readings.lanes[lane - 1];
    let received = number("RX power: ").or_else(|| number("RX: "));
    let sent = number("TX power: ").or_else(|| number("TX: "));
    let all =
        [(&mut place.received_mw, received), (&mut place.sent_mw, sent), (&mut place.bias_ma, number("TX bias: "))];
    for (place, value) in all {
        *place = value.unwrap_or(*place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded;

    fn of(text: &str) -> Interface {
        read(text).remove(0)
    }

    /// MTU, kind, speed, and whether pause is taken and sent.
    fn told(text: &str) -> (Option<u32>, String, Option<u32>, [bool; 2], Option<String>) {
        let interface = of(text);
        let media = interface.media.unwrap_or_default();
        let speed = media.speed_mbps();
        (interface.mtu, media.kind, speed, [media.takes_pause, media.sends_pause], interface.status)
    }

    #[test]
    fn speeds_and_pause_of_each_card_are_read() {
        let (kind, active) = (str::to_owned, Some("active".to_owned()));
        let both = [true, true];
        assert_eq!(
            told(recorded::IFCONFIG_IX_13),
            (Some(1500), kind("10Gbase-SR"), Some(10_000), both, active.clone())
        );
        assert_eq!(
            told(recorded::IFCONFIG_IX_15),
            (Some(1500), kind("1000baseBX-10"), Some(1000), [false; 2], active.clone())
        );
        assert_eq!(
            told(recorded::IFCONFIG_IXL_14),
            (Some(1500), kind("40Gbase-LR4"), Some(40_000), [false; 2], active.clone())
        );
        assert_eq!(
            told(recorded::IFCONFIG_MCE_14),
            (Some(9000), kind("50GBase-CR2"), Some(50_000), both, active.clone())
        );
        assert_eq!(
            told(recorded::IFCONFIG_CXL_13),
            (Some(1500), kind("10Gbase-LR"), Some(10_000), both, active.clone())
        );
        assert_eq!(
            told(recorded::IFCONFIG_RE_12),
            (Some(1500), kind("10baseT/UTP"), Some(10), [false; 2], active.clone())
        );
        assert_eq!(told(recorded::IFCONFIG_BGE_10), (Some(1500), kind("1000baseT"), Some(1000), [false; 2], active));
        let without = told(recorded::IFCONFIG_IX_13_DOWN);
        assert_eq!(without, (Some(1500), kind(""), None, [false; 2], Some("no carrier".to_owned())));
    }

    #[test]
    fn the_highest_speed_is_that_of_the_fastest_media() {
        assert_eq!(of(recorded::IFCONFIG_RE_12).top_speed_mbps, Some(1000), "it has agreed on 10");
        assert_eq!(of(recorded::IFCONFIG_IX_13).top_speed_mbps, None, "it was not asked for");
        let speeds = ["2500Base-T", "100GBase-CR4", "none", "autoselect", "10baseT/UTP", ""].map(speed_mbps);
        assert_eq!(speeds, [Some(2500), Some(100_000), None, None, Some(10), None]);
    }

    #[test]
    fn modules_are_read_in_each_form() {
        let old = of(recorded::IFCONFIG_IX_11);
        let module = old.module.expect("it is plugged");
        assert_eq!(
            [module.form, module.maker, module.part, module.serial],
            ["SFP/SFP+/SFP28", "Intel Corp", "FTLX8571D3BCV-IT", "AM411QD"]
        );
        let lane = |received_mw, sent_mw, bias_ma| LaneReadings { received_mw, sent_mw, bias_ma };
        assert_eq!(
            old.light,
            Some(ModuleReadings {
                celsius: 36.13,
                volts: 3.31,
                lanes: vec![lane(0.55, 0.61, 0.0)],
                received_limits: None
            })
        );
        let newer = of(recorded::IFCONFIG_IX_13).light.expect("it says");
        assert_eq!((newer.celsius, newer.lanes), (47.06, vec![lane(0.62, 0.0, 7.22)]));
        let four = of(recorded::IFCONFIG_IXL_14).light.expect("it says").lanes;
        assert_eq!((four.len(), four[3]), (4, lane(0.78, 0.0, 27.46)));
        let two_lines = "a: flags=0<>\n\tlane 1: RX power: 0.00 mW (-40.00 dBm) TX bias: 6.69 mA\n\tlane 1: TX power: 0.50 mW (-3.00 dBm)\n";
        assert_eq!(of(two_lines).light.expect("it says").lanes, [lane(0.0, 0.5, 6.69)]);
    }

    #[test]
    fn addresses_have_prefixes_and_mac_addresses_of_both_kinds() {
        let interface = of(recorded::IFCONFIG_MCE_14);
        assert_eq!(
            (interface.addresses, interface.mac.as_deref()),
            (vec!["10.0.0.246/24".to_owned()], Some("b8:ce:f6:57:d4:a4"))
        );
        assert!(interface.options.iter().any(|option| option == "TSO4") && interface.flags[0] == "UP");
        let other = of(recorded::IFCONFIG_IX_13);
        assert_eq!(
            (other.mac.as_deref(), other.hardware_mac.as_deref()),
            (Some("00:1b:21:b9:f4:a0"), Some("00:1b:21:b9:f4:a1"))
        );
        assert_eq!(of(recorded::IFCONFIG_BGE_10).addresses, ["fe80::221:70ff:feda:ae37/64"]);
    }

    #[test]
    fn bridges_and_vlans_name_what_they_are_made_of() {
        let text = "bridge0: flags=8843<UP> metric 0 mtu 1500\n\tmember: em0 flags=143<LEARNING>\n\tmember: tap0 flags=143<LEARNING>\n\
                    lagg0: flags=8843<UP> metric 0 mtu 1500\n\tlaggproto lacp lagghash l2\n\tlaggport: ix0 flags=1c<ACTIVE>\n\
                    ix0.5: flags=8843<UP> metric 0 mtu 1500\n\tvlan: 5 vlanproto: 802.1q vlanpcp: 0 parent interface: ix0\n";
        let interfaces = read(text);
        assert_eq!(
            (&interfaces[0].members[..], &interfaces[1].members[..]),
            (&["em0".to_owned(), "tap0".into()][..], &["ix0".to_owned()][..])
        );
        assert_eq!(interfaces[2].parent.as_deref(), Some("ix0"));
    }

    #[test]
    fn strange_lines_are_passed_over() {
        let strange = "x: flags=8<UP\n\tlane 99999999999: RX power: 1 mW\n\tlane 0: RX power: 1\n\tinet\n\tinet 1.2.3.4 netmask 0xzz\n\tmedia:\n\tRX: NaN mW\n";
        let interface = of(strange);
        assert_eq!((interface.flags.len(), interface.addresses.len()), (0, 0));
        assert_eq!(interface.light.map(|light| light.lanes), Some(vec![LaneReadings::default()]));
        assert!(read("ifconfig: interface x does not exist\n").is_empty());
    }
}
