//! uname(1) and kldstat(8).

use crate::text::lines;

/// Output of `uname -a`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct System {
    /// `FreeBSD`.
    pub name: String,
    /// Name of the machine.
    pub host: String,
    /// Release, like `13.1-RELEASE-p5`.
    pub release: String,
    /// Version of the kernel: release, revision and configuration.
    pub version: String,
    /// Machine type, like `amd64`.
    pub machine: String,
}

impl System {
    /// The release as numbers; (13, 1) of `13.1-RELEASE-p5`.
    pub fn numbers(&self) -> Option<(u32, u32)> {
        let (numbers, _) = self.release.split_once('-').unwrap_or((&self.release, ""));
        let (major, minor) = numbers.split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    }
}

/// `uname -a`; `None` if it is none.
pub fn uname(text: &str) -> Option<System> {
    let words: Vec<&str> = lines(text).next()?.split_whitespace().collect();
    let [name, host, release, version @ .., machine] = words.as_slice() else { return None };
    if *name != "FreeBSD" {
        return None;
    }
    Some(System {
        name: (*name).to_owned(),
        host: (*host).to_owned(),
        release: (*release).to_owned(),
        version: version.join(" "),
        machine: (*machine).to_owned(),
    })
}

/// Files of `kldstat`: the kernel and its loaded modules.
pub fn modules(text: &str) -> Vec<String> {
    let of_line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [id, references, address, _, name, ..] = words.as_slice() else { return None };
        let is_row = id.parse::<u32>().is_ok() && references.parse::<u32>().is_ok() && address.starts_with("0x");
        is_row.then(|| (*name).to_owned())
    };
    lines(text).filter_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::{KLDSTAT_12, KLDSTAT_13, UNAME_10, UNAME_12};

    #[test]
    fn a_system_says_its_release_and_machine() {
        let old = uname(UNAME_10).expect("it is one");
        assert_eq!(
            (old.host.as_str(), old.release.as_str(), old.machine.as_str()),
            ("APU", "10.3-RELEASE-p2", "amd64")
        );
        assert_eq!(old.numbers(), Some((10, 3)));
        let newer = uname(UNAME_12).expect("it is one");
        assert_eq!((newer.numbers(), newer.version.as_str()), (Some((12, 0)), "FreeBSD 12.0-RELEASE r341666 GENERIC"));
        assert_eq!([uname(""), uname("sh: uname: not found")], [None, None]);
    }

    #[test]
    fn modules_are_listed_by_file() {
        let old = modules(KLDSTAT_12);
        assert_eq!((old.len(), old[0].as_str(), old[4].as_str()), (6, "kernel", "mac_ntpd.ko"));
        assert_eq!(modules(KLDSTAT_13).last().map(String::as_str), Some("nmdm.ko"));
    }
}
