//! Changes at an end while it measures: a thread sleeps until the kernel tells of a change, and then reads it.

use std::{
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use host::settings::Settings;
use kernel::{
    clock,
    watch::{Monitor, WakeOutcome},
};
use model::{Nanos, counters::Event};

/// Least time between two readings, which take time of a core that measures.
const REST: Duration = Duration::from_millis(20);

/// More than this is one and the same disturbance.
const MOST: usize = 100;

/// Watches an interface until it is ended.
pub(crate) struct Events {
    interface: String,
    recorded: Arc<Mutex<Recorded>>,
    /// `None` where the kernel tells of no changes: then only the two ends of the time are compared.
    watching: Option<Arc<Monitor>>,
}

/// The latest reading, and what was different from the one before.
struct Recorded {
    latest: Settings,
    events: Vec<(Nanos, Vec<Event>)>,
    is_over: bool,
}

impl Events {
    pub(crate) fn begin(interface: &str) -> Self {
        // Before the reading: what changes after it is told.
        let monitor = Monitor::open().ok().map(Arc::new);
        let latest = Settings::read(interface);
        let recorded = Arc::new(Mutex::new(Recorded { latest, events: Vec::new(), is_over: false }));
        if let Some(watched) = monitor.clone() {
            let (recorded, interface) = (Arc::clone(&recorded), interface.to_owned());
            thread::spawn(move || watch(&watched, &recorded, &interface));
        }
        Self { interface: interface.to_owned(), recorded, watching: monitor }
    }

    /// Takes the last reading: what changes from now on concerns no figure.
    pub(crate) fn close(&self) {
        let mut recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        recorded.take(&self.interface);
        recorded.is_over = true;
    }

    /// All that changed, in seconds from this moment.
    pub(crate) fn end(self, opened: Nanos) -> Vec<Event> {
        self.close();
        let mut recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        let all = std::mem::take(&mut recorded.events).into_iter();
        let timed = all.flat_map(|(at, events)| {
            let at_s = (at.0 as f64 - opened.0 as f64) / 1e9;
            events.into_iter().map(move |event| Event { at_s, ..event })
        });
        timed.take(MOST).collect()
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        if let Some(monitor) = &self.watching {
            monitor.stop();
        }
    }
}

impl Recorded {
    fn take(&mut self, interface: &str) {
        if self.is_over || self.events.len() >= MOST {
            return;
        }
        let (at, now) = (clock::now(), Settings::read(interface));
        let events = self.latest.differences(&now, 0.0);
        self.latest = now.completed_by(&self.latest);
        if !events.is_empty() {
            self.events.push((at, events));
        }
    }
}

fn watch(monitor: &Monitor, recorded: &Mutex<Recorded>, interface: &str) {
    while let Ok(WakeOutcome::Changed) = monitor.wait() {
        recorded.lock().unwrap_or_else(PoisonError::into_inner).take(interface);
        if monitor.rest(REST).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_happens_at_loopback() {
        let events = Events::begin("lo");
        events.close();
        assert_eq!(events.end(clock::now()), []);
    }
}
