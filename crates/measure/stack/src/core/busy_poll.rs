//! Busy polling of zero-copy cards: while their interrupts are off, the program's own looks poll their queues.

use super::rings::Ring;

/// Whether there are such, and which of their queues are polled at a look: those that packets came by lately, and the others now and then.
#[derive(Default)]
pub(super) struct BusyPoll {
    are_there: bool,
    looks: u32,
    /// The queue that the last packets came by is polled first.
    last: usize,
}

impl BusyPoll {
    pub(super) fn new(rings: &[Ring]) -> Self {
        Self { are_there: rings.iter().any(|ring| ring.is_polled), ..Self::default() }
    }

    /// Has queues polled until something has come; whether it has.
    #[inline]
    pub(super) fn poll(&mut self, rings: &mut [Ring]) -> bool {
        self.are_there && self.poll_each(rings)
    }

    fn poll_each(&mut self, rings: &mut [Ring]) -> bool {
        self.looks = self.looks.wrapping_add(1);
        let (first, looks) = (self.last, self.looks);
        // Those that are polled seldom have their turns one after the other.
        let came =
            (first..rings.len()).chain(0..first).find(|ring| rings[*ring].poll(looks.wrapping_add(*ring as u32)));
        self.last = came.unwrap_or(first);
        came.is_some()
    }
}
