//! Waits for conditions.

use std::{
    thread,
    time::{Duration, Instant},
};

/// Longer than any condition takes, even on a busy machine. Conditions that hold at once take no time.
const PATIENCE: Duration = Duration::from_secs(60);

/// Whether the condition holds soon.
pub(crate) fn soon(is_so: impl FnMut() -> bool) -> bool {
    within(PATIENCE, is_so)
}

/// The same within this time.
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
