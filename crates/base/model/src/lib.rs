//! Plain values that every room shares: units, plan, trial, doubt, change.
//!
//! This crate is pure: no clock, no files, no system calls. Everything here can be written as JSON and read back.

mod base64;
pub mod bed;
pub mod bypass;
pub mod card;
pub mod change;
mod choice;
pub mod comparison;
pub mod counters;
pub mod cpu;
pub mod difference;
pub mod doubt;
pub mod environment;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod frame_size;
pub mod identity;
pub mod limited;
pub mod plan;
pub mod port;
pub mod probe;
pub mod reference;
pub mod run;
pub mod stream;
pub mod trial;
pub mod typeset;
pub mod units;
pub mod verdict;

pub use bed::{Answer, Bed, BedKind, ClockRelation, DUT, Dut, Endpoint, Gateway, Privilege};
pub use card::{Card, Cards};
pub use change::{Before, Change, LinkEnd};
pub use choice::ChoiceError;
pub use comparison::{ComparedFigure, Comparison, Conclusion, Finding};
pub use counters::{CoreKinds, CoreUse, Delta, EndCounters, Source};
pub use cpu::{CardFacts, CoreFacts, CpuFacts};
pub use doubt::Doubt;
pub use environment::Environment;
pub use frame_size::{FrameSize, PayloadSize};
pub use identity::{Date, Device, Identity, ManualItem, Photo, PhotoKind, Price, Signatory};
pub use limited::{Culprit, CulpritKind, Evidence, LimitedBy, LossAt, Place};
pub use plan::{Limit, Metric, Plan};
pub use port::{Manager, PortFacts, PortState, PortsState};
pub use probe::{
    Amount, Batch, Direction, Engine, GoodputSpec, IpVersion, LatencySpec, PacketsSpec, PathSpec, ProbeSpec, Protocol,
    ReceiveWay, Seat, SendWay, Side, Stack, WaitMode,
};
pub use reference::{Compared, Match, NotComparable, Reference, ReferenceComparison, ReferenceFigure};
pub use run::{Run, RunId};
pub use stream::{Mac, Stream};
pub use trial::{
    Flow, GoodputReceived, GoodputResult, GoodputSent, GoodputSide, Heard, LatencyResult, Measured, OtherSender,
    PacketStream, PacketsReceived, PacketsResult, PacketsSent, PacketsSide, PathResult, SequenceHeard, SideFigures,
    SoFar, TimeSummary, Trial,
};
pub use typeset::{NamedFile, Typeset};
pub use units::{BitRate, Bytes, Mtu, Nanos, PacketRate, Percent};
pub use verdict::{Interval, LimitOutcome, Verdict};
