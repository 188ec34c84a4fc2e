//! Options of `wireproof inspect`.

use std::ops::RangeInclusive;

use bed::InspectedRef;
use clap::Args;
use model::{
    BitRate, Nanos, RunId,
    inspection::{Conditions, Goal},
};

use super::Reach;

/// Hosts to inspect, and what for.
#[derive(Clone, Debug, Args)]
pub(crate) struct InspectOptions {
    /// The host, as for ssh, like user@host (default: this one).
    #[arg(value_name = "HOST")]
    pub(crate) host: Option<InspectedRef>,
    /// Another host, to see what differs.
    #[arg(value_name = "OTHER", conflicts_with = "since")]
    pub(crate) other: Option<InspectedRef>,
    /// One interface, with those above, below and beside it.
    #[arg(long, value_name = "IF")]
    pub(crate) dev: Option<String>,
    /// Purpose of the host: latency, throughput, router or bypass.
    #[arg(long, value_name = "GOAL", default_value = "throughput")]
    goal: Goal,
    /// Rate that each port shall carry, like 10G or "10 Gbit/s" (default: the most that it can).
    #[arg(long, value_name = "RATE", allow_hyphen_values = true, value_parser = parse_speed)]
    speed: Option<BitRate>,
    /// Round-trip time to the other end, for the size of buffers, like "10 ms" (default: 1 ms).
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = parse_rtt)]
    rtt: Option<Nanos>,
    /// Say what has changed since this run: its name, the beginning of it, or "last".
    #[arg(long, value_name = "RUN")]
    pub(crate) since: Option<RunId>,
    #[command(flatten)]
    pub(crate) reach: Reach,
}

impl InspectOptions {
    /// The conditions under which readings are judged.
    pub(crate) fn conditions(&self) -> Conditions {
        Conditions {
            goal: self.goal,
            speed_bps: self.speed.map(|speed| speed.0 as f64),
            rtt_s: self.rtt.map(|rtt| rtt.0 as f64 / 1e9),
            interface: self.dev.clone(),
        }
    }
}

/// A round-trip time that packets can have.
pub(super) fn parse_rtt(text: &str) -> Result<Nanos, String> {
    let rtt: Nanos = text.parse().map_err(|error: model::units::UnitError| error.to_string())?;
    RTTS.contains(&rtt.0).then_some(rtt).ok_or_else(|| "a round-trip time is from 1 us to 10 s".to_owned())
}

/// Round-trip times between two boards and over satellites, in nanoseconds.
const RTTS: RangeInclusive<u64> = 1_000..=10_000_000_000;
/// Rates of links, in bit/s.
const SPEEDS: RangeInclusive<u64> = 1_000_000..=10_000_000_000_000;

/// A rate, also in the short form that cards are named by.
pub(super) fn parse_speed(text: &str) -> Result<BitRate, String> {
    let long = match text.trim().split_at_checked(text.trim().len().saturating_sub(1)) {
        Some((number, "G")) => format!("{number} Gbit/s"),
        Some((number, "M")) => format!("{number} Mbit/s"),
        _ => text.to_owned(),
    };
    let speed: BitRate = long.parse().map_err(|error: model::units::UnitError| error.to_string())?;
    SPEEDS.contains(&speed.0).then_some(speed).ok_or_else(|| "a rate is from 1M to 10000G, like 10G".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_is_written_as_cards_are_named_or_in_full() {
        assert_eq!(parse_speed("10G"), parse_speed("10 Gbit/s"));
        assert_eq!(parse_speed("100M"), Ok(BitRate(100_000_000)));
        for wrong in ["", "G", "0G", "-1G", "10", "10 GB", "1 bit/s", "20000G"] {
            assert!(parse_speed(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_round_trip_time_is_one_that_packets_have() {
        assert_eq!(parse_rtt("20 ms"), Ok(Nanos::from_millis(20)));
        for wrong in ["", "0 s", "1 ns", "11 s", "2 h", "-1 ms", "20"] {
            assert!(parse_rtt(wrong).is_err(), "{wrong}");
        }
    }
}
