//! Whole seconds that a side has reported.

/// Whole seconds in order. An agent may tell anything: no more of it is held than the trial has seconds.
#[derive(Default)]
pub(crate) struct Seconds {
    /// Goodput of each second, in bit/s, where the side receives.
    pub(crate) bps: Vec<f64>,
    /// Segments sent again in each second, where the side sends over TCP.
    pub(crate) retransmits: Vec<u64>,
    most: usize,
}

impl Seconds {
    pub(crate) fn at_most(most: usize) -> Self {
        Self { most, ..Self::default() }
    }

    pub(crate) fn add(&mut self, bps: Vec<f64>, retransmits: Vec<u64>) {
        self.bps.extend(bps.into_iter().take(self.most - self.bps.len()));
        self.retransmits.extend(retransmits.into_iter().take(self.most - self.retransmits.len()));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bps.is_empty() && self.retransmits.is_empty()
    }

    /// All of them, of which none is left here.
    pub(crate) fn take(&mut self) -> Self {
        let none = Self::at_most(self.most);
        std::mem::replace(self, none)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_that_tells_of_more_seconds_than_there_are_is_not_heard() {
        let mut seconds = Seconds::at_most(3);
        seconds.add(vec![1.0, 2.0], vec![7; 1000]);
        seconds.add(vec![3.0; 1000], vec![8]);
        assert_eq!(
            (seconds.bps.as_slice(), seconds.retransmits.as_slice()),
            ([1.0, 2.0, 3.0].as_slice(), [7; 3].as_slice())
        );
        assert!(!seconds.take().is_empty() && seconds.is_empty());
        let mut none = Seconds::at_most(0);
        none.add(vec![1.0], vec![1]);
        assert!(none.is_empty());
    }
}
