//! Round-trip times: the table and its figures.

use maud::{Markup, html};
use model::Run;

use super::table::{figures, table, words};
use crate::{
    figure,
    groups::{LatencyGroup, latency_groups},
    show::{self, NO_FIGURE, grouped, micros, micros_or_none},
    texts::Texts,
};

/// Nothing when no round-trip time was measured.
pub(super) fn latency(run: &Run, t: &Texts) -> Markup {
    let groups = latency_groups(run);
    if groups.is_empty() {
        return html! {};
    }
    html! {
        h3 { (t.get("latency-heading")) }
        (latency_table(&groups, t))
        div.charts {
            @if let Some(figure) = figure::rtt_by_frame_size(&groups, t) { (figure) }
            @if let Some(figure) = figure::distribution(&groups, t) { (figure) }
        }
    }
}

fn latency_table(groups: &[LatencyGroup<'_>], t: &Texts) -> Markup {
    let intervals = groups.iter().any(|group| group.rtt(|rtt| rtt.p50).is_some_and(|p50| p50.interval.is_some()));
    let head = html! {
        (words(&t.get("col-traffic")))
        (figures(&t.get("col-frame")))
        (figures(&t.get("col-payload")))
        (figures(&t.get("col-trials")))
        (figures(&t.get("col-min")))
        (figures("p50"))
        (figures(&t.get("col-spread")))
        @if intervals { (figures(&t.get("col-interval-p50"))) }
        (figures("p99"))
        (figures("p99.9"))
        (figures(&t.get("col-max")))
        (figures(&t.get("col-lost")))
        (figures(&t.get("col-half")))
    };
    let rows = html! { @for group in groups { (row(group, intervals, t)) } };
    table(&t.get("latency-caption"), &head, &rows)
}

fn row(group: &LatencyGroup<'_>, intervals: bool, t: &Texts) -> Markup {
    let p50 = group.rtt(|rtt| rtt.p50);
    let range = |low: f64, high: f64| format!("{} – {}", micros(low), micros(high));
    let spread = p50.and_then(|p50| p50.range()).map_or(NO_FIGURE.to_owned(), |(low, high)| range(low, high));
    let interval = p50.and_then(|p50| p50.interval).map_or(NO_FIGURE.to_owned(), |it| range(it.low, it.high));
    let missing = [group.sum(|it| it.lost), group.sum(|it| it.late), group.sum(|it| it.reordered)].map(grouped);
    html! {
        tr {
            th scope="row" { (show::latency_traffic(group.spec, t)) }
            td.n { (group.spec.frame_size.0) }
            td.n { (payload(group)) }
            td.n { (group.trials.len()) }
            td.n { (micros_or_none(group.rtt(|rtt| rtt.min).map(|min| min.low))) }
            td.n { strong { (micros_or_none(p50.map(|p50| p50.median))) } }
            td.n { (spread) }
            @if intervals { td.n { (interval) } }
            td.n { (micros_or_none(group.rtt(|rtt| rtt.p99).map(|it| it.median))) }
            td.n { (micros_or_none(group.rtt(|rtt| rtt.p999).map(|it| it.median))) }
            td.n { (micros_or_none(group.rtt(|rtt| rtt.max).map(|max| max.high))) }
            td.n { (missing.join(" / ")) }
            td.n.derived { (micros_or_none(p50.map(|p50| p50.median / 2.0))) }
        }
    }
}

/// The payload that made these frames; a mark where trials differ.
fn payload(group: &LatencyGroup<'_>) -> String {
    let mut sizes = group.trials.iter().map(|(_, result)| result.payload_size);
    match sizes.next() {
        Some(first) if sizes.all(|size| size == first) => first.0.to_string(),
        _ => NO_FIGURE.to_owned(),
    }
}
