//! Runs as HTML, Markdown, CSV, JSON and plain text, in English and Japanese.
//!
//! Everything here takes values and returns text: no file, no clock, no network.

pub mod bypass;
mod cards;
mod cells;
mod changes;
mod columns;
mod comparison;
mod content;
mod device_table;
mod document;
mod doubts;
mod effect;
mod figure;
mod finding;
mod forms;
mod groups;
mod histogram;
mod inspection;
mod lack;
mod lang;
mod limited;
mod lists;
mod material;
mod meta;
mod method;
mod notice;
mod outcome;
mod page;
mod preview;
mod probes;
mod redact;
mod rfc2544;
mod router;
mod schedule;
mod shape;
mod show;
mod sides;
mod stacks;
mod summary;
mod terminal;
mod texts;
mod tune;
mod watch;

pub use cards::{cards, narrow_bus};
pub use comparison::comparison;
pub use content::{PLAN_FILE, issued_before, signed_before};
pub use device_table::{device_table, device_table_csv, device_table_markdown};
pub use document::*;
pub use doubts::advice;
pub use effect::tuning_effect;
pub use finding::{finding_text, subject_text};
pub use forms::{
    annotations, comparison_html, comparison_markdown, comparison_typst, csv, effect_html, effect_markdown,
    effect_typst, html, junit, markdown, sarif, tap, typst,
};
pub use histogram::Bars;
pub use inspection::{Compared, inspected, inspected_differences};
pub use lack::{lack_costs, lack_labels, lack_remedy};
pub use lang::{HELP_JA, Lang, LangError, MANUAL_JA};
pub use limited::LimitedByEntry;
pub use lists::{
    baselines_head, baselines_none, bed_hint, bed_lines, beds_none, reference_row, references_folder, references_head,
    run_verdict, runs_head, runs_none, undone_lines,
};
pub use material::{Material, RawFile};
pub use meta::meta_template;
pub use notice::Notice;
pub use preview::{Obstacle, Preview, PreviewItem, PreviewLimit, PreviewMost, preview};
pub use probes::*;
pub use redact::{RedactError, redacted};
pub use rfc2544::classified;
pub use router::{router, router_is_up};
pub use show::command;
pub use sides::{received, received_so_far, sent};
pub use summary::summary;
pub use tune::{tuning_left, tuning_made, tuning_plan, tuning_state, tuning_undone};
pub use watch::WatchWords;
