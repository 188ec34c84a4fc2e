//! Reads counters around a measurement: cores when the counted time begins and ends, all others before the first packet and
//! after the last one.

use std::sync::{Mutex, PoisonError};

use host::counters::{CpuTimes, Reading, over};
use kernel::clock;
use model::{EndCounters, Nanos};
use probe::Window;

/// What was read so far.
pub(crate) struct Counters {
    interface: String,
    before: Reading,
    started: Mutex<Option<Edge>>,
    opened: Mutex<Option<Edge>>,
    closed: Mutex<Option<Edge>>,
}

/// One edge of the counted time.
struct Edge {
    at: Nanos,
    cores: CpuTimes,
    own: Nanos,
}

impl Edge {
    fn now() -> Self {
        Self { at: clock::now(), cores: CpuTimes::read(), own: clock::own_cpu_time() }
    }
}

impl Counters {
    /// Reads all counters of this end before anything is sent.
    pub(crate) fn begin(interface: &str) -> Self {
        Self {
            interface: interface.to_owned(),
            before: Reading::take(interface),
            started: Mutex::new(None),
            opened: Mutex::new(None),
            closed: Mutex::new(None),
        }
    }

    /// The measurement begins.
    pub(crate) fn started(&self) {
        put(&self.started);
    }

    /// What was counted; all has arrived that will arrive.
    pub(crate) fn end(self) -> EndCounters {
        let after = Reading::take(&self.interface);
        let take = |place: Mutex<Option<Edge>>| place.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (started, opened, closed) = (take(self.started), take(self.opened), take(self.closed));
        // A side that is told of no counted time works for all of the measurement.
        match (opened.or(started), closed.unwrap_or_else(Edge::now)) {
            (Some(opened), closed) => EndCounters {
                own_cpu: 100.0 * (closed.own.0 - opened.own.0) as f64 / (closed.at.0 - opened.at.0).max(1) as f64,
                ..over([&self.before, &after], [&opened.cores, &closed.cores])
            },
            (None, _) => self.before.until(&after),
        }
    }
}

impl Window for Counters {
    fn opened(&self) {
        put(&self.opened);
    }

    fn closed(&self) {
        put(&self.closed);
    }
}

fn put(place: &Mutex<Option<Edge>>) {
    *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(Edge::now());
}
