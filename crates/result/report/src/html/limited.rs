//! What limited each figure, where packets were lost, and the counters that tell of it.

use maud::{Markup, html};
use model::{Delta, LimitedBy, LossAt, ProbeSpec, Run, Source, Trial};

use super::{
    goodput::saw_loss,
    table::{figures, table, words},
};
use crate::{
    doubts::ranges,
    limited::{self, Limited, evidence_words, place_at},
    show::{self, NO_FIGURE, grouped},
    texts::Texts,
};

pub(super) fn limited(run: &Run, t: &Texts) -> Markup {
    html! {
        (limits(run, |trial| verdict::limited_by(run, trial), t))
        (losses(run, verdict::loss_at, t))
        (counters(run, t))
    }
}

/// Nothing when no limit is known.
fn limits(run: &Run, find: impl Fn(&Trial) -> Option<LimitedBy>, t: &Texts) -> Markup {
    let (known, others) = limited::limited(run, find);
    if known.is_empty() {
        return html! {};
    }
    let head = html! {
        (words(&t.get("col-configuration")))
        (words(&t.get("col-limited")))
        (words(&t.get("col-evidence")))
        (figures(&t.get("col-trials")))
        (words(&t.get("col-trial-numbers")))
    };
    let rows = html! {
        @for row in &known { (limited_row(row, t)) }
        @if !others.is_empty() {
            tr {
                th scope="row" { (t.get("other-configurations")) }
                td { (t.get("not-known")) }
                td { (NO_FIGURE) }
                td.n { (others.len()) }
                td.long { (ranges(&others)) }
            }
        }
    };
    html! {
        h3 { (t.get("limited-heading")) }
        (table(&t.get("limited-caption"), &head, &rows))
    }
}

fn limited_row(row: &Limited, t: &Texts) -> Markup {
    let count = t.with("count-of", &[("count", &row.trials.len()), ("of", &row.of)]);
    html! {
        tr {
            th.long scope="row" { (show::configuration(&row.spec, t)) }
            td { strong { (place_at(row.by.place, row.by.endpoint.as_deref(), t)) } }
            td.long { (evidence_words(&row.by, &row.spec, t)) }
            td.n { (count) }
            td.long { (ranges(&row.trials)) }
        }
    }
}

/// Nothing when nothing was lost.
fn losses(run: &Run, find: impl Fn(&Trial) -> Vec<LossAt>, t: &Texts) -> Markup {
    let losses = limited::losses(run, find);
    if losses.is_empty() {
        return html! {};
    }
    let head = html! {
        (words(&t.get("col-configuration")))
        (words(&t.get("col-place")))
        (figures(&t.get("col-packets")))
        (figures(&t.get("col-share")))
        (words(&t.get("col-counters")))
    };
    let rows = html! {
        @for (spec, places) in &losses {
            @let all: u64 = places.iter().map(|loss| loss.packets).sum();
            @for loss in places { (loss_row(spec, loss, all, t)) }
        }
    };
    html! {
        h3 { (t.get("loss-heading")) }
        (table(&t.get("loss-caption"), &head, &rows))
    }
}

fn loss_row(spec: &ProbeSpec, loss: &LossAt, all: u64, t: &Texts) -> Markup {
    html! {
        tr {
            th.long scope="row" { (show::configuration(spec, t)) }
            td { strong { (place_at(loss.place, loss.endpoint.as_deref(), t)) } }
            td.n { (grouped(loss.packets)) }
            td.n { (format!("{:.1} %", 100.0 * loss.packets as f64 / all.max(1) as f64)) }
            td.long {
                @if loss.shown_by.is_empty() { (t.get("no-counter")) }
                @for (index, delta) in loss.shown_by.iter().enumerate() {
                    @if index > 0 { ", " }
                    code { (delta) }
                }
            }
        }
    }
}

/// Counters of drops and errors that moved in trials with loss, folded away. All counters are in the JSON.
fn counters(run: &Run, t: &Texts) -> Markup {
    let moved: Vec<_> = run.trials.iter().filter(|trial| saw_loss(trial)).flat_map(telling).collect();
    if moved.is_empty() {
        return html! {};
    }
    let head = html! {
        (figures(&t.get("col-trial")))
        (words(&t.get("col-configuration")))
        (words(&t.get("col-endpoint")))
        (words(&t.get("col-counter")))
        (figures(&t.get("col-growth")))
    };
    let rows = html! {
        @for (trial, endpoint, delta) in &moved {
            tr {
                td.n { (trial.number) }
                th.long scope="row" { (show::configuration(&trial.measured.spec(), t)) }
                td { (endpoint) }
                td { code { (delta.source) " " (delta.of) " " (delta.name) } }
                td.n { (grouped(delta.delta)) }
            }
        }
    };
    let caption = t.get("counters-caption");
    html! { details { summary { (t.get("counters-heading")) } (table(&caption, &head, &rows)) } }
}

/// A trial's counters that tell of drops and errors, each with its end.
fn telling(trial: &Trial) -> Vec<(&Trial, &str, &Delta)> {
    let [near, far] = &trial.counters;
    let ends = [(trial.endpoint_from.as_str(), near), (trial.endpoint_to.as_str(), far)];
    let all =
        ends.into_iter().flat_map(|(endpoint, counters)| counters.deltas.iter().map(move |it| (trial, endpoint, it)));
    all.filter(|(.., delta)| delta.source != Source::Interrupt && tells_of_loss(&delta.name)).collect()
}

fn tells_of_loss(name: &str) -> bool {
    const TELLING: [&str; 9] =
        ["drop", "err", "miss", "overrun", "fifo", "discard", "overlimit", "retrans", "time_squeeze"];
    let name = name.to_ascii_lowercase();
    TELLING.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_drops_and_errors_are_told_from_those_of_traffic() {
        for name in ["rx_dropped", "RcvbufErrors", "RetransSegs", "time_squeeze", "rx_missed_errors", "TCPRcvQDrop"] {
            assert!(tells_of_loss(name), "{name}");
        }
        for name in ["rx_packets", "InDatagrams", "NET_RX", "processed"] {
            assert!(!tells_of_loss(name), "{name}");
        }
    }
}
