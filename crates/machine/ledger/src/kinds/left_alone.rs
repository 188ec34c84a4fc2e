//! Network managers, told to leave a NIC alone while we use it.
//!
//! A NIC in another namespace is invisible to them, but they must not act when it leaves or returns. Each is told by a
//! file below `/run`, which a reboot removes, and rereads its configuration; the file is deleted afterwards.
//!
//! A manager removes its own settings when told, and those of others when the file is gone. Thus the NIC's state is
//! read before and restored after.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::Duration,
};

use kernel::namespace;
use model::{Manager, NicState, change::LeftAlone};

use super::{Kind, taken_nics};
use crate::{failure::Failure, record::Namespaces};

/// Time for a manager to configure a returned NIC; after each part of it, missing settings are restored.
const CONFIGURES: [Duration; 6] = [Duration::from_millis(500); 6];

/// Exists if systemd runs; see sd_booted(3).
const SYSTEMD: &str = "/run/systemd/system";

/// Prefix of a profile's name in our file.
const PROFILE: &str = "# Brought up again then: ";

impl Kind for LeftAlone {
    type Before = NicState;

    const BEFORE: &'static str = "port";

    fn namespaces(&self) -> Vec<&str> {
        vec![]
    }

    fn read(&self) -> Result<Option<NicState>, Failure> {
        taken_nics::read(&self.interface).map(Some)
    }

    fn make(&self, _: NicState) -> Result<(), Failure> {
        let telling = telling(self);
        let folder = telling.file.parent().unwrap_or(Path::new("/run"));
        let text = telling.text(active_profile(self.manager, &self.interface).as_deref());
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&telling.file, text));
        written.map_err(|io| Failure::File { path: telling.file.clone(), io })?;
        run(telling.reads_anew)
    }

    fn undo(&self, before: NicState, _: &Namespaces) -> Result<bool, Failure> {
        if namespace::own_identity().ok() != Some(before.home) {
            return Err(Failure::Elsewhere);
        }
        let was_told = stop_telling(&telling(self));
        let mut restored = taken_nics::restore_here(&before);
        for part in CONFIGURES.iter().filter(|_| matches!(was_told, Ok(true))) {
            thread::sleep(*part);
            restored = taken_nics::restore_here(&before);
        }
        restored.and(was_told)
    }
}

fn telling(change: &LeftAlone) -> Telling {
    Telling::of(change.manager, &change.interface, &change.mac, Path::new(SYSTEMD).exists())
}

fn stop_telling(telling: &Telling) -> Result<bool, Failure> {
    if !telling.file.exists() {
        return Ok(false);
    }
    if let Some(words) = telling.has_seen {
        run(words)?;
    }
    let text = fs::read_to_string(&telling.file).unwrap_or_default();
    match fs::remove_file(&telling.file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        removed => removed.map_err(|io| Failure::File { path: telling.file.clone(), io })?,
    }
    run(telling.reads_anew)?;
    // NetworkManager takes a configured port for one that others manage. If its profile is gone, it may keep it.
    let _ = noted_profile(&text).map(|uuid| run(&["nmcli", "--wait", "10", "connection", "up", "uuid", uuid]));
    Ok(true)
}

/// The profile that NetworkManager itself has activated on a port.
fn active_profile(manager: Manager, interface: &str) -> Option<String> {
    let words = ["-g", "GENERAL.STATE,GENERAL.CON-UUID", "device", "show", interface];
    let asked = (manager == Manager::NetworkManager).then(|| Command::new("nmcli").args(words).output());
    profile_in(&String::from_utf8_lossy(&asked?.ok()?.stdout))
}

/// The profile in nmcli's output; `None` if the port is not connected, or only externally ("connected (externally)").
fn profile_in(said: &str) -> Option<String> {
    let (state, uuid) = said.trim_end().split_once('\n')?;
    (state.ends_with(" (connected)") && !uuid.is_empty()).then(|| uuid.to_owned())
}

/// The profile recorded in our file.
fn noted_profile(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix(PROFILE))
}

/// How a manager is told of a port.
struct Telling {
    /// Its configuration file until the next boot.
    file: PathBuf,
    /// Contents of the file, after a line of ours.
    says: String,
    /// Command that makes it reread its files.
    reads_anew: &'static [&'static str],
    /// Command that ends once it has processed earlier events of interfaces.
    has_seen: Option<&'static [&'static str]>,
}

