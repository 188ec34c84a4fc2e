//! Whether figures are possible, of a far agent and of a store's row: either may say anything.
//!
//! Bounds are far beyond what a machine reaches, because to refuse a measurement that was made is worse than to take one that
//! was not. Within them, sums and products of counts stay within 64 bits.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::{
    json::{Json, value_of},
    plain::one_line,
};

/// Packets, messages or events of a trial: a thousand million a second for more than a week.
const COUNT: u64 = 1 << 50;

/// Bytes of a trial: a terabit a second for more than a week.
const BYTES: u64 = 1 << 57;

/// Bytes of a packet: the largest IP packet with all around it is half of it.
pub(crate) const PACKET: u64 = 1 << 17;

/// Flows of bulk data in a trial, whose bytes are added up: both ways of more senders than a bed has.
pub(crate) const FLOWS: usize = 1 << 6;

/// Streams of packets in a trial, whose packets are added up: 256 of each sender, both ways.
pub(crate) const STREAMS: usize = 1 << 13;

/// A trial, a repeat or an attempt of a run.
const NUMBER: u64 = 1 << 30;

/// Seconds of a trial: the longest is a week.
pub(crate) const SECONDS: f64 = 30.0 * 24.0 * 3600.0;

/// Nanoseconds: stages of older runs contain steps of the clock, which are years.
pub(crate) const NANOS: u64 = 1 << 62;

/// Packets or bits a second.
const RATE: f64 = 1e18;

/// Entries of a list: connections, streams, cores, devices.
pub(crate) const ENTRIES: usize = 1 << 16;

/// Bytes of a text.
pub(crate) const TEXT: usize = 1 << 16;

/// Bytes of a histogram as text.
pub(crate) const HISTOGRAM: usize = 1 << 24;

/// A figure that is not possible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} cannot be: {why}", one_line(field))]
pub struct Implausible {
    /// The figure, by the names of the fields that lead to it.
    pub field: String,
    /// The bound that it exceeds.
    pub why: String,
}

/// Whether figures are possible.
pub type Checked = Result<(), Implausible>;

pub(crate) fn count(field: &str, value: u64) -> Checked {
    whole(field, value, COUNT)
}

pub(crate) fn counts(named: &[(&str, u64)]) -> Checked {
    named.iter().try_for_each(|(field, value)| count(field, *value))
}

pub(crate) fn number(field: &str, value: u32) -> Checked {
    whole(field, value.into(), NUMBER)
}

/// Size of a packet, a frame or a payload, or an MTU.
pub(crate) fn packet(field: &str, bytes: u32) -> Checked {
    whole(field, bytes.into(), PACKET)
}

pub(crate) fn optional_packet(field: &str, bytes: Option<u32>) -> Checked {
    bytes.map_or(Ok(()), |bytes| packet(field, bytes))
}

pub(crate) fn bytes(field: &str, value: u64) -> Checked {
    whole(field, value, BYTES)
}

pub(crate) fn whole(field: &str, value: u64, most: u64) -> Checked {
    if value > most { refuse(field, format!("{value} is more than {most}")) } else { Ok(()) }
}

pub(crate) fn optional(field: &str, value: Option<u64>) -> Checked {
    value.map_or(Ok(()), |value| count(field, value))
}

pub(crate) fn seconds(field: &str, value: f64) -> Checked {
    at_most(field, value, SECONDS)
}

/// Seconds within a trial and its waits. Clocks differ, and a busy machine is late: an eighth more, and ten seconds, may be.
pub(crate) fn within_trial(field: &str, value: f64, lasted: f64) -> Checked {
    const SLACK: f64 = 10.0;
    if value <= lasted * 1.125 + SLACK {
        Ok(())
    } else {
        refuse(field, format!("{value} s are more than the {lasted} s of the trial and its waits"))
    }
}

/// Goodput of whole seconds, in bit/s.
pub fn whole_seconds(bps: &[f64]) -> Checked {
    at_most("seconds", bps.len() as f64, SECONDS)?;
    each("seconds", bps, |bps| rate("bps", *bps))
}

pub(crate) fn rate(field: &str, value: f64) -> Checked {
    at_most(field, value, RATE)
}

/// A number from 0 to this one; neither infinite nor undefined.
pub(crate) fn at_most(field: &str, value: f64, most: f64) -> Checked {
    if (0.0..=most).contains(&value) { Ok(()) } else { refuse(field, format!("{value} is not from 0 to {most}")) }
}

pub(crate) fn finite(field: &str, value: f64) -> Checked {
    if value.abs() <= RATE { Ok(()) } else { refuse(field, format!("{value} is beyond {RATE}")) }
}

/// Times that do not decrease. A percentile is rounded as its histogram rounds.
pub(crate) fn in_order(times: &[(&str, u64)]) -> Checked {
    for (name, time) in times {
        if *time > NANOS {
            return refuse(name, format!("{time} ns is more than {NANOS} ns"));
        }
    }
    for pair in times.windows(2) {
        let [(lower, low), (upper, high)] = pair else { continue };
        if *low > high + high / 64 + 1 {
            return refuse(upper, format!("{high} is less than {lower}, {low}"));
        }
    }
    Ok(())
}

