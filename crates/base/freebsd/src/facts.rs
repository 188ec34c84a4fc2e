//! Facts of a machine and its cards in the types that Linux machines have.

use std::collections::BTreeMap;

use model::{
    Cards, Reading,
    card::{Card, Cause, Connector, Hop, Readings, Refused},
    environment::{HostFacts, InterfaceFacts, Port},
    settings::{InterfaceSettings, Offload},
};

use crate::{
    boot::{self, Boot},
    counters,
    interfaces::{self, Interface},
    pci::{self, Device},
    session::Said,
    sysctl,
    system::{self, System},
    text::unit,
};

/// Settings that bear on results, of the machine and of its network.
const SETTINGS: [&str; 26] = [
    "dev.netmap.buf_num",
    "hw.acpi.cpu.cx_lowest",
    "hw.intr_storm_threshold",
    "kern.ipc.maxsockbuf",
    "kern.ipc.nmbclusters",
    "kern.ipc.nmbjumbo16",
    "kern.ipc.nmbjumbo9",
    "kern.ipc.nmbjumbop",
    "kern.ipc.nmbufs",
    "kern.ipc.soacceptqueue",
    "machdep.hyperthreading_allowed",
    "net.inet.ip.intr_queue_maxlen",
    "net.inet.ip.redirect",
    "net.inet.tcp.cc.algorithm",
    "net.inet.tcp.mssdflt",
    "net.inet.tcp.path_mtu_discovery",
    "net.inet.tcp.pmtud_blackhole_detection",
    "net.inet.tcp.recvbuf_max",
    "net.inet.tcp.rfc1323",
    "net.inet.tcp.sack.enable",
    "net.inet.tcp.sendbuf_max",
    "net.inet.udp.recvspace",
    "net.isr.bindthreads",
    "net.isr.dispatch",
    "net.isr.maxthreads",
    "net.route.netisr_maxqlen",
];

/// Settings that work around faults of processors.
const MITIGATIONS: [&str; 5] =
    ["hw.ibrs_active", "hw.mds_disable_state", "hw.spec_store_bypass_disable_active", "hw.taa.state", "vm.pmap.pti"];

/// Values of sysctl by name.
pub(crate) type Values = Reading<BTreeMap<String, String>>;

/// Facts of the machine.
pub fn machine(said: &Said) -> HostFacts {
    let system = said.uname.clone().and_then(|text| system::uname(&text));
    let values = said.sysctl.clone().map(|text| sysctl::read(&text));
    let value = |name: &str| of(&values, name);
    let number = |name: &str| -> Reading<u64> { value(name).and_then(|text| text.parse().ok()) };
    let all = |names: &[&str]| {
        let known = names.iter().map(|name| ((*name).to_owned(), value(name)));
        known.filter(|(_, value)| !matches!(value, Reading::Absent)).collect::<BTreeMap<_, _>>()
    };
    let by_uname = |fact: fn(System) -> String| system.clone().map(fact);
    let release = either(value("kern.osrelease"), by_uname(|system| system.release));
    HostFacts {
        hostname: either(value("kern.hostname"), by_uname(|system| system.host)).or_default(),
        boot_id: value("kern.hostuuid")
            .and_then(|id| Some(format!("{id} {}", seconds(value("kern.boottime").known()?)?))),
        os: release.clone().map(|release| format!("FreeBSD {release}")),
        kernel: either(by_uname(|system| system.version).filled(), release),
        architecture: either(value("hw.machine"), by_uname(|system| system.machine)).or_default(),
        hypervisor: value("kern.vm_guest").and_then(|guest| (guest != "none").then_some(guest)),
        cpu_model: value("hw.model").map(|model| model.split_whitespace().collect::<Vec<_>>().join(" ")),
        cpus: number("hw.ncpu").map(|cpus| cpus as usize),
        numa_nodes: number("vm.ndomains").map(|nodes| nodes as usize),
        memory_bytes: number("hw.physmem"),
        clock_source: value("kern.timecounter.hardware"),
        mitigations: all(&MITIGATIONS),
        sysctls: all(&SETTINGS),
        ..HostFacts::default()
    }
}

