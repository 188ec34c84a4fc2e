//! Privileges of this process, and the user behind sudo.

use std::{
    env,
    ffi::{CStr, OsStr, OsString},
    fs, io, iter,
    os::unix::{ffi::OsStrExt, process},
    path::PathBuf,
};

use model::Privilege;
use rustix::process::{getegid, geteuid};

use crate::{
    error::{On, Result, invalid},
    process::parent,
};

/// A user of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Login name.
    pub name: String,
    /// User ID.
    pub uid: u32,
    /// ID of the user's primary group.
    pub gid: u32,
    /// Home directory.
    pub home: PathBuf,
}

/// Privileges of this process.
pub fn current() -> Privilege {
    // Unreadable only without /proc, and then nothing else works either.
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    of(geteuid().as_raw(), &map)
}

/// The initial user namespace maps all user IDs onto themselves (user_namespaces(7)).
fn of(uid: u32, uid_map: &str) -> Privilege {
    match uid {
        0 if uid_map.split_whitespace().eq(["0", "0", "4294967295"]) => Privilege::Root,
        0 => Privilege::UserNamespace,
        _ => Privilege::User,
    }
}

/// Effective user and group of this process.
pub fn effective() -> (u32, u32) {
    (geteuid().as_raw(), getegid().as_raw())
}

/// The user of sudo, if this process is root by sudo.
pub fn sudo_user() -> Option<User> {
    let number = |name| env::var(name).ok()?.parse().ok();
    let (uid, gid) = (number("SUDO_UID")?, number("SUDO_GID")?);
    let name = env::var("SUDO_USER").ok()?;
    (geteuid().is_root() && uid != 0).then_some(())?;
    Some(User { name, uid, gid, home: home(uid)? })
}

/// An environment variable that sudo does not pass on: ours, or that of the nearest ancestor that has it.
pub fn callers_variable(name: &str) -> Option<OsString> {
    let above = iter::successors(Some(process::parent_id()), |pid| parent(*pid)).take(MOST_ABOVE);
    env::var_os(name).or_else(|| above.into_iter().find_map(|pid| variable_of(pid, name)))
}

/// Ancestors that may have changed the environment: shells, sudo, a terminal multiplexer.
const MOST_ABOVE: usize = 16;

fn variable_of(pid: u32, name: &str) -> Option<OsString> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let mut variables = environment.split(|byte| *byte == 0);
    let value = variables.find_map(|variable| variable.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    Some(OsStr::from_bytes(value).to_owned())
}

/// Lets this thread, and those it starts, access files as the user of sudo: new files belong to that user, and that
/// user's symbolic links grant no further access. Executed programs are root again. No effect without sudo.
pub fn reach_files_as_sudo_user() -> Result<()> {
    let Some(user) = sudo_user() else { return Ok(()) };
    // SAFETY: plain system calls of this thread only; the group comes first, because afterwards it cannot be changed.
    let (reached_gid, reached_uid) = unsafe {
        libc::setfsgid(user.gid);
        libc::setfsuid(user.uid);
        // They return the previous ID: an invalid one changes nothing (setfsuid(2)).
        (libc::setfsgid(u32::MAX), libc::setfsuid(u32::MAX))
    };
    let reached = reached_uid as u32 == user.uid && reached_gid as u32 == user.gid;
    if reached { Ok(()) } else { Err(invalid("the kernel refused")) }.on("setfsuid", format_args!("user {}", user.name))
}

/// Home directory of a user, from any user database of the system.
fn home(uid: u32) -> Option<PathBuf> {
    let mut buffer = vec![0_u8; 1024];
    loop {
        match home_within(uid, &mut buffer) {
            Err(error) if error.raw_os_error() == Some(libc::ERANGE) => buffer.resize(buffer.len() * 2, 0),
            found => return found.ok().flatten(),
        }
    }
}

fn home_within(uid: u32, buffer: &mut [u8]) -> io::Result<Option<PathBuf>> {
    // SAFETY: null pointers and zeros are values of all its fields.
    let mut entry: libc::passwd = unsafe { std::mem::zeroed() };
    let mut found = std::ptr::null_mut();
    // SAFETY: entry, buffer (with its length) and result are ours and outlive the call.
    let error = unsafe { libc::getpwuid_r(uid, &mut entry, buffer.as_mut_ptr().cast(), buffer.len(), &mut found) };
    if error != 0 {
        return Err(io::Error::from_raw_os_error(error));
    }
    if found.is_null() || entry.pw_dir.is_null() {
        return Ok(None);
    }
    // SAFETY: the entry was found, so its directory is a NUL-terminated string within the buffer.
    let home = unsafe { CStr::from_ptr(entry.pw_dir) };
    Ok(Some(OsStr::from_bytes(home.to_bytes()).into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_in_a_user_namespace_is_not_root() {
        assert_eq!(of(0, "         0          0 4294967295\n"), Privilege::Root);
        assert_eq!(of(0, "         0       1000          1\n"), Privilege::UserNamespace);
        assert_eq!(of(1000, "         0          0 4294967295\n"), Privilege::User);
    }

    #[test]
    fn a_variable_is_found_in_a_program_above() {
        let own = std::process::id();
        let path = variable_of(own, "PATH").expect("cargo has one");
        assert_eq!(Some(path), env::var_os("PATH"));
        assert_eq!(variable_of(own, "PAT"), None);
        assert_eq!(parent(own), Some(process::parent_id()));
        assert_eq!(callers_variable("WIREPROOF_NO_SUCH_VARIABLE"), None);
    }

    #[test]
    fn homes_are_looked_up() {
        assert_eq!(home(0), Some(PathBuf::from("/root")));
        assert_eq!(home(u32::MAX - 7), None);
    }
}
