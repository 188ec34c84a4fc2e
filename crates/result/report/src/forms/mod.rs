//! Forms that a report takes, a module each.

mod annotations;
mod cases;
mod csv;
mod html;
mod junit;
mod markdown;
mod numbers;
mod phrases;
mod quantities;
mod sarif;
mod tap;
mod typst;

pub use self::{
    annotations::annotations,
    csv::csv,
    html::{comparison_html, effect_html, html},
    junit::junit,
    markdown::{comparison_markdown, effect_markdown, markdown},
    sarif::sarif,
    tap::tap,
    typst::{comparison_typst, effect_typst, typst},
};

pub(crate) use self::markdown::table as markdown_table;

use model::Verdict;

/// The name of a verdict's colour in the style sheet.
fn colour(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        None => "none",
        Some(Verdict::Pass) => "pass",
        Some(Verdict::Fail) => "fail",
        Some(Verdict::Inconclusive | Verdict::NotRun | Verdict::NotComparable) => "open",
    }
}
