//! Which datagrams of a flow came, which came twice, and which came late.

/// How far back a number can lie and still be told from a copy.
pub(super) const WINDOW: u64 = 65_536;

const WORD: u64 = u64::BITS as u64;

/// Follows the numbers of one flow, in a fixed amount of memory.
pub(super) struct Tracker {
    /// One more than the largest number that came.
    next: u64,
    /// A bit for each of the last [`WINDOW`] numbers, at its remainder: whether it came.
    came: Box<[u64]>,
    /// Different numbers.
    pub(super) received: u64,
    /// Copies of numbers that had come before (RFC 5560). None is told from a new number further back than the window:
    /// there it counts as received.
    pub(super) duplicated: u64,
    /// Numbers smaller than one that came before, copies left out (RFC 4737).
    pub(super) reordered: u64,
}

impl Tracker {
    pub(super) fn new() -> Self {
        let came = vec![0; (WINDOW / WORD) as usize].into_boxed_slice();
        Self { next: 0, came, received: 0, duplicated: 0, reordered: 0 }
    }

    /// Takes the next number; says whether it is a new one.
    #[inline]
    pub(super) fn take(&mut self, number: u64) -> bool {
        if number == self.next {
            self.mark(number);
            self.next += 1;
            self.received += 1;
            return true;
        }
        self.take_out_of_order(number)
    }

    fn take_out_of_order(&mut self, number: u64) -> bool {
        if number > self.next {
            self.forget(number);
            self.next = number.saturating_add(1);
        } else if self.next - number <= WINDOW && self.has(number) {
            self.duplicated += 1;
            return false;
        } else {
            self.reordered += 1;
        }
        // The place of a number before the window belongs to a later one by now.
        if self.next - number <= WINDOW {
            self.mark(number);
        }
        self.received += 1;
        true
    }

    /// Makes room for the numbers from `next` up to this one, none of which came yet.
    fn forget(&mut self, until: u64) {
        if until - self.next >= WINDOW {
            self.came.fill(0);
            return;
        }
        for number in self.next..until {
            let (word, bit) = place(number);
            self.came[word] &= !bit;
        }
    }

    fn mark(&mut self, number: u64) {
        let (word, bit) = place(number);
        self.came[word] |= bit;
    }

    fn has(&self, number: u64) -> bool {
        let (word, bit) = place(number);
        self.came[word] & bit != 0
    }
}

fn place(number: u64) -> (usize, u64) {
    let at = number % WINDOW;
    ((at / WORD) as usize, 1 << (at % WORD))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn taken(numbers: impl IntoIterator<Item = u64>) -> (u64, u64, u64) {
        let mut tracker = Tracker::new();
        for number in numbers {
            tracker.take(number);
        }
        (tracker.received, tracker.duplicated, tracker.reordered)
    }

    #[test]
    fn one_fault_in_a_million_is_found() {
        let million = 0..1_000_000;
        assert_eq!(taken(million.clone()), (1_000_000, 0, 0));
        assert_eq!(taken(million.clone().filter(|number| *number != 777_777)), (999_999, 0, 0));
        let twice = million.clone().flat_map(|number| [number].repeat(1 + usize::from(number == 777_777)));
        assert_eq!(taken(twice), (1_000_000, 1, 0));
        let swapped = million.map(|number| match number {
            777_777 => 777_778,
            777_778 => 777_777,
            other => other,
        });
        assert_eq!(taken(swapped), (1_000_000, 0, 1));
    }

    #[test]
    fn a_copy_is_told_up_to_the_window_and_no_further() {
        let late = |back: u64| taken((0..200_000).chain([200_000 - back]));
        assert_eq!(late(1), (200_000, 1, 0));
        assert_eq!(late(WINDOW), (200_000, 1, 0));
        assert_eq!(late(WINDOW + 1), (200_001, 0, 1));
    }

    #[test]
    fn a_late_number_behind_a_gap_is_new_once() {
        assert_eq!(taken([0, 5, 1, 1, 5]), (3, 2, 1));
        // Gaps as large as the window and larger.
        for gap in [WINDOW - 1, WINDOW, WINDOW + 1, 3 * WINDOW] {
            assert_eq!(taken((0..100).chain([100 + gap, 100 + gap - 1, 100 + gap - 1])), (102, 1, 1), "{gap}");
        }
    }

    #[test]
    fn any_order_counts_as_a_list_of_all_numbers_would() {
        let mut state = 88_172_645_463_325_252_u64;
        let mut random = |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        };
        for _ in 0..20 {
            let numbers: Vec<u64> =
                (0..5_000_u64).map(|at| (at * 8 + random(20_000)).saturating_sub(random(9_000))).collect();
            let (mut seen, mut highest, mut expected) = (HashSet::new(), None, (0, 0, 0));
            for number in &numbers {
                if !seen.insert(*number) {
                    expected.1 += 1;
                    continue;
                }
                expected.0 += 1;
                if highest > Some(*number) {
                    expected.2 += 1;
                }
                highest = highest.max(Some(*number));
            }
            assert_eq!(taken(numbers), expected);
        }
    }
}
