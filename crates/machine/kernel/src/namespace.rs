//! Named network namespaces as in ip-netns(8): files in `/run/netns` on which the namespace is mounted.
//!
//! An empty name means the caller's own namespace.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io,
    os::{
        fd::{AsFd, AsRawFd},
        unix::{
            fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
            net::UnixDatagram,
        },
    },
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use netlink_packet_route::{
    RouteNetlinkMessage,
    nsid::{NsidAttribute, NsidMessage},
};
use rustix::{
    fs::{StatVfsMountFlags, statfs, statvfs},
    io::Errno,
    mount::{
        MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind, mount_bind_recursive, mount_change, unmount,
    },
    thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space},
};

use crate::{
    error::{On, Result, invalid},
    link_message,
    netlink::request,
    process,
    socket::namespace_cookie,
};

const DIRECTORY: &str = "/run/netns";
const OWN: &str = "/proc/thread-self/ns/net";

/// Time for another process to release the lock of the directory, and the interval of the attempts.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(10);
/// `BPF_FS_MAGIC` of linux/magic.h.
const BPF_FS: u32 = 0xcafe_4a11;

/// An unnamed network namespace, which ends with this value unless it gets a name.
pub struct Unnamed {
    file: File,
    identity: u64,
}

impl Unnamed {
    /// Creates a namespace; the caller stays in its own.
    pub fn new() -> Result<Self> {
        in_thread(|| {
            // SAFETY: only this short-lived thread changes its namespace, and it shares no state with others that
            // depends on it.
            unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) }.on("unshare", "network namespace")?;
            Ok(Self { file: File::open(OWN).on("open", OWN)?, identity: own_identity()? })
        })?
    }

    /// [`identity`].
    pub fn identity(&self) -> u64 {
        self.identity
    }

    /// Gives it a name, which must be unused. It stays until [`delete`].
    pub fn publish(self, name: &str) -> Result<()> {
        let path = path(name)?;
        share_directory()?;
        let what = format_args!("namespace {name}");
        OpenOptions::new().write(true).create_new(true).mode(0o000).open(&path).on("open", what)?;
        let source = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        mount_bind(source, &path).on("mount", what).inspect_err(|_| {
            // The returned error says more than one about the empty file would.
            let _ = fs::remove_file(&path);
        })
    }
}

/// Creates a namespace with this name, which must be unused; the caller stays in its own.
pub fn create(name: &str) -> Result<()> {
    Unnamed::new()?.publish(name)
}

/// Removes the name; the namespace itself ends with its last process.
pub fn delete(name: &str) -> Result<()> {
    let path = path(name)?;
    match unmount(&path, UnmountFlags::DETACH) {
        // Nothing is mounted: its creator was killed half-way.
        Ok(()) | Err(Errno::INVAL) => fs::remove_file(&path).on("unlink", format_args!("namespace {name}")),
        Err(error) => Err(error).on("umount", format_args!("namespace {name}")),
    }
}

/// Whether there is a namespace of this name.
pub fn exists(name: &str) -> bool {
    path(name).is_ok_and(|path| path.exists())
}

/// Names of all named namespaces, sorted.
pub fn list() -> Result<Vec<String>> {
    let entries = match fs::read_dir(DIRECTORY) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.on("read", DIRECTORY)?,
    };
    let names: io::Result<Vec<String>> =
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect();
    let mut names = names.on("read", DIRECTORY)?;
    names.sort();
    Ok(names)
}

/// Processes whose main thread is in the namespace.
pub fn processes_in(name: &str) -> Result<Vec<u32>> {
    let namespace = open(name)?;
    let entries = fs::read_dir("/proc").on("read", "/proc")?;
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    Ok(pids.filter(|pid| is_in(*pid, &namespace)).collect())
}

/// Ends the processes in the namespace, except the caller.
pub fn end_processes_in(name: &str) -> Result<()> {
    let namespace = open(name)?;
    let others = |pid: u32| pid != std::process::id() && is_in(pid, &namespace);
    process::end(&processes_in(name)?, others)
}

/// Whether the main thread of a process is in the namespace; false if it has ended or is inaccessible.
fn is_in(pid: u32, namespace: &File) -> bool {
    let number = |namespace: fs::Metadata| (namespace.dev(), namespace.ino());
    let theirs = fs::metadata(format!("/proc/{pid}/ns/net")).map(number);
    theirs.is_ok_and(|theirs| namespace.metadata().map(number).is_ok_and(|this| this == theirs))
}