/// The first of two commands that says it.
fn either(one: Reading<String>, other: Reading<String>) -> Reading<String> {
    if one.known().is_none() && other.known().is_some() { other } else { one }
}

/// `{ sec = 1789900651, usec = 837885 } Sun Sep 20 …`.
fn seconds(boottime: &str) -> Option<&str> {
    crate::text::between(boottime, "sec = ", ",")
}

/// Network cards with an interface, and those without.
pub fn cards(said: &Said) -> Cards {
    let devices = devices(said);
    let boot = boot::read(&said.dmesg.clone().or_default());
    let values = said.sysctl.clone().map(|text| sysctl::read(&text));
    let counters = counters::interfaces(&said.counters.clone().or_default());
    let interfaces = interfaces::read(&said.ifconfig.clone().or_default());
    let found = interfaces.iter().filter_map(|interface| {
        let device = device_of(interface, &devices, &values)?;
        let card = card(interface, device, &devices, &boot);
        let facts = facts(interface, Some(device), &interfaces, &values);
        let counters = counters.get(&interface.name).cloned().unwrap_or_default();
        Some(Port {
            interface: InterfaceFacts { card: Some(card), ..facts },
            readings: readings(interface, device, counters),
        })
    });
    let ports = found.collect();
    let refused = devices.iter().filter(|device| device.is_network()).filter_map(refused).collect();
    Cards { ports: share(ports), refused }
}

/// Devices with their capabilities, or their names alone where those need root.
fn devices(said: &Said) -> Vec<Device> {
    let text = said.pciconf.known().or_else(|| said.devices.known());
    text.map(|text| pci::read(text)).unwrap_or_default()
}

/// A value; absent where the machine has none of that name.
fn of(values: &Values, name: &str) -> Reading<String> {
    match values {
        Reading::Known(values) => values.get(name).filter(|value| !value.is_empty()).cloned().into_reading(),
        Reading::Absent => Reading::Absent,
        Reading::Unreadable { path, why } => Reading::Unreadable { path: path.clone(), why: why.clone() },
    }
}

/// The device behind an interface. Drivers of cards with several ports in one device give that another name.
fn device_of<'a>(interface: &Interface, devices: &'a [Device], values: &Values) -> Option<&'a Device> {
    let name = interface.driver.as_deref().unwrap_or(&interface.name);
    let (driver, number) = unit(name)?;
    let named = |wanted: &str| devices.iter().find(|device| device.name == wanted);
    if let Some(device) = named(name).or_else(|| named(&interface.name)) {
        return Some(device);
    }
    if let Some(device) =
        values.known().and_then(|values| named(values.get(&format!("dev.{driver}.{number}.%parent"))?))
    {
        return Some(device);
    }
    let of_all = match driver {
        "mce" => return named(&format!("mlx5_core{number}")),
        "mlxen" => "mlx4_core",
        "cxgbe" => "t4nex",
        "cxl" => "t5nex",
        "cc" => "t6nex",
        _ => return None,
    };
    // A card has several ports: only the one card is certain.
    let mut all = devices.iter().filter(|device| unit(&device.name).is_some_and(|(driver, _)| driver == of_all));
    all.next().filter(|_| all.next().is_none())
}

