//! The messages that a reply tracker remembers: the latest ones, up to a fixed number. Pure.

use model::Nanos;

/// The latest messages, by number.
pub(super) struct Recent {
    slots: Vec<Slot>,
}

#[derive(Clone, Copy)]
struct Slot {
    number: u64,
    state: State,
}

/// Outcome of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It was sent, and there is no reply yet.
    Out {
        /// When it was to leave.
        intended: Nanos,
        /// When it left.
        departed: Nanos,
    },
    /// Its reply came.
    Answered(Delays),
}

/// Delays of one message, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Delays {
    /// From the intended departure to the reply.
    pub(super) rtt: u64,
    /// There and back, each by itself.
    pub(super) one_way: Option<[u64; 2]>,
}

impl Recent {
    /// Remembers at least this many messages. All memory is taken, and written to, here.
    pub(super) fn new(messages: usize) -> Self {
        let nobody = Slot { number: u64::MAX, state: State::Answered(Delays::default()) };
        Self { slots: vec![nobody; messages.next_power_of_two()] }
    }

    /// Remembers a message in the place of an old one, whose number and state it gives.
    #[inline]
    pub(super) fn put(&mut self, number: u64, state: State) -> (u64, State) {
        let at = self.place(number);
        let old = std::mem::replace(&mut self.slots[at], Slot { number, state });
        (old.number, old.state)
    }

    /// Outcome of a message, as far as it is remembered.
    #[inline]
    pub(super) fn get(&self, number: u64) -> Option<State> {
        let slot = &self.slots[self.place(number)];
        (slot.number == number).then_some(slot.state)
    }

    /// Messages that have no reply.
    pub(super) fn out(&self) -> impl Iterator<Item = u64> {
        self.slots.iter().filter(|slot| matches!(slot.state, State::Out { .. })).map(|slot| slot.number)
    }

    fn place(&self, number: u64) -> usize {
        number as usize & (self.slots.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUT: State = State::Out { intended: Nanos(1), departed: Nanos(2) };

    #[test]
    fn the_latest_are_remembered() {
        let mut recent = Recent::new(3);
        for number in 0..6 {
            recent.put(number, OUT);
        }
        assert_eq!((recent.get(1), recent.get(2), recent.get(6)), (None, Some(OUT), None));
        assert_eq!(recent.put(6, OUT), (2, OUT));
        let mut out: Vec<u64> = recent.out().collect();
        out.sort_unstable();
        assert_eq!(out, [3, 4, 5, 6]);
    }

    #[test]
    fn what_was_never_sent_is_not_remembered() {
        let recent = Recent::new(8);
        assert_eq!((recent.get(0), recent.out().count()), (None, 0));
    }
}
