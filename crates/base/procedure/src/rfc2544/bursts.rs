//! Search for the longest burst without loss (RFC 9004, section 5.2).

/// Difference of the bounds that ends a search, as a share of the shortest burst with loss.
const WIDTH: f64 = 0.02;

/// A search between one frame and the longest burst: the longest one first, then the middle of the bounds in logarithms, since buffers differ by
/// orders of magnitude.
#[derive(Debug)]
pub(super) struct Bursts {
    longest: u64,
    /// Longest burst without loss; 0 as long as there is none.
    held: u64,
    /// Shortest burst with loss.
    lost: Option<u64>,
}

impl Bursts {
    pub(super) fn new(longest: u64) -> Self {
        Self { longest, held: 0, lost: None }
    }

    /// Frames of the next burst; the same until its outcome is known. `None` at the end.
    pub(super) fn ask(&self) -> Option<u64> {
        match self.lost {
            None if self.held == self.longest => None,
            None => Some(self.longest),
            Some(lost) if (lost - self.held) as f64 <= (lost as f64 * WIDTH).max(1.0) => None,
            Some(lost) => {
                let middle = (self.held.max(1) as f64 * lost as f64).sqrt().round() as u64;
                Some(middle.clamp(self.held + 1, lost - 1))
            }
        }
    }

    /// Takes whether the burst that was asked for came without loss.
    pub(super) fn took(&mut self, is_lossless: bool) {
        let Some(frames) = self.ask() else { return };
        if is_lossless { self.held = frames } else { self.lost = Some(frames) }
    }

    /// Frames of the longest burst without loss.
    pub(super) fn held(&self) -> u64 {
        self.held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames that are found of a device that holds so many, and how many bursts it took.
    fn found(longest: u64, holds: u64) -> (u64, u32) {
        let (mut bursts, mut count) = (Bursts::new(longest), 0);
        while let Some(frames) = bursts.ask() {
            assert!((1..=longest).contains(&frames), "{frames}");
            bursts.took(frames <= holds);
            count += 1;
        }
        (bursts.held(), count)
    }

    #[test]
    fn a_buffer_is_found_to_two_percent_in_a_few_bursts() {
        for holds in [1, 7, 500, 4_096, 26_000, 1_000_000, 29_000_000] {
            let (held, count) = found(29_761_904, holds);
            let width = (holds as f64 * 0.021).max(1.0);
            assert!(held <= holds && (holds - held) as f64 <= width && count <= 16, "{held} of {holds} in {count}");
        }
    }

    #[test]
    fn the_ends_are_found_too() {
        assert_eq!(found(1_000_000, 1_000_000), (1_000_000, 1));
        assert_eq!(found(1_000_000, 0).0, 0);
        assert_eq!([found(1, 1).0, found(1, 0).0], [1, 0]);
    }
}