/// Facts of an interface, with a card or without one.
pub(crate) fn facts(
    interface: &Interface,
    device: Option<&Device>,
    all: &[Interface],
    values: &Values,
) -> InterfaceFacts {
    let name = interface.driver.as_deref().unwrap_or(&interface.name);
    let (driver, number) = unit(name).unwrap_or((name, 0));
    let (below, below_number) = device.and_then(|device| unit(&device.name)).unwrap_or((driver, number));
    let first = |names: &[String]| {
        names.iter().fold(Reading::Absent, |found: Reading<String>, name| found.or(|| of(values, name)))
    };
    let driver_version = first(&[
        format!("dev.{driver}.{number}.iflib.driver_version"),
        format!("dev.{driver}.{number}.driver_version"),
        format!("dev.{below}.{below_number}.driver_version"),
    ]);
    let firmware_version = first(&[
        format!("dev.{driver}.{number}.fw_version"),
        format!("dev.{below}.{below_number}.hw.fw_version"),
        format!("dev.{below}.{below_number}.firmware_version"),
    ]);
    let is_active = interface.status.as_deref().map(|status| status == "active");
    InterfaceFacts {
        name: interface.name.clone(),
        driver: Reading::Known(driver.to_owned()),
        driver_version,
        firmware_version,
        master: master_of(interface, all),
        bus: device.map(|device| device.address.clone()).into_reading(),
        pcie: device.and_then(|device| device.link.clone()),
        mtu: interface.mtu.into_reading(),
        mac: interface.mac.clone().into_reading(),
        state: match is_active {
            Some(true) => "up",
            Some(false) => "down",
            None => "unknown",
        }
        .to_owned(),
        speed_mbps: interface.media.as_ref().and_then(interfaces::Media::speed_mbps).into_reading(),
        addresses: interface.addresses.clone(),
        settings: Some(settings(interface)),
        ..InterfaceFacts::default()
    }
}

/// Offloads by the names of ifconfig, and what the interface stands on.
fn settings(interface: &Interface) -> InterfaceSettings {
    let can = |name: &String| interface.capabilities.contains(name);
    let offload =
        |name: &String| (name.clone(), Offload { on: interface.options.contains(name), changeable: can(name) });
    InterfaceSettings {
        lower: interface.parent.clone(),
        offloads: Reading::Known(interface.capabilities.iter().chain(&interface.options).map(offload).collect()),
        ..InterfaceSettings::default()
    }
}

/// A value that the output has or not.
trait IntoReading<T> {
    fn into_reading(self) -> Reading<T>;
}

impl<T> IntoReading<T> for Option<T> {
    fn into_reading(self) -> Reading<T> {
        self.map_or(Reading::Absent, Reading::Known)
    }
}

fn card(interface: &Interface, device: &Device, devices: &[Device], boot: &Boot) -> Card {
    let bridges = boot.bridges(&device.name);
    let above = bridges.iter().filter_map(|bridge| devices.iter().find(|device| device.name == **bridge));
    let hop = |device: &Device| Some(Hop { device: device.address.clone(), link: device.link.clone()?, ports: 1 });
    let connector = interface.media.as_ref().and_then(|media| {
        let kind = media.kind.to_ascii_lowercase();
        let is = |words: &[&str]| words.iter().any(|word| kind.contains(word));
        match kind.as_str() {
            "" => None,
            _ if is(&["base-t", "baset"]) && !is(&["twinax"]) => Some(Connector::TwistedPair),
            _ if is(&["twinax", "-cr"]) => Some(Connector::DirectAttach),
            _ => Some(Connector::Fibre),
        }
    });
    Card {
        model: device.words(),
        permanent_mac: interface.hardware_mac.clone().into_reading(),
        top_speed_mbps: interface.top_speed_mbps.into_reading(),
        connector: connector.into_reading(),
        module: interface.module.clone().into_reading(),
        hops: std::iter::once(device).chain(above).filter_map(hop).collect(),
    }
}

/// Counts how many ports share each link.
fn share(mut ports: Vec<Port>) -> Vec<Port> {
    let mut users: BTreeMap<String, u32> = BTreeMap::new();
    let hops = ports.iter().filter_map(|port| port.interface.card.as_ref()).flat_map(|card| &card.hops);
    hops.for_each(|hop| *users.entry(hop.device.clone()).or_default() += 1);
    for hop in ports.iter_mut().filter_map(|port| port.interface.card.as_mut()).flat_map(|card| &mut card.hops) {
        hop.ports = users.get(&hop.device).copied().unwrap_or(1);
    }
    ports
}

