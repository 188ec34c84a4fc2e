//! Threads that sleep in the kernel are counted, so that another thread that takes in their datagrams wakes them. A thread that is cancelled, or left
//! by a jump of a signal handler, does not come back to say so.

use std::{
    cell::Cell,
    ffi::c_void,
    ptr::{self, null},
    sync::OnceLock,
};

use stack::Asleep;

use super::{
    bypass::{self, Bypass},
    call::raw,
    inside::{inside, with_bypass},
};

thread_local! {
    /// Where this thread is counted as asleep, and since when; null for nowhere.
    static COUNTED: Cell<(*const Bypass, Option<Asleep>)> = const { Cell::new((null(), None)) };
}

/// How long who would be woken at once, for one who was left by a jump, waits before that: it would be busy otherwise.
static NAP: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000 };

/// Has a thread that ends counted no more.
static AT_END: OnceLock<Option<libc::pthread_key_t>> = OnceLock::new();

/// To be called before the last look, by a thread that sleeps then.
pub(crate) fn fall_asleep() {
    with_bypass(|bypass| {
        // Once alone, where a handler jumped out of its last sleep.
        is_awake();
        let asleep = bypass.stack.fall_asleep();
        COUNTED.set((bypass, Some(asleep)));
        at_end(bypass);
        if asleep.is_futile {
            // SAFETY: a time that is always there. What comes meanwhile is found by the last look.
            unsafe { raw(libc::SYS_nanosleep, [&raw const NAP as usize, 0]) };
        }
    });
}

/// To be called after the sleep.
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

/// What a thread has for a key takes no memory, as long as there are few of them.
fn at_end(bypass: &Bypass) {
    let key = AT_END.get_or_init(|| {
        let mut key = 0;
        // SAFETY: a place for a key, and a function that is there as long as the library.
        let made = unsafe { libc::pthread_key_create(&mut key, Some(thread_ends)) };
        (made == 0).then_some(key)
    });
    if let Some(key) = key {
        // SAFETY: a key that was made; what it holds is not looked at.
        unsafe { libc::pthread_setspecific(*key, ptr::from_ref(bypass).cast()) };
    }
}

unsafe extern "C" fn thread_ends(_bypass: *mut c_void) {
    wake_up();
}
