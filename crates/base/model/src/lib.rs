//! Plain values that every room shares: units, plan, trial, doubt, change.
//!
//! This crate is pure: no clock, no files, no system calls. Everything here can be written as JSON and read back.

pub mod bed;
pub mod change;
pub mod doubt;
pub mod environment;
pub mod frame_size;
pub mod plan;
pub mod probe;
pub mod run;
pub mod trial;
pub mod units;
pub mod verdict;

pub use bed::{Bed, BedKind, Endpoint, Privilege};
pub use change::{Before, Change, LinkEnd};
pub use doubt::Doubt;
pub use environment::Environment;
pub use frame_size::{FrameSize, PayloadSize};
pub use plan::{Limit, Metric, Plan};
pub use probe::{GoodputSpec, IpVersion, LatencySpec, ProbeSpec, Protocol, WaitMode};
pub use run::{Run, RunId};
pub use trial::{GoodputReceived, GoodputResult, GoodputSent, LatencyResult, LimitedBy, Measured, RttSummary, Trial};
pub use units::{BitRate, Mtu, Nanos};
pub use verdict::{Interval, LimitOutcome, Verdict};
