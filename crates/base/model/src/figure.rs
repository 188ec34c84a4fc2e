//! Figures: the numbers of a trial that are judged, compared and listed, for every probe.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{BitRate, Nanos, PacketRate, Percent, TransactionRate};

/// Quantity that a figure states, with its base unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Nanoseconds.
    Time,
    /// Bits per second.
    Rate,
    /// Packets per second.
    PacketRate,
    /// Transactions or connections per second.
    TransactionRate,
    /// Files per second.
    FileRate,
    /// Bytes.
    Size,
    /// A part of 1.
    Share,
    /// A number of things.
    Count,
}

/// Direction in which a figure improves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
}

macro_rules! metrics {
    ($($(#[doc = $doc:literal])+ $metric:ident = $name:literal of $of:literal: $quantity:ident, $better:ident;)+) => {
        /// A figure that a limit can be set on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub enum Metric {
            $(
                $(#[doc = $doc])+
                #[serde(rename = $name)]
                $metric,
            )+
        }

        impl Metric {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$metric),+];

            /// Name in plans and documents; texts about it are found by this name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$metric => $name),+
                }
            }

            /// The probe that gives it; its own name where several do.
            pub fn given_by(self) -> &'static str {
                match self {
                    $(Self::$metric => $of),+
                }
            }

            /// Quantity that it states.
            pub fn quantity(self) -> Quantity {
                match self {
                    $(Self::$metric => Quantity::$quantity),+
                }
            }

            /// Direction in which it improves.
            pub fn better(self) -> Better {
                match self {
                    $(Self::$metric => Better::$better),+
                }
            }
        }
    };
}

// A probe lists those that it gives in `Probe::metrics`.
metrics! {
    /// Smallest RTT.
    RttMin = "rtt_min" of "latency": Time, Lower;
    /// Mean RTT.
    RttMean = "rtt_mean" of "latency": Time, Lower;
    /// Median RTT.
    RttP50 = "rtt_p50" of "latency": Time, Lower;
    /// 90th percentile of RTT.
    RttP90 = "rtt_p90" of "latency": Time, Lower;
    /// 99th percentile of RTT.
    RttP99 = "rtt_p99" of "latency": Time, Lower;
    /// 99.9th percentile of RTT.
    RttP999 = "rtt_p999" of "latency": Time, Lower;
    /// Largest RTT.
    RttMax = "rtt_max" of "latency": Time, Lower;
    /// Median RTT while TCP fills the path.
    LoadedRtt = "loaded_rtt" of "latency": Time, Lower;
    /// Goodput over the whole trial; with data both ways, of the slower direction.
    GoodputMean = "goodput_mean" of "goodput": Rate, Higher;
    /// Goodput of the slowest second.
    GoodputMin = "goodput_min" of "goodput": Rate, Higher;
    /// Goodput of the fastest second; with data both ways, of the slower direction.
    GoodputMax = "goodput_max" of "goodput": Rate, Higher;
    /// The largest packet that passes both ways, in bytes.
    PathMtu = "path_mtu" of "path": Size, Higher;
    /// Share of all messages, datagrams or packets sent that did not come; a reply after the timeout did not.
    Loss = "loss" of "loss": Share, Lower;
    /// Numbered packets received per second; with packets both ways, of the slower direction.
    ForwardingRate = "forwarding_rate" of "packets": PacketRate, Higher;
    /// Loss of the stream with the highest DSCP beside streams of lower ones.
    PriorityLoss = "priority_loss" of "packets": Share, Lower;
    /// 99th percentile of that stream's time on the way.
    PriorityLatencyP99 = "priority_latency_p99" of "packets": Time, Lower;
    /// Jitter of that stream: the 99th percentile of its time on the way less the smallest (RFC 5481).
    PriorityJitter = "priority_jitter" of "packets": Time, Lower;
    /// Transactions a second that ended well.
    TransactionRate = "transaction_rate" of "transactions": TransactionRate, Higher;
    /// Connections a second that were established.
    ConnectionRate = "connection_rate" of "transactions": TransactionRate, Higher;
    /// Median response time.
    ResponseP50 = "response_p50" of "transactions": Time, Lower;
    /// 90th percentile of response time.
    ResponseP90 = "response_p90" of "transactions": Time, Lower;
    /// 99th percentile of response time.
    ResponseP99 = "response_p99" of "transactions": Time, Lower;
    /// 99.9th percentile of response time.
    ResponseP999 = "response_p999" of "transactions": Time, Lower;
    /// Largest response time.
    ResponseMax = "response_max" of "transactions": Time, Lower;
    /// Share of all transactions that failed.
    Failed = "failed" of "transactions": Share, Lower;
    /// Contents of a file that arrived whole, per second, from the start of the client to its end.
    TransferRate = "transfer_rate" of "transfer": Rate, Higher;
    /// Small files that arrived whole, per second, from the start of the client to its end.
    SmallFileRate = "small_file_rate" of "transfer": FileRate, Higher;
    /// Transfers whose contents are other ones at the receiving end.
    Damaged = "damaged" of "transfer": Count, Lower;
    /// Checks of forwarding that failed.
    ChecksFailed = "checks_failed" of "forwarding": Count, Lower;
}

