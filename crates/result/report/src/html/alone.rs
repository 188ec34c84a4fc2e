//! What the tester does alone.

use maud::{Markup, html};
use model::{Measured, Run, Trial};

use super::table::{figures, table, words};
use crate::{
    show::{self, NO_FIGURE, micros_or_none, packet_rate, rate},
    texts::Texts,
};

/// Nothing for a run whose loads the path sets the pace of.
pub(super) fn alone(run: &Run, t: &Texts) -> Markup {
    if run.self_tests.is_empty() {
        return html! {};
    }
    let head = html! {
        (words(&t.get("col-configuration")))
        (figures(&t.get("col-made-alone")))
        (figures(&t.get("col-rtt-p99-alone")))
    };
    let rows = html! { @for trial in &run.self_tests { (row(trial, t)) } };
    html! {
        (table(&t.get("table-alone"), &head, &rows))
        p.note { (t.get("alone-note")) }
    }
}

fn row(trial: &Trial, t: &Texts) -> Markup {
    let (made, rtt) = match &trial.measured {
        Measured::Latency { result, .. } => {
            (packet_rate(result.achieved_pps), micros_or_none(result.rtt_ns.p99.map(|ns| ns as f64)))
        }
        Measured::Goodput { result, .. } => {
            (show::or_none(result.flows.first(), |flow| rate(flow.received.mean_bps())), NO_FIGURE.to_owned())
        }
        Measured::Path { .. } => (NO_FIGURE.to_owned(), NO_FIGURE.to_owned()),
    };
    html! {
        tr {
            th scope="row" { (show::configuration(&trial.measured.spec(), t)) }
            td.figures { (made) }
            td.figures { (rtt) }
        }
    }
}
