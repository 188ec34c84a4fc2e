//! What a machine and an endpoint are. Nothing here fails: what cannot be read is left empty. Nothing here changes by
//! itself (no frequencies, no loads) but services and what cards read, so that a difference between two readings means that somebody changed something.

use std::{collections::BTreeMap, fs, net::IpAddr};

use kernel::{ethtool, link, sysctl};
use model::environment::{EndpointFacts, HostFacts, InterfaceFacts};

pub use crate::cpus::cpus;
use crate::{card, parse, services::services};

/// Settings of the whole machine that bear on results.
const HOST_SETTINGS: [&str; 8] = [
    "kernel.nmi_watchdog",
    "kernel.numa_balancing",
    "net.core.busy_poll",
    "net.core.busy_read",
    "net.core.default_qdisc",
    "net.core.netdev_max_backlog",
    "net.core.rmem_max",
    "net.core.wmem_max",
];

/// Settings that each namespace has for itself.
const ENDPOINT_SETTINGS: [&str; 5] = [
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_wmem",
];

/// Facts about this machine; `wireproof_version` is that of the program which reads them.
pub fn host(wireproof_version: &str) -> HostFacts {
    let cpuinfo = read("/proc/cpuinfo");
    let maker = read("/sys/class/dmi/id/sys_vendor");
    let cpu_model = parse::field(&cpuinfo, "model name").or_else(|| parse::field(&cpuinfo, "Model"));
    HostFacts {
        hostname: read("/proc/sys/kernel/hostname"),
        os: operating_system(),
        kernel: read("/proc/sys/kernel/osrelease"),
        kernel_command_line: read("/proc/cmdline"),
        architecture: std::env::consts::ARCH.to_owned(),
        product: dmi(&["sys_vendor", "product_name"]),
        bios: dmi(&["bios_vendor", "bios_version", "bios_date"]),
        hypervisor: parse::hypervisor(&read("/sys/hypervisor/type"), &maker, &cpuinfo),
        cpu_model: cpu_model.unwrap_or_default(),
        microcode: parse::field(&cpuinfo, "microcode").unwrap_or_default(),
        cpus: parse::list(&read("/sys/devices/system/cpu/online")).map_or(0, |cpus| cpus.len()),
        isolated_cpus: read("/sys/devices/system/cpu/isolated"),
        // A kernel without NUMA has no such file, and one node.
        numa_nodes: parse::list(&read("/sys/devices/system/node/online")).map_or(1, |nodes| nodes.len()),
        memory_bytes: parse::memory_bytes(&read("/proc/meminfo")).unwrap_or_default(),
        clock_source: read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        mitigations: mitigations(),
        sysctls: settings(&HOST_SETTINGS),
        file_system: parse::root_file_system(&read("/proc/self/mounts")).unwrap_or_default(),
        services: services(),
        wireproof: wireproof_version.to_owned(),
    }
}

/// Facts about an endpoint, read from inside its namespace.
pub fn endpoint(name: &str) -> EndpointFacts {
    let interfaces = interfaces();
    let cards = interfaces.iter().filter(|interface| interface.card.is_some());
    EndpointFacts {
        endpoint: name.to_owned(),
        readings: cards.map(|card| (card.name.clone(), card::readings(&card.name))).collect(),
        interfaces,
        sysctls: settings(&ENDPOINT_SETTINGS),
    }
}

/// Facts about each interface of the caller's namespace, loopback left out.
pub(crate) fn interfaces() -> Vec<InterfaceFacts> {
    let links = link::list().unwrap_or_default();
    links.into_iter().filter(|link| link.name != "lo").map(interface).collect()
}

fn interface(link: link::Link) -> InterfaceFacts {
    let driver = ethtool::driver(&link.name).unwrap_or_default();
    // A veth says 10 Gbit/s, and means nothing by it.
    let speed = (driver.name != "veth").then(|| read(&format!("/sys/class/net/{}/speed", link.name)));
    let card = card::of_interface(&link.name);
    InterfaceFacts {
        pcie: card.as_ref().and_then(|card| card.hops.first()).map(|hop| hop.link.clone()),
        card,
        driver: driver.name,
        driver_version: driver.version,
        firmware_version: driver.firmware,
        bus: driver.bus,
        master: link.master,
        mtu: link.mtu.0,
        mac: link.mac,
        state: link.operstate,
        speed_mbps: speed.and_then(|speed| parse::speed(&speed)),
        addresses: link.addresses.into_iter().filter(is_given).map(|(ip, prefix)| format!("{ip}/{prefix}")).collect(),
        name: link.name,
    }
}

/// Whether the kernel has IPv6: the setting is absent where it has not. Its value does not matter, because each namespace has
/// its own.
pub fn has_ipv6() -> bool {
    sysctl::read("net.ipv6.conf.default.disable_ipv6").is_ok()
}

/// What the firmware says under these names, in a row.
fn dmi(names: &[&str]) -> String {
    let said = names.iter().map(|name| read(&format!("/sys/class/dmi/id/{name}"))).filter(|text| !text.is_empty());
    said.collect::<Vec<_>>().join(" ")
}

/// The kernel adds link-local addresses itself, some time after a link comes up: nobody changed anything.
pub(crate) fn is_given((address, _): &(IpAddr, u8)) -> bool {
    match address {
        IpAddr::V4(_) => true,
        IpAddr::V6(address) => !address.is_unicast_link_local(),
    }
}

fn operating_system() -> String {
    ["/etc/os-release", "/usr/lib/os-release"]
        .into_iter()
        .find_map(|path| parse::assignment(&read(path), "PRETTY_NAME"))
        .unwrap_or_default()
}

fn mitigations() -> BTreeMap<String, String> {
    let entries = fs::read_dir("/sys/devices/system/cpu/vulnerabilities").into_iter().flatten().flatten();
    entries.map(|entry| (parse::file_name(&entry.path()), read(&entry.path().to_string_lossy()))).collect()
}

fn settings(keys: &[&str]) -> BTreeMap<String, String> {
    let read = |key: &&str| Some(((*key).to_owned(), sysctl::read(key).ok()?.replace('\t', " ")));
    keys.iter().filter_map(read).collect()
}

pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_readings_of_an_unchanged_machine_are_the_same() {
        let facts = host("1.2.3 (abc)");
        // What runs may change at any time.
        let again = HostFacts { services: facts.services.clone(), ..host("1.2.3 (abc)") };
        assert_eq!(facts, again);
        assert!(!facts.services.is_empty() && facts.file_system.contains(" on "), "{facts:?}");
        assert!(facts.cpus > 0 && facts.numa_nodes > 0 && facts.memory_bytes > 0, "{facts:?}");
        assert!(!facts.kernel.is_empty() && !facts.hostname.is_empty() && !facts.os.is_empty(), "{facts:?}");
        assert_eq!(facts.wireproof, "1.2.3 (abc)");
    }

    #[test]
    fn an_endpoint_has_settings_and_no_loopback() {
        let facts = endpoint("a");
        assert_eq!(facts.endpoint, "a");
        assert!(facts.sysctls["net.ipv4.tcp_rmem"].split(' ').count() == 3, "{facts:?}");
        assert!(facts.interfaces.iter().all(|interface| interface.name != "lo"));
    }

    #[test]
    fn link_local_addresses_are_left_out() {
        let given = |text: &str| is_given(&(text.parse().expect("an address"), 64));
        assert!(given("198.18.0.1") && given("2001:2::1") && !given("fe80::1"));
    }
}
