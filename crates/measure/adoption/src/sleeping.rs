//! Counts threads that sleep in the kernel, so that other threads wake them for their datagrams.
//!
//! A thread that is cancelled, or that jumps out of a signal handler, never reports waking up.

use std::{
    cell::Cell,
    ffi::c_void,
    ptr::{self, null},
    sync::OnceLock,
};

use stack::SleepingThread;

use super::{
    bypass::{self, Bypass},
    call::raw,
    inside::{inside, with_bypass},
};

thread_local! {
    /// The stack that counts this thread as asleep, and since when; null if none.
    static COUNTED: Cell<(*const Bypass, Option<SleepingThread>)> = const { Cell::new((null(), None)) };
}

/// Delay before a sleep that would end at once because of a thread that jumped out; it would spin otherwise.
static NAP: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000 };

/// A destructor that ends the count of an exiting thread.
static AT_END: OnceLock<Option<libc::pthread_key_t>> = OnceLock::new();

/// Call it before the last check of a thread that is about to sleep.
pub(crate) fn fall_asleep() {
    with_bypass(|bypass| {
        // Needed only if a handler jumped out of its last sleep.
        is_awake();
        let asleep = bypass.stack.fall_asleep();
        COUNTED.set((bypass, Some(asleep)));
        at_end(bypass);
        if asleep.is_futile {
            // SAFETY: a static time. The last check finds arrivals during the pause.
            unsafe { raw(libc::SYS_nanosleep, [&raw const NAP as usize, 0]) };
        }
    });
}

/// Call it after the sleep.
pub(crate) fn wake_up() {
    inside(is_awake);
}

fn is_awake() {
    if let (counted, Some(asleep)) = COUNTED.replace((null(), None))
        && let Some(bypass) = bypass::get().filter(|bypass| ptr::eq(*bypass, counted))
    {
        bypass.stack.wake_up(asleep);
    }
}

/// A thread's value for a key needs no memory while there are few keys.
fn at_end(bypass: &Bypass) {
    let key = AT_END.get_or_init(|| {
        let mut key = 0;
        // SAFETY: a place for a key, and a function of the library, which stays loaded.
        let made = unsafe { libc::pthread_key_create(&mut key, Some(thread_ends)) };
        (made == 0).then_some(key)
    });
    if let Some(key) = key {
        // SAFETY: a created key; its value is never dereferenced.
        unsafe { libc::pthread_setspecific(*key, ptr::from_ref(bypass).cast()) };
    }
}

unsafe extern "C" fn thread_ends(_bypass: *mut c_void) {
    wake_up();
}
