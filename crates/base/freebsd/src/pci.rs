//! pciconf(8): `pciconf -lvbc`.

use model::{Reading, card::PcieLink};

use crate::text::{between, lines};

/// Most devices of a machine.
const MOST: usize = 4096;

/// A device on a PCI bus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// Name that its driver gave it, like `ix0`; `none3` without a driver, `ppt0` for a virtual machine.
    pub name: String,
    /// Address, as Linux writes it: `0000:15:00.0`.
    pub address: String,
    /// Class code, like 0x020000 for Ethernet.
    pub class: u32,
    /// Maker and model by number.
    pub ids: (u16, u16),
    /// Maker in words.
    pub maker: String,
    /// Model in words.
    pub model: String,
    /// PCIe link; `None` for a device that has none, such as one within the processor.
    pub link: Option<PcieLink>,
    /// Payload of a packet in bytes, in use and the most of the device.
    pub payload: Option<(u32, u32)>,
    /// Longest read request in bytes; `None` before FreeBSD 12.2.
    pub read_request: Option<u32>,
    /// Advanced error reporting: fatal, non-fatal and corrected kinds of errors that were seen.
    pub errors: Option<[u32; 3]>,
}

impl Device {
    /// Whether it is for a network.
    pub fn is_network(&self) -> bool {
        self.class >> 16 == 2
    }

    /// Maker and model in words, or the numbers alone, like `8086:10fb`.
    pub fn words(&self) -> String {
        match [self.maker.as_str(), self.model.as_str()] {
            ["", ""] => format!("{:04x}:{:04x}", self.ids.0, self.ids.1),
            words => words.join(" ").trim().to_owned(),
        }
    }
}

/// Devices in the order of the output.
pub fn read(text: &str) -> Vec<Device> {
    let mut devices: Vec<Device> = Vec::new();
    // Capabilities of the last device, each with its further lines.
    let mut capability = String::new();
    for line in lines(text) {
        let words = line.trim();
        if let Some(device) = device(line) {
            finish(devices.last_mut(), &mut capability);
            if devices.len() == MOST {
                return devices;
            }
            devices.push(device);
        } else if words.starts_with("cap ") || words.starts_with("ecap ") {
            finish(devices.last_mut(), &mut capability);
            words.clone_into(&mut capability);
        } else if let (Some(device), Some((key, value))) = (devices.last_mut(), words.split_once('='))
            && capability.is_empty()
        {
            let value = || value.trim().trim_matches('\'').to_owned();
            match key.trim() {
                "vendor" => device.maker = value(),
                "device" => device.model = value(),
                _ => {}
            }
        } else if !capability.is_empty() {
            capability.push(' ');
            capability.push_str(words);
        }
    }
    finish(devices.last_mut(), &mut capability);
    devices
}

/// First line of a device: `ix0@pci0:21:0:0: class=0x020000 … chip=0x15288086`, or as of FreeBSD 13 `… vendor=0x8086 device=0x1528`.
fn device(line: &str) -> Option<Device> {
    let (name, rest) = line.split_once("@pci")?;
    let mut words = rest.split_whitespace();
    let mut parts = words.next()?.trim_end_matches(':').split(':').map(str::parse::<u32>);
    let mut part = || parts.next()?.ok();
    let address = format!("{:04x}:{:02x}:{:02x}.{:x}", part()?, part()?, part()?, part()?);
    let keys: Vec<(&str, u32)> = words.filter_map(key).collect();
    let value = |wanted: &str| keys.iter().find(|(key, _)| *key == wanted).map(|(_, value)| *value);
    let chip = value("chip").map(|chip| ((chip & 0xffff) as u16, (chip >> 16) as u16));
    let ids = chip.or_else(|| Some((value("vendor")? as u16, value("device")? as u16))).unwrap_or_default();
    Some(Device { name: name.trim().to_owned(), address, class: value("class")?, ids, ..Device::default() })
}

fn key(word: &str) -> Option<(&str, u32)> {
    let (key, value) = word.split_once('=')?;
    Some((key, u32::from_str_radix(value.strip_prefix("0x")?, 16).ok()?))
}

/// Reads a capability once all its lines are there.
fn finish(device: Option<&mut Device>, capability: &mut String) {
    let text = std::mem::take(capability);
    let Some(device) = device else { return };
    if text.starts_with("cap 10[") {
        let number = |text: &str| text.trim().parse().ok();
        device.payload = pair(&text, "max data ").and_then(|(now, most)| Some((number(now)?, number(most)?)));
        let request = text.split_once("max read ").map(|(_, rest)| rest.split(' ').next().unwrap_or_default());
        device.read_request = request.and_then(number);
        device.link = link(&text);
    } else if text.starts_with("ecap 0001[") {
        let count = |end: &str| between(&text, "AER", end)?.split_whitespace().next_back()?.parse().ok();
        let all = [" fatal", " non-fatal", " corrected"].map(count);
        device.errors =
            if let [Some(fatal), Some(other), Some(corrected)] = all { Some([fatal, other, corrected]) } else { None };
    }
}

