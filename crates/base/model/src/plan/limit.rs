//! What figures must reach.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    frame_size::FrameSize,
    probe::{Direction, IpVersion, ProbeSpec, Protocol, Stack, WaitMode},
    units::{BitRate, Mtu, Nanos, PacketRate, Percent},
};

/// A figure that a limit can be set on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Smallest RTT.
    RttMin,
    /// Mean RTT.
    RttMean,
    /// Median RTT.
    RttP50,
    /// 90th percentile of RTT.
    RttP90,
    /// 99th percentile of RTT.
    RttP99,
    /// 99.9th percentile of RTT.
    RttP999,
    /// Largest RTT.
    RttMax,
    /// Goodput over the whole trial; with data both ways that of the slower one.
    GoodputMean,
    /// Goodput of the slowest second.
    GoodputMin,
    /// Goodput of the fastest second; with data both ways that of the slower one.
    GoodputMax,
    /// The largest packet that passes both ways, in bytes.
    PathMtu,
    /// Of all messages, datagrams or packets sent, the share that did not come; a reply after the timeout did not.
    Loss,
    /// Numbered packets a second that arrived; with packets both ways those of the slower one.
    ForwardingRate,
}

/// What kind of quantity a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Nanoseconds.
    Time,
    /// Bits per second.
    Rate,
    /// Packets per second.
    PacketRate,
    /// Bytes.
    Size,
    /// A part of 1.
    Share,
}

/// One bound on one figure, for all trials that the selectors match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// The figure.
    pub metric: Metric,
    /// The figure must not be above this ("30 us", "0.001 %").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<String>,
    /// The figure must not be below this ("9.4 Gbit/s").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<String>,
    /// The figure must not be worse than the one that this reference has for the same configuration…
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// … by more than this ("20 %").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Percent>,
    /// Only trials of this protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// Only trials of this IP version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip: Option<IpVersion>,
    /// Only latency and goodput trials through this network stack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<Stack>,
    /// Only latency trials that wait this way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<WaitMode>,
    /// Only latency and packet trials of this frame size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_size: Option<FrameSize>,
    /// Only latency trials with (true) or without (false) a rate of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under_load: Option<bool>,
    /// Only goodput trials with this many streams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<u16>,
    /// Only goodput and packet trials that go this way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Only trials for which the bed is set to this MTU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<Mtu>,
    /// Only packet trials at this rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<PacketRate>,
}

/// Which side of a bound is good, with the bound in the metric's base unit (nanoseconds, bit/s, bytes, or a share of 1).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// Good at or below.
    AtMost(f64),
    /// Good at or above.
    AtLeast(f64),
}

/// What a limit goes by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Criterion<'a> {
    /// A number.
    Bound(Bound),
    /// What somebody else measured.
    Reference {
        /// Name of the reference.
        id: &'a str,
        /// How much worse ours may be.
        within: Percent,
    },
}

/// More than this allows anything.
const WIDEST: Percent = Percent(1000.0);

impl Metric {
    /// What kind of quantity it is.
    pub fn quantity(self) -> Quantity {
        match self {
            Self::GoodputMean | Self::GoodputMin | Self::GoodputMax => Quantity::Rate,
            Self::PathMtu => Quantity::Size,
            Self::Loss => Quantity::Share,
            Self::ForwardingRate => Quantity::PacketRate,
            _ => Quantity::Time,
        }
    }

    /// The bound that lies this much on the bad side of a value, in the metric's base unit.
    pub fn no_worse_than(self, value: f64, within: Percent) -> Bound {
        let share = within.0 / 100.0;
        match self.quantity() {
            Quantity::Time | Quantity::Share => Bound::AtMost(value * (1.0 + share)),
            Quantity::Rate | Quantity::PacketRate | Quantity::Size => Bound::AtLeast(value * (1.0 - share)),
        }
    }

