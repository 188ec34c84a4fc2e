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
    /// Measured quantity.
    pub metric: FigureMetric,
    /// Statistic of the sample.
    pub statistic: Statistic,
    /// The value with its unit, as printed ("1.174333 us").
    pub value: Printed,
    /// Whether the source counts each packet twice, as sent and as received. Such a sum is shown and never compared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tx_and_rx: bool,
    /// Whether the packets never left the host, so that the figure says nothing of a network. Shown and never compared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inside_host: bool,
    /// Own conditions, which replace those of the source.
    #[serde(default)]
    pub conditions: Conditions,
    /// Remark for the reader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Words>,
}

choice!(
    /// Quantity of a published figure.
    FigureMetric, "a metric", {
        /// Round-trip time.
        Rtt = "rtt",
        /// Half of it, which sockperf calls latency.
        HalfRtt = "half_rtt",
        /// Payload that arrives.
        Goodput = "goodput",
        /// Packets through a device or between its ports.
        PacketRate = "packet_rate",
        /// Bits at a port, on the layer that the conditions say.
        PortRate = "port_rate",
        /// Packets that a generator offered.
        OfferedLoad = "offered_load",
        /// Bits that a monitor showed, on whatever layer it counts.
        MonitorRate = "monitor_rate",
        /// Packets that a monitor showed; these can be aggregates above the driver.
        MonitorPacketRate = "monitor_packet_rate",
        /// Bytes of a file, from its first to its last.
        Transfer = "transfer",
        /// Load of a core.
        CoreUse = "core_use",
    }
);

choice!(
    /// Statistic of a sample.
    Statistic, "a statistic", {
        /// Smallest; for rates, of the slowest interval.
        Min = "min",
        /// Mean.
        Mean = "mean",
        /// Median.
        P50 = "p50",
        /// 90th percentile.
        P90 = "p90",
        /// 99th percentile.
        P99 = "p99",
        /// 99.9th percentile.
        P999 = "p999",
        /// Largest; for rates, of the fastest interval.
        Max = "max",
        /// One look at a display.
        Reading = "reading",
    }
);

impl FigureMetric {
    /// Kind of quantity.
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
            (FigureMetric::Transfer, Statistic::Mean | Statistic::P50) => Some(Metric::TransferRate),
            _ => None,
        }
    }

    /// The value, in nanoseconds or a second's bits, as ours are.
    pub fn amount(&self) -> f64 {
        let amount = self.value.amount();
        if self.value.dimension() == Dimension::ByteRate { amount * 8.0 } else { amount }
    }

    /// Number of published values that make one of ours: 2 where half of an RTT was published.
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