impl Telling {
    /// By name and, if possible, by address: the port may return under another name.
    fn of(manager: Manager, interface: &str, mac: &str, systemd: bool) -> Self {
        match manager {
            Manager::NetworkManager => Self {
                file: format!("/run/NetworkManager/conf.d/90-wireproof-{interface}.conf").into(),
                says: format!("[keyfile]\nunmanaged-devices+=interface-name:{interface};mac:{mac}\n"),
                reads_anew: &["nmcli", "general", "reload", "conf"],
                has_seen: None,
            },
            // networkd uses the first matching file, in order of name.
            Manager::Networkd => Self {
                file: format!("/run/systemd/network/00-wireproof-{interface}.network").into(),
                says: format!("[Match]\nMACAddress={mac}\n\n[Link]\nUnmanaged=yes\n"),
                reads_anew: &["networkctl", "reload"],
                has_seen: None,
            },
            // systemd calls ifdown when the port of a bound service disappears; this service is not bound, and so does
            // not end.
            Manager::Ifupdown if systemd => Self {
                file: format!("{SYSTEMD}/ifup@{}.service", escaped(interface)).into(),
                says: "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n".to_owned(),
                reads_anew: &["systemctl", "daemon-reload"],
                has_seen: Some(&["udevadm", "settle", "--timeout=10"]),
            },
            // udev calls ifup and ifdown by a rule that this file overrides.
            Manager::Ifupdown => Self {
                file: format!("/run/udev/rules.d/81-wireproof-{interface}.rules").into(),
                says: format!("SUBSYSTEM==\"net\", ENV{{INTERFACE}}==\"{interface}\", RUN=\"\"\n"),
                reads_anew: &["udevadm", "control", "--reload"],
                has_seen: Some(&["udevadm", "settle", "--timeout=10"]),
            },
        }
    }

    /// Contents of the file. It also records the profile to activate again, because it exists just as long as needed.
    fn text(&self, profile: Option<&str>) -> String {
        let note = profile.map(|uuid| format!("{PROFILE}{uuid}\n")).unwrap_or_default();
        format!(
            "# Written by wireproof, which uses this port for a while and removes this file afterwards.\n{note}{}",
            self.says
        )
    }
}

/// A name as escaped by systemd in unit names (systemd-escape(1)).
fn escaped(interface: &str) -> String {
    let escape = |byte: u8| match byte {
        b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'.' | b':' => char::from(byte).to_string(),
        byte => format!("\\x{byte:02x}"),
    };
    interface.bytes().map(escape).collect()
}

fn run(words: &[&str]) -> Result<(), Failure> {
    let failed = |said: String| Failure::Program { command: words.join(" "), said };
    let output = Command::new(words[0]).args(&words[1..]).output().map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_told_in_its_own_words() {
        let check = |manager, systemd, file: &str, says: &str| {
            let telling = Telling::of(manager, "en-1", "02:00:00:00:00:01", systemd);
            assert_eq!((telling.file.display().to_string().as_str(), telling.says.as_str()), (file, says));
            let text = telling.text(None);
            assert!(text.starts_with("# Written by wireproof") && text.ends_with(says), "{text}");
            let text = telling.text(Some("1-2-3"));
            assert!(text.ends_with(says) && noted_profile(&text) == Some("1-2-3"), "{text}");
        };
        let nm = "[keyfile]\nunmanaged-devices+=interface-name:en-1;mac:02:00:00:00:00:01\n";
        check(Manager::NetworkManager, true, "/run/NetworkManager/conf.d/90-wireproof-en-1.conf", nm);
        let networkd = "[Match]\nMACAddress=02:00:00:00:00:01\n\n[Link]\nUnmanaged=yes\n";
        check(Manager::Networkd, true, "/run/systemd/network/00-wireproof-en-1.network", networkd);
        let unit = "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n";
        check(Manager::Ifupdown, true, r"/run/systemd/system/ifup@en\x2d1.service", unit);
        let rule = "SUBSYSTEM==\"net\", ENV{INTERFACE}==\"en-1\", RUN=\"\"\n";
        check(Manager::Ifupdown, false, "/run/udev/rules.d/81-wireproof-en-1.rules", rule);
    }

    #[test]
    fn a_profile_is_brought_up_again_where_it_was_up() {
        assert_eq!(profile_in("100 (connected)\n1-2-3\n").as_deref(), Some("1-2-3"));
        assert_eq!(profile_in("100 (connected (externally))\n1-2-3\n"), None);
        assert_eq!(profile_in("30 (disconnected)\n\n"), None);
        assert_eq!(profile_in(""), None);
        assert_eq!(noted_profile("[keyfile]\n"), None);
    }

    #[test]
    fn a_program_that_was_never_told_needs_no_word() {
        let never = Telling::of(Manager::Networkd, "wptest-none", "", true);
        assert!(!stop_telling(&never).expect("no such file"));
    }
}
