//! How to read the report, and what it does not claim.

use maud::{Markup, html};

use crate::texts::Texts;

pub(super) fn glossary(t: &Texts) -> Markup {
    let terms = [
        ("term-rtt", "term-rtt-meaning"),
        ("term-percentile", "term-percentile-meaning"),
        ("term-half", "term-half-meaning"),
        ("term-goodput", "term-goodput-meaning"),
        ("term-frame", "term-frame-meaning"),
        ("term-mode", "term-mode-meaning"),
        ("term-interval", "term-interval-meaning"),
    ];
    html! {
        section {
            h2 { (t.get("glossary-heading")) }
            dl.glossary {
                @for (term, meaning) in terms { dt { (t.get(term)) } dd { (t.get(meaning)) } }
            }
        }
    }
}

pub(super) fn statement(t: &Texts) -> Markup {
    html! { footer { p { (t.get("statement")) } } }
}
