//! A machine recorded in a folder, for tests: its files, and the kernel's answers.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use kernel::{
    ethtool::Driver,
    link::Link,
    nic::LinkSettings,
    statistics::{Counters, Qdisc},
};
use model::{
    Reading,
    nic::DriverSettings,
    settings::{Offload, OtherEnd},
};
use tempfile::TempDir;

use crate::source::{LocalSource, Source};

/// Values that are not recorded are absent.
pub(crate) struct Recorded {
    folder: TempDir,
    /// Interfaces.
    pub(crate) links: Vec<Link>,
    /// Drivers of its interfaces.
    pub(crate) drivers: BTreeMap<String, Driver>,
    /// Whether the kernel refuses to tell the drivers.
    pub(crate) refused_drivers: bool,
    /// Whether it refuses to tell links and counters.
    pub(crate) refused_links: bool,
    /// Lines of its kernel log.
    pub(crate) log: Reading<Vec<String>>,
    /// Numbers of its drivers.
    pub(crate) settings: BTreeMap<String, DriverSettings>,
    /// Offloads of all of its interfaces.
    pub(crate) offloads: BTreeMap<String, Offload>,
    /// MTUs of paths that it has learned.
    pub(crate) learned_mtus: Vec<(String, u32)>,
}

impl Recorded {
    /// From files with their paths and contents.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let recorded = Self {
            folder,
            links: Vec::new(),
            drivers: BTreeMap::new(),
            refused_drivers: false,
            refused_links: false,
            log: Reading::Absent,
            settings: BTreeMap::new(),
            offloads: BTreeMap::new(),
            learned_mtus: Vec::new(),
        };
        files.iter().for_each(|(path, text)| recorded.write(path, text));
        recorded
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("ours");
        fs::write(path, format!("{text}\n")).expect("ours");
    }

    pub(crate) fn make_folder(&self, path: &str) {
        fs::create_dir_all(self.at(path)).expect("ours");
    }

    /// Adds a symbolic link to another path of the machine.
    pub(crate) fn link(&self, path: &str, to: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("a link has a folder")).expect("ours");
        symlink(self.at(to), path).expect("ours");
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path.trim_start_matches('/'))
    }

    /// A path of the machine, from its path in the folder.
    fn own(&self, path: &str) -> String {
        let folder = self.folder.path().canonicalize().expect("ours");
        let rest =
            [folder.as_path(), self.folder.path()].iter().find_map(|root| Path::new(path).strip_prefix(root).ok());
        Path::new("/").join(rest.expect("within the record")).to_string_lossy().into_owned()
    }
}

impl Source for Recorded {
    fn read(&self, path: &str) -> Reading<String> {
        LocalSource.read(&self.at(path).to_string_lossy())
    }

    fn read_bytes(&self, path: &str, most: usize) -> Reading<Vec<u8>> {
        LocalSource.read_bytes(&self.at(path).to_string_lossy(), most)
    }

    fn list(&self, folder: &str) -> Reading<Vec<String>> {
        let paths = LocalSource.list(&self.at(folder).to_string_lossy());
        paths.map(|paths| paths.iter().map(|path| self.own(path)).collect())
    }

    fn resolve(&self, path: &str) -> Reading<String> {
        LocalSource.resolve(&self.at(path).to_string_lossy()).map(|path| self.own(&path))
    }

    fn links(&self) -> Reading<Vec<Link>> {
        if self.refused_links { refused("ip link") } else { self.links.clone().into() }
    }

    fn driver(&self, interface: &str) -> Reading<Driver> {
        if self.refused_drivers {
            return refused(&format!("ethtool -i {interface}"));
        }
        self.drivers.get(interface).cloned().map_or(Reading::Absent, Reading::Known)
    }

    fn link_settings(&self, _: &str) -> Reading<LinkSettings> {
        Reading::Absent
    }

    fn permanent_mac(&self, _: &str) -> Reading<String> {
        Reading::Absent
    }

    fn module_memory(&self, _: &str) -> Reading<Vec<u8>> {
        Reading::Absent
    }

    fn driver_settings(&self, interface: &str) -> Reading<DriverSettings> {
        self.settings.get(interface).cloned().map_or(Reading::Absent, Reading::Known)
    }

    fn offloads(&self, _: &str) -> Reading<BTreeMap<String, Offload>> {
        self.offloads.clone().into()
    }

    fn fec(&self, _: &str) -> Reading<u32> {
        Reading::Absent
    }

    fn other_end(&self, _: &str) -> Reading<OtherEnd> {
        Reading::Absent
    }

    fn learned_mtus(&self) -> Reading<Vec<(String, u32)>> {
        self.learned_mtus.clone().into()
    }

    fn counters(&self, interface: &str) -> Reading<(Counters, Vec<Qdisc>)> {
        if self.refused_links { refused(&format!("ip -s link show {interface}")) } else { Reading::Absent }
    }

    fn driver_counters(&self, _: &str) -> Reading<Vec<(String, u64)>> {
        Reading::Absent
    }

    fn allowed_cpus(&self) -> Reading<Vec<usize>> {
        Reading::Absent
    }

    fn log(&self) -> Reading<Vec<String>> {
        self.log.clone()
    }
}

fn refused<T>(question: &str) -> Reading<T> {
    Reading::Unreadable { path: question.into(), why: "Operation not permitted".into() }
}
