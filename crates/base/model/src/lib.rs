//! Plain values that every room shares: units, plan, trial, doubt, change.
//!
//! This crate is pure: no clock, no files, no system calls. Everything here can be written as JSON and read back.

pub mod alike;
pub mod assessment;
mod base64;
pub mod bed;
pub mod bufferbloat;
pub mod bypass;
pub mod card;
pub mod card_health;
pub mod change;
pub mod check;
mod choice;
pub mod comparison;
pub mod core_list;
pub mod counters;
pub mod device_table;
pub mod difference;
pub mod doubt;
pub mod drop_counters;
pub mod environment;
mod failed;
pub mod figure;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod frame_size;
pub mod history;
pub mod identity;
pub mod inspection;
pub mod json;
pub mod limited;
mod modifier;
pub mod names;
pub mod nearest;
pub mod network;
pub mod nic;
pub mod path_to;
pub mod placement;
pub mod plain;
pub mod plan;
pub mod plausible;
pub mod probe;
pub mod reading;
pub mod reference;
pub mod rfc2544;
pub mod router;
pub mod run;
pub mod search;
pub mod settings;
pub mod stream;
mod toml_text;
mod total;
pub mod trial;
pub mod tuning;
pub mod typeset;
pub mod units;
pub mod verdict;
mod words;

pub use assessment::{
    Assessment, FlowAssessment, FreeFigure, KeyFigure, Limited, LineRate, MainLimit, PageOne, Tally, TrialAssessment,
};
pub use bed::{Answer, Bed, BedKind, ClockRelation, DUT, Dut, Endpoint, Gateway, Privilege};
pub use bufferbloat::Bufferbloat;
pub use card::Card;
pub use card_health::CardHealth;
pub use change::{Change, LinkEnd};
pub use choice::ChoiceError;
pub use comparison::{Comparison, Conclusion, ConfigurationFigures, Finding};
pub use counters::{CoreKinds, CoreUse, Delta, EndCounters, Source};
pub use doubt::Doubt;
pub use environment::{Cards, Environment};
pub use failed::{Failed, FailureKind};
pub use figure::{Better, Figure, Interval, Metric, Quantity, Range};
pub use frame_size::{FrameSize, PayloadSize};
pub use history::ReadEntry;
pub use identity::{
    Date, Device, Identity, Issuer, ManualItem, Photo, PhotoKind, Price, Revision, Signatory, Standard, TestConditions,
};
pub use json::Json;
pub use limited::{Culprit, CulpritKind, Evidence, LimitedBy, LossAt, Place};
pub use modifier::{Modifier, UPDATE_EVERY, UPDATED_ROUTES};
pub use names::Names;
pub use nic::{Manager, NicFacts, NicState, NicsState};
pub use path_to::{PathAdvice, PathAdviceKind, PathConclusion, PathMethod, PathTo, TcpPackets};
pub use placement::{CardFacts, CoreFacts, CpuFacts};
pub use plan::{Limit, Plan};
pub use probe::*;
pub use reading::Reading;
pub use reference::{Compared, Match, NotComparable, Reference, ReferenceComparison, ReferenceFigure};
pub use router::{Router, RouterPort};
pub use run::{Run, RunId};
pub use stream::{Mac, Stream};
pub use total::Total;
pub use trial::*;
pub use typeset::{NamedFile, Typeset};
pub use units::{BitRate, BitRateRange, Bytes, Mtu, Nanos, PacketRate, Percent, TransactionRate, TransactionRateRange};
pub use verdict::{LimitOutcome, Undecided, Verdict};
