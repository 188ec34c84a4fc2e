//! The receiving half of a side.

use std::{
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use model::{PacketsReceived, PacketsSpec, Seat};

use super::sockets;
use crate::ProbeError;

/// Counts packets by number.
pub(super) trait Counts: Send {
    /// What each stream has so far.
    fn read(&mut self) -> Result<Vec<PacketsReceived>, ProbeError>;
}

/// An attached receiver.
pub(super) struct Receiving {
    port: u16,
    counts: Arc<Mutex<dyn Counts>>,
}

/// How often it looks whether packets still come.
const GLANCE: Duration = Duration::from_millis(20);

impl Receiving {
    /// Attaches a receiver: from now on it counts.
    pub(super) fn attach(spec: &PacketsSpec, seat: &Seat) -> Result<Self, ProbeError> {
        let receiver = sockets::Receiver::attach(spec, seat)?;
        Ok(Self { port: receiver.port(), counts: Arc::new(Mutex::new(receiver)) })
    }

    /// The UDP port that it counts at.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn counts(&self) -> Arc<Mutex<dyn Counts>> {
        Arc::clone(&self.counts) as _
    }

    /// Frames so far, of all streams, copies among them.
    pub(super) fn frames(&self) -> u64 {
        let read = self.read().unwrap_or_default();
        read.iter().map(|stream| stream.frames + stream.duplicated).sum()
    }

    fn read(&self) -> Result<Vec<PacketsReceived>, ProbeError> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).read()
    }

    /// What there is when nothing came for this long.
    pub(super) fn end(self, quiet: Duration) -> Result<Vec<PacketsReceived>, ProbeError> {
        let (mut counted, mut last_came) = (self.frames(), Instant::now());
        while last_came.elapsed() < quiet {
            thread::sleep(GLANCE);
            let frames = self.frames();
            if frames != counted {
                (counted, last_came) = (frames, Instant::now());
            }
        }
        self.read()
    }
}
