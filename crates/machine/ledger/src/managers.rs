//! Programs that configure interfaces by themselves, told to leave a port alone while it is ours.
//!
//! A port in another namespace is out of their sight; what they must not do is act the moment it comes back. Each is told by
//! a file below `/run`, which a reboot forgets, and reads it anew; afterwards the file goes, and the port is theirs again.
//! ifupdown needs no telling: it keeps to what it has written down of the port (ifstate), and does nothing twice.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use model::Manager;

use crate::failure::Failure;

/// Tells it to leave the port alone.
pub(crate) fn leave_alone(manager: Manager, interface: &str, mac: &str) -> Result<(), Failure> {
    let path = file(manager, interface);
    let folder = path.parent().unwrap_or(Path::new("/run"));
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, text(manager, interface, mac)));
    written.map_err(|io| Failure::File { path, io })?;
    read_anew(manager)
}

/// Gives the port back to it. Says whether there was anything to do.
pub(crate) fn release(manager: Manager, interface: &str) -> Result<bool, Failure> {
    let path = file(manager, interface);
    match fs::remove_file(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        removed => removed.map_err(|io| Failure::File { path, io })?,
    }
    read_anew(manager).map(|()| true)
}

/// Where it reads what holds until the next boot; networkd goes by the first file that matches, in order of their names.
fn file(manager: Manager, interface: &str) -> PathBuf {
    match manager {
        Manager::NetworkManager => format!("/run/NetworkManager/conf.d/90-wireproof-{interface}.conf"),
        Manager::Networkd => format!("/run/systemd/network/00-wireproof-{interface}.network"),
    }
    .into()
}

/// By name as well as by address: the port may come back under another name.
fn text(manager: Manager, interface: &str, mac: &str) -> String {
    let what = "# Written by wireproof, which uses this port for a while and removes this file afterwards.\n";
    match manager {
        Manager::NetworkManager => {
            format!("{what}[keyfile]\nunmanaged-devices+=interface-name:{interface};mac:{mac}\n")
        }
        Manager::Networkd => {
            format!("{what}[Match]\nMACAddress={mac}\n\n[Link]\nUnmanaged=yes\n")
        }
    }
}

fn read_anew(manager: Manager) -> Result<(), Failure> {
    let words: &[&str] = match manager {
        Manager::NetworkManager => &["nmcli", "general", "reload", "conf"],
        Manager::Networkd => &["networkctl", "reload"],
    };
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
        let told = |manager| (file(manager, "eth1").display().to_string(), text(manager, "eth1", "02:00:00:00:00:01"));
        let (path, text) = told(Manager::NetworkManager);
        assert_eq!(path, "/run/NetworkManager/conf.d/90-wireproof-eth1.conf");
        assert!(text.ends_with("[keyfile]\nunmanaged-devices+=interface-name:eth1;mac:02:00:00:00:00:01\n"), "{text}");
        let (path, text) = told(Manager::Networkd);
        assert_eq!(path, "/run/systemd/network/00-wireproof-eth1.network");
        assert!(text.ends_with("[Match]\nMACAddress=02:00:00:00:00:01\n\n[Link]\nUnmanaged=yes\n"), "{text}");
    }

    #[test]
    fn what_was_never_told_needs_no_release() {
        assert!(!release(Manager::Networkd, "wptest-none").expect("no such file"));
    }
}