/// `link x8(x8)` and `speed 5.0(5.0)`: in use, and the most of the device. Without a card in it, a slot has `link x0(x2)`.
fn link(text: &str) -> Option<PcieLink> {
    let (width, most_width) = pair(text, "link ")?;
    let lanes = |words: &str| words.trim_start_matches('x').to_owned();
    let speed = |words: &str| format!("{words} GT/s PCIe");
    let speeds = pair(text, "speed ");
    let reading = |words: Option<&str>| words.map_or(Reading::Absent, |words| Reading::Known(speed(words)));
    Some(PcieLink {
        width: lanes(width),
        speed: reading(speeds.map(|(speed, _)| speed)),
        most_width: Reading::Known(lanes(most_width)),
        most_speed: reading(speeds.map(|(_, most)| most)),
    })
}

/// `A(B)` behind these words.
fn pair<'a>(text: &'a str, before: &str) -> Option<(&'a str, &'a str)> {
    let (now, most) = between(text, before, ")")?.split_once('(')?;
    (!now.contains(' ')).then_some((now, most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded;

    fn of(text: &str) -> Device {
        read(text).into_iter().find(Device::is_network).expect("a network card")
    }

    type Told = (String, String, Option<(u32, u32)>, Option<u32>, Option<u32>);

    /// Lanes and speeds in use and at most, payload, read request, and corrected errors.
    fn told(text: &str) -> Told {
        let device = of(text);
        let link = device.link.unwrap_or_default();
        let speed = |speed: Reading<String>| speed.or_default();
        (
            format!("{} of {}", link.width, link.most_width.or_default()),
            format!("{} of {}", speed(link.speed), speed(link.most_speed)),
            device.payload,
            device.read_request,
            device.errors.map(|errors| errors[2]),
        )
    }

    #[test]
    fn links_of_each_card_are_read() {
        let speed = |now: &str, most: &str| format!("{now} GT/s PCIe of {most} GT/s PCIe");
        let lanes = str::to_owned;
        assert_eq!(
            told(recorded::PCICONF_IX_9),
            (lanes("8 of 8"), speed("5.0", "5.0"), Some((256, 512)), None, Some(1))
        );
        assert_eq!(
            told(recorded::PCICONF_IX_12),
            (lanes("8 of 8"), speed("5.0", "5.0"), Some((128, 512)), None, Some(1))
        );
        assert_eq!(
            told(recorded::PCICONF_IXL_12),
            (lanes("8 of 8"), speed("8.0", "8.0"), Some((512, 2048)), None, Some(4))
        );
        assert_eq!(
            told(recorded::PCICONF_ICE_13),
            (lanes("4 of 8"), speed("16.0", "16.0"), Some((128, 512)), Some(512), Some(1))
        );
        assert_eq!(
            told(recorded::PCICONF_MCE_13),
            (lanes("8 of 8"), speed("8.0", "16.0"), Some((256, 512)), Some(512), Some(1))
        );
        assert_eq!(
            told(recorded::PCICONF_T6_13),
            (lanes("16 of 16"), speed("8.0", "8.0"), Some((256, 2048)), Some(4096), Some(1))
        );
        assert_eq!(
            told(recorded::PCICONF_RE_13),
            (lanes("1 of 1"), speed("2.5", "2.5"), Some((128, 128)), Some(4096), Some(0))
        );
        assert_eq!(
            told(recorded::PCICONF_BGE_12),
            (lanes("1 of 1"), speed("2.5", "2.5"), Some((128, 256)), None, Some(1))
        );
    }

    #[test]
    fn cards_have_names_addresses_and_ids_in_both_forms() {
        let old = of(recorded::PCICONF_IX_9);
        assert_eq!((old.name.as_str(), old.address.as_str(), old.ids), ("ix0", "0000:15:00.0", (0x8086, 0x1528)));
        assert_eq!(old.words(), "Intel Corporation Ethernet Controller 10 Gigabit X540-AT2");
        let new = of(recorded::PCICONF_T6_13);
        assert_eq!((new.name.as_str(), new.address.as_str(), new.ids), ("t6nex0", "0000:02:00.4", (0x1425, 0x6408)));
        assert!(new.is_network() && old.is_network());
    }

    #[test]
    fn a_device_without_link_or_words_is_one() {
        let devices = read(
            "none3@pci0:4:0:5:\tclass=0x010000 rev=0x00 hdr=0x00 vendor=0x1425 device=0x5507 subvendor=0x1425 subdevice=0x0000\n    cap 10[90] = PCI-Express 2 root endpoint max data 512(512) FLR NS\n                 max read 512\n    cap 11[70] = MSI-X\n",
        );
        assert_eq!(
            (devices[0].words(), &devices[0].link, devices[0].payload),
            ("1425:5507".into(), &None, Some((512, 512)))
        );
        assert!(!devices[0].is_network());
        assert!(read("pciconf: /dev/pci: Permission denied\n    vendor = 'x'\n").is_empty());
    }

    #[test]
    fn half_an_output_gives_its_devices() {
        let text = recorded::PCICONF_ICE_13;
        for end in 0..text.len() {
            assert!(read(&text[..end]).len() <= 1);
        }
    }
}
