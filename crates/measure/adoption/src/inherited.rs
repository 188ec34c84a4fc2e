//! Inherited sockets that sibling processes share: the kernel gives a datagram to the first process that asks.
//!
//! A check holds no locks and allocates nothing, as programs send and receive anywhere.
//!
//! rustix makes the system calls: libc's functions of these names are our shims here.

use std::{
    ffi::{CStr, c_int},
    io::Write,
    mem::MaybeUninit,
    sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
};

use rustix::{
    fd::{IntoRawFd, OwnedFd},
    fs::{Mode, OFlags, RawDir, open},
    io::{close, read},
};

use stack::{Same, has_same};

use super::{
    bypass::Bypass,
    process::{self, kind, now},
    table::Kind,
};

/// Limit of recorded ancestors.
const GENERATIONS: usize = 16;
/// Time that a process waits for further forks by its parent.
const YOUNG_MS: u64 = 1000;
/// Interval between checks of shared sockets.
const LOOK_MS: u64 = 1000;
/// Interval if only an ancestor shares the socket: a daemon's parent ends at once, and the check of ancestors costs
/// little.
const SOON_MS: u64 = 1;

/// The number of this process. A child inherits it, as its parent's number.
static OWN: AtomicU32 = AtomicU32::new(0);
/// Processes from which this one was forked since the program started, the latest first; then zeros. Children inherit
/// it.
static ANCESTORS: [AtomicU32; GENERATIONS] = [const { AtomicU32::new(0) }; GENERATIONS];
/// When this process was forked.
static FORKED_AT: AtomicU64 = AtomicU64::new(0);
/// End of the time in which a socket found shared counts as shared; 0: none.
static SHARED_UNTIL: AtomicU64 = AtomicU64::new(0);
/// Whether only ancestors shared it.
static IS_ANCESTORS: AtomicBool = AtomicBool::new(false);
/// Time of the last check of bypassed sockets.
static LOOKED_AT: AtomicU64 = AtomicU64::new(0);
/// Result of that check.
static IS_SHARED: AtomicBool = AtomicBool::new(false);
/// No other process had it then, and none could pass it on.
static IS_ALONE: AtomicBool = AtomicBool::new(false);

/// Other processes with a socket that this process inherited.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum OtherHolders {
    Nobody,
    /// Ancestors: they may fork more, most likely at once.
    Ancestors,
    /// Processes that may receive its datagrams.
    Siblings,
}

/// Call it before the program runs.
pub(super) fn starts() {
    OWN.store(std::process::id(), Ordering::Relaxed);
}

/// Call it first in a child of `fork`.
pub(super) fn begins() {
    let mut number = OWN.swap(std::process::id(), Ordering::Relaxed);
    for place in &ANCESTORS {
        number = place.swap(number, Ordering::Relaxed);
    }
    FORKED_AT.store(now(), Ordering::Relaxed);
    SHARED_UNTIL.store(0, Ordering::Relaxed);
    IS_ANCESTORS.store(false, Ordering::Relaxed);
    IS_SHARED.store(false, Ordering::Relaxed);
    IS_ALONE.store(false, Ordering::Relaxed);
}

/// Whether other processes that may receive its datagrams share the socket.
///
/// These are children of the same parent and, as it may fork more of them, the parent itself while this process is
/// young.
pub(crate) fn is_shared(fd: c_int) -> bool {
    is_inherited(fd) && who_has(fd) == OtherHolders::Siblings
}

/// A recent result still counts.
fn who_has(fd: c_int) -> OtherHolders {
    if !is_time() {
        return OtherHolders::Siblings;
    }
    let is_young = now().saturating_sub(FORKED_AT.load(Ordering::Relaxed)) < YOUNG_MS;
    let is_as_before = is_young && IS_ANCESTORS.load(Ordering::Relaxed) && ancestors_have(fd);
    let found = if is_as_before { OtherHolders::Ancestors } else { others(fd) };
    IS_ANCESTORS.store(found == OtherHolders::Ancestors, Ordering::Relaxed);
    let (others, holds) = match found {
        OtherHolders::Ancestors if is_young => (OtherHolders::Siblings, SOON_MS),
        others => (others, LOOK_MS),
    };
    if others == OtherHolders::Siblings {
        SHARED_UNTIL.store(now() + holds, Ordering::Relaxed);
    }
    others
}

/// Whether this process inherited it.
pub(crate) fn is_inherited(fd: c_int) -> bool {
    ANCESTORS[0].load(Ordering::Relaxed) != 0 && !process::is_made_here(fd)
}

/// Whether the last check that found a shared socket is old enough for another.
pub(super) fn is_time() -> bool {
    now() >= SHARED_UNTIL.load(Ordering::Relaxed)
}