fn readings(interface: &Interface, device: &Device, counters: BTreeMap<String, u64>) -> Readings {
    let up = interface.flags.iter().any(|flag| flag == "UP");
    Readings {
        up: Reading::Known(up),
        carrier: interface.status.as_deref().filter(|_| up).map(|status| status == "active"),
        full_duplex: interface.media.as_ref().and_then(|media| media.is_full_duplex),
        autonegotiation: interface.media.as_ref().map(|media| media.is_negotiated),
        temperatures: Vec::new(),
        module: interface.light.clone().into_reading(),
        counters: Reading::Known(counters),
        bus_errors: bus_errors(device),
    }
}

/// Kinds of errors that the device has seen, by severity: how often each came is not said.
fn bus_errors(device: &Device) -> BTreeMap<String, u64> {
    let seen = ["fatal", "nonfatal", "correctable"].into_iter().zip(device.errors.unwrap_or_default());
    let named = seen.map(|(severity, kinds)| (format!("{} {severity} kinds", device.address), u64::from(kinds)));
    named.filter(|(_, kinds)| *kinds > 0).collect()
}

/// A bridge or an aggregated link that the interface belongs to.
fn master_of(interface: &Interface, all: &[Interface]) -> Option<String> {
    all.iter().find(|other| other.members.contains(&interface.name)).map(|other| other.name.clone())
}

