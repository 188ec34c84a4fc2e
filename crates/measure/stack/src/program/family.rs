//! Sockets that a process has from the one that it was forked from, and that others which were forked from that have too: the kernel gives what
//! comes to whoever of them asks.

use std::{
    ffi::c_int,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
};

use super::{claim::now, process};
use crate::calls::{self, Same};

/// Generations that are known by their numbers.
const GENERATIONS: usize = 16;
/// How long a process waits whether more are forked after it.
const YOUNG_MS: u64 = 1000;
/// Between two looks at sockets that others have too.
const LOOK_MS: u64 = 1000;

/// Which processes this one was forked from one after the other since the program was started, the last one first; zeros after them. Children
/// inherit it.
static ANCESTORS: [AtomicU32; GENERATIONS] = [const { AtomicU32::new(0) }; GENERATIONS];
/// When this process was forked.
static FORKED_AT: AtomicU64 = AtomicU64::new(0);
/// When a socket was last found to be shared; 0 for never.
static SHARED_AT: AtomicU64 = AtomicU64::new(0);

/// To be called in a child of `fork`, before anything else of it.
pub(super) fn begins() {
    // SAFETY: it takes nothing.
    let mut number = unsafe { super::call::raw(libc::SYS_getppid, []) } as u32;
    for place in &ANCESTORS {
        number = place.swap(number, Ordering::Relaxed);
    }
    FORKED_AT.store(now(), Ordering::Relaxed);
    SHARED_AT.store(0, Ordering::Relaxed);
}

/// Whether it is a socket that others have too, which may ask for what comes to it: who was forked from the same process, and, as it may fork more
/// of them, that process as long as this one is young.
pub(crate) fn is_shared(fd: c_int) -> bool {
    let is_shared = is_inherited(fd) && others_have(fd);
    if is_shared {
        SHARED_AT.store(now(), Ordering::Relaxed);
    }
    is_shared
}

/// Whether this process has it from another one that it was forked from.
pub(crate) fn is_inherited(fd: c_int) -> bool {
    ANCESTORS[0].load(Ordering::Relaxed) != 0 && !process::is_made_here(fd)
}

/// Whether the last look at such sockets is old enough for another one.
pub(super) fn is_time() -> bool {
    let at = SHARED_AT.load(Ordering::Relaxed);
    at == 0 || now().saturating_sub(at) >= LOOK_MS
}

/// Where /proc is not there, nobody is seen.
fn others_have(fd: c_int) -> bool {
    let own = std::process::id();
    let is_young = now().saturating_sub(FORKED_AT.load(Ordering::Relaxed)) < YOUNG_MS;
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut others = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(|pid| *pid != own);
    others.any(|pid| match calls::has_same(pid, fd) {
        Same::Yes if is_ancestor(pid) => is_young,
        Same::Yes => !is_child(pid, own),
        // One that gave up its rights lets nobody see what it has, and is taken at its parent's word.
        Same::Hidden => {
            !is_ancestor(pid) && parent(pid).is_some_and(|parent| parent == ANCESTORS[0].load(Ordering::Relaxed))
        }
        Same::No => false,
    })
}

fn is_ancestor(pid: u32) -> bool {
    ANCESTORS.iter().any(|place| place.load(Ordering::Relaxed) == pid)
}

/// Whether it was forked from this process, or from one that was.
fn is_child(pid: u32, own: u32) -> bool {
    let mut line = std::iter::successors(parent(pid), |pid| parent(*pid)).take(GENERATIONS);
    line.any(|pid| pid == own)
}

fn parent(pid: u32) -> Option<u32> {
    parent_in(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// What `/proc/PID/stat` says: number, name in brackets, state, parent.
fn parent_in(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok().filter(|parent| *parent != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_of_a_process_is_read() {
        assert_eq!(parent_in("77 (a ) name) S 42 77 0"), Some(42));
        assert_eq!((parent_in("1 (init) S 0 1"), parent_in("")), (None, None));
        assert_eq!(parent(std::process::id()), Some(std::os::unix::process::parent_id()));
    }

    #[test]
    fn who_was_not_forked_has_inherited_nothing() {
        assert!(!is_inherited(0) && !is_shared(0));
    }
}
