//! Privileges of this process, and the user behind sudo.

use std::{
    env,
    ffi::{CStr, CString, OsStr, OsString},
    fmt, fs, io, iter,
    os::unix::{
        ffi::OsStrExt,
        process::{self, CommandExt},
    },
    path::PathBuf,
    process::Command,
};

use model::Privilege;
use rustix::{
    fs::{Gid, Uid},
    process::{getegid, geteuid},
    thread::{
        CapabilitySet, capabilities, remove_capability_from_bounding_set, set_capabilities, set_thread_groups,
        set_thread_res_gid, set_thread_res_uid,
    },
};

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
    /// IDs of all groups of the user.
    groups: Vec<Gid>,
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
///
/// # Errors
/// The variables of sudo say no user of this machine. Root's rights do not take the place of those of an unknown user.
pub fn sudo_user() -> Result<Option<User>> {
    // In a user namespace that a user without root's rights made, there is that user alone.
    let is_alone = || fs::read_to_string("/proc/self/setgroups").is_ok_and(|setting| setting.trim() == "deny");
    if !geteuid().is_root() || is_alone() { Ok(None) } else { caller(|name| env::var_os(name)) }
}

/// The user that variables of sudo say by number. Name, groups and home are those of the user database.
fn caller(variable: impl Fn(&str) -> Option<OsString>) -> Result<Option<User>> {
    let number = |name: &str| variable(name).map(|value| number(name, &value)).transpose();
    let Some(uid) = number("SUDO_UID")?.filter(|uid| *uid != 0) else { return Ok(None) };
    let found = entry(uid).on("getpwuid_r", format_args!("user {uid}"))?;
    let Some(Entry { login, gid, home }) = found else {
        return refused("SUDO_UID", format_args!("{uid} is no user of this machine"), AS_ROOT);
    };
    let groups = groups(&login, gid);
    let name = login.to_string_lossy().into_owned();
    match number("SUDO_GID")? {
        Some(other) if !groups.contains(&Gid::from_raw(other)) => refused(
            "SUDO_GID",
            format_args!("{other} is no group of user {name}"),
            "unset it to have the user's own group",
        ),
        gid_of_sudo => Ok(Some(User { name, uid, gid: gid_of_sudo.unwrap_or(gid), groups, home })),
    }
}

fn number(name: &str, value: &OsStr) -> Result<u32> {
    let digits = value.to_str().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    // The largest number stands for none (setfsuid(2)).
    let number = digits.and_then(|text| text.parse().ok()).filter(|number| *number != u32::MAX);
    number.map_or_else(|| refused(name, format_args!("{value:?} is no number of a user or group"), AS_ROOT), Ok)
}

/// Advice for a caller that is root without a user of sudo.
const AS_ROOT: &str = "unset SUDO_UID and SUDO_GID to act as root itself";