/// A card without driver (`none3`), or given to a virtual machine (`ppt0`).
fn refused(device: &Device) -> Option<Refused> {
    let (driver, cause) = match unit(&device.name)?.0 {
        "none" => ("", Cause::NoDriver),
        "ppt" => ("ppt", Cause::GivenAway),
        _ => return None,
    };
    let (device, model) = (device.address.clone(), device.words());
    Some(Refused { device, model, driver: driver.to_owned(), cause, log: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded;

    fn known(text: &str) -> Reading<String> {
        Reading::Known(text.to_owned())
    }

    #[test]
    fn a_machine_is_told_as_one_of_linux() {
        let said = Said { sysctl: known(recorded::SYSCTL_14), ..Said::default() };
        let facts = machine(&said);
        assert_eq!((facts.os, facts.architecture.as_str()), (known("FreeBSD 14.5-RELEASE"), "amd64"));
        assert_eq!(facts.cpu_model, known("Intel(R) Xeon(R) CPU X5675 @ 3.07GHz"));
        assert_eq!((facts.cpus, facts.memory_bytes), (Reading::Known(2), Reading::Known(2_111_283_200)));
        assert_eq!((facts.hypervisor, facts.boot_id), (Reading::Absent, Reading::Absent));
    }

    #[test]
    fn a_command_that_is_missing_is_not_taken_for_an_empty_answer() {
        let missing =
            Reading::Unreadable { path: "sysctl -a".to_owned(), why: "sysctl: Command not found.".to_owned() };
        let facts = machine(&Said { uname: known(recorded::UNAME_10), sysctl: missing.clone(), ..Said::default() });
        assert!(matches!(facts.cpus, Reading::Unreadable { .. }));
        assert_eq!((facts.hostname.as_str(), facts.architecture.as_str()), ("APU", "amd64"), "uname says it too");
        assert_eq!(facts.os, known("FreeBSD 10.3-RELEASE-p2"));
        let said = Said { ifconfig: known(recorded::IFCONFIG_IX_13), pciconf: missing, ..Said::default() };
        assert!(cards(&said).ports.is_empty());
    }

    #[test]
    fn each_driver_is_found_with_its_device() {
        let all = [
            (recorded::IFCONFIG_IX_13_DOWN, recorded::PCICONF_IX_12, "ix", "0000:02:00.0"),
            (recorded::IFCONFIG_IXL_14, recorded::PCICONF_IXL_12, "ixl", "0000:01:00.0"),
            (recorded::IFCONFIG_MCE_14, recorded::PCICONF_MCE_13, "mce", "0000:01:00.0"),
            (recorded::IFCONFIG_CXL_13, recorded::PCICONF_T5_13, "cxl", "0000:01:00.4"),
            (recorded::IFCONFIG_RE_12, recorded::PCICONF_RE_13, "re", "0000:03:00.0"),
            (recorded::IFCONFIG_BGE_10, recorded::PCICONF_BGE_12, "bge", "0000:02:00.0"),
        ];
        for (ifconfig, pciconf, driver, bus) in all {
            let cards = cards(&Said { ifconfig: known(ifconfig), pciconf: known(pciconf), ..Said::default() });
            let port = cards.ports.first().unwrap_or_else(|| panic!("{driver} has a card"));
            assert_eq!((&port.interface.driver, &port.interface.bus), (&known(driver), &known(bus)));
            let card = port.interface.card.as_ref().expect("it is one");
            assert_eq!(card.hops.first().map(|hop| hop.device.as_str()), Some(bus), "{driver}");
        }
    }

    #[test]
    fn firmware_and_counters_are_those_of_the_interface() {
        let said = Said {
            ifconfig: known("ix0: flags=8843<UP> metric 0 mtu 1500\n\tstatus: active\n"),
            pciconf: known(recorded::PCICONF_IX_12),
            sysctl: known(recorded::SYSCTL_IX_12),
            counters: known("Name Mtu Network Address Ipkts Ierrs\nix0 1500 <Link#1> 00:00:00:00:00:00 77 3\n"),
            ..Said::default()
        };
        let port = cards(&said).ports.remove(0);
        assert_eq!(port.interface.firmware_version, known("eTrack 0x800003e2 PHY FW V286"));
        assert_eq!(port.readings.bus_errors, [("0000:02:00.0 correctable kinds".to_owned(), 1)].into());
        assert_eq!(port.readings.counters.known().and_then(|all| all.get("Ierrs")), Some(&3));
        assert_eq!((port.readings.carrier, port.readings.up.clone()), (Some(true), Reading::Known(true)));
    }

    #[test]
    fn bridges_above_a_card_are_hops() {
        let said = Said {
            ifconfig: known("ix0: flags=8843<UP> metric 0 mtu 1500\nix1: flags=8843<UP> metric 0 mtu 1500\n"),
            pciconf: known(recorded::PCICONF_IX_9),
            dmesg: known(recorded::DMESG_9),
            ..Said::default()
        };
        let cards = cards(&said);
        let hops = &cards.ports[0].interface.card.as_ref().expect("a card").hops;
        let told: Vec<_> = hops.iter().map(|hop| (hop.device.as_str(), hop.link.width.as_str(), hop.ports)).collect();
        assert_eq!(told, [("0000:15:00.0", "8", 1), ("0000:00:03.0", "8", 2)]);
    }

    #[test]
    fn what_virtual_machines_have_is_named() {
        let pciconf = "ppt0@pci0:3:0:0:        class=0x020000 card=0x85051043 chip=0x816810ec rev=0x09 hdr=0x00\n\
                       none0@pci0:2:0:0:\tclass=0x028000 rev=0x10 hdr=0x00 vendor=0x10ec device=0x8172 subvendor=0 subdevice=0\n";
        let refused = cards(&Said { pciconf: known(pciconf), ..Said::default() }).refused;
        assert_eq!(refused.iter().map(|it| it.cause).collect::<Vec<_>>(), [Cause::GivenAway, Cause::NoDriver]);
        assert_eq!(refused[1].model, "10ec:8172");
    }
}
