//! Network managers that have to leave a NIC alone while we use it.
//!
//! A NIC in another namespace is invisible to them, but they must not act when it leaves or returns. Each is told by a
//! file below `/run`, which a reboot removes, and rereads its configuration; the file is deleted afterwards.
//!
//! A manager removes its own settings on request, and those of others when the file no longer exists. Thus the NIC's state is
//! read before and restored after.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::Duration,
};

use kernel::namespace;
use model::{Manager, NicState, change::UnmanagedNic};

use super::{Kind, taken_nics};
use crate::{failure::Failure, record::Namespaces};

/// Time for a manager to configure a returned NIC; after each part of it, missing settings are restored.
const CONFIGURES: [Duration; 6] = [Duration::from_millis(500); 6];

/// Exists if systemd runs; see sd_booted(3).
const SYSTEMD: &str = "/run/systemd/system";

/// Prefix of a profile's name in our file.
const PROFILE: &str = "# Brought up again then: ";

impl Kind for UnmanagedNic {
    type Before = NicState;

    const BEFORE: &'static str = "port";

    fn namespaces(&self) -> Vec<&str> {
        vec![]
    }

    fn read(&self) -> Result<Option<NicState>, Failure> {
        taken_nics::read(&self.interface).map(Some)
    }

    fn make(&self, _: NicState) -> Result<(), Failure> {
        let manager_file = manager_file(self);
        let folder = manager_file.file.parent().unwrap_or(Path::new("/run"));
        let text = manager_file.text(active_profile(self.manager, &self.interface).as_deref());
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&manager_file.file, text));
        written.map_err(|io| Failure::File { path: manager_file.file.clone(), io })?;
        run(manager_file.reload)
    }

    fn undo(&self, before: NicState, _: &Namespaces) -> Result<bool, Failure> {
        if namespace::own_identity().ok() != Some(before.home) {
            return Err(Failure::Elsewhere);
        }
        let had_file = remove_manager_file(&manager_file(self));
        let mut restored = taken_nics::restore_here(&before);
        for part in CONFIGURES.iter().filter(|_| matches!(had_file, Ok(true))) {
            thread::sleep(*part);
            restored = taken_nics::restore_here(&before);
        }
        restored.and(had_file)
    }
}

fn manager_file(change: &UnmanagedNic) -> ManagerFile {
    ManagerFile::of(change.manager, &change.interface, &change.mac, Path::new(SYSTEMD).exists())
}

fn remove_manager_file(manager_file: &ManagerFile) -> Result<bool, Failure> {
    if !manager_file.file.exists() {
        return Ok(false);
    }
    if let Some(words) = manager_file.has_seen {
        run(words)?;
    }
    let text = fs::read_to_string(&manager_file.file).unwrap_or_default();
    match fs::remove_file(&manager_file.file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        removed => removed.map_err(|io| Failure::File { path: manager_file.file.clone(), io })?,
    }
    run(manager_file.reload)?;
    // NetworkManager takes a configured port for one that others manage. If its profile no longer exists, it may keep it.
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

/// Way of announcing a port to a manager.
struct ManagerFile {
    /// Configuration file until the next boot.
    file: PathBuf,
    /// Contents of the file, after a line of ours.
    says: String,
    /// Command that makes it reread its files.
    reload: &'static [&'static str],
    /// Command that ends once it has processed earlier events of interfaces.
    has_seen: Option<&'static [&'static str]>,
}

impl ManagerFile {
    /// By name and, if possible, by address: the port may return under another name.
    fn of(manager: Manager, interface: &str, mac: &str, systemd: bool) -> Self {
        match manager {
            Manager::NetworkManager => Self {
                file: format!("/run/NetworkManager/conf.d/90-wireproof-{interface}.conf").into(),
                says: format!("[keyfile]\nunmanaged-devices+=interface-name:{interface};mac:{mac}\n"),
                reload: &["nmcli", "general", "reload", "conf"],
                has_seen: None,
            },
            // networkd uses the first matching file, in order of name.
            Manager::Networkd => Self {
                file: format!("/run/systemd/network/00-wireproof-{interface}.network").into(),
                says: format!("[Match]\nMACAddress={mac}\n\n[Link]\nUnmanaged=yes\n"),
                reload: &["networkctl", "reload"],
                has_seen: None,
            },
            // systemd calls ifdown when the port of a bound service disappears; this service is not bound, and so does
            // not end.
            Manager::Ifupdown if systemd => Self {
                file: format!("{SYSTEMD}/ifup@{}.service", escaped(interface)).into(),
                says: "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n".to_owned(),
                reload: &["systemctl", "daemon-reload"],
                has_seen: Some(&["udevadm", "settle", "--timeout=10"]),
            },
            // udev calls ifup and ifdown by a rule that this file overrides.
            Manager::Ifupdown => Self {
                file: format!("/run/udev/rules.d/81-wireproof-{interface}.rules").into(),
                says: format!("SUBSYSTEM==\"net\", ENV{{INTERFACE}}==\"{interface}\", RUN=\"\"\n"),
                reload: &["udevadm", "control", "--reload"],
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
    Err(failed(String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_told_in_its_own_words() {
        let check = |manager, systemd, file: &str, says: &str| {
            let manager_file = ManagerFile::of(manager, "en-1", "02:00:00:00:00:01", systemd);
            assert_eq!((manager_file.file.display().to_string().as_str(), manager_file.says.as_str()), (file, says));
            let text = manager_file.text(None);
            assert!(text.starts_with("# Written by wireproof") && text.ends_with(says), "{text}");
            let text = manager_file.text(Some("1-2-3"));
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
        let never = ManagerFile::of(Manager::Networkd, "wptest-none", "", true);
        assert!(!remove_manager_file(&never).expect("no such file"));
    }
}
