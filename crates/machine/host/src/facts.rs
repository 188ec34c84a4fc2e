//! Facts about a machine and an endpoint. Except services and cards' readings, nothing here changes by itself (no
//! frequencies, no loads): a difference between two readings means that a user changed a setting.

use std::collections::BTreeMap;

use kernel::sysctl;
use model::{
    Reading, core_list,
    environment::{EndpointFacts, HostFacts, InterfaceFacts},
    settings::SinceStart,
};

pub use crate::placement::cpus;
use crate::{
    card,
    counters::Snapshot,
    interfaces::interfaces,
    parse, processor,
    services::services,
    source::{LocalSource, Source},
};

/// Settings of the machine that affect results.
const HOST_SETTINGS: [&str; 10] = [
    "kernel.nmi_watchdog",
    "kernel.numa_balancing",
    "net.core.busy_poll",
    "net.core.busy_read",
    "net.core.default_qdisc",
    "net.core.netdev_budget",
    "net.core.netdev_budget_usecs",
    "net.core.netdev_max_backlog",
    "net.core.rmem_max",
    "net.core.wmem_max",
];

/// Settings of each namespace.
const ENDPOINT_SETTINGS: [&str; 14] = [
    "net.ipv4.conf.all.rp_filter",
    "net.ipv4.ip_forward",
    "net.ipv4.ip_no_pmtu_disc",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_wmem",
    "net.ipv6.conf.all.forwarding",
    "net.netfilter.nf_conntrack_max",
];

/// Counters of no more interfaces are read, those of cards first: each takes a few questions to the kernel.
const MOST_COUNTED: usize = 16;

/// Facts about this machine; `wireproof_version` belongs to the reading program.
pub fn host(wireproof_version: &str) -> HostFacts {
    host_of(&LocalSource, wireproof_version)
}

