//! The machine to read from.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read as _},
};

use kernel::{
    cpu,
    ethtool::{self, Driver},
    link::{self, Link},
    log, namespace,
    nic::{self, LinkSettings},
    route,
    statistics::{self, Counters, Qdisc},
};
use model::{
    Reading,
    nic::DriverSettings,
    settings::{Offload, OtherEnd},
};

/// A machine to read from, with its own paths and the interfaces of its network namespace.
pub(crate) trait Source {
    /// Text of a file, without white space around it.
    fn read(&self, path: &str) -> Reading<String>;

    /// The first bytes of a file, at most so many.
    fn read_bytes(&self, path: &str, most: usize) -> Reading<Vec<u8>>;

    /// Sorted paths of a folder's entries.
    fn list(&self, folder: &str) -> Reading<Vec<String>>;

    /// The target of a path through all symbolic links.
    fn resolve(&self, path: &str) -> Reading<String>;

    /// All interfaces.
    fn links(&self) -> Reading<Vec<Link>>;

    /// Driver of an interface.
    fn driver(&self, interface: &str) -> Reading<Driver>;

    /// Link settings of an interface.
    fn link_settings(&self, interface: &str) -> Reading<LinkSettings>;

    /// Permanent MAC address of a NIC.
    fn permanent_mac(&self, interface: &str) -> Reading<String>;

    /// Memory of the module in a NIC's cage.
    fn module_memory(&self, interface: &str) -> Reading<Vec<u8>>;

    /// Numbers of an interface's driver: rings, channels, coalescing, pause.
    fn driver_settings(&self, interface: &str) -> Reading<DriverSettings>;

    /// Offloads of an interface.
    fn offloads(&self, interface: &str) -> Reading<BTreeMap<String, Offload>>;

    /// Forward error correction of a NIC: bits of `ETHTOOL_FEC_*`.
    fn fec(&self, interface: &str) -> Reading<u32>;

    /// The other end of a veth pair, as far as it is in this namespace or in a named one.
    fn other_end(&self, interface: &str) -> Reading<OtherEnd>;

    /// MTUs of paths that the kernel has learned.
    fn learned_mtus(&self) -> Reading<Vec<(String, u32)>>;

    /// Counters of an interface and of its queueing disciplines.
    fn counters(&self, interface: &str) -> Reading<(Counters, Vec<Qdisc>)>;

    /// Counters of an interface's driver.
    fn driver_counters(&self, interface: &str) -> Reading<Vec<(String, u64)>>;

    /// Cores that this program may run on.
    fn allowed_cpus(&self) -> Reading<Vec<usize>>;

    /// Lines of the kernel log.
    fn log(&self) -> Reading<Vec<String>>;
}

/// This machine.
pub(crate) struct LocalSource;

impl Source for LocalSource {
    fn read(&self, path: &str) -> Reading<String> {
        of_file(path, fs::read_to_string(path)).map(|text| text.trim().to_owned())
    }

