//! One figure of a source.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Conditions, Words};
use crate::{
    choice::choice,
    figure::Metric,
    units::{Dimension, Printed},
};

/// A figure as the source prints it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReferenceFigure {
    /// What it is a figure of.
    pub metric: FigureMetric,
    /// What it is of the sample.
    pub statistic: Statistic,
    /// The value with its unit, as printed ("1.174333 us").
    pub value: Printed,
    /// Whether the source counts each packet twice, as sent and as received. Such a sum is shown and never compared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tx_and_rx: bool,
    /// Whether the packets never left the host, so that the figure says nothing of a network. Shown and never compared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inside_host: bool,
    /// Its own conditions, over those of the source.
    #[serde(default)]
    pub conditions: Conditions,
    /// What a reader has to know of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Words>,
}

/// What a published figure is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FigureMetric {
    /// Round-trip time.
    Rtt,
    /// Half of it, which sockperf calls latency.
    HalfRtt,
    /// Payload that arrives.
    Goodput,
    /// Packets through a device or between its ports.
    PacketRate,
    /// Bits at a port, on the layer that the conditions say.
    PortRate,
    /// Packets that a generator offered.
    OfferedLoad,
    /// Bits that a monitor showed, on whatever layer it counts.
    MonitorRate,
    /// Packets that a monitor showed; these can be aggregates above the driver.
    MonitorPacketRate,
    /// Bytes of a file, from its first to its last.
    Transfer,
    /// How busy a core was.
    CoreUse,
}

choice!(FigureMetric, "a metric", {
    Rtt = "rtt",
    HalfRtt = "half_rtt",
    Goodput = "goodput",
    PacketRate = "packet_rate",
    PortRate = "port_rate",
    OfferedLoad = "offered_load",
    MonitorRate = "monitor_rate",
    MonitorPacketRate = "monitor_packet_rate",
    Transfer = "transfer",
    CoreUse = "core_use",
});

/// What a figure is of the sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Statistic {
    /// Smallest; of a rate, that of the slowest interval.
    Min,
    /// Mean.
    Mean,
    /// Median.
    P50,
    /// 90th percentile.
    P90,
    /// 99th percentile.
    P99,
    /// 99.9th percentile.
    P999,
    /// Largest; of a rate, that of the fastest interval.
    Max,
    /// One look at a display.
    Reading,
}

choice!(Statistic, "a statistic", {
    Min = "min",
    Mean = "mean",
    P50 = "p50",
    P90 = "p90",
    P99 = "p99",
    P999 = "p999",
    Max = "max",
    Reading = "reading",
});

impl FigureMetric {
    /// What kind of quantity it is.
    pub fn dimension(self) -> Dimension {
        match self {
            Self::Rtt | Self::HalfRtt => Dimension::Time,
            Self::Goodput | Self::PortRate | Self::MonitorRate => Dimension::BitRate,
            Self::PacketRate | Self::OfferedLoad | Self::MonitorPacketRate => Dimension::PacketRate,
            Self::Transfer => Dimension::ByteRate,
            Self::CoreUse => Dimension::Share,
        }
    }
}

impl ReferenceFigure {
    /// The figure of ours that it can stand beside; `None` where nothing of the kind is measured here.
    pub fn ours(&self) -> Option<Metric> {
        match (self.metric, self.statistic) {
            (FigureMetric::Rtt | FigureMetric::HalfRtt, statistic) => match statistic {
                Statistic::Min => Some(Metric::RttMin),
                Statistic::Mean => Some(Metric::RttMean),
                Statistic::P50 => Some(Metric::RttP50),
                Statistic::P90 => Some(Metric::RttP90),
                Statistic::P99 => Some(Metric::RttP99),
                Statistic::P999 => Some(Metric::RttP999),
                Statistic::Max => Some(Metric::RttMax),
                Statistic::Reading => None,
            },
            (FigureMetric::Goodput, Statistic::Mean) => Some(Metric::GoodputMean),
            (FigureMetric::Goodput, Statistic::Min) => Some(Metric::GoodputMin),
            (FigureMetric::Goodput, Statistic::Max) => Some(Metric::GoodputMax),
            _ => None,
        }
    }

    /// How many of the published value make one of ours: 2 where half of an RTT was published.
    pub fn per_ours(&self) -> f64 {
        if self.metric == FigureMetric::HalfRtt { 2.0 } else { 1.0 }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let dimension = self.metric.dimension();
        if self.value.dimension() != dimension {
            let example = dimension.example();
            return Err(format!(
                "{} = \"{}\" has the unit of another quantity; write it like \"{example}\"",
                self.metric, self.value
            ));
        }
        Ok(())
    }
}
