//! Limits that figures must reach.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    figure::{Better, Metric, Quantity},
    frame_size::FrameSize,
    probe::{Direction, IpVersion, ProbeSpec, Protocol, Selectors, Stack, WaitMode},
    units::{Mtu, PacketRate, Percent},
};

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
    /// The figure must not be worse than this reference's figure for the same configuration…
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// … by more than this ("20 %").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Percent>,
    /// Whether it is one of the figures that the first page of a report shows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub key: bool,
    /// Only trials of this protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// Only trials of this IP version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip: Option<IpVersion>,
    /// Only latency and goodput trials through this network stack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<Stack>,
    /// Only latency trials and transactions that wait this way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<WaitMode>,
    /// Only latency and packet trials of this frame size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_size: Option<FrameSize>,
    /// Only latency trials and transactions with (true) or without (false) a rate of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under_load: Option<bool>,
    /// Only goodput trials with this many streams, and transactions with this many connections (also written `connections`).
    #[serde(default, alias = "connections", skip_serializing_if = "Option::is_none")]
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

/// The good side of a bound, with the bound in the metric's base unit (nanoseconds, bit/s, bytes, or a share of 1).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// Good at or below.
    AtMost(f64),
    /// Good at or above.
    AtLeast(f64),
}

/// Bound of a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Criterion<'a> {
    /// A number.
    Bound(Bound),
    /// A figure that somebody else measured.
    Reference {
        /// Name of the reference.
        id: &'a str,
        /// Difference by which ours may be worse.
        within: Percent,
    },
}

/// More than this allows anything.
const WIDEST: Percent = Percent(1000.0);

impl Metric {
    /// The bound that lies this much on the bad side of a value, in the metric's base unit.
    pub fn no_worse_than(self, value: f64, within: Percent) -> Bound {
        let share = within.0 / 100.0;
        match self.better() {
            Better::Lower => Bound::AtMost(value * (1.0 + share)),
            Better::Higher => Bound::AtLeast(value * (1.0 - share)),
        }
    }
}

impl Limit {
    /// Bound, or the fault in it.
    pub fn criterion(&self) -> Result<Criterion<'_>, String> {
        let value = |text: &str| self.metric.quantity().parse(text);
        match (&self.at_most, &self.at_least, &self.reference) {
            (Some(text), None, None) if self.within.is_none() => Ok(Criterion::Bound(Bound::AtMost(value(text)?))),
            (None, Some(text), None) if self.within.is_none() => Ok(Criterion::Bound(Bound::AtLeast(value(text)?))),
            (None, None, Some(id)) => self.lean_on(id),
            _ => Err(format!("{} needs exactly one of at_most, at_least, and reference with within", self.metric)),
        }
    }

    fn lean_on<'a>(&self, id: &'a str) -> Result<Criterion<'a>, String> {
        if matches!(
            self.metric.quantity(),
            Quantity::Size
                | Quantity::Share
                | Quantity::PacketRate
                | Quantity::TransactionRate
                | Quantity::FileRate
                | Quantity::Count
        ) {
            return Err(format!("no reference has a {}; write at_least or at_most", self.metric));
        }
        match self.within {
            None => Err(format!("within is missing: how much worse than \"{id}\" it may be, like \"20 %\"")),
            Some(within) if within > WIDEST => Err(format!("within = \"{within}\" is {WIDEST} at the most")),
            Some(within) => Ok(Criterion::Reference { id, within }),
        }
    }

    /// Whether the limit speaks of this probe: one that gives the figure, and has the values that are asked for.
    pub fn matches(&self, spec: &ProbeSpec) -> bool {
        let probe = spec.probe();
        probe.metrics().contains(&self.metric) && self.selectors().select(&probe.selectors())
    }

    /// Values that a probe must have.
    pub fn selectors(&self) -> Selectors {
        Selectors {
            protocol: self.protocol,
            ip: self.ip,
            stack: self.stack,
            mode: self.mode,
            frame_size: self.frame_size,
            under_load: self.under_load,
            streams: self.streams,
            direction: self.direction,
            mtu: self.mtu,
            rate: self.rate,
        }
    }
}
