//! Interfaces of a network namespace, and the cards behind them.

use std::net::IpAddr;

use kernel::{ethtool::Driver, link::Link};
use model::{Reading, card::Refused, environment::InterfaceFacts};

use crate::{
    card, interface_settings, parse,
    source::{LocalSource, Source},
};

/// Cards of this machine without an interface.
pub fn refused_cards() -> Vec<Refused> {
    card::refused(&LocalSource)
}

/// Facts about each interface except loopback.
pub(crate) fn interfaces(source: &dyn Source) -> Vec<InterfaceFacts> {
    let links = source.links().or_default();
    links.into_iter().filter(|link| link.name != "lo").map(|link| interface(source, link)).collect()
}

fn interface(source: &dyn Source, link: Link) -> InterfaceFacts {
    let driver = source.driver(&link.name);
    let of_driver = |part: fn(Driver) -> String| driver.clone().map(part).filled();
    // A veth's 10 Gbit/s has no meaning.
    let speed = match driver.known() {
        Some(driver) if driver.name == "veth" => Reading::Absent,
        _ => source.read(&format!("/sys/class/net/{}/speed", link.name)),
    };
    let card = card::of_interface(source, &link.name);
    InterfaceFacts {
        pcie: card.as_ref().and_then(|card| card.hops.first()).map(|hop| hop.link.clone()),
        card,
        settings: Some(interface_settings::judged(source, &link)),
        driver: of_driver(|driver| driver.name),
        driver_version: of_driver(|driver| driver.version),
        firmware_version: of_driver(|driver| driver.firmware),
        bus: of_driver(|driver| driver.bus),
        master: link.master,
        mtu: if link.mtu.0 > 0 { link.mtu.0.into() } else { Reading::Absent },
        mac: Reading::Known(link.mac).filled(),
        state: link.operstate,
        speed_mbps: speed.and_then(|speed| parse::speed(&speed)),
        addresses: link.addresses.into_iter().filter(is_given).map(|(ip, prefix)| format!("{ip}/{prefix}")).collect(),
        name: link.name,
    }
}

/// The kernel adds link-local addresses some time after a link comes up: no user changed a setting.
pub(crate) fn is_given((address, _): &(IpAddr, u8)) -> bool {
    match address {
        IpAddr::V4(_) => true,
        IpAddr::V6(address) => !address.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    use kernel::ethtool::Driver;
    use model::Mtu;

    use super::*;
    use crate::recorded::Recorded;

    fn link(name: &str) -> Link {
        Link {
            index: 1,
            name: name.into(),
            up: true,
            mtu: Mtu(1500),
            mac: "02:00:00:00:00:01".into(),
            operstate: "up".into(),
            addresses: ["198.18.0.1", "fe80::1"].map(|address| (address.parse().expect("an address"), 24)).into(),
            ..Link::default()
        }
    }

    #[test]
    fn an_interface_has_its_driver_speed_and_card() {
        let mut machine = Recorded::new(&[
            ("/sys/class/net/eth1/speed", "10000"),
            ("/sys/class/net/wire/speed", "10000"),
            ("/sys/devices/pci0000:00/0000:00:03.0/class", "0x020000"),
            ("/sys/devices/pci0000:00/0000:00:03.0/current_link_width", "8"),
            ("/sys/devices/pci0000:00/0000:00:03.0/current_link_speed", "8.0 GT/s PCIe"),
        ]);
        machine.link("/sys/class/net/eth1/device", "/sys/devices/pci0000:00/0000:00:03.0");
        machine.links = ["lo", "eth1", "wire"].map(link).into();
        let driver = |name: &str| Driver { name: name.into(), ..Driver::default() };
        machine.drivers = [("eth1".to_owned(), driver("ixgbe")), ("wire".to_owned(), driver("veth"))].into();
        let found = interfaces(&machine);
        let seen: Vec<_> =
            found.iter().map(|it| (it.name.as_str(), it.driver.clone(), it.speed_mbps.copied())).collect();
        assert_eq!(seen, [("eth1", "ixgbe".into(), Some(10_000)), ("wire", "veth".into(), None)]);
        assert_eq!((&found[0].bus, &found[0].mtu), (&Reading::Absent, &Reading::Known(1500)));
        assert_eq!(found[0].addresses, ["198.18.0.1/24"], "the kernel gave the other one itself");
        assert_eq!(found[0].pcie.as_ref().map(|link| link.width.as_str()), Some("8"));
        assert!(found[0].card.is_some() && found[1].card.is_none());
    }

    #[test]
    fn facts_that_a_driver_or_a_file_refuses_say_why() {
        let mut machine = Recorded::new(&[]);
        machine.make_folder("/sys/class/net/eth1/speed");
        machine.links = vec![Link { mac: String::new(), ..link("eth1") }];
        machine.refused_drivers = true;
        let found = interfaces(&machine).remove(0);
        for reading in [&found.driver, &found.driver_version, &found.firmware_version, &found.bus] {
            assert!(matches!(reading, Reading::Unreadable { path, .. } if path == "ethtool -i eth1"), "{found:?}");
        }
        assert!(matches!(&found.speed_mbps, Reading::Unreadable { path, .. } if path.ends_with("/speed")), "{found:?}");
        assert_eq!(found.mac, Reading::Absent, "it is no Ethernet");
    }

    #[test]
    fn link_local_addresses_are_left_out() {
        let given = |text: &str| is_given(&(text.parse().expect("an address"), 64));
        assert!(given("198.18.0.1") && given("2001:2::1") && !given("fe80::1"));
    }
}
