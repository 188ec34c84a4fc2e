//! The report: one HTML file with everything in it, for a screen, a phone, paper and a screen reader.

mod alone;
mod closing;
mod cpu;
mod datagrams;
mod environment;
mod goodput;
mod latency;
mod limited;
mod method;
mod opening;
mod path;
mod schedule;
mod table;
mod tcp;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use model::{LimitOutcome, Run};

use crate::{lang::Lang, texts::Texts};

const STYLE: &str = include_str!("style.css");

/// The report of a run. `outcomes` is what its limits say.
pub fn html(run: &Run, outcomes: &[LimitOutcome], lang: Lang) -> String {
    let t = Texts::of(lang);
    let title = format!("{} – {}", t.get("title"), run.id);
    html! {
        (DOCTYPE)
        html lang=(t.lang) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (opening::head(run, t))
                main {
                    (opening::verdict(run, outcomes, t))
                    (opening::summary(run, t))
                    (opening::doubts(run, t))
                    (opening::limits(run, outcomes, t))
                    (method::topology(run, t))
                    (method::method(run, t))
                    (results(run, t))
                    (environment::environment(run, t))
                    (closing::glossary(run, t))
                }
                (closing::statement(t))
            }
        }
    }
    .into_string()
}

fn results(run: &Run, t: &Texts) -> Markup {
    html! {
        section {
            h2 { (t.get("results-heading")) }
            (latency::latency(run, t))
            (goodput::goodput(run, t))
            (path::path(run, t))
            (limited::limited(run, t))
            (alone::alone(run, t))
        }
    }
}
