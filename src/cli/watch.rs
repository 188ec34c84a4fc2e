//! Options of `wireproof watch`.

use clap::Args;
use model::Nanos;

/// Interfaces to watch, interval, and time.
#[derive(Clone, Debug, Args)]
pub(crate) struct WatchOptions {
    /// Interfaces; all but loopback where none is named.
    #[arg(value_name = "IFACE")]
    pub(crate) interfaces: Vec<String>,
    /// Only those of this bed, by its name. Without it, and without --namespace, those of all beds on this machine and those
    /// outside of any.
    #[arg(long, value_name = "NAME")]
    pub(crate) bed: Option<String>,
    /// Only those of this network namespace, by the name that "ip netns list" shows; can be given again.
    #[arg(long, value_name = "NAME")]
    pub(crate) namespace: Vec<String>,
    /// Time between two readings, from 50 ms to 1 h.
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", default_value = "1 s", value_parser = parse_interval)]
    pub(crate) interval: Nanos,
    /// End after this many intervals.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = super::numbers::at_least_1)]
    pub(crate) count: Option<u64>,
    /// End by itself after this time.
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) duration: Option<Nanos>,
    /// One line for each interface and interval, as for a log (default where standard output is no terminal).
    #[arg(long)]
    pub(crate) plain: bool,
}

/// Shorter ones would measure the reading itself, longer ones are a log of hours.
const INTERVALS: std::ops::RangeInclusive<Nanos> = Nanos::from_millis(50)..=Nanos::from_secs(3600);

fn parse_interval(text: &str) -> Result<Nanos, String> {
    let interval: Nanos = text.parse().map_err(|error: model::units::UnitError| error.to_string())?;
    let fits = INTERVALS.contains(&interval);
    fits.then_some(interval).ok_or_else(|| "an interval is from 50 ms to 1 h".to_owned())
}

pub(super) fn parse_duration(text: &str) -> Result<Nanos, String> {
    let duration: Nanos = text.parse().map_err(|error: model::units::UnitError| error.to_string())?;
    (duration.0 > 0).then_some(duration).ok_or_else(|| "a duration is longer than nothing, like \"10 s\"".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_neither_nothing_nor_absurd() {
        assert_eq!(parse_interval("250 ms"), Ok(Nanos::from_millis(250)));
        for wrong in ["0 s", "1 ms", "2 h", "1e9 s", "", "soon", "-1 s"] {
            assert!(parse_interval(wrong).is_err(), "{wrong}");
        }
        assert!(parse_interval("5").unwrap_err().contains("\"10 s\""), "the unit that is missing is named");
        assert!(parse_duration("0 s").is_err() && parse_duration("2 h").is_ok());
    }
}
