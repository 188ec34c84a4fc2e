//! Interim counts of a side while packets are on their way.

use std::{
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Instant,
};

use model::{PacketsReceived, PacketsSent, PacketsSide, PacketsSpec, SoFar};

use super::receiving::{Counting, Receiving};
use crate::{Control, control::InterimSource};

/// Progress of this side.
pub(super) struct Account {
    duration_ns: u64,
    began: OnceLock<Instant>,
    sending: Arc<Mutex<Option<Sending>>>,
}

/// Packets being sent, a part for each stream.
struct Sending {
    /// Final report of this side, without counts.
    streams: Vec<PacketsSent>,
    /// Duration.
    duration_ns: u64,
    /// Frames so far, of all streams.
    frames: Arc<AtomicU64>,
    began: Instant,
}

impl Account {
    pub(super) fn of(spec: &PacketsSpec) -> Self {
        Self { duration_ns: spec.duration.0, began: OnceLock::new(), sending: Arc::default() }
    }

    /// Sending begins: this is what will be told of each stream, and where the frames of all are counted.
    pub(super) fn sends(&self, streams: Vec<PacketsSent>, frames: &Arc<AtomicU64>) {
        let duration_ns = self.duration_ns;
        let sending = Sending { streams, duration_ns, frames: Arc::clone(frames), began: Instant::now() };
        *self.sending.lock().unwrap_or_else(PoisonError::into_inner) = Some(sending);
    }

    /// Tells how much of the time has passed, from the first call on.
    pub(super) fn passed(&self, control: &Control) {
        let began = self.began.get_or_init(Instant::now);
        control.expect(self.duration_ns);
        control.reached((began.elapsed().as_nanos() as u64).min(self.duration_ns));
    }
}

/// Registers a source of interim results with the control, until it is dropped.
pub(super) struct InterimGuard<'a>(&'a Control);

impl<'a> InterimGuard<'a> {
    pub(super) fn by(control: &'a Control, account: &Account, receiving: Option<&Receiving>) -> Self {
        let interim = InterimCounts { sending: Arc::clone(&account.sending), counts: receiving.map(Receiving::counts) };
        control.set_interim_source(Some(Arc::new(Mutex::new(interim))));
        Self(control)
    }
}

impl Drop for InterimGuard<'_> {
    fn drop(&mut self) {
        self.0.set_interim_source(None);
    }
}

struct InterimCounts {
    sending: Arc<Mutex<Option<Sending>>>,
    counts: Option<Arc<Mutex<Counting>>>,
}

impl InterimSource for InterimCounts {
    fn so_far(&mut self) -> Option<SoFar> {
        let sending = self.sending.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = sending.as_ref().map_or_else(Vec::new, Sending::so_far);
        let received: Vec<PacketsReceived> = match &self.counts {
            Some(counts) => counts.lock().unwrap_or_else(PoisonError::into_inner).read().ok()?,
            None => Vec::new(),
        };
        Some(SoFar::Packets(Box::new(PacketsSide { sent, received })))
    }
}

impl Sending {
    /// Nobody knows before the end which of several streams frames belong to.
    fn so_far(&self) -> Vec<PacketsSent> {
        let [stream] = self.streams.as_slice() else { return Vec::new() };
        let passed = self.began.elapsed().as_secs_f64();
        let (seconds, frames) = (passed.min(self.duration_ns as f64 / 1e9), self.frames.load(Relaxed));
        let bytes = frames * u64::from(stream.frame_size.0);
        vec![PacketsSent { frames, bytes, seconds, ..stream.clone() }]
    }
}
