//! What a port reads just now.

use std::{fs, path::Path};

use kernel::{link, port, statistics};
use model::card::Readings;

use super::module;
use crate::facts::read as text;

/// Of this interface; what cannot be read is left out.
pub(crate) fn read(interface: &str) -> Readings {
    let settings = port::link_settings(interface).unwrap_or_default();
    let counters = statistics::of_interface(interface).map(|(counters, _)| counters).unwrap_or_default();
    Readings {
        up: link::list().unwrap_or_default().iter().any(|link| link.name == interface && link.up),
        // The file cannot be read while the interface is down.
        carrier: match text(&format!("/sys/class/net/{interface}/carrier")).as_str() {
            "1" => Some(true),
            "0" => Some(false),
            _ => None,
        },
        full_duplex: settings.full_duplex,
        autonegotiation: (!settings.supported.is_empty()).then_some(settings.autonegotiation),
        temperatures: temperatures(Path::new(&format!("/sys/class/net/{interface}/device/hwmon"))),
        module: port::module_memory(interface).ok().and_then(|memory| module::readings(&memory)),
        counters: counters.into_iter().map(|(name, count)| (name.to_owned(), count)).collect(),
    }
}

/// Each `tempN_input` (millidegrees) with its label (Documentation/hwmon/sysfs-interface.rst).
fn temperatures(sensors: &Path) -> Vec<(String, f64)> {
    let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut inputs: Vec<_> = entries(sensors).flat_map(|sensor| entries(&sensor).collect::<Vec<_>>()).collect();
    inputs.sort();
    let reading = |input: &std::path::PathBuf| {
        let input = input.to_string_lossy();
        let sensor = input.strip_suffix("_input").filter(|sensor| sensor.contains("/temp"))?;
        let celsius = text(&input).parse::<f64>().ok()? / 1000.0;
        Some((text(&format!("{sensor}_label")), celsius))
    };
    inputs.iter().filter_map(reading).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_temperature_has_the_label_of_its_sensor() {
        let device = tempfile::tempdir().unwrap();
        let sensor = device.path().join("hwmon/hwmon3");
        fs::create_dir_all(&sensor).unwrap();
        let files = [
            ("temp1_input", "54000"),
            ("temp1_label", "loc1"),
            ("temp1_crit", "105000"),
            ("temp2_input", "-500"),
            ("in0_input", "3300"),
        ];
        files.iter().for_each(|(name, content)| fs::write(sensor.join(name), format!("{content}\n")).unwrap());
        let read = temperatures(&device.path().join("hwmon"));
        assert_eq!(read, [("loc1".to_owned(), 54.0), (String::new(), -0.5)]);
        assert!(temperatures(&device.path().join("none")).is_empty());
    }

    #[test]
    fn what_is_no_card_reads_its_counters_alone() {
        let read = read("lo");
        assert!(read.up && read.counters.contains_key("rx_packets"), "{read:?}");
        assert!(read.module.is_none() && read.temperatures.is_empty() && read.autonegotiation.is_none(), "{read:?}");
    }
}