fn host_of(source: &dyn Source, wireproof_version: &str) -> HostFacts {
    let cpuinfo = source.read("/proc/cpuinfo");
    let processor = processor::processor(source);
    let field = |name: &str| cpuinfo.clone().and_then(|text| parse::field(&text, name));
    let count = |path: &str| source.read(path).and_then(|text| core_list::parse(&text)).map(|numbers| numbers.len());
    HostFacts {
        hostname: source.read("/proc/sys/kernel/hostname").or_default(),
        boot_id: line(source, "/proc/sys/kernel/random/boot_id"),
        os: operating_system(source),
        kernel: line(source, "/proc/sys/kernel/osrelease"),
        kernel_command_line: line(source, "/proc/cmdline"),
        architecture: std::env::consts::ARCH.to_owned(),
        product: dmi(source, &["sys_vendor", "product_name"]),
        bios: dmi(source, &["bios_vendor", "bios_version", "bios_date"]),
        hypervisor: hypervisor(source, &cpuinfo),
        cpu_model: field("model name").or(|| field("Model")),
        microcode: field("microcode"),
        cpus: count("/sys/devices/system/cpu/online"),
        isolated_cpus: line(source, "/sys/devices/system/cpu/isolated"),
        // A kernel without NUMA lacks this file, and has one node.
        numa_nodes: count("/sys/devices/system/node/online").or(|| Reading::Known(1)),
        memory_bytes: source.read("/proc/meminfo").and_then(|text| parse::memory_bytes(&text)),
        clock_source: line(source, "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        governor: processor.governors.clone().and_then(of_first_core),
        mitigations: mitigations(source),
        sysctls: settings(source, &HOST_SETTINGS),
        file_system: source.read("/proc/self/mounts").and_then(|text| parse::root_file_system(&text)),
        services: services(source),
        wireproof: wireproof_version.to_owned(),
        processor: Some(processor),
    }
}

/// The governor of core 0.
fn of_first_core(governors: BTreeMap<String, String>) -> Option<String> {
    let has_first = |cores: &String| core_list::parse(cores).is_some_and(|cores| cores.contains(&0));
    governors.into_iter().find(|(_, cores)| has_first(cores)).map(|(governor, _)| governor)
}

/// Facts about an endpoint, read from inside its namespace.
pub fn endpoint(name: &str) -> EndpointFacts {
    endpoint_of(&LocalSource, name)
}

fn endpoint_of(source: &dyn Source, name: &str) -> EndpointFacts {
    let interfaces = interfaces(source);
    let cards = interfaces.iter().filter(|interface| interface.card.is_some());
    EndpointFacts {
        endpoint: name.to_owned(),
        readings: cards.map(|card| (card.name.clone(), card::readings(source, &card.name))).collect(),
        since_start: Some(since_start(source, &interfaces)),
        interfaces,
        sysctls: settings(source, &ENDPOINT_SETTINGS),
    }
}

fn since_start(source: &dyn Source, interfaces: &[InterfaceFacts]) -> SinceStart {
    let (cards, others): (Vec<_>, Vec<_>) = interfaces.iter().partition(|interface| interface.card.is_some());
    let counted: Vec<&str> =
        cards.iter().chain(&others).map(|interface| interface.name.as_str()).take(MOST_COUNTED).collect();
    SinceStart {
        drops: Snapshot::losses(source, &counted),
        steal: processor::steal(source),
        connections: setting(source, "net.netfilter.nf_conntrack_count").and_then(|count| count.parse().ok()),
        learned_mtus: source.learned_mtus().or_default(),
    }
}

/// Whether the kernel has IPv6: otherwise the setting is absent. Its value does not matter, because each namespace has
/// its own.
pub fn has_ipv6() -> bool {
    sysctl::read("net.ipv6.conf.default.disable_ipv6").is_ok()
}

/// A file that may be empty.
fn line(source: &dyn Source, path: &str) -> Reading<String> {
    source.read(path).filled()
}

/// Values of the firmware under these names, joined.
fn dmi(source: &dyn Source, names: &[&str]) -> Reading<String> {
    let values = names.iter().map(|name| line(source, &format!("/sys/class/dmi/id/{name}")));
    values
        .reduce(|all, next| match (all, next) {
            (Reading::Known(all), Reading::Known(next)) => format!("{all} {next}").into(),
            (all, Reading::Absent) => all,
            (Reading::Absent, next) => next,
            (Reading::Known(_), unreadable) => unreadable,
            (unreadable, _) => unreadable,
        })
        .unwrap_or_default()
}

fn hypervisor(source: &dyn Source, cpuinfo: &Reading<String>) -> Reading<String> {
    let named = source.read("/sys/hypervisor/type").or_default();
    let maker = source.read("/sys/class/dmi/id/sys_vendor").or_default();
    cpuinfo.clone().and_then(|cpuinfo| parse::hypervisor(&named, &maker, &cpuinfo))
}

/// The name in the first of the files of os-release(5) that has one.
fn operating_system(source: &dyn Source) -> Reading<String> {
    let name = |path: &str| source.read(path).and_then(|text| parse::assignment(&text, "PRETTY_NAME")).filled();
    match (name("/etc/os-release"), name("/usr/lib/os-release")) {
        (Reading::Known(name), _) | (_, Reading::Known(name)) => Reading::Known(name),
        (first, second) => first.or(|| second),
    }
}

fn mitigations(source: &dyn Source) -> BTreeMap<String, Reading<String>> {
    let files = source.list("/sys/devices/system/cpu/vulnerabilities").or_default();
    there(files.iter().map(|file| (parse::file_name(file.as_ref()), source.read(file))))
}

fn settings(source: &dyn Source, keys: &[&str]) -> BTreeMap<String, Reading<String>> {
    there(keys.iter().map(|key| ((*key).to_owned(), setting(source, key))))
}

/// A kernel setting, its words one space apart.
pub(crate) fn setting(source: &dyn Source, key: &str) -> Reading<String> {
    match sysctl::path(key) {
        Ok(path) => source.read(&path.to_string_lossy()).map(|value| value.replace('\t', " ")),
        Err(error) => Reading::Unreadable { path: key.to_owned(), why: error.to_string() },
    }
}

/// Readings of settings that exist; one may be unreadable.
fn there(readings: impl Iterator<Item = (String, Reading<String>)>) -> BTreeMap<String, Reading<String>> {
    readings.filter(|(_, reading)| *reading != Reading::Absent).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::Recorded;

    #[test]
    fn two_readings_of_an_unchanged_machine_are_the_same() {
        let facts = host("1.2.3 (abc)");
        // Other runs may change these at any time.
        let again = HostFacts { services: facts.services.clone(), ..host("1.2.3 (abc)") };
        assert_eq!(facts, again);
        assert!(
            !facts.services.is_empty() && facts.file_system.known().is_some_and(|it| it.contains(" on ")),
            "{facts:?}"
        );
        assert!(facts.cpus.copied() > Some(0) && facts.numa_nodes.copied() > Some(0), "{facts:?}");
        assert!(facts.memory_bytes.known().is_some() && facts.kernel.known().is_some(), "{facts:?}");
        assert!(!facts.hostname.is_empty() && facts.os.known().is_some(), "{facts:?}");
        assert_eq!(facts.wireproof, "1.2.3 (abc)");
    }

    #[test]
    fn an_endpoint_has_settings_and_no_loopback() {
        let facts = endpoint("a");
        assert_eq!(facts.endpoint, "a");
        let buffers = facts.sysctls["net.ipv4.tcp_rmem"].known().expect("each namespace has it");
        assert_eq!(buffers.split(' ').count(), 3, "{facts:?}");
        assert!(facts.interfaces.iter().all(|interface| interface.name != "lo"));
    }

    /// A virtual machine without frequencies, SMBIOS or a clean root file system.
    fn recorded() -> Recorded {
        Recorded::new(&[
            ("/proc/sys/kernel/hostname", "bench1"),
            ("/etc/os-release", "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\""),
            ("/proc/cpuinfo", "model name\t: AMD EPYC\nmicrocode\t: 0x1000065\nflags\t\t: fpu hypervisor"),
            ("/proc/meminfo", "MemTotal:       49368168 kB"),
            ("/sys/devices/system/cpu/online", "0-1"),
            ("/sys/devices/system/cpu/isolated", ""),
            ("/sys/devices/system/cpu/cpufreq/policy0/affected_cpus", "0"),
            ("/sys/devices/system/clocksource/clocksource0/current_clocksource", "kvm-clock"),
            ("/sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected"),
            ("/sys/class/dmi/id/sys_vendor", "QEMU"),
            ("/sys/class/dmi/id/bios_vendor", "SeaBIOS"),
            ("/sys/class/dmi/id/bios_version", ""),
            ("/sys/class/dmi/id/bios_date", "04/01/2014"),
            ("/proc/sys/net/core/rmem_max", "212992"),
            ("/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456"),
            ("/proc/sys/net/netfilter/nf_conntrack_count", "37"),
            ("/proc/7/comm", "cron"),
            ("/proc/7/cmdline", "/usr/sbin/cron"),
            ("/proc/7/cgroup", "0::/"),
            ("/proc/8/comm", "kthreadd"),
            ("/proc/8/cmdline", ""),
        ])
    }

    #[test]
    fn a_machine_is_read_from_its_files() {
        let facts = host_of(&recorded(), "x");
        assert_eq!((facts.hostname.as_str(), facts.os), ("bench1", "Debian GNU/Linux 12 (bookworm)".into()));
        assert_eq!((facts.hypervisor, facts.clock_source), ("KVM or QEMU".into(), "kvm-clock".into()));
        assert_eq!((facts.cpu_model, facts.microcode), ("AMD EPYC".into(), "0x1000065".into()));
        assert_eq!((facts.cpus, facts.numa_nodes), (Reading::Known(2), Reading::Known(1)));
        assert_eq!(facts.memory_bytes, Reading::Known(49_368_168 * 1024));
        assert_eq!((facts.product, facts.bios), ("QEMU".into(), "SeaBIOS 04/01/2014".into()));
        assert_eq!(facts.services, ["cron"]);
        assert_eq!(facts.mitigations["meltdown"], "Not affected".into());
        assert_eq!((facts.sysctls.len(), &facts.sysctls["net.core.rmem_max"]), (1, &"212992".into()));
        let end = endpoint_of(&recorded(), "a");
        assert_eq!(end.sysctls["net.ipv4.tcp_rmem"], "4096 131072 6291456".into());
        assert_eq!(end.since_start.map(|since| since.connections), Some(Reading::Known(37)));
    }

    #[test]
    fn a_missing_file_is_absent_and_a_refused_one_says_why() {
        let machine = recorded();
        // A folder is unreadable as a file, even for root.
        machine.make_folder("/sys/devices/system/cpu/cpufreq/policy0/scaling_governor");
        machine.make_folder("/sys/class/dmi/id/product_name");
        machine.make_folder("/proc/cmdline");
        machine.make_folder("/proc/sys/net/core/wmem_max");
        machine.make_folder("/sys/devices/system/cpu/vulnerabilities/srbds");
        let facts = host_of(&machine, "x");
        assert_eq!((&facts.isolated_cpus, &facts.file_system), (&Reading::Absent, &Reading::Absent));
        let governor = "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor";
        let is_refused = |reading: &Reading<String>, file: &str| matches!(reading, Reading::Unreadable { path, why } if path.ends_with(file) && why.contains("directory"));
        assert!(is_refused(&facts.governor, governor) && is_refused(&facts.product, "product_name"), "{facts:?}");
        let (setting, mitigation) = (&facts.sysctls["net.core.wmem_max"], &facts.mitigations["srbds"]);
        assert!(is_refused(setting, "wmem_max") && is_refused(mitigation, "srbds"), "{facts:?}");
        assert!(is_refused(&facts.kernel_command_line, "cmdline") && facts.kernel == Reading::Absent, "{facts:?}");
        let nothing = host_of(&Recorded::new(&[]), "x");
        assert_eq!(
            (nothing.os, nothing.cpus, nothing.numa_nodes),
            (Reading::Absent, Reading::Absent, Reading::Known(1))
        );
        let refused = Recorded::new(&[("/usr/lib/os-release", "PRETTY_NAME=\"Debian\"")]);
        refused.make_folder("/etc/os-release");
        refused.make_folder("/sys/devices/system/node/online");
        let facts = host_of(&refused, "x");
        assert_eq!(facts.os, "Debian".into(), "one of its files can be read");
        assert!(matches!(facts.numa_nodes, Reading::Unreadable { .. }), "{facts:?}");
        assert_eq!(host_of(&Recorded::new(&[]), "x").hypervisor, Reading::Absent);
    }
}
