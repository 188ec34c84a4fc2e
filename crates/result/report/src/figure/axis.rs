//! Axes: where a value stands, and which values are labelled.

pub(crate) struct Axis {
    pub(crate) name: String,
    pub(crate) scale: Scale,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Place of a label on the axis, and its text.
    pub(crate) ticks: Vec<(f64, String)>,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Scale {
    Linear,
    Log,
}

impl Axis {
    /// From 0 to a round number at or above `highest`, with about five round steps.
    pub(crate) fn from_zero(name: String, highest: f64) -> Self {
        // Nothing but zeros is drawn on a scale all the same.
        let step = round_step(if highest > 0.0 { highest } else { 1.0 } / 4.0);
        let steps = (highest / step).ceil().max(1.0) as u32;
        let decimals = decimals(step);
        let ticks: Vec<_> = (0..=steps)
            .map(|index| f64::from(index) * step)
            .map(|value| (value, format!("{value:.decimals$}")))
            .collect();
        Self { name, scale: Scale::Linear, low: 0.0, high: f64::from(steps) * step, ticks }
    }

    /// Round steps around the values, not from 0: for figures whose spread counts, and not their size.
    pub(crate) fn around(name: String, lowest: f64, highest: f64) -> Self {
        let spread = if highest > lowest { highest - lowest } else { lowest.abs().max(1.0) * 0.1 };
        let step = round_step(spread / 4.0);
        let (first, last) = ((lowest / step).floor(), (highest / step).ceil().max((lowest / step).floor() + 1.0));
        let decimals = decimals(step);
        let steps = (0..=(last - first) as u32).map(|index| (first + f64::from(index)) * step);
        let ticks = steps.map(|value| (value, format!("{value:.decimals$}"))).collect();
        Self { name, scale: Scale::Linear, low: first * step, high: last * step, ticks }
    }

    /// Whole seconds from 0 to the last.
    pub(crate) fn seconds(name: String, last: usize) -> Self {
        let step = round_step(last as f64 / 6.0).max(1.0) as usize;
        let ticks = (0..=last).step_by(step).map(|second| (second as f64, second.to_string())).collect();
        Self { name, scale: Scale::Linear, low: 0.0, high: last as f64, ticks }
    }

    /// Logarithmic, over whole steps of 1, 2, 5, 10, … around the values.
    pub(crate) fn logarithmic(name: String, lowest: f64, highest: f64) -> Self {
        let (first, last) = (lowest.log10().floor() as i32, highest.log10().ceil() as i32);
        let steps: Vec<f64> =
            (first..=last).flat_map(|decade| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(decade))).collect();
        let low = steps.iter().copied().rfind(|step| *step <= lowest).unwrap_or(lowest);
        let high = steps.iter().copied().find(|step| *step >= highest && *step > low).unwrap_or(highest);
        let inside = steps.into_iter().filter(|step| (low..=high).contains(step));
        Self { name, scale: Scale::Log, low, high, ticks: inside.map(|step| (step, step.to_string())).collect() }
    }

    /// Share of the axis below a value.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let place = |value: f64| if self.scale == Scale::Log { value.log10() } else { value };
        (place(value) - place(self.low)) / (place(self.high) - place(self.low))
    }
}

/// The smallest of 1, 2, 5 × 10ⁿ that is not below.
fn round_step(least: f64) -> f64 {
    let decade = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|digit| digit * decade).into_iter().find(|step| *step >= least * 0.999).unwrap_or(least)
}

/// As many as a multiple of the step has.
fn decimals(step: f64) -> usize {
    if step < 1.0 { (-step.log10()).ceil() as usize } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn axes_end_at_round_numbers_beyond_the_values() {
        assert_eq!(labels(&Axis::from_zero(String::new(), 17.3)), ["0", "5", "10", "15", "20"]);
        assert_eq!(labels(&Axis::from_zero(String::new(), 0.9)), ["0.0", "0.5", "1.0"]);
        assert_eq!(labels(&Axis::from_zero(String::new(), 40.0)), ["0", "10", "20", "30", "40"]);
        assert_eq!(labels(&Axis::from_zero(String::new(), 0.0)).len(), 2);
        assert_eq!(labels(&Axis::logarithmic(String::new(), 8.0, 130.0)), ["5", "10", "20", "50", "100", "200"]);
        assert_eq!(labels(&Axis::logarithmic(String::new(), 10.0, 10.0)), ["10", "20"]);
        assert_eq!(labels(&Axis::around(String::new(), 9.41, 9.44)), ["9.41", "9.42", "9.43", "9.44"]);
        assert_eq!(labels(&Axis::around(String::new(), 1500.0, 1500.0)), ["1500", "1550"]);
    }
}
