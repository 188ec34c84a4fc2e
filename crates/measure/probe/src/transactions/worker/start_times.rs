//! Beginnings in order of time, so that timeouts are found without looking at all connections. Pure.

use std::collections::VecDeque;

use model::Nanos;

/// Entries beside one for each connection, before those that are over are dropped.
const SPARE: usize = 64;

/// Beginnings, the earliest first, and the connection of each. All timeouts are equal, so the first to begin is the first to be
/// given up. An entry stays when what began is over: it is then known by the connection, which has another beginning or none.
pub(super) struct StartTimes {
    queue: VecDeque<(Nanos, u32)>,
    /// Entries at which those that are over are dropped.
    most: usize,
}

impl StartTimes {
    pub(super) fn new(connections: usize) -> Self {
        let most = 2 * connections + SPARE;
        Self { queue: VecDeque::with_capacity(most), most }
    }

    /// Something began on a connection; `current` tells the beginning that a connection has now.
    #[inline]
    pub(super) fn push(&mut self, began: Nanos, index: u32, current: impl Fn(u32) -> Option<Nanos>) {
        if self.queue.len() >= self.most {
            self.queue.retain(|(began, index)| current(*index) == Some(*began));
            // Twice for each connection, so that this is seldom even where the same was entered again.
            self.most = self.most.max(2 * self.queue.len() + SPARE);
        }
        self.queue.push_back((began, index));
    }

    /// A connection on which something began before `limit` and is not over.
    #[inline]
    pub(super) fn take_before(&mut self, limit: Nanos, current: impl Fn(u32) -> Option<Nanos>) -> Option<u32> {
        while let Some((began, index)) = self.queue.front().copied()
            && began < limit
        {
            self.queue.pop_front();
            if current(index) == Some(began) {
                return Some(index);
            }
        }
        None
    }

    /// No beginning that is not over is before this.
    pub(super) fn first(&self) -> Option<Nanos> {
        self.queue.front().map(|(began, _)| *began)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn those_that_last_too_long_are_found_as_by_looking_at_all(
            steps in prop::collection::vec((0..8_u32, prop::option::weighted(0.7, Just(())), 0..4_u64), 0..500),
        ) {
            let (mut start_times, mut began, mut now) = (StartTimes::new(8), [None; 8], 1);
            for (index, begins, passes) in steps {
                now += passes;
                began[index as usize] = begins.map(|()| Nanos(now));
                if begins.is_some() {
                    start_times.push(Nanos(now), index, |index| began[index as usize]);
                }
                let limit = Nanos(now.saturating_sub(10));
                while let Some(index) = start_times.take_before(limit, |index| began[index as usize]) {
                    prop_assert!(began[index as usize].take().is_some_and(|began| began < limit));
                }
                prop_assert!(began.iter().flatten().all(|began| *began >= limit));
                let earliest = began.iter().flatten().min();
                prop_assert!(earliest.is_none_or(|began| start_times.first().is_some_and(|first| first <= *began)));
                prop_assert!(start_times.queue.len() <= start_times.most + 1);
            }
        }
    }
}
