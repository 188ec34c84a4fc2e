//! Loads that a search asks for.

/// Loads a step apart from each other, downwards from the highest one: goals of one width share them, and so the trials at them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    highest: f64,
    /// Logarithm of the ratio of two neighbours.
    step: f64,
}

/// Loads rounded to whole units are this much closer to each other than the width.
const WITHIN: f64 = 0.999;

/// A load that is rounded lies so close to its place.
const ROUNDED: f64 = 0.1;

impl Grid {
    /// Neighbours are as far apart as a width, which is a share of the upper one.
    pub(super) fn new(highest: u64, width: f64) -> Self {
        Self { highest: highest as f64, step: -(1.0 - width).ln() * WITHIN }
    }

    /// So many steps above a load.
    pub(super) fn above(&self, load: f64, steps: f64) -> f64 {
        self.at(self.place(load).ceil() - steps)
    }

    /// So many steps below a load.
    pub(super) fn below(&self, load: f64, steps: f64) -> f64 {
        self.at(self.place(load).floor() + steps)
    }

    /// The highest one that is not above a load.
    pub(super) fn at_most(&self, load: f64) -> f64 {
        self.at(self.distance(self.highest, load).ceil())
    }

    /// The middle between two loads.
    pub(super) fn between(&self, lower: f64, upper: f64) -> f64 {
        let (first, last) = (self.place(upper).floor() + 1.0, self.place(lower).ceil() - 1.0);
        // Both are off the grid where the lowest load of the search is one, or the highest that the sender reaches.
        if first > last { (lower * upper).sqrt().round() } else { self.at(((first + last) / 2.0).floor()) }
    }

    /// Steps from one load down to another.
    pub(super) fn distance(&self, upper: f64, lower: f64) -> f64 {
        (upper / lower).ln() / self.step
    }

    /// Steps from the highest load.
    fn place(&self, load: f64) -> f64 {
        let place = self.distance(self.highest, load);
        if (place - place.round()).abs() < ROUNDED { place.round() } else { place }
    }

    fn at(&self, place: f64) -> f64 {
        (self.highest * (-place * self.step).exp()).round()
    }
}
