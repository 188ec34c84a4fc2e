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
mod notice;
mod show;
mod summary;
mod texts;

pub use document::{
    Document, DoubtEntry, Environments, Figures, GoodputBps, GoodputFigures, LatencyFigures, RunEntry, SchemaName,
    Stack, TrialEntry, schema,
};
pub use doubts::advice;
pub use html::html;
pub use lack::{Lack, lack_labels};
pub use lang::{Lang, LangError};
pub use notice::Notice;
pub use summary::summary;
