//! Runs as HTML, JSON and plain text, in English and Japanese.
//!
//! Everything here takes values and returns text: no file, no clock, no network.

mod document;
mod doubts;
mod figure;
mod groups;
mod html;
mod lack;
mod lang;
mod limited;
mod notice;
#[allow(dead_code, reason = "content and forms move onto it one by one")]
mod page;
mod show;
mod summary;
mod texts;

pub use document::{
    BothWays, CountersEntry, Document, DoubtEntry, Environments, Figures, FlowFigures, GoodputBps, GoodputFigures,
    LatencyFigures, LimitedByEntry, LossEntry, PathFigures, RunEntry, SchemaName, Stack, TrialEntry, schema,
};
pub use doubts::advice;
pub use html::html;
pub use lack::{Lack, lack_labels};
pub use lang::{Lang, LangError};
pub use notice::Notice;
pub use summary::summary;
