//! CPU budget for work that can be deferred.

/// At most a quarter of the time in the long run.
pub(super) struct Allowance {
    /// Time until which past work is paid for.
    paid_until: u64,
    /// Largest distance that `paid_until` may lie ahead of the time.
    ahead: u64,
}

impl Allowance {
    /// Work may take a quarter of `ahead` at once.
    pub(super) fn new(ahead: u64) -> Self {
        Self { paid_until: 0, ahead }
    }

    /// Whether work may be done now.
    pub(super) fn allows(&self, now: u64) -> bool {
        self.paid_until <= now.saturating_add(self.ahead)
    }

    /// Records work and its duration.
    pub(super) fn took(&mut self, now: u64, long: u64) {
        self.paid_until = self.paid_until.max(now) + 4 * long;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fourth_of_the_time_is_allowed_and_something_at_once() {
        let mut allowance = Allowance::new(100);
        let mut done = |now: u64| {
            let allows = allowance.allows(now);
            if allows {
                allowance.took(now, 10);
            }
            allows
        };
        assert_eq!((0..10).filter(|_| done(1000)).count(), 3);
        assert_eq!((1001..2001).filter(|now| done(*now)).count(), 25);
        assert_eq!((0..10).filter(|_| done(9000)).count(), 3);
    }
}
