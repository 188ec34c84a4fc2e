//! Sums of counts that somebody else reports.

/// An iterator of counts.
pub trait Total: Iterator<Item = u64> + Sized {
    /// Their sum, and the largest number there is where that is more: a count may be anything.
    fn total(self) -> u64 {
        self.fold(0, u64::saturating_add)
    }
}

impl<I: Iterator<Item = u64>> Total for I {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_counts_are_too_many() {
        assert_eq!([1, 2, 3].into_iter().total(), 6);
        assert_eq!([u64::MAX, 1, u64::MAX].into_iter().total(), u64::MAX);
    }
}
