//! Results of RFC 2544 of several runs in one table: a row for each frame size of each run.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::{frame_size::FrameSize, rfc2544::PortRates, run::RunId, stream::Sizes};

/// Throughputs of devices under test side by side.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DeviceTable {
    /// Rows of one device and frame size stand together, the fewest cores first.
    pub rows: Vec<DeviceRow>,
    /// Whether the rows are of several machines: they differ in more than their settings.
    pub has_several_machines: bool,
}

/// The throughput at a frame size of a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DeviceRow {
    /// The run.
    pub run: RunId,
    /// The bed with the device, as it was named on the command line.
    pub device: String,
    /// The machine that measured, and that a lab's device worked on: name and processor.
    pub machine: String,
    /// Cores of the device; null where they are not known.
    pub cores: Option<usize>,
    /// Size of the frames as they were asked for, with FCS; null for a mix of sizes.
    pub frame_size: Option<FrameSize>,
    /// The mix of sizes; null for one size.
    pub mix: Option<Sizes>,
    /// Settings in which rows of the table differ, by their keys in a plan.
    pub settings: BTreeMap<String, String>,
    /// The throughput: frames a second each way; null where none was found.
    pub throughput_pps: Option<f64>,
    /// Whether a higher load was shown to fail; otherwise the device may forward more. Null without a throughput.
    pub is_bounded: Option<bool>,
    /// Whether the tester alone reaches the loads that bound the throughput; null where it was not measured first.
    pub is_vouched: Option<bool>,
    /// Rates at each port of the tester at the throughput.
    pub ports: Vec<PortRates>,
    /// Frames a second that all ports sent and received, added up: each forwarded frame counts twice.
    pub sum_pps: Option<f64>,
    /// Frames a second that were forwarded, each counted once.
    pub forwarded_pps: Option<f64>,
    /// Bits a second that were forwarded on layer 1, each frame counted once.
    pub forwarded_l1_bps: Option<f64>,
    /// The most that the link carries of such frames each way, in frames a second; null where its rate is not known.
    pub line_pps: Option<f64>,
    /// Whether trials of the run are missing.
    pub is_partial: bool,
}