    fn read_bytes(&self, path: &str, most: usize) -> Reading<Vec<u8>> {
        let read = || {
            let mut bytes = Vec::new();
            File::open(path)?.take(most as u64).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        of_file(path, read())
    }

    fn list(&self, folder: &str) -> Reading<Vec<String>> {
        let entries = fs::read_dir(folder).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
        of_file(folder, entries).map(|entries| {
            let mut paths: Vec<_> = entries.iter().map(|entry| entry.path().to_string_lossy().into_owned()).collect();
            paths.sort();
            paths
        })
    }

    fn resolve(&self, path: &str) -> Reading<String> {
        of_file(path, fs::canonicalize(path)).map(|path| path.to_string_lossy().into_owned())
    }

    fn links(&self) -> Reading<Vec<Link>> {
        answer("ip link", link::list())
    }

    fn driver(&self, interface: &str) -> Reading<Driver> {
        answer(&format!("ethtool -i {interface}"), ethtool::driver(interface))
    }

    fn link_settings(&self, interface: &str) -> Reading<LinkSettings> {
        answer(&format!("ethtool {interface}"), nic::link_settings(interface))
    }

    fn permanent_mac(&self, interface: &str) -> Reading<String> {
        answer(&format!("ethtool -P {interface}"), nic::permanent_mac(interface)).and_then(|mac| mac)
    }

    fn module_memory(&self, interface: &str) -> Reading<Vec<u8>> {
        answer(&format!("ethtool -m {interface}"), nic::module_memory(interface))
    }

    fn driver_settings(&self, interface: &str) -> Reading<DriverSettings> {
        answer(&format!("ethtool -g {interface}"), ethtool::settings(interface))
    }

    fn offloads(&self, interface: &str) -> Reading<BTreeMap<String, Offload>> {
        answer(&format!("ethtool -k {interface}"), ethtool::offload_states(interface))
    }

    fn fec(&self, interface: &str) -> Reading<u32> {
        answer(&format!("ethtool --show-fec {interface}"), nic::fec(interface))
    }

    fn other_end(&self, interface: &str) -> Reading<OtherEnd> {
        answer(&format!("ip -d link show {interface}"), other_end(interface)).and_then(|end| end)
    }

    fn learned_mtus(&self) -> Reading<Vec<(String, u32)>> {
        let learned = answer("ip route show cache", route::learned_mtus());
        learned.map(|all| all.into_iter().map(|(to, mtu)| (to.to_string(), mtu)).collect())
    }

    fn counters(&self, interface: &str) -> Reading<(Counters, Vec<Qdisc>)> {
        answer(&format!("ip -s link show {interface}"), statistics::of_interface(interface))
    }

    fn driver_counters(&self, interface: &str) -> Reading<Vec<(String, u64)>> {
        answer(&format!("ethtool -S {interface}"), ethtool::statistics(interface))
    }

    fn allowed_cpus(&self) -> Reading<Vec<usize>> {
        answer("sched_getaffinity", cpu::allowed())
    }

    fn log(&self) -> Reading<Vec<String>> {
        answer("/dev/kmsg", log::lines())
    }
}

/// The other end of a veth pair; `None` for another kind, and for a namespace without a name.
fn other_end(interface: &str) -> kernel::Result<Option<OtherEnd>> {
    let Some(end) = link::other_end(interface)? else { return Ok(None) };
    let of = |namespace: &str, links: Vec<Link>| {
        let link = links.into_iter().find(|link| link.index == end.index)?;
        Some(OtherEnd { interface: link.name, namespace: namespace.to_owned(), mtu: link.mtu.0 })
    };
    let Some(number) = end.namespace else { return Ok(of("", link::list()?)) };
    for name in namespace::list()? {
        // A namespace may have disappeared, or was never completed.
        if namespace::number(&name).is_ok_and(|its| its == Some(number))
            && let Ok(Ok(links)) = namespace::within(&name, link::list)
        {
            return Ok(of(&name, links));
        }
    }
    Ok(None)
}

/// A missing file is absent, and so is a setting that its driver does not provide at the moment.
pub(crate) fn of_file<T>(path: &str, result: io::Result<T>) -> Reading<T> {
    match result {
        Ok(value) => Reading::Known(value),
        Err(error) if is_absence(error.kind()) => Reading::Absent,
        Err(error) => Reading::Unreadable { path: path.to_owned(), why: error.to_string() },
    }
}

/// The kernel's answer to a question, named by its command.
pub(crate) fn answer<T>(question: &str, result: kernel::Result<T>) -> Reading<T> {
    match result {
        Ok(value) => Reading::Known(value),
        Err(error) if error.says_gone() || is_absence(error.io_kind()) => Reading::Absent,
        Err(error) => Reading::Unreadable { path: question.to_owned(), why: error.to_string() },
    }
}

fn is_absence(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{InvalidInput, NotADirectory, NotFound, Unsupported};
    [NotFound, NotADirectory, InvalidInput, Unsupported].contains(&kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_missing_is_absent_and_one_that_is_refused_is_unreadable() {
        assert_eq!(LocalSource.read("/proc/none"), Reading::Absent);
        assert_eq!(LocalSource.list("/proc/version/none"), Reading::Absent);
        let refused: io::Result<()> = Err(io::ErrorKind::PermissionDenied.into());
        let why = "permission denied".to_owned();
        assert_eq!(of_file("/x", refused), Reading::Unreadable { path: "/x".into(), why });
        assert!(matches!(LocalSource.read("/proc"), Reading::Unreadable { .. }), "it is a folder");
        assert_eq!(LocalSource.driver("wp-none"), Reading::Absent);
    }
}
