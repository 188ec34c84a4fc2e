//! Current readings of a NIC.

use model::card::Readings;

use super::{module, pci};
use crate::source::Source;

/// Current readings of this interface.
pub(crate) fn read(source: &dyn Source, interface: &str) -> Readings {
    let settings = source.link_settings(interface).into_known();
    Readings {
        up: source.links().map(|links| links.iter().any(|link| link.name == interface && link.up)),
        // The file is unreadable while the interface is down.
        carrier: match source.read(&format!("/sys/class/net/{interface}/carrier")).known().map(String::as_str) {
            Some("1") => Some(true),
            Some("0") => Some(false),
            _ => None,
        },
        full_duplex: settings.as_ref().and_then(|settings| settings.full_duplex),
        autonegotiation: settings.filter(|it| !it.supported.is_empty()).map(|it| it.autonegotiation),
        temperatures: temperatures(source, &format!("/sys/class/net/{interface}/device/hwmon")),
        module: source.module_memory(interface).and_then(|memory| module::readings(&memory)),
        counters: source
            .counters(interface)
            .map(|(counters, _)| counters.into_iter().map(|(name, count)| (name.to_owned(), count)).collect()),
        bus_errors: pci::device_of(source, interface).map(|device| device.errors()).unwrap_or_default(),
    }
}

/// Each `tempN_input` (millidegrees) with its label (Documentation/hwmon/sysfs-interface.rst).
fn temperatures(source: &dyn Source, sensors: &str) -> Vec<(String, f64)> {
    let sensors = source.list(sensors).or_default();
    let inputs = sensors.iter().flat_map(|sensor| source.list(sensor).or_default());
    let reading = |input: String| {
        let sensor = input.strip_suffix("_input").filter(|sensor| sensor.contains("/temp"))?;
        let celsius = source.read(&input).into_known()?.parse::<f64>().ok()? / 1000.0;
        Some((source.read(&format!("{sensor}_label")).or_default(), celsius))
    };
    inputs.filter_map(reading).collect()
}

#[cfg(test)]
mod tests {
    use model::Reading;

    use super::*;
    use crate::{recorded::Recorded, source::LocalSource};

    #[test]
    fn each_temperature_has_the_label_of_its_sensor() {
        let machine = Recorded::new(&[
            ("/sys/class/net/eth1/device/hwmon/hwmon3/temp1_input", "54000"),
            ("/sys/class/net/eth1/device/hwmon/hwmon3/temp1_label", "loc1"),
            ("/sys/class/net/eth1/device/hwmon/hwmon3/temp1_crit", "105000"),
            ("/sys/class/net/eth1/device/hwmon/hwmon3/temp2_input", "-500"),
            ("/sys/class/net/eth1/device/hwmon/hwmon3/in0_input", "3300"),
            ("/sys/class/net/eth1/carrier", "0"),
        ]);
        let readings = read(&machine, "eth1");
        assert_eq!(readings.temperatures, [("loc1".to_owned(), 54.0), (String::new(), -0.5)]);
        assert_eq!(
            (readings.carrier, readings.up, readings.autonegotiation),
            (Some(false), Reading::Known(false), None)
        );
        assert!(read(&machine, "none").temperatures.is_empty());
    }

    #[test]
    fn what_is_no_card_reads_its_counters_alone() {
        let read = read(&LocalSource, "lo");
        assert_eq!(read.up, Reading::Known(true));
        assert!(read.counters.known().is_some_and(|counters| counters.contains_key("rx_packets")), "{read:?}");
        assert!(read.module.known().is_none() && read.temperatures.is_empty() && read.autonegotiation.is_none());
    }

    #[test]
    fn an_interface_of_which_nobody_may_ask_is_not_called_down_or_idle() {
        let mut machine = Recorded::new(&[]);
        machine.refused_links = true;
        let readings = read(&machine, "eth1");
        assert!(matches!(readings.up, Reading::Unreadable { .. }), "{readings:?}");
        assert!(matches!(readings.counters, Reading::Unreadable { .. }), "{readings:?}");
    }
}
