//! Detects lost, duplicated and late packets of a sequence.

/// Largest distance from the highest number at which duplicates are still detected.
pub const WINDOW: u64 = 65_536;

/// A number further ahead than this is a suspect: it may be damaged, or the first after a long gap.
///
/// The next number may confirm it, as with RTP's sequence numbers (RFC 3550, appendix A.1, the source of this bound).
const AHEAD: u64 = 3_000;

const WORD: u64 = u64::BITS as u64;

/// Tracks the numbers of one sequence in constant memory.
pub struct Tracker {
    /// One more than the largest number received.
    next: u64,
    /// First number behind the last gap; 0 without a gap.
    after_gap: u64,
    /// A bit for each of the last [`WINDOW`] numbers, at its remainder: whether it was received.
    came: Box<[u64]>,
    /// The last number, if it is too far ahead to be accepted alone.
    suspect: Option<u64>,
    /// Distinct numbers.
    pub received: u64,
    /// Duplicates (RFC 5560). Those further back than the window count as received.
    pub duplicated: u64,
    /// Numbers smaller than an earlier one, without duplicates (RFC 4737).
    pub reordered: u64,
    /// Unconfirmed suspects. They count nowhere else: their original numbers are missing.
    pub damaged: u64,
}

impl Default for Tracker {
    fn default() -> Self {
        Self::new()
    }
}

impl Tracker {
    /// An empty tracker.
    pub fn new() -> Self {
        let came = vec![0; (WINDOW / WORD) as usize].into_boxed_slice();
        Self { next: 0, after_gap: 0, came, suspect: None, received: 0, duplicated: 0, reordered: 0, damaged: 0 }
    }

    /// Records the next number.
    #[inline]
    pub fn take(&mut self, number: u64) {
        if number == self.next && self.suspect.is_none() {
            self.mark(number);
            self.next = number.saturating_add(1);
            self.received += 1;
        } else {
            self.take_with_care(number);
        }
    }

    /// One more than the largest number received.
    pub fn expected(&self) -> u64 {
        self.next
    }

    /// First number behind the last gap; 0 without a gap.
    pub fn after_gap(&self) -> u64 {
        self.after_gap
    }

    /// Whether this number would be a suspect.
    pub fn is_far_ahead(&self, number: u64) -> bool {
        number.saturating_sub(self.next) > AHEAD
    }

    /// Ends the sequence of `sent` numbers, which decides the last suspect.
    pub fn end(&mut self, sent: u64) {
        match self.suspect.take() {
            Some(suspect) if suspect < sent => self.believe(suspect),
            Some(_) => self.damaged += 1,
            None => {}
        }
    }

    /// A larger number confirms a suspect, or the number just before it.
    fn take_with_care(&mut self, number: u64) {
        match self.suspect.take() {
            Some(suspect) if number.saturating_add(AHEAD) >= suspect && self.is_far_ahead(number) => {
                self.believe(suspect);
            }
            Some(_) => self.damaged += 1,
            None => {}
        }
        if self.is_far_ahead(number) {
            self.suspect = Some(number);
        } else {
            self.believe(number);
        }
    }

    fn believe(&mut self, number: u64) {
        if number >= self.next {
            if number > self.next {
                self.after_gap = number;
            }
            self.forget(number);
            self.next = number.saturating_add(1);
        } else if self.next - number <= WINDOW && self.has(number) {
            self.duplicated += 1;
            return;
        } else {
            self.reordered += 1;
        }
        // Behind the window, a number's place belongs to a later one.
        if self.next - number <= WINDOW {
            self.mark(number);
        }
        self.received += 1;
    }

    /// Clears the numbers from `next` up to `until`, which have not been received.
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
        let tracker = tracker(numbers);
        assert_eq!(tracker.damaged, 0);
        (tracker.received, tracker.duplicated, tracker.reordered)
    }

    fn tracker(numbers: impl IntoIterator<Item = u64>) -> Tracker {
        let mut tracker = Tracker::new();
        numbers.into_iter().for_each(|number| tracker.take(number));
        tracker.end(u64::MAX);
        tracker
    }

    #[test]
    fn one_damaged_number_is_damaged_and_harms_no_other() {
        for bit in [13, 20, 40, 63] {
            let damage = |number: u64| if number == 5_000 { number | 1 << bit } else { number };
            let tracker = tracker((0..100_000).map(damage));
            assert_eq!((tracker.received, tracker.duplicated, tracker.reordered), (99_999, 0, 0), "bit {bit}");
            assert_eq!(tracker.damaged, 1);
        }
    }

    #[test]
    fn a_number_is_believed_by_itself_up_to_the_bound_and_no_further() {
        let ahead = |by: u64| tracker([0, 1 + by, 1, 2]);
        assert_eq!((ahead(AHEAD).received, ahead(AHEAD).reordered, ahead(AHEAD).damaged), (4, 2, 0));
        assert_eq!((ahead(AHEAD + 1).received, ahead(AHEAD + 1).reordered, ahead(AHEAD + 1).damaged), (3, 0, 1));
    }

    #[test]
    fn the_last_gap_is_known() {
        let after = |numbers: &[u64]| tracker(numbers.iter().copied()).after_gap();
        assert_eq!([after(&[0, 1, 2]), after(&[2, 3]), after(&[0, 1, 5, 6, 9, 10])], [0, 2, 9]);
    }

    #[test]
    fn a_gap_of_any_length_is_loss() {
        let gap = 10 * WINDOW;
        assert_eq!(taken((0..10).chain(gap..gap + 10)), (20, 0, 0));
        // All but one in ten thousand are lost.
        assert_eq!(taken((0..100).map(|number| number * 10_000)), (100, 0, 0));
        // The first two after the gap are swapped.
        assert_eq!(taken([0, gap + 1, gap, gap + 2]), (4, 0, 1));
    }

    #[test]
    fn the_largest_numbers_there_are_harm_nothing() {
        let tracker = tracker([0, u64::MAX - 1, u64::MAX, u64::MAX, u64::MAX, 1]);
        assert_eq!(tracker.expected(), u64::MAX);
    }

    #[test]
    fn what_was_sent_settles_what_came_last() {
        for (sent, received, damaged) in [(10_001, 2, 0), (10_000, 1, 1)] {
            let mut tracker = Tracker::new();
            [0, 10_000].into_iter().for_each(|number| tracker.take(number));
            assert_eq!((tracker.received, tracker.damaged), (1, 0));
            tracker.end(sent);
            assert_eq!((tracker.received, tracker.damaged), (received, damaged), "of {sent}");
        }
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
                (0..5_000_u64).map(|at| (at * 8 + random(1_500)).saturating_sub(random(1_200))).collect();
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