    fn parse_value(self, text: &str) -> Result<f64, String> {
        match self.quantity() {
            Quantity::Time => text.parse::<Nanos>().map(|nanos| nanos.0 as f64).map_err(|e| e.to_string()),
            Quantity::Rate => text.parse::<BitRate>().map(|rate| rate.0 as f64).map_err(|e| e.to_string()),
            Quantity::PacketRate => text.parse::<PacketRate>().map(|rate| rate.0 as f64).map_err(|e| e.to_string()),
            Quantity::Size => text
                .parse::<u32>()
                .map(f64::from)
                .map_err(|_| format!("\"{text}\" is not a number of bytes, like \"9000\"")),
            Quantity::Share => text.parse::<Percent>().map(|percent| percent.0 / 100.0).map_err(|e| e.to_string()),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RttMin => "rtt_min",
            Self::RttMean => "rtt_mean",
            Self::RttP50 => "rtt_p50",
            Self::RttP90 => "rtt_p90",
            Self::RttP99 => "rtt_p99",
            Self::RttP999 => "rtt_p999",
            Self::RttMax => "rtt_max",
            Self::GoodputMean => "goodput_mean",
            Self::GoodputMin => "goodput_min",
            Self::GoodputMax => "goodput_max",
            Self::PathMtu => "path_mtu",
            Self::Loss => "loss",
            Self::ForwardingRate => "forwarding_rate",
        })
    }
}

impl Limit {
    /// What it goes by, or what is wrong with that.
    pub fn criterion(&self) -> Result<Criterion<'_>, String> {
        let value = |text: &str| self.metric.parse_value(text);
        match (&self.at_most, &self.at_least, &self.reference) {
            (Some(text), None, None) if self.within.is_none() => Ok(Criterion::Bound(Bound::AtMost(value(text)?))),
            (None, Some(text), None) if self.within.is_none() => Ok(Criterion::Bound(Bound::AtLeast(value(text)?))),
            (None, None, Some(id)) => self.lean_on(id),
            _ => Err(format!("{} needs exactly one of at_most, at_least, and reference with within", self.metric)),
        }
    }

    fn lean_on<'a>(&self, id: &'a str) -> Result<Criterion<'a>, String> {
        if matches!(self.metric.quantity(), Quantity::Size | Quantity::Share | Quantity::PacketRate) {
            return Err(format!("no reference has a {}; write at_least or at_most", self.metric));
        }
        match self.within {
            None => Err(format!("within is missing: how much worse than \"{id}\" it may be, like \"20 %\"")),
            Some(within) if within > WIDEST => Err(format!("within = \"{within}\" is {WIDEST} at the most")),
            Some(within) => Ok(Criterion::Reference { id, within }),
        }
    }

    /// Whether the limit speaks of this probe. A selector that the probe has no value for selects nothing.
    pub fn matches(&self, spec: &ProbeSpec) -> bool {
        let quantity = self.metric.quantity();
        match spec {
            ProbeSpec::Latency(spec) => {
                matches!(quantity, Quantity::Time | Quantity::Share)
                    && (self.streams, self.direction, self.mtu, self.rate) == (None, None, None, None)
                    && fits(self.protocol, spec.protocol)
                    && fits(self.ip, spec.ip)
                    && fits(self.stack, spec.stack)
                    && fits(self.mode, spec.mode)
                    && fits(self.frame_size, spec.frame_size)
                    && fits(self.under_load, spec.rate.is_some())
            }
            ProbeSpec::Goodput(spec) => {
                // TCP delivers all or fails.
                (quantity == Quantity::Rate || (quantity == Quantity::Share && spec.protocol == Protocol::Udp))
                    && (self.mode, self.frame_size, self.under_load, self.rate) == (None, None, None, None)
                    && fits(self.protocol, spec.protocol)
                    && fits(self.ip, spec.ip)
                    && fits(self.stack, spec.stack)
                    && fits(self.streams, spec.streams)
                    && fits(self.direction, spec.direction)
                    && (self.mtu.is_none() || self.mtu == spec.mtu)
            }
            ProbeSpec::Path(spec) => {
                quantity == Quantity::Size
                    && (self.protocol, self.stack, self.mode, self.frame_size) == (None, None, None, None)
                    && (self.under_load, self.streams, self.direction, self.rate) == (None, None, None, None)
                    && fits(self.ip, spec.ip)
                    && (self.mtu.is_none() || self.mtu == spec.mtu)
            }
            ProbeSpec::Packets(spec) => {
                matches!(quantity, Quantity::PacketRate | Quantity::Share)
                    && (self.protocol, self.stack, self.mode) == (None, None, None)
                    && (self.under_load, self.streams) == (None, None)
                    && fits(self.ip, spec.ip())
                    && (self.frame_size.is_none() || self.frame_size == spec.frame_size())
                    && fits(self.direction, spec.direction)
                    && (self.rate.is_none() || self.rate == spec.rate())
                    && (self.mtu.is_none() || self.mtu == spec.mtu)
            }
        }
    }
}

fn fits<T: PartialEq>(wanted: Option<T>, is: T) -> bool {
    wanted.is_none_or(|wanted| wanted == is)
}
