//! What limited each figure, where packets were lost, and the counters that tell of it.

use model::{DUT, Delta, LossAt, ProbeSpec, Run, Source, Trial};

use super::goodput::saw_loss;
use crate::{
    doubts::ranges,
    limited::{self, Limited, evidence_words, place_at},
    page::{Block, Column, Span, Text},
    show::{self, NO_FIGURE, grouped},
    texts::Texts,
};

pub(super) fn limited(run: &Run, t: &Texts) -> Vec<Block> {
    let blocks = [limits(run, t), losses(run, |trial| verdict::loss_at(run, trial), t), counters(run, t)];
    blocks.into_iter().flatten().collect()
}

/// Nothing when no limit is known.
fn limits(run: &Run, t: &Texts) -> Option<Block> {
    let (known, others) = limited::limited(run, limited::find(run));
    if known.is_empty() {
        return None;
    }
    let columns = vec![
        Column::long(t.get("col-configuration")),
        Column::words(t.get("col-limited")),
        Column::long(t.get("col-evidence")),
        Column::figures(t.get("col-trials")),
        Column::long(t.get("col-trial-numbers")),
    ];
    let mut rows: Vec<_> = known.iter().map(|row| limited_row(row, t)).collect();
    if !others.is_empty() {
        let (count, numbers) = (others.len().to_string(), ranges(&others));
        let row = [t.get("other-configurations"), t.get("not-known"), NO_FIGURE.to_owned(), count, numbers];
        rows.push(row.map(Text::from).into());
    }
    let table = Block::table(t.get("limited-caption"), columns, rows);
    Some(Block::section(t.get("limited-heading"), vec![table]))
}

fn limited_row(row: &Limited, t: &Texts) -> Vec<Text> {
    let count = t.with("count-of", &[("count", &row.trials.len()), ("of", &row.of)]);
    vec![
        show::figure(&row.spec, row.way.as_ref(), t).into(),
        Text::strong(place_at(row.by.place, row.by.endpoint.as_deref(), t)),
        evidence_words(&row.by, &row.spec, t).into(),
        count.into(),
        ranges(&row.trials).into(),
    ]
}

/// Nothing when nothing was lost.
fn losses(run: &Run, find: impl Fn(&Trial) -> Vec<LossAt>, t: &Texts) -> Option<Block> {
    let losses = limited::losses(run, find);
    if losses.is_empty() {
        return None;
    }
    let columns = vec![
        Column::long(t.get("col-configuration")),
        Column::words(t.get("col-place")),
        Column::figures(t.get("col-packets")),
        Column::figures(t.get("col-share")),
        Column::long(t.get("col-counters")),
    ];
    let of_configuration = |(spec, places): &(ProbeSpec, Vec<LossAt>)| -> Vec<Vec<Text>> {
        let all: u64 = places.iter().map(|loss| loss.packets).sum();
        places.iter().map(|loss| loss_row(spec, loss, all, t)).collect()
    };
    let rows = losses.iter().flat_map(of_configuration).collect();
    let table = Block::table(t.get("loss-caption"), columns, rows);
    Some(Block::section(t.get("loss-heading"), vec![table]))
}

fn loss_row(spec: &ProbeSpec, loss: &LossAt, all: u64, t: &Texts) -> Vec<Text> {
    vec![
        show::configuration(spec, t).into(),
        Text::strong(place_at(loss.place, loss.endpoint.as_deref(), t)),
        grouped(loss.packets).into(),
        format!("{:.1} %", 100.0 * loss.packets as f64 / all.max(1) as f64).into(),
        shown_by(loss, t),
    ]
}

fn shown_by(loss: &LossAt, t: &Texts) -> Text {
    let counters = loss.shown_by.iter().map(|delta| Text::code(delta.to_string()));
    let comma = |all: Text, one: Text| Text([all.0, vec![Span::Plain(", ".to_owned())], one.0].concat());
    counters.reduce(comma).unwrap_or_else(|| t.get("no-counter").into())
}

/// Counters of drops and errors that moved in trials with loss, folded away. All counters are in the JSON.
fn counters(run: &Run, t: &Texts) -> Option<Block> {
    let moved: Vec<_> = run.trials.iter().filter(|trial| saw_loss(trial)).flat_map(telling).collect();
    if moved.is_empty() {
        return None;
    }
    let columns = vec![
        Column::figures(t.get("col-trial")),
        Column::long(t.get("col-configuration")),
        Column::words(t.get("col-endpoint")),
        Column::words(t.get("col-counter")),
        Column::figures(t.get("col-growth")),
    ];
    let row = |(trial, endpoint, delta): &(&Trial, &str, &Delta)| {
        vec![
            trial.number.to_string().into(),
            show::configuration(&trial.measured.spec(), t).into(),
            (*endpoint).into(),
            Text::code(format!("{} {} {}", delta.source, delta.of, delta.name)),
            grouped(delta.delta).into(),
        ]
    };
    let table = Block::table(t.get("counters-caption"), columns, moved.iter().map(row).collect());
    Some(Block::Folded { summary: t.get("counters-heading"), blocks: vec![table] })
}

/// A trial's counters that tell of drops and errors, each with its end.
fn telling(trial: &Trial) -> Vec<(&Trial, &str, &Delta)> {
    let ends = trial.senders().chain([trial.endpoint_to.as_str(), DUT]);
    let ends = ends.filter_map(|endpoint| Some((endpoint, trial.end(endpoint)?.0)));
    let all = ends.flat_map(|(endpoint, counters)| counters.deltas.iter().map(move |it| (trial, endpoint, it)));
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