pub(crate) fn no_more_bytes(sum: u64, frames: u64) -> Checked {
    bytes("bytes", sum)?;
    whole("bytes", sum, frames.saturating_mul(PACKET))
}

/// A count that another one limits. The two were not read at one moment: an eighth more, and some thousands, may be.
pub(crate) fn no_more_than(field: &str, value: u64, other: &str, limit: u64) -> Checked {
    const SLACK: u64 = 10_000;
    let most = limit.saturating_add(limit / 8).saturating_add(SLACK);
    if value > most { refuse(field, format!("{value} is more than {other}, {limit}")) } else { Ok(()) }
}

/// Different packets that a receiver counted. A path may repeat packets that carry no number, or so late that a copy counts as new.
pub(crate) fn arrived(field: &str, value: u64, other: &str, sent: u64) -> Checked {
    no_more_than(field, value, &format!("four times {other}"), sent.saturating_mul(4))
}

pub(crate) fn text(field: &str, text: &str) -> Checked {
    entries(field, text.len(), TEXT)
}

/// All texts and lists of a value, whatever they are called.
pub(crate) fn parts(value: &impl Json) -> Checked {
    parts_of("", &value.to_value())
}

/// The same of a list.
pub fn list<T: Serialize>(field: &str, list: &[T]) -> Checked {
    parts_of(field, &value_of(&list))
}

fn parts_of(field: &str, value: &Value) -> Checked {
    let part = |name: &dyn fmt::Display, number: bool| match (field.is_empty(), number) {
        (true, _) => name.to_string(),
        (false, true) => format!("{field} {name}"),
        (false, false) => format!("{field}.{name}"),
    };
    match value {
        Value::String(words) => text(field, words),
        Value::Array(items) => {
            entries(field, items.len(), ENTRIES)?;
            let mut numbered = items.iter().enumerate();
            numbered.try_for_each(|(index, item)| parts_of(&part(&(index + 1), true), item))
        }
        Value::Object(table) => {
            entries(field, table.len(), ENTRIES)?;
            table.iter().try_for_each(|(name, value)| {
                text(field, name)?;
                parts_of(&part(name, false), value)
            })
        }
        _ => Ok(()),
    }
}

pub(crate) fn entries(field: &str, length: usize, most: usize) -> Checked {
    if length > most { refuse(field, format!("its length {length} is more than {most}")) } else { Ok(()) }
}

/// Each entry of a list, which is named by its number from 1. Lists of whole seconds are bounded where they are checked.
pub(crate) fn each<T>(field: &str, list: &[T], check: impl Fn(&T) -> Checked) -> Checked {
    list.iter().enumerate().try_for_each(|(index, entry)| check(entry).within(format_args!("{field} {}", index + 1)))
}

pub(crate) fn refuse(field: &str, why: String) -> Checked {
    Err(Implausible { field: field.to_owned(), why })
}

/// Names the place of a figure.
pub(crate) trait Within {
    fn within(self, place: impl fmt::Display) -> Self;
}

impl Within for Checked {
    fn within(self, place: impl fmt::Display) -> Self {
        self.map_err(|error| Implausible { field: format!("{place}.{}", error.field), ..error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_takes_longer_than_the_trial_and_its_waits() {
        assert_eq!(within_trial("rtt_ns", 21.0, 10.0), Ok(()), "a busy machine");
        let error = within_trial("rtt_ns", 22.0, 10.0).unwrap_err().to_string();
        assert_eq!(error, "rtt_ns cannot be: 22 s are more than the 10 s of the trial and its waits");
        assert!(within_trial("rtt_ns", f64::NAN, 10.0).is_err());
    }

    #[test]
    fn each_text_and_list_of_a_value_is_bounded_by_its_place() {
        let long = "x".repeat(TEXT + 1);
        let check = |value: Value| parts_of("", &value).map_err(|error| error.field);
        assert_eq!(check(serde_json::json!({ "a": [{ "b": "short", "c": null }, 1] })), Ok(()));
        assert_eq!(check(serde_json::json!({ "a": [1, { "b": long }] })), Err("a 2.b".to_owned()));
        assert_eq!(check(serde_json::json!({ "a": { "b": vec![0; ENTRIES + 1] } })), Err("a.b".to_owned()));
        assert_eq!(check(serde_json::json!({ "a": { (long): 1 } })), Err("a".to_owned()));
    }

    #[test]
    fn seconds_of_a_transfer_are_bounded() {
        assert_eq!(whole_seconds(&[0.0, 1e12]), Ok(()));
        assert_eq!(whole_seconds(&vec![1e9; SECONDS as usize + 1]).unwrap_err().field, "seconds");
        assert_eq!(whole_seconds(&[1e9, -1.0]).unwrap_err().field, "seconds 2.bps");
    }
}
