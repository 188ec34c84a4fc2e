//! Reads counters when the counted time begins and ends.

use std::sync::Mutex;

use host::counters::CpuTimes;
use kernel::clock;
use model::{Nanos, trial::CoreUse};
use probe::Window;

/// What was read at the two edges of the counted time.
#[derive(Default)]
pub(crate) struct Counters {
    opened: Mutex<Option<Reading>>,
    closed: Mutex<Option<Reading>>,
}

struct Reading {
    at: Nanos,
    cpu: CpuTimes,
}

impl Reading {
    fn now() -> Self {
        Self { at: clock::now(), cpu: CpuTimes::read() }
    }
}

impl Window for Counters {
    fn opened(&self) {
        put(&self.opened, Reading::now());
    }

    fn closed(&self) {
        put(&self.closed, Reading::now());
    }
}

fn put(place: &Mutex<Option<Reading>>, reading: Reading) {
    *place.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(reading);
}

impl Counters {
    /// Use of each core over the counted time, and its length in seconds; nothing for a side that counts no time.
    pub(crate) fn difference(self) -> (Vec<CoreUse>, f64) {
        let take = |place: Mutex<Option<Reading>>| place.into_inner().ok().flatten();
        match (take(self.opened), take(self.closed)) {
            (Some(opened), Some(closed)) => {
                (opened.cpu.usage_until(&closed.cpu), Nanos(closed.at.0 - opened.at.0).as_secs_f64())
            }
            _ => (Vec::new(), 0.0),
        }
    }
}