/// Unique number of a namespace in this boot (`SO_NETNS_COOKIE`, Linux 5.14); inode numbers are reused.
///
/// `None` if the name has no namespace because its creator was killed half-way.
pub fn identity(name: &str) -> Result<Option<u64>> {
    match within(name, own_identity) {
        Err(error) if error.errno() == Some(Errno::INVAL.raw_os_error()) => Ok(None),
        identity => identity?.map(Some),
    }
}

/// The [`identity`] of the calling thread's namespace.
pub fn own_identity() -> Result<u64> {
    UnixDatagram::unbound()
        .and_then(|socket| namespace_cookie(&socket))
        .on("getsockopt(SO_NETNS_COOKIE)", "network namespace")
}

/// Whether the calling thread has the namespace of the machine's first process.
pub fn is_machines_own() -> bool {
    let of = |process: &str| fs::read_link(format!("/proc/{process}/ns/net")).ok();
    of("thread-self").is_some_and(|own| of("1") == Some(own))
}

/// Number by which the calling thread's namespace knows a namespace; `None` if they have no interfaces that belong together.
pub fn number(name: &str) -> Result<Option<i32>> {
    let namespace = open(name)?;
    let mut question = NsidMessage::default();
    question.attributes.push(NsidAttribute::Fd(namespace.as_raw_fd().cast_unsigned()));
    let answers = request(RouteNetlinkMessage::GetNsId(question), 0);
    let answers = answers.on("RTM_GETNSID", format_args!("namespace {name}"))?;
    Ok(answers.into_iter().find_map(|answer| match answer {
        RouteNetlinkMessage::NewNsId(message) => message.attributes.iter().find_map(|attribute| match attribute {
            NsidAttribute::Id(number) => Some(*number).filter(|number| *number >= 0),
            _ => None,
        }),
        _ => None,
    }))
}

/// Whether a BPF file system is mounted at this path.
pub fn is_bpf(path: &str) -> bool {
    statfs(path).is_ok_and(|mounted| mounted.f_type as u32 == BPF_FS)
}

/// Name of the calling thread's namespace; empty if it has none.
pub fn own_name() -> Result<String> {
    let own = fs::metadata(OWN).on("stat", OWN)?;
    let is_own = |name: &String| {
        let named = path(name).and_then(|path| fs::metadata(path).on("stat", name));
        named.is_ok_and(|named| (named.dev(), named.ino()) == (own.dev(), own.ino()))
    };
    Ok(list()?.into_iter().find(is_own).unwrap_or_default())
}

/// Runs `f` in a short-lived thread in the namespace, with the caller's mounts.
pub fn within<T: Send>(name: &str, f: impl FnOnce() -> T + Send) -> Result<T> {
    if name.is_empty() {
        return Ok(f());
    }
    let namespace = open(name)?;
    in_thread(|| {
        join(&namespace, name)?;
        Ok(f())
    })?
}

/// Moves the calling thread into the namespace for good, with a `/sys` that shows its interfaces.
///
/// The process must be single-threaded. Meant for just before `exec`.
pub fn enter(name: &str) -> Result<()> {
    join(&open(name)?, name)?;
    // SAFETY: the process has one thread, so no other thread's view of files changes.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) }.on("unshare", "mount namespace")?;
    mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC).on("mount", "/")?;
    remount_sys(name)
}

/// Gives the calling thread, and programs that it starts, a network, mounts and System V IPC of their own, with
/// loopback up.
///
/// Changes are invisible elsewhere, and end with the last of these programs. Their IPC namespace identifies them all,
/// as entering network namespaces does not change it. For tests of the whole program. Needs root.
pub fn isolate_thread() -> Result<()> {
    let all = UnshareFlags::NEWNET | UnshareFlags::NEWNS | UnshareFlags::NEWIPC;
    // SAFETY: open files stay shared with the other threads; everything else concerns this thread only.
    unsafe { rustix::thread::unshare_unsafe(all) }.on("unshare", "network, mounts and IPC")?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).on("mount", "/")?;
    remount_sys("isolated")?;
    link_message::switch("lo", true).on("RTM_SETLINK", "interface lo")
}

/// Mounts sysfs over the previous one, which shows another namespace's interfaces. In a user namespace, that one cannot
/// be unmounted. The BPF file system below it is moved.
fn remount_sys(name: &str) -> Result<()> {
    const BPF: &str = "/sys/fs/bpf";
    let bpf = if is_bpf(BPF) { Some(File::open(BPF).on("open", BPF)?) } else { None };
    // In a user namespace, a new mount needs at least the flags of the existing one (mount_too_revealing).
    let flags = mount_flags(statvfs("/sys").on("statvfs", "/sys")?.f_flag);
    mount(name, "/sys", "sysfs", flags, None).on("mount", "/sys")?;
    bpf.map_or(Ok(()), |bpf| mount_bind(format!("/proc/self/fd/{}", bpf.as_raw_fd()), BPF).on("mount", BPF))
}

