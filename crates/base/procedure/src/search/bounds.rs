//! Relevant bounds of a goal (RFC 9971, section 4.8).

use model::search::{Classification, Goal};

/// Relevant bounds, or what stands in for them where one is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Bounds {
    pub(super) lower: Option<f64>,
    pub(super) upper: Option<f64>,
}

impl Bounds {
    /// Bounds among loads in ascending order.
    pub(super) fn among(loads: impl DoubleEndedIterator<Item = (f64, Classification)> + Clone) -> Self {
        let of = |classification| move |(_, it): &(f64, Classification)| *it == classification;
        let upper = loads.clone().find(of(Classification::Upper)).map(|(load, _)| load);
        let is_below = |load: f64| upper.is_none_or(|upper| load < upper);
        let mut lowers = loads.rev().filter(of(Classification::Lower)).map(|(load, _)| load);
        Self { lower: lowers.find(|load| is_below(*load)), upper }
    }

    /// Difference of the two as a share of the upper one.
    pub(super) fn width(&self) -> Option<f64> {
        let (lower, upper) = (self.lower?, self.upper?);
        Some((upper - lower) / upper)
    }

    /// Whether they are close enough for this goal.
    pub(super) fn meet(&self, goal: &Goal) -> bool {
        const ROUNDING: f64 = 1e-12;
        self.width().is_some_and(|width| width <= goal.width.0 + ROUNDING)
    }
}
