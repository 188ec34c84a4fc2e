//! Numbers that stand still: one unit and one number of decimals for all that is shown side by side and one after the other.

/// A unit, and how many decimals numbers in it have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    size: f64,
    unit: &'static str,
    decimals: usize,
    /// Cells that the longest unit of this kind takes.
    unit_width: usize,
}

/// Cells that a number takes: `999.9`, or `<0.001`.
pub(crate) const NUMBER: usize = 6;

const BITS: [(f64, &str); 5] = [(1.0, "bit/s"), (1e3, "kbit/s"), (1e6, "Mbit/s"), (1e9, "Gbit/s"), (1e12, "Tbit/s")];
const PACKETS: [(f64, &str); 4] = [(1.0, "pps"), (1e3, "kpps"), (1e6, "Mpps"), (1e9, "Gpps")];
const BYTES: [(f64, &str); 6] = [
    (1.0, "B"),
    (1024.0, "KiB"),
    (1_048_576.0, "MiB"),
    (1_073_741_824.0, "GiB"),
    (1_099_511_627_776.0, "TiB"),
    (1_125_899_906_842_624.0, "PiB"),
];
const COUNTS: [(f64, &str); 6] = [(1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T"), (1e15, "P")];

impl Scale {
    /// For bit/s up to this.
    pub(crate) fn bits(highest: f64) -> Self {
        Self::of(&BITS, 6, highest)
    }

    /// For packets/s up to this.
    pub(crate) fn packets(highest: f64) -> Self {
        Self::of(&PACKETS, 4, highest)
    }

    /// For bytes up to this.
    pub(crate) fn bytes(highest: u64) -> Self {
        Self::of(&BYTES, 3, highest as f64)
    }

    /// For counts up to this.
    pub(crate) fn counts(highest: u64) -> Self {
        Self::of(&COUNTS, 1, highest as f64)
    }

    fn of(units: &[(f64, &'static str)], unit_width: usize, highest: f64) -> Self {
        // A value that rounds to 1000 of a unit is 1 of the next.
        let fits = |(size, _): &&(f64, &str)| *size == 1.0 || highest >= size * 0.99995;
        let (size, unit) = units.iter().rev().find(fits).copied().unwrap_or((1.0, ""));
        let decimals = match highest / size {
            _ if size == 1.0 => 0,
            100.0.. => 1,
            10.0.. => 2,
            _ => 3,
        };
        Self { size, unit, decimals, unit_width }
    }

    /// The number in a field of one width, without the unit. What is more than nothing never shows as nothing.
    pub(crate) fn number(&self, value: f64) -> String {
        let (scaled, decimals) = (value / self.size, self.decimals);
        let least = 0.5 / 10_f64.powi(decimals as i32);
        let text = if scaled > 0.0 && scaled < least {
            format!("<{:.decimals$}", 2.0 * least)
        } else {
            format!("{scaled:.decimals$}")
        };
        format!("{text:>NUMBER$}")
    }

    /// Number and unit, in a field of one width.
    pub(crate) fn field(&self, value: f64) -> String {
        format!("{} {:<width$}", self.number(value), self.unit, width = self.unit_width)
    }

    /// Number and unit, as short as it goes.
    pub(crate) fn short(&self, value: f64) -> String {
        format!("{} {}", self.number(value).trim_start(), self.unit).trim_end().to_owned()
    }

    /// Number and unit without a blank between, for narrow columns.
    pub(crate) fn tight(&self, value: f64) -> String {
        format!("{}{}", self.number(value).trim_start(), self.unit)
    }
}

/// Hours, minutes and seconds.
pub(crate) fn duration(seconds: u64) -> String {
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_holds_every_number_up_to_its_highest_in_one_width() {
        let scale = Scale::bits(9.412e9);
        let shown = [9.412e9, 12.3e6, 3e3, 0.0].map(|value| scale.field(value));
        assert_eq!(shown, [" 9.412 Gbit/s", " 0.012 Gbit/s", "<0.001 Gbit/s", " 0.000 Gbit/s"]);
        for exponent in 0..=14 {
            for digit in [1.0, 1.5, 9.994, 9.9994, 9.99996] {
                let highest = digit * 10_f64.powi(exponent);
                for scale in [Scale::bits(highest), Scale::bytes(highest as u64)] {
                    assert_eq!(scale.number(highest).len(), NUMBER, "{highest} {scale:?}");
                    assert_eq!(scale.number(highest / 1e5).len(), NUMBER, "{highest} {scale:?}");
                }
            }
        }
    }

    #[test]
    fn the_smallest_unit_is_whole() {
        assert_eq!(Scale::packets(812.0).field(12.4), "    12 pps ");
        assert_eq!(Scale::bits(999.99).short(999.99), "1.000 kbit/s");
        assert_eq!(Scale::counts(1_234_567).tight(1_234_567.0), "1.235M");
        assert_eq!(Scale::counts(12).tight(12.0), "12");
        assert_eq!(Scale::bytes(0).short(0.0), "0 B");
        assert_eq!(duration(3723), "1:02:03");
    }
}
