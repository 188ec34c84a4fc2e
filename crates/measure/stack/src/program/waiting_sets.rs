//! epoll_wait(2) on sets of which some sockets go past the kernel.

use std::{ffi::c_int, ptr, time::Duration};

use libc::{epoll_event, sigset_t, timespec};

use super::{
    call::{answer, raw, raw_waiting},
    inside::{inside, with_past},
    past::Past,
    patience::{Held, LOOKS, Patience, SIGNALS},
    process::table,
    table::Kind,
};

static NOW: timespec = timespec { tv_sec: 0, tv_nsec: 0 };

/// Whether it is a set with sockets in it that go past the kernel.
pub fn concerns_us(set: c_int) -> bool {
    table().and_then(|table| table.look(set)).is_some_and(|seen| seen.kind() == Kind::Set)
}

/// epoll_wait, for as long as it may take; none where it is the kernel's after all.
///
/// Nothing in this frame has to be dropped while it waits in the kernel: it may be cancelled there.
pub fn wait(set: c_int, events: &mut [epoll_event], timeout: Option<Duration>, mask: *const sigset_t) -> Option<c_int> {
    let wait = with_past(|past| past.stack.wait())?;
    let patience = Patience::new(timeout, wait);
    loop {
        let ready = look(set, events, &NOW, mask);
        if ready != 0 || patience.is_over() {
            return Some(ready);
        }
        match patience.spins() {
            true if patience.holds_signals() => return Some(spin(set, events, &patience, mask)),
            true => _ = (0..LOOKS).any(|_| is_ready(set)),
            false => match sleep(set, events, &patience, mask) {
                0 => {}
                ready => return Some(ready),
            },
        };
    }
}

fn is_ready(set: c_int) -> bool {
    with_past(|past| past.sets().is_ready(set, &past.stack)).unwrap_or(true)
}

/// What is ready, past the kernel and in it; the kernel may wait for so long.
fn look(set: c_int, events: &mut [epoll_event], time: *const timespec, mask: *const sigset_t) -> c_int {
    with_past(|past| past.stack.pump());
    // Where there is little room, each has its turn to come first.
    let before = with_past(|past| {
        let mut sets = past.sets();
        let is_turn = sets.ours_first(set);
        if is_turn { sets.add(set, events, 0, &past.stack) } else { 0 }
    });
    let before = before.unwrap_or(0);
    let room = &mut events[before..];
    let told = match room.len() {
        0 => 0,
        count => {
            let place = [set as usize, room.as_mut_ptr() as usize, count, time as usize, mask as usize, SIGNALS];
            // SAFETY: the program's room for events, a time of the frames above and the program's mask.
            answer(unsafe { raw_waiting(libc::SYS_epoll_pwait2, place) })
        }
    };
    if told < 0 {
        return if before > 0 { before as c_int } else { -1 };
    }
    let add = |past: &Past| {
        let mut sets = past.sets();
        let kept = before + sets.strip(set, &mut events[before..before + told as usize], &past.stack);
        sets.add(set, events, kept, &past.stack) as c_int
    };
    with_past(add).unwrap_or(before as c_int + told as c_int)
}

/// Asks again and again, with signals held back but for the moments in which the kernel is asked.
fn spin(set: c_int, events: &mut [epoll_event], patience: &Patience, mask: *const sigset_t) -> c_int {
    let held = Held::new();
    let mask = if mask.is_null() { held.before() } else { mask };
    let ready = loop {
        (0..LOOKS).any(|_| is_ready(set));
        let ready = look(set, events, &NOW, mask);
        // With no time to wait, epoll does not tell of signals, and poll does.
        if ready != 0 || patience.is_over() {
            break ready;
        }
        let place = [0, 0, &raw const NOW as usize, mask as usize, SIGNALS];
        // SAFETY: no descriptors, a time and a mask.
        if answer(unsafe { raw(libc::SYS_ppoll, place) }) < 0 {
            break -1;
        }
    };
    held.release();
    ready
}

fn sleep(set: c_int, events: &mut [epoll_event], patience: &Patience, mask: *const sigset_t) -> c_int {
    let asleep = with_past(Past::fall_asleep);
    // The last look: what comes from now on wakes us.
    let result = match is_ready(set) {
        true => 0,
        false => {
            let left = patience.left();
            look(set, events, left.as_ref().map_or(ptr::null(), ptr::from_ref), mask)
        }
    };
    if let Some(asleep) = asleep {
        inside(|| Past::wake_up(asleep));
    }
    result
}
