//! Axes: where a value stands, and which values are labelled.

/// Width of a character of a label and height of a line, which the letters of a phone fill, in units of a drawing.
const CHARACTER: f64 = 9.0;
const LINE: f64 = 15.0;

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
    /// How many nines a percentile has: 90 % has one, 99 % two.
    Nines,
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

    /// Like [`Self::around`]; logarithmic where a large value would press the others flat.
    pub(crate) fn of_spread(name: String, lowest: f64, highest: f64) -> Self {
        const FLAT: f64 = 5.0;
        if lowest > 0.0 && highest > FLAT * lowest {
            Self::logarithmic(name, lowest, highest)
        } else {
            Self::around(name, lowest, highest)
        }
    }

    /// Whole numbers from 0 to the last, like seconds.
    pub(crate) fn counted(name: String, last: usize) -> Self {
        let step = round_step(last as f64 / 6.0).max(1.0) as usize;
        let ticks = (0..=last).step_by(step).map(|number| (number as f64, number.to_string())).collect();
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

    /// Labels with their places on a drawing, as far as they do not print over the one before.
    pub(crate) fn labels(&self, place: impl Fn(f64) -> f64) -> Vec<(f64, &str)> {
        self.apart(place, |label| CHARACTER * (label.chars().count() + 1) as f64 / 2.0)
    }

    /// The same for an axis that stands upright.
    pub(crate) fn upright_labels(&self, place: impl Fn(f64) -> f64) -> Vec<(f64, &str)> {
        self.apart(place, |_| LINE / 2.0)
    }

    fn apart(&self, place: impl Fn(f64) -> f64, half: impl Fn(&str) -> f64) -> Vec<(f64, &str)> {
        let mut shown: Vec<(f64, &str)> = Vec::new();
        for (value, label) in &self.ticks {
            let at = place(*value);
            if shown.last().is_none_or(|(last, before)| (at - last).abs() >= half(label) + half(before)) {
                shown.push((at, label));
            }
        }
        shown
    }

    /// A value, as its label has it, or with three digits that count.
    pub(crate) fn words(&self, value: f64) -> String {
        let label = self.ticks.iter().find(|(at, _)| (at - value).abs() < 1e-9).map(|(_, label)| label.clone());
        label.unwrap_or_else(|| match (self.scale, value) {
            (Scale::Nines, _) => format!("{} %", significant(100.0 * (1.0 - 10f64.powf(-value)))),
            _ => significant(value),
        })
    }
}

/// Three digits, and more where a large number has them.
fn significant(value: f64) -> String {
    let whole = if value == 0.0 { 0.0 } else { value.abs().log10().floor() };
    format!("{value:.*}", (2.0 - whole).clamp(0.0, 9.0) as usize)
}

/// The smallest of 1, 2, 5 × 10ⁿ that is not below.
fn round_step(least: f64) -> f64 {
    let decade = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|digit| digit * decade).into_iter().find(|step| *step >= least * 0.999).unwrap_or(least)
}

/// Decimals needed for multiples of the step.
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
    fn labels_do_not_print_over_each_other() {
        let ticks =
            [(0.0, "64"), (10.0, "128"), (40.0, "256"), (60.0, "1518")].map(|(at, label)| (at, label.to_owned()));
        let axis = Axis { name: String::new(), scale: Scale::Linear, low: 0.0, high: 60.0, ticks: ticks.into() };
        assert_eq!(axis.labels(|at| at), [(0.0, "64"), (40.0, "256")]);
        assert_eq!(axis.upright_labels(|at| 60.0 - at), [(60.0, "64"), (20.0, "256"), (0.0, "1518")]);
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