fn refused<T>(variable: &str, why: fmt::Arguments<'_>, advice: &str) -> Result<T> {
    Err(invalid(&format!("{why}; {advice}"))).on("getenv", variable)
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
    let Some(user) = sudo_user()? else { return Ok(()) };
    // Root's groups reach files of root.
    set_thread_groups(&user.groups).on("setgroups", format_args!("user {}", user.name))?;
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

/// Rights that no measurement and no bed needs: files' capabilities and flags, clocks, devices, audit, the machine itself.
const UNUSED: [CapabilitySet; 14] = [
    CapabilitySet::AUDIT_CONTROL,
    CapabilitySet::AUDIT_READ,
    CapabilitySet::AUDIT_WRITE,
    CapabilitySet::BLOCK_SUSPEND,
    CapabilitySet::LEASE,
    CapabilitySet::LINUX_IMMUTABLE,
    CapabilitySet::MAC_ADMIN,
    CapabilitySet::MAC_OVERRIDE,
    CapabilitySet::MKNOD,
    CapabilitySet::SETFCAP,
    CapabilitySet::SYS_BOOT,
    CapabilitySet::SYS_RAWIO,
    CapabilitySet::SYS_TIME,
    CapabilitySet::WAKE_ALARM,
];

/// Gives up what an agent never needs, for good, and for the programs that it starts.
///
/// Call it while the process has one thread: others would keep theirs.
pub fn give_up_unused() -> Result<()> {
    let mut sets = capabilities(None).on("capget", "this process")?;
    let may_bound = sets.permitted.contains(CapabilitySet::SETPCAP);
    for right in UNUSED {
        if may_bound {
            remove_capability_from_bounding_set(right).on("prctl(PR_CAPBSET_DROP)", "this process")?;
        }
        sets.permitted -= right;
        sets.effective -= right;
        sets.inheritable -= right;
    }
    set_capabilities(None, sets).on("capset", "this process")
}

/// Has a program run as the user of sudo, with that user's groups alone. No effect without sudo. For an unknown user it does
/// not start.
pub fn run_as_sudo_user(command: &mut Command) {
    let user = match sudo_user() {
        Ok(Some(user)) => user,
        Ok(None) => return,
        Err(_) => {
            // SAFETY: the closure makes no call and does not allocate.
            unsafe { command.pre_exec(|| Err(io::Error::from_raw_os_error(libc::EPERM))) };
            return;
        }
    };
    let (uid, gid) = (Uid::from_raw(user.uid), Gid::from_raw(user.gid));
    let change = move || -> io::Result<()> {
        set_thread_groups(&user.groups)?;
        set_thread_res_gid(gid, gid, gid)?;
        Ok(set_thread_res_uid(uid, uid, uid)?)
    };
    // SAFETY: the closure makes three system calls, which is allowed between fork and exec, and does not allocate.
    unsafe { command.pre_exec(change) };
}

/// A user's entry in the user database.
struct Entry {
    login: CString,
    gid: u32,
    home: PathBuf,
}

/// IDs of a user's groups, from any group database of the system.
fn groups(login: &CStr, gid: u32) -> Vec<Gid> {
    let mut groups = vec![gid; 64];
    loop {
        let room = groups.len() as libc::c_int;
        let mut count = room;
        // SAFETY: the name ends with NUL, and there is room for as many groups as are said.
        let status = unsafe { libc::getgrouplist(login.as_ptr(), gid, groups.as_mut_ptr(), &mut count) };
        // Too little room, and the count says how much it takes.
        if status < 0 && count > room {
            groups.resize(count as usize, gid);
            continue;
        }
        groups.truncate(if status < 0 { 1 } else { count as usize });
        return groups.into_iter().map(Gid::from_raw).collect();
    }
}

/// Login name and home directory of a user, from any user database of the system.
fn entry(uid: u32) -> io::Result<Option<Entry>> {
    let mut buffer = vec![0_u8; 1024];
    loop {
        match entry_within(uid, &mut buffer) {
            Err(error) if error.raw_os_error() == Some(libc::ERANGE) => buffer.resize(buffer.len() * 2, 0),
            found => return found,
        }
    }
}

fn entry_within(uid: u32, buffer: &mut [u8]) -> io::Result<Option<Entry>> {
    // SAFETY: null pointers and zeros are values of all its fields.
    let mut entry: libc::passwd = unsafe { std::mem::zeroed() };
    let mut found = std::ptr::null_mut();
    // SAFETY: entry, buffer (with its length) and result are ours and outlive the call.
    let error = unsafe { libc::getpwuid_r(uid, &mut entry, buffer.as_mut_ptr().cast(), buffer.len(), &mut found) };
    if error != 0 {
        return Err(io::Error::from_raw_os_error(error));
    }
    if found.is_null() || entry.pw_dir.is_null() || entry.pw_name.is_null() {
        return Ok(None);
    }
    // SAFETY: the entry was found, so both are NUL-terminated strings within the buffer.
    let (login, home) = unsafe { (CStr::from_ptr(entry.pw_name), CStr::from_ptr(entry.pw_dir)) };
    let gid = entry.pw_gid;
    Ok(Some(Entry { login: login.to_owned(), gid, home: OsStr::from_bytes(home.to_bytes()).into() }))
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
    fn the_caller_is_a_user_of_this_machine_by_number() {
        let caller = |uid: &str, gid: Option<&str>| {
            caller(|name| match name {
                "SUDO_UID" => Some(uid.into()),
                "SUDO_GID" => gid.map(OsString::from),
                _ => Some("root\n0".into()),
            })
        };
        for gid in [Some("65534"), None] {
            let user = caller("65534", gid).expect("a user").expect("not root");
            assert_eq!((user.name.as_str(), user.uid, user.gid), ("nobody", 65_534, 65_534));
            assert_eq!(user.groups, [Gid::from_raw(65_534)]);
        }
        assert_eq!(caller("0", Some("0")).expect("root itself"), None);
        assert_eq!(super::caller(|_| None).expect("no sudo"), None);
        const NUMBERS: [&str; 11] =
            ["", "0x", "0x10", "-1", "+7", " 7", "7\n", "nobody", "4294967295", "4294967296", "4294967288"];
        for forged in NUMBERS {
            let error = caller(forged, None).expect_err(forged).to_string();
            assert!(error.starts_with("getenv on SUDO_UID: ") && !error.contains('\n'), "{error}");
        }
        for forged in ["0", "0x", "-1"] {
            let error = caller("65534", Some(forged)).expect_err(forged).to_string();
            assert!(error.starts_with("getenv on SUDO_GID: ") && error.contains("unset "), "{error}");
        }
    }

    #[test]
    fn homes_are_looked_up() {
        assert_eq!(entry(0).expect("a database").map(|entry| entry.home), Some(PathBuf::from("/root")));
        assert!(entry(u32::MAX - 7).expect("a database").is_none());
    }

    #[test]
    fn a_user_has_the_groups_that_the_system_knows() {
        let listed = fs::read_to_string("/etc/group").expect("a file");
        let of_root = listed.lines().filter(|line| line.split([':', ',']).skip(3).any(|member| member == "root"));
        let mut expected: Vec<u32> = of_root.map(|line| line.split(':').nth(2).unwrap().parse().unwrap()).collect();
        expected.extend([7]);
        let mut found: Vec<u32> = groups(c"root", 7).into_iter().map(Gid::as_raw).collect();
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected);
        assert_eq!(groups(c"nobody-of-this-name", 7), [Gid::from_raw(7)]);
    }
}
