//! What a measuring side shares with the thread that watches it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Stops a measuring side and tells how far it is. Reading and writing it costs the measuring loop next to nothing.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
}

impl Control {
    /// Asks the side to stop soon.
    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// Whether the side was asked to stop.
    pub fn stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// How far the side is, 0 to 1.
    pub fn fraction(&self) -> f64 {
        match self.total.load(Relaxed) {
            0 => 0.0,
            total => (self.done.load(Relaxed) as f64 / total as f64).min(1.0),
        }
    }

    pub(crate) fn expect(&self, total: u64) {
        self.total.store(total, Relaxed);
    }

    pub(crate) fn reached(&self, done: u64) {
        self.done.store(done, Relaxed);
    }
}

/// Told when the counted time begins and ends, so that counters can be read at both edges.
pub trait Window: Sync {
    /// Warm-up is over; what comes now counts.
    fn opened(&self);
    /// The counted time is over.
    fn closed(&self);
}

#[cfg(test)]
pub(crate) struct NoWindow;

#[cfg(test)]
impl Window for NoWindow {
    fn opened(&self) {}
    fn closed(&self) {}
}
