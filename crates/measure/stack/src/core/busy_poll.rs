//! Busy polling of zero-copy cards: while their interrupts are off, the program's reads poll their queues.

use super::rings::Ring;

/// Queues to poll at a read: those with recent packets, and the others now and then.
#[derive(Default)]
pub(super) struct BusyPoll {
    are_there: bool,
    looks: u32,
    /// The queue of the last packets is polled first.
    last: usize,
}

impl BusyPoll {
    pub(super) fn new(rings: &[Ring]) -> Self {
        Self { are_there: rings.iter().any(|ring| ring.is_polled), ..Self::default() }
    }

    /// Polls queues until one has a packet; returns whether one has.
    #[inline]
    pub(super) fn poll(&mut self, rings: &mut [Ring]) -> bool {
        self.are_there && self.poll_each(rings)
    }

    fn poll_each(&mut self, rings: &mut [Ring]) -> bool {
        self.looks = self.looks.wrapping_add(1);
        let (first, looks) = (self.last, self.looks);
        // Rarely polled queues take turns.
        let came =
            (first..rings.len()).chain(0..first).find(|ring| rings[*ring].poll(looks.wrapping_add(*ring as u32)));
        self.last = came.unwrap_or(first);
        came.is_some()
    }
}
