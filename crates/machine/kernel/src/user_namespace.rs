//! Root without privileges: a user namespace of our own (user_namespaces(7)).

use std::{
    fs::{self, File},
    io,
    os::fd::AsRawFd,
};

use rustix::{
    mount::{MountFlags, MountPropagationFlags, mount, mount_bind_recursive, mount_change},
    process::{getgid, getuid},
    thread::UnshareFlags,
};

use crate::{
    error::{On, Result},
    link_message,
};

/// Directory of users' session files, which may be named for a report.
const USERS: &str = "/run/user";

/// Makes this process, which must be single-threaded, root in user, mount and network namespaces of its own. `/run` is
/// empty there except `/run/user`, so that namespaces can be named; the loopback interface is up.
pub fn become_root() -> Result<()> {
    let (uid, gid) = (getuid().as_raw(), getgid().as_raw());
    let all = UnshareFlags::NEWUSER | UnshareFlags::NEWNS | UnshareFlags::NEWNET;
    // SAFETY: the process has one thread, so no other thread's view changes; the kernel refuses otherwise.
    unsafe { rustix::thread::unshare_unsafe(all) }.on("unshare", "user namespace")?;
    // The kernel requires this before an unprivileged process maps its group (CVE-2014-8989).
    write("/proc/self/setgroups", "deny")?;
    write("/proc/self/uid_map", &format!("0 {uid} 1"))?;
    write("/proc/self/gid_map", &format!("0 {gid} 1"))?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).on("mount", "/")?;
    let mode = MountFlags::NOSUID | MountFlags::NODEV;
    let users = File::open(USERS).ok();
    mount("tmpfs", "/run", "tmpfs", mode, Some(c"mode=0755")).on("mount", "/run")?;
    if let Some(users) = users {
        fs::create_dir(USERS).on("mkdir", USERS)?;
        mount_bind_recursive(format!("/proc/self/fd/{}", users.as_raw_fd()), USERS).on("mount", USERS)?;
    }
    fs::create_dir("/run/netns").on("mkdir", "/run/netns")?;
    link_message::switch("lo", true).on("RTM_SETLINK", "interface lo")
}

fn write(path: &str, text: &str) -> Result<()> {
    fs::write(path, text).on("write", path)
}

/// Whether [`become_root`] would work: tried in a child process. If not, the reason, as far as the kernel's settings
/// tell.
pub fn allowed() -> std::result::Result<(), String> {
    try_in_child().map_err(|error| {
        let settings = SETTINGS.iter().filter(|(path, forbidding, _)| is(path, forbidding));
        let reason = settings.map(|(_, _, reason)| (*reason).to_owned()).next();
        reason.unwrap_or_else(|| format!("the kernel refuses a user namespace: {error}"))
    })
}

/// Settings that forbid user namespaces: key, forbidding value, and message.
const SETTINGS: [(&str, &str, &str); 3] = [
    (
        "/proc/sys/kernel/unprivileged_userns_clone",
        "0",
        "user namespaces are for root only here (sysctl kernel.unprivileged_userns_clone is 0)",
    ),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "AppArmor restricts user namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns is 1)",
    ),
    (
        "/proc/sys/user/max_user_namespaces",
        "0",
        "no user namespaces are allowed here (sysctl user.max_user_namespaces is 0)",
    ),
];

fn is(path: &str, value: &str) -> bool {
    fs::read_to_string(path).is_ok_and(|text| text.trim() == value)
}

fn try_in_child() -> io::Result<()> {
    // SAFETY: the child calls only functions that are safe after fork in a multi-threaded process (signal-safety(7)),
    // and ends by _exit.
    let child = unsafe { libc::fork() };
    match child {
        0 => try_and_exit(),
        -1 => Err(io::Error::last_os_error()),
        child => outcome(child),
    }
}

fn try_and_exit() -> ! {
    let flags = libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWNET;
    // SAFETY: plain system calls with constant arguments. The mount is tried too, because AppArmor on Ubuntu allows
    // user namespaces without privileges in them.
    unsafe {
        let failed = libc::unshare(flags) != 0
            || libc::mount(
                std::ptr::null(),
                c"/".as_ptr(),
                std::ptr::null(),
                libc::MS_REC | libc::MS_PRIVATE,
                std::ptr::null(),
            ) != 0;
        libc::_exit(if failed { *libc::__errno_location() } else { 0 })
    }
}

/// The child's exit status is its errno; zero is success.
fn outcome(child: libc::pid_t) -> io::Result<()> {
    let mut status = 0;
    // SAFETY: the child is ours, and the status outlives the call.
    while unsafe { libc::waitpid(child, &mut status, 0) } < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    match (libc::WIFEXITED(status), libc::WEXITSTATUS(status)) {
        (true, 0) => Ok(()),
        (true, errno) => Err(io::Error::from_raw_os_error(errno)),
        (false, _) => Err(io::Error::other("the process that tried it was killed")),
    }
}
