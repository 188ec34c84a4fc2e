//! Threads that sleep in the kernel are counted, so that who takes in what is theirs wakes them. One that is cancelled, or that a signal handler jumps
//! out of its sleep, does not come back to say so.

use std::{
    cell::Cell,
    ffi::c_void,
    mem,
    ptr::{self, null},
    sync::OnceLock,
};

use super::{
    call::raw,
    inside::{inside, with_past},
    past::Past,
    process,
};

thread_local! {
    /// Where this thread is counted as asleep, and since when; null for nowhere.
    static COUNTED: Cell<(*const Past, u64)> = const { Cell::new((null(), 0)) };
}

/// How long who would be woken at once, for one who was left by a jump, waits before that: it would be busy otherwise.
static NAP: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000 };

/// Has a thread that ends counted no more.
static AT_END: OnceLock<Option<libc::pthread_key_t>> = OnceLock::new();

/// To be called before the last look whether something is there, by who sleeps then.
pub(crate) fn fall_asleep() {
    with_past(|past| {
        // Once alone, where a handler jumped out of its last sleep.
        is_awake();
        let asleep = past.stack.sleep();
        let is_futile = asleep.is_futile();
        COUNTED.set((past, asleep.since()));
        mem::forget(asleep);
        at_end(past);
        if is_futile {
            // SAFETY: a time that is always there. What comes meanwhile is found by the last look.
            unsafe { raw(libc::SYS_nanosleep, [&raw const NAP as usize, 0]) };
        }
    });
}

/// To be called by who has slept.
pub(crate) fn wake_up() {
    inside(is_awake);
}

fn is_awake() {
    let (counted, since) = COUNTED.replace((null(), 0));
    if let Some(past) = process::past().filter(|past| ptr::eq(*past, counted)) {
        past.stack.wake(since);
    }
}

/// What a thread has for a key takes no memory, as long as there are few of them.
fn at_end(past: &Past) {
    let key = AT_END.get_or_init(|| {
        let mut key = 0;
        // SAFETY: a place for a key, and a function that is there as long as the library.
        let made = unsafe { libc::pthread_key_create(&mut key, Some(thread_ends)) };
        (made == 0).then_some(key)
    });
    if let Some(key) = key {
        // SAFETY: a key that was made; what it holds is not looked at.
        unsafe { libc::pthread_setspecific(*key, ptr::from_ref(past).cast()) };
    }
}

unsafe extern "C" fn thread_ends(_past: *mut c_void) {
    wake_up();
}
