//! Waiting for what has to happen.

use std::{
    thread,
    time::{Duration, Instant},
};

/// Longer than anything takes that a story waits for, on a busy machine too. What comes at once costs no more.
const PATIENCE: Duration = Duration::from_secs(60);

/// Whether it is so, soon.
pub(crate) fn soon(is_so: impl FnMut() -> bool) -> bool {
    within(PATIENCE, is_so)
}

/// The same where it may take no longer than this.
pub(crate) fn within(time: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + time;
    loop {
        if is_so() {
            return true;
        }
        if Instant::now() > until {
            return false;
        }
        thread::sleep(Duration::from_millis(20));
    }
}