/// Checks once a second whether bypassed sockets have become shared, or no longer are.
///
/// A process that shares one most likely shares all: only one is checked.
pub(super) fn recheck(bypass: &Bypass) {
    if ANCESTORS[0].load(Ordering::Relaxed) == 0
        || IS_ALONE.load(Ordering::Relaxed)
        || now().saturating_sub(LOOKED_AT.load(Ordering::Relaxed)) < LOOK_MS
    {
        return;
    }
    LOOKED_AT.store(now(), Ordering::Relaxed);
    let is_bypassed = |fd: &c_int| matches!(kind(*fd), Some(Kind::Live(_)));
    let Some(fd) = (0..process::used()).find(|fd| is_bypassed(fd) && is_inherited(*fd)) else { return };
    let others = who_has(fd);
    IS_ALONE.store(others == OtherHolders::Nobody, Ordering::Relaxed);
    let is_shared = others == OtherHolders::Siblings;
    if IS_SHARED.swap(is_shared, Ordering::Relaxed) != is_shared {
        bypass.stack.set_inherited(is_shared, is_inherited);
    }
}

/// Without /proc, no process is found.
fn others(fd: c_int) -> OtherHolders {
    let own = std::process::id();
    let of = |pid: u32| match has_same(pid, fd) {
        Same::Yes if is_ancestor(pid) => OtherHolders::Ancestors,
        Same::Yes if is_child(pid, own) => OtherHolders::Nobody,
        Same::Yes => OtherHolders::Siblings,
        // A process that dropped its privileges hides its descriptors; an ancestor is assumed to share the socket.
        Same::Hidden if is_ancestor(pid) => OtherHolders::Ancestors,
        Same::Hidden if parent(pid) == Some(ANCESTORS[0].load(Ordering::Relaxed)) => OtherHolders::Siblings,
        Same::Hidden | Same::No => OtherHolders::Nobody,
    };
    let mut most = OtherHolders::Nobody;
    let Ok(processes) = open(c"/proc", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) else {
        return most;
    };
    let mut room = [MaybeUninit::uninit(); 4096];
    let mut entries = RawDir::new(&processes, &mut room);
    while let Some(Ok(entry)) = entries.next() {
        let pid = entry.file_name().to_str().ok().and_then(|name| name.parse().ok()).filter(|pid| *pid != own);
        most = most.max(pid.map_or(OtherHolders::Nobody, of));
        if most == OtherHolders::Siblings {
            break;
        }
    }
    is_over(processes);
    most
}

/// Closes one of our files with a raw system call.
fn is_over(file: OwnedFd) {
    // SAFETY: the owner gives it up here.
    unsafe { close(file.into_raw_fd()) };
}

/// Whether ancestors still share it.
fn ancestors_have(fd: c_int) -> bool {
    let mut ancestors = ANCESTORS.iter().map(|place| place.load(Ordering::Relaxed)).take_while(|pid| *pid != 0);
    ancestors.any(|pid| has_same(pid, fd) != Same::No)
}

fn is_ancestor(pid: u32) -> bool {
    ANCESTORS.iter().any(|place| place.load(Ordering::Relaxed) == pid)
}

/// Whether it is a descendant of this process.
fn is_child(pid: u32, own: u32) -> bool {
    let mut line = std::iter::successors(parent(pid), |pid| parent(*pid)).take(GENERATIONS);
    line.any(|pid| pid == own)
}

fn parent(pid: u32) -> Option<u32> {
    // "/proc/4294967295/stat", and a NUL.
    let mut path = [0_u8; 22];
    write!(&mut path[..21], "/proc/{pid}/stat").ok()?;
    let path = CStr::from_bytes_until_nul(&path).ok()?;
    let file = open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut stat = [0; 256];
    let read = read(&file, &mut stat);
    is_over(file);
    parent_in(stat.get(..read.ok()?)?)
}

/// The parent in `/proc/PID/stat`: number, name in brackets, state, parent.
fn parent_in(stat: &[u8]) -> Option<u32> {
    let behind = stat.rsplitn(2, |byte| *byte == b')').next().filter(|behind| behind.len() < stat.len())?;
    let word = std::str::from_utf8(behind).ok()?.split_ascii_whitespace().nth(1)?;
    word.parse().ok().filter(|parent| *parent != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_of_a_process_is_read() {
        assert_eq!(parent_in(b"77 (a ) name) S 42 77 0"), Some(42));
        assert_eq!((parent_in(b"1 (init) S 0 1"), parent_in(b"")), (None, None));
        assert_eq!(parent(std::process::id()), Some(std::os::unix::process::parent_id()));
    }

    #[test]
    fn who_was_not_forked_has_inherited_nothing() {
        assert!(!is_inherited(0) && !is_shared(0));
    }
}
