//! Named network namespaces as ip-netns(8) keeps them: files in `/run/netns` on which the namespace is mounted. Where a
//! name is asked for, an empty one stands for the caller's own namespace.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
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
    link_message, process,
    socket::namespace_cookie,
};

const DIRECTORY: &str = "/run/netns";
const OWN: &str = "/proc/thread-self/ns/net";
/// `BPF_FS_MAGIC` of linux/magic.h.
const BPF_FS: u32 = 0xcafe_4a11;

/// A network namespace that has no name yet, and vanishes with this value unless it gets one.
pub struct Unnamed {
    file: File,
    identity: u64,
}

impl Unnamed {
    /// Makes a namespace; the caller stays in its own.
    pub fn new() -> Result<Self> {
        in_thread(|| {
            // SAFETY: only this short-lived thread changes its namespace, and it shares no state with others that
            // depends on it.
            unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) }.on("unshare", "network namespace")?;
            Ok(Self { file: File::open(OWN).on("open", OWN)?, identity: own_identity()? })
        })?
    }

    /// What [`identity`] will say of it.
    pub fn identity(&self) -> u64 {
        self.identity
    }

    /// Gives it a name, under which it stays until [`delete`]. The name must be free.
    pub fn publish(self, name: &str) -> Result<()> {
        let path = path(name)?;
        share_directory()?;
        let what = format_args!("namespace {name}");
        OpenOptions::new().write(true).create_new(true).mode(0o000).open(&path).on("open", what)?;
        let source = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        mount_bind(source, &path).on("mount", what).inspect_err(|_| {
            // The error that is returned says more than one about the empty file would.
            let _ = fs::remove_file(&path);
        })
    }
}

/// Makes a namespace of this name, which must be free; the caller stays in its own.
pub fn create(name: &str) -> Result<()> {
    Unnamed::new()?.publish(name)
}

/// Takes the name away; the namespace itself ends with the last process in it.
pub fn delete(name: &str) -> Result<()> {
    let path = path(name)?;
    match unmount(&path, UnmountFlags::DETACH) {
        // Nothing is mounted: whoever made it was killed half-way.
        Ok(()) | Err(Errno::INVAL) => fs::remove_file(&path).on("unlink", format_args!("namespace {name}")),
        Err(error) => Err(error).on("umount", format_args!("namespace {name}")),
    }
}

/// Whether there is a namespace of this name.
pub fn exists(name: &str) -> bool {
    path(name).is_ok_and(|path| path.exists())
}

/// Names of all namespaces that have one, sorted.
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

/// Ends the processes that are in the namespace, the caller left out.
pub fn end_processes_in(name: &str) -> Result<()> {
    let namespace = open(name)?;
    let others = |pid: u32| pid != std::process::id() && is_in(pid, &namespace);
    process::end(&processes_in(name)?, others)
}

/// Whether the main thread of a process is in the namespace. One that has ended meanwhile, or is somebody else's, is not.
fn is_in(pid: u32, namespace: &File) -> bool {
    let number = |namespace: fs::Metadata| (namespace.dev(), namespace.ino());
    let theirs = fs::metadata(format!("/proc/{pid}/ns/net")).map(number);
    theirs.is_ok_and(|theirs| namespace.metadata().map(number).is_ok_and(|this| this == theirs))
}

/// A number that tells this namespace from any other of this boot, also from later ones of the same name (its inode
/// does not: the kernel gives inodes out again). `SO_NETNS_COOKIE`, since Linux 5.14. `None` where the name stands for
/// no namespace, because who made it was killed half-way.
pub fn identity(name: &str) -> Result<Option<u64>> {
    match within(name, own_identity) {
        Err(error) if error.errno() == Some(Errno::INVAL.raw_os_error()) => Ok(None),
        identity => identity?.map(Some),
    }
}

/// What [`identity`] says of the namespace of the calling thread.
pub fn own_identity() -> Result<u64> {
    UnixDatagram::unbound()
        .and_then(|socket| namespace_cookie(&socket))
        .on("getsockopt(SO_NETNS_COOKIE)", "network namespace")
}

/// The name of the calling thread's namespace; empty where it has none, by which it is its own still.
pub fn own_name() -> Result<String> {
    let own = fs::metadata(OWN).on("stat", OWN)?;
    let is_own = |name: &String| {
        let named = path(name).and_then(|path| fs::metadata(path).on("stat", name));
        named.is_ok_and(|named| (named.dev(), named.ino()) == (own.dev(), own.ino()))
    };
    Ok(list()?.into_iter().find(is_own).unwrap_or_default())
}

/// Runs `f` in a short-lived thread that is in the namespace; mounts stay the caller's.
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

/// Moves the calling thread, which must be the only one of its process, into the namespace for good, with a `/sys` that
/// shows the namespace's own interfaces. Meant for just before `exec`.
pub fn enter(name: &str) -> Result<()> {
    join(&open(name)?, name)?;
    // SAFETY: the calling thread is the only one, so that nobody else's view of files changes.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) }.on("unshare", "mount namespace")?;
    mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC).on("mount", "/")?;
    remount_sys(name)
}

/// Gives the calling thread, and the programs that it starts from now on, a network, mounts and System V IPC of their own, with the
/// loopback interface up. What is changed there shows nowhere else and ends with the last of these programs; all of them can be told
/// by their IPC namespace, which stays the same when they enter others. Whole-program tests stand on such ground. Needs root.
pub fn isolate_thread() -> Result<()> {
    let all = UnshareFlags::NEWNET | UnshareFlags::NEWNS | UnshareFlags::NEWIPC;
    // SAFETY: open files stay shared with the other threads, and all else that is given up concerns this thread alone.
    unsafe { rustix::thread::unshare_unsafe(all) }.on("unshare", "network, mounts and IPC")?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).on("mount", "/")?;
    remount_sys("isolated")?;
    link_message::switch("lo", true).on("RTM_SETLINK", "interface lo")
}

/// Mounts sysfs anew, over the one that shows the interfaces of the namespace we came from (which cannot be unmounted in a
/// user namespace), and puts the BPF file system that was mounted in it back into place.
fn remount_sys(name: &str) -> Result<()> {
    const BPF: &str = "/sys/fs/bpf";
    let is_bpf = statfs(BPF).is_ok_and(|mounted| mounted.f_type as u32 == BPF_FS);
    let bpf = if is_bpf { Some(File::open(BPF).on("open", BPF)?) } else { None };
    // In a user namespace the kernel allows no fewer restrictions than the mount has that is there (mount_too_revealing).
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

/// Runs `f` in a thread of its own, so that what it does to its namespace ends with it.
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

/// Makes the directory a shared mount, as `ip netns add` does, so that names come and go in all mount namespaces at once.
fn share_directory() -> Result<()> {
    DirBuilder::new().recursive(true).mode(0o755).create(DIRECTORY).on("mkdir", DIRECTORY)?;
    // `ip netns add` takes the same lock: two at once would mount it twice.
    let directory = File::open(DIRECTORY).on("open", DIRECTORY)?;
    directory.lock().on("flock", DIRECTORY)?;
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

#[cfg(test)]
mod tests {
    use super::*;

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