impl Metric {
    /// Whether it is a percentile, which takes a sample of some size.
    pub fn is_percentile(self) -> bool {
        use Metric::*;
        matches!(
            self,
            RttP50 | RttP90 | RttP99 | RttP999 | LoadedRtt | ResponseP50 | ResponseP90 | ResponseP99 | ResponseP999
        )
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Quantity {
    /// Base unit, as documents have it.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Time => "ns",
            Self::Rate => "bit/s",
            Self::PacketRate => "packets/s",
            Self::TransactionRate => "transactions/s",
            Self::FileRate => "files/s",
            Self::Size => "bytes",
            Self::Share => "share of 1",
            Self::Count => "count",
        }
    }

    /// Reads a value of this quantity, in its base unit.
    pub(crate) fn parse(self, text: &str) -> Result<f64, String> {
        match self {
            Self::Time => text.parse::<Nanos>().map(|nanos| nanos.0 as f64).map_err(|e| e.to_string()),
            Self::Rate => text.parse::<BitRate>().map(|rate| rate.0 as f64).map_err(|e| e.to_string()),
            Self::PacketRate => text.parse::<PacketRate>().map(|rate| rate.0 as f64).map_err(|e| e.to_string()),
            Self::TransactionRate => {
                text.parse::<TransactionRate>().map(|rate| rate.0 as f64).map_err(|e| e.to_string())
            }
            Self::FileRate => text.trim_end_matches("files/s").trim_end().parse::<u32>().map(f64::from).map_err(|_| {
                format!("\"{text}\" is not a number of files a second, like \"2000\" or \"2000 files/s\"")
            }),
            Self::Size => text
                .trim_end_matches('B')
                .trim_end()
                .parse::<u32>()
                .map(f64::from)
                .map_err(|_| format!("\"{text}\" is not a number of bytes, like \"9000\" or \"9000 B\"")),
            Self::Share => text.parse::<Percent>().map(|percent| percent.0 / 100.0).map_err(|e| e.to_string()),
            Self::Count => {
                text.parse::<u32>().map(f64::from).map_err(|_| format!("\"{text}\" is not a number, like \"0\""))
            }
        }
    }
}

/// One figure of a trial. The metric gives its quantity and direction, the trial its configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The metric.
    pub metric: Metric,
    /// Value.
    pub value: Range,
}

impl Figure {
    /// A figure with a known value; `None` without one.
    pub fn known(metric: Metric, value: Option<f64>) -> Option<Self> {
        value.map(|value| Self { metric, value: Range { low: value, high: value } })
    }
}

/// Value of a figure in its base unit. Both ends are the same where it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// It is not below this.
    pub low: f64,
    /// It is not above this; infinite where it depends on a missing reply.
    pub high: f64,
}

impl Range {
    /// The value, where it is known.
    pub fn known(self) -> Option<f64> {
        (self.low == self.high).then_some(self.low)
    }
}

/// Range of the true median, with the stated confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Lower end, in the metric's base unit.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Confidence reached, between 0 and 1 (at least the one asked for).
    pub confidence: f64,
}
