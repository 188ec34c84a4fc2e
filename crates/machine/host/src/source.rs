//! The machine to read from.

use std::{fs, io};

use kernel::{
    cpu,
    ethtool::{self, Driver},
    link::{self, Link},
    log,
    nic::{self, LinkSettings},
    statistics::{self, Counters, Qdisc},
};
use model::Reading;

/// A machine to read from, with its own paths and the interfaces of its network namespace.
pub(crate) trait Source {
    /// Text of a file, without white space around it.
    fn read(&self, path: &str) -> Reading<String>;

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
pub(crate) struct Here;

impl Source for Here {
    fn read(&self, path: &str) -> Reading<String> {
        of_file(path, fs::read_to_string(path)).map(|text| text.trim().to_owned())
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

/// A missing file is absent, and so is a setting that its driver does not provide at the moment.
pub(crate) fn of_file<T>(path: &str, result: io::Result<T>) -> Reading<T> {
    match result {
        Ok(value) => Reading::Known(value),
        Err(error) if is_absence(error.kind()) => Reading::Absent,
        Err(error) => Reading::Unreadable { path: path.to_owned(), why: error.to_string() },
    }
}

/// The kernel's answer to a question, named by its command.
fn answer<T>(question: &str, result: kernel::Result<T>) -> Reading<T> {
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
        assert_eq!(Here.read("/proc/none"), Reading::Absent);
        assert_eq!(Here.list("/proc/version/none"), Reading::Absent);
        let refused: io::Result<()> = Err(io::ErrorKind::PermissionDenied.into());
        let why = "permission denied".to_owned();
        assert_eq!(of_file("/x", refused), Reading::Unreadable { path: "/x".into(), why });
        assert!(matches!(Here.read("/proc"), Reading::Unreadable { .. }), "it is a folder");
        assert_eq!(Here.driver("wp-none"), Reading::Absent);
    }
}
