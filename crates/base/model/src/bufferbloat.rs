//! Latency of a path while TCP fills it, and while it is idle.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{choice::choice, network::Direction, probe::ProbeSpec};

/// Round trips of one configuration with and without load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bufferbloat {
    /// The configuration without load.
    pub idle: ProbeSpec,
    /// The sender, where senders took turns; null for the only one.
    pub from: Option<String>,
    /// Median RTT of the idle path, in nanoseconds.
    pub idle_ns: f64,
    /// Each load, in the order of the plan.
    pub loads: Vec<LoadedRtt>,
    /// Grade of the largest increase.
    pub grade: Grade,
}

/// Round trips beside a load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadedRtt {
    /// Direction of the load.
    pub direction: Direction,
    /// Median RTT, in nanoseconds; the timeout where most replies were lost or late.
    pub rtt_ns: f64,
    /// Increase over the idle path, in nanoseconds; negative where it was shorter.
    pub increase_ns: f64,
    /// Goodput of the load, in bit/s; in both directions, of the slower one. Null where it is not known.
    pub goodput_bps: Option<f64>,
}

choice!(
    /// Grade of the increase, by the scale of DSLReports that the test of Waveform uses too.
    Grade, "a grade", {
        /// Below 5 ms.
        APlus = "A+",
        /// Below 30 ms.
        A = "A",
        /// Below 60 ms.
        B = "B",
        /// Below 200 ms.
        C = "C",
        /// Below 400 ms.
        D = "D",
        /// 400 ms or more.
        F = "F",
    }
);