fn mount_flags(flags: StatVfsMountFlags) -> MountFlags {
    [
        (StatVfsMountFlags::RDONLY, MountFlags::RDONLY),
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
        (StatVfsMountFlags::NOATIME, MountFlags::NOATIME),
        (StatVfsMountFlags::RELATIME, MountFlags::RELATIME),
    ]
    .into_iter()
    .filter(|(is_set, _)| flags.contains(*is_set))
    .fold(MountFlags::empty(), |all, (_, flag)| all | flag)
}

/// The namespace as an open file, which keeps it alive.
pub(crate) fn open(name: &str) -> Result<File> {
    if name.is_empty() {
        return File::open(OWN).on("open", OWN);
    }
    File::open(path(name)?).on("open", format_args!("namespace {name}"))
}

/// The calling thread's own namespace as an open file.
pub(crate) fn open_own() -> Result<File> {
    File::open(OWN).on("open", OWN)
}

fn join(namespace: &File, name: &str) -> Result<()> {
    move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))
        .on("setns", format_args!("namespace {name}"))
}

/// Runs `f` in its own thread, so that changes of its namespace end with it.
fn in_thread<T: Send>(f: impl FnOnce() -> T + Send) -> Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, f).on("clone", "a thread")?;
        Ok(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

fn path(name: &str) -> Result<PathBuf> {
    let fits = !matches!(name, "" | "." | "..") && !name.contains('/') && name.len() <= 255;
    let checked = if fits { Ok(Path::new(DIRECTORY).join(name)) } else { Err(invalid("not a name for a namespace")) };
    checked.on("check", format_args!("namespace name \"{name}\""))
}

/// Makes the directory a shared mount, as `ip netns add` does, so that names appear in all mount namespaces at once.
fn share_directory() -> Result<()> {
    DirBuilder::new().recursive(true).mode(0o755).create(DIRECTORY).on("mkdir", DIRECTORY)?;
    // `ip netns add` takes the same lock: otherwise, both could mount it.
    let _turn = lock_directory()?;
    let shared = MountPropagationFlags::SHARED | MountPropagationFlags::REC;
    match mount_change(DIRECTORY, shared) {
        // Not a mount yet.
        Err(Errno::INVAL) => {
            mount_bind_recursive(DIRECTORY, DIRECTORY).on("mount", DIRECTORY)?;
            mount_change(DIRECTORY, shared).on("mount", DIRECTORY)
        }
        result => result.on("mount", DIRECTORY),
    }
}

/// Locks the directory, as `ip netns add` does, until the file is dropped.
pub(crate) fn lock_directory() -> Result<File> {
    locked(Path::new(DIRECTORY), PATIENCE)
}

/// Locks a directory. Any user who can read it can hold its lock, so that the wait has an end.
fn locked(directory: &Path, patience: Duration) -> Result<File> {
    let file = File::open(directory).on("open", directory.display())?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if begun.elapsed() < patience => thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => {
                let why = "another process keeps it locked; end the one that \"lslocks\" shows, and try again";
                return Err(io::Error::new(io::ErrorKind::TimedOut, why)).on("flock", directory.display());
            }
            Err(TryLockError::Error(error)) => return Err(error).on("flock", directory.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_somebody_keeps_is_waited_for_a_while() {
        let directory = std::env::temp_dir().join(format!("wireproof-names-{}", std::process::id()));
        fs::create_dir(&directory).expect("writable");
        let theirs = File::open(&directory).expect("readable");
        theirs.lock().expect("free");
        let error = locked(&directory, Duration::from_millis(50)).expect_err("it is held").to_string();
        let says = format!("flock on {}: another process keeps it locked", directory.display());
        assert!(error.starts_with(&says), "{error}");
        theirs.unlock().expect("ours");
        locked(&directory, PATIENCE).expect("free");
        fs::remove_dir(&directory).expect("ours");
    }

    #[test]
    fn names_cannot_leave_the_directory() {
        for name in ["", ".", "..", "a/b", "../x"] {
            assert!(path(name).is_err(), "{name}");
            assert!(!exists(name), "{name}");
        }
        assert_eq!(path("wp1f-a").expect("a name"), Path::new("/run/netns/wp1f-a"));
    }

    #[test]
    fn a_missing_namespace_is_named() {
        let error = within("wptest-none", || ()).expect_err("there is none").to_string();
        assert_eq!(error, "open on namespace wptest-none: No such file or directory (os error 2)");
    }
}
