//! Reads counters around a measurement: cores at the edges of the counted time, all others before the first packet and
//! after the last one.

use std::{
    sync::{Arc, Condvar, Mutex, PoisonError, Weak},
    time::Duration,
};

use host::counters::{CpuTimes, Snapshot, over};
use kernel::{clock, process};
use model::{EndCounters, Nanos, counters::Event};
use probe::Window;

use crate::events::Events;

/// Time to wait for other measurements at the same interface.
const PATIENCE: Duration = Duration::from_secs(3);

/// Running measurements of each interface.
static AT_WORK: Mutex<Vec<(String, Weak<RunningMeasurements>)>> = Mutex::new(Vec::new());

/// Number of running measurements at an interface.
#[derive(Default)]
struct RunningMeasurements {
    count: Mutex<usize>,
    fewer: Condvar,
}

/// A running measurement, until it is dropped.
struct Presence(Arc<RunningMeasurements>);

impl Presence {
    fn at(interface: &str) -> Self {
        let mut all = AT_WORK.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(_, at_work)| at_work.strong_count() > 0);
        let known = all.iter().find(|(name, _)| name == interface).and_then(|(_, at_work)| at_work.upgrade());
        let at_work = known.unwrap_or_else(|| {
            let new = Arc::default();
            all.push((interface.to_owned(), Arc::downgrade(&new)));
            new
        });
        *at_work.count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        Self(at_work)
    }

    /// Waits until the others have ended too.
    fn end(self) {
        let at_work = Arc::clone(&self.0);
        drop(self);
        let count = at_work.count.lock().unwrap_or_else(PoisonError::into_inner);
        drop(at_work.fewer.wait_timeout_while(count, PATIENCE, |count| *count > 0));
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        *self.0.count.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.fewer.notify_all();
    }
}

/// Readings so far.
pub(crate) struct Counters {
    /// The far sides of several senders share an interface's counters: each reads them when the last one has ended.
    presence: Presence,
    interface: String,
    before: Snapshot,
    events: Events,
    started: Mutex<Option<Edge>>,
    opened: Mutex<Option<Edge>>,
    closed: Mutex<Option<Edge>>,
}

/// An edge of the counted time.
struct Edge {
    at: Nanos,
    cores: CpuTimes,
    own: Nanos,
}

impl Edge {
    fn now() -> Self {
        Self {
            at: clock::now(),
            cores: CpuTimes::read(),
            own: Nanos(clock::own_cpu_time().0 + process::cpu_time_of_children().0),
        }
    }
}

impl Counters {
    /// Reads all counters of this end before anything is sent.
    pub(crate) fn begin(interface: &str) -> Self {
        Self {
            presence: Presence::at(interface),
            interface: interface.to_owned(),
            before: Snapshot::take(interface),
            events: Events::begin(interface),
            started: Mutex::new(None),
            opened: Mutex::new(None),
            closed: Mutex::new(None),
        }
    }

    /// Reads the cores at the start of the measurement.
    pub(crate) fn started(&self) {
        put(&self.started);
    }

    /// Changes at this end until a measurement failed.
    pub(crate) fn cut_off(self) -> Vec<Event> {
        let since = |place: Mutex<Option<Edge>>| place.into_inner().unwrap_or_else(PoisonError::into_inner);
        let since = since(self.opened).or(since(self.started));
        self.events.end(since.map_or_else(clock::now, |edge| edge.at))
    }

    /// The difference in counters; all packets have arrived.
    pub(crate) fn end(self) -> EndCounters {
        let end = Edge::now();
        self.events.close();
        self.presence.end();
        let after = Snapshot::take(&self.interface);
        let take = |place: Mutex<Option<Edge>>| place.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (started, opened, closed) = (take(self.started), take(self.opened), take(self.closed));
        // Without a counted time, the whole measurement counts.
        match (opened.or(started), closed.unwrap_or(end)) {
            (Some(opened), closed) => EndCounters {
                events: self.events.end(opened.at),
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
        self.events.close();
    }
}

fn put(place: &Mutex<Option<Edge>>) {
    *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(Edge::now());
}

#[cfg(test)]
mod tests {
    use std::{thread, time::Instant};

    use super::*;

    #[test]
    fn an_interface_is_read_when_the_last_measurement_at_it_is_over() {
        const LATER: Duration = Duration::from_millis(300);
        let [first, last, failed, elsewhere] = ["lo", "lo", "lo", "other0"].map(Counters::begin);
        drop(failed);
        let began = Instant::now();
        elsewhere.end();
        assert!(began.elapsed() < LATER, "nobody else is there");
        thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                first.end();
                began.elapsed()
            });
            thread::sleep(LATER);
            last.end();
            let waited = waiting.join().expect("no panic");
            assert!(waited >= LATER && waited < PATIENCE, "{waited:?}");
        });
    }
}
