//! State that a measuring side shares with its watching thread.

use std::{
    net::{Shutdown, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
};

use model::SoFar;

/// Stops a measuring side and tells how far it is. Reading and writing it costs the measuring loop next to nothing.
#[derive(Default)]
pub struct Control {
    stop: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
    /// Goodput of each whole second that nobody was told of yet, in bit/s.
    seconds: Mutex<Vec<f64>>,
    /// Segments sent again in each whole second that nobody was told of yet.
    retransmits: Mutex<Vec<u64>>,
    /// A stream that a call may sleep on for as long as it takes.
    sleeper: Mutex<Option<TcpStream>>,
    /// Source of interim results.
    interim_source: Mutex<Option<SharedInterimSource>>,
}

/// Source of a side's interim results, beside the measuring thread.
pub(crate) type SharedInterimSource = Arc<Mutex<dyn InterimSource>>;

/// Makes figures of interim counts.
pub(crate) trait InterimSource: Send {
    /// The result if the trial ended now; `None` without any news.
    fn so_far(&mut self) -> Option<SoFar>;
}

/// While it lives, stopping wakes the call that sleeps on its stream.
pub(crate) struct Wakeable<'a>(&'a Control);

impl Control {
    /// Asks the side to stop soon.
    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
        self.wake();
    }

    /// Whether the side was asked to stop.
    pub fn stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// Progress of the side, 0 to 1.
    pub fn fraction(&self) -> f64 {
        match self.total.load(Relaxed) {
            0 => 0.0,
            total => (self.done.load(Relaxed) as f64 / total as f64).min(1.0),
        }
    }

    /// Goodput of each whole second since the last call, in bit/s: so that a long trial that is cut off leaves them behind.
    pub fn take_seconds(&self) -> Vec<f64> {
        std::mem::take(&mut *self.seconds.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Segments sent again in each whole second since the last call, over all connections of a TCP sender.
    pub fn take_retransmits(&self) -> Vec<u64> {
        std::mem::take(&mut *self.retransmits.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The result if the measurement ended now; `None` without any news. The calling thread does the work.
    pub fn so_far(&self) -> Option<SoFar> {
        let interim_source = self.interim_source.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        interim_source.lock().unwrap_or_else(PoisonError::into_inner).so_far()
    }

    /// Sets the source of interim results; `None` at the end.
    pub(crate) fn set_interim_source(&self, interim_source: Option<SharedInterimSource>) {
        *self.interim_source.lock().unwrap_or_else(PoisonError::into_inner) = interim_source;
    }

    pub(crate) fn second(&self, bps: f64) {
        self.seconds.lock().unwrap_or_else(PoisonError::into_inner).push(bps);
    }

    pub(crate) fn resent(&self, segments: u64) {
        self.retransmits.lock().unwrap_or_else(PoisonError::into_inner).push(segments);
    }

    /// Lets [`Control::stop`] wake a call that sleeps on this stream, so that it needs no timeout, which would cost a
    /// timer in each call.
    pub(crate) fn wakes(&self, stream: TcpStream) -> Wakeable<'_> {
        *self.sleeper() = Some(stream);
        if self.stopped() {
            self.wake();
        }
        Wakeable(self)
    }

    fn wake(&self) {
        if let Some(stream) = &*self.sleeper() {
            // Fails only where the stream is closed already, and then nobody sleeps on it.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn sleeper(&self) -> MutexGuard<'_, Option<TcpStream>> {
        self.sleeper.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn expect(&self, total: u64) {
        self.total.store(total, Relaxed);
    }

    pub(crate) fn reached(&self, done: u64) {
        self.done.store(done, Relaxed);
    }
}

impl Drop for Wakeable<'_> {
    fn drop(&mut self) {
        // The copy would keep the connection open.
        self.0.sleeper().take();
    }
}

/// Stops a side whose thread panics: the others do not wait for it.
pub(crate) struct StopsIfPanicking<'a>(&'a Control);

impl Drop for StopsIfPanicking<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

impl Control {
    pub(crate) fn stops_if_panicking(&self) -> StopsIfPanicking<'_> {
        StopsIfPanicking(self)
    }
}

/// Told when the counted time begins and ends, so that counters can be read at both edges.
pub trait Window: Sync {
    /// Warm-up is over; counting begins.
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
