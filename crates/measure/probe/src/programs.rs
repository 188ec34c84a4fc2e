//! Programs of others as the server or the client of a trial: found, started without rights of their own, and ended with it.

mod folder;
pub(crate) mod nginx;

use std::{
    env,
    ffi::OsString,
    fs,
    net::{IpAddr, SocketAddr},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command},
};

use kernel::privilege;
use model::Privilege;

pub(crate) use self::folder::{Folder, open_folder, share};

/// User and group without rights of their own ("nobody", the kernel's own overflow ID).
pub(crate) const NOBODY: u32 = 65_534;

/// Folders that are not on the PATH of an ordinary user.
const FOLDERS: [&str; 2] = ["/usr/sbin", "/usr/local/sbin"];

/// Path of a program that is installed here.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/bin:/bin"));
    let folders = env::split_paths(&folders).chain(FOLDERS.map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|path| path.is_absolute() && path.is_file())
}

/// A call of a program that needs this process's rights, without our environment.
pub(crate) fn command_with_rights(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    command
}

/// A call of a program, by a user without rights where this process is root, and without our environment.
pub(crate) fn command(program: &Path) -> Command {
    let mut command = command_with_rights(program);
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

/// Whether this process may become another user, and should.
pub(crate) fn is_root() -> bool {
    privilege::current() == Privilege::Root
}

/// Processes that end with this value.
#[derive(Default)]
pub(crate) struct Processes(pub(crate) Vec<Child>);

impl Drop for Processes {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // Fails only where it has ended.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Sockets of this network namespace that listen on this address.
pub(crate) fn listeners(address: SocketAddr) -> usize {
    let table = if address.is_ipv4() { "/proc/thread-self/net/tcp" } else { "/proc/thread-self/net/tcp6" };
    let (local, mut count) = (as_in_proc(address), 0);
    for line in fs::read_to_string(table).unwrap_or_default().lines() {
        let mut words = line.split_whitespace().skip(1);
        // 0A: TCP_LISTEN of net/tcp_states.h.
        count += usize::from(words.next() == Some(&local) && words.nth(1) == Some("0A"));
    }
    count
}

/// As proc_pid_net(5) has it: words of the address in the byte order of this machine, and the port.
fn as_in_proc(address: SocketAddr) -> String {
    let bytes = match address.ip() {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let word = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_ne_bytes);
    let words: String = bytes.chunks_exact(4).map(|bytes| format!("{:08X}", word(bytes))).collect();
    format!("{words}:{:04X}", address.port())
}

/// Words of a program, without signs that a terminal would obey.
pub(crate) fn clean(words: &str) -> String {
    let lines = words.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ");
    lines.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, thread, time::Duration};

    use super::*;

    #[test]
    fn who_listens_is_counted() {
        for local in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(local).expect("loopback");
            let address = listener.local_addr().expect("bound");
            assert_eq!(listeners(address), 1, "{address}");
            drop(listener);
            // A child that another test has just forked holds it until it executes its program.
            let gone = (0..5_000).any(|_| {
                listeners(address) == 0 || {
                    thread::sleep(Duration::from_millis(1));
                    false
                }
            });
            assert!(gone, "{address}");
        }
    }
}
