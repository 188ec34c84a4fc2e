//! What limited each figure, where packets were lost, and the counters that tell of it.

use model::{DUT, Delta, Limited, LossAt, ProbeSpec, Source, Total, Trial, drop_counters::tells_of_loss};

use crate::{
    columns::Columns,
    doubts::ranges,
    limited::{evidence_words, place_at},
    material::Material,
    page::{Block, Span, Text},
    probes,
    show::{NO_FIGURE, grouped},
    texts::Texts,
};

pub(super) fn limited(material: &Material<'_>, t: &Texts) -> Vec<Block> {
    let Material { assessment, .. } = material;
    let limits = limits(&assessment.limited, &assessment.limit_unknown, t);
    [limits, losses(&assessment.losses, t), counters(material, t)].into_iter().flatten().collect()
}

/// Nothing when no limit is known.
fn limits(known: &[Limited], others: &[u32], t: &Texts) -> Option<Block> {
    if known.is_empty() {
        return None;
    }
    let count = |it: &Limited| t.with("count-of", &[("count", &it.trials.len()), ("of", &it.of)]);
    let columns = Columns::new()
        .long(t.get("col-configuration"), |it: &Limited| probes::way(&it.spec, it.way.as_ref(), t))
        .words(t.get("col-limited"), |it| Text::strong(place_at(it.by.place, it.by.endpoint.as_deref(), t)))
        .long(t.get("col-evidence"), |it| evidence_words(&it.by, probes::rate(&it.spec), t))
        .figures(t.get("col-trials"), count)
        .long(t.get("col-trial-numbers"), |it| ranges(&it.trials));
    let none = || {
        let (count, numbers) = (others.len().to_string(), ranges(others));
        [t.get("other-configurations"), t.get("not-known"), NO_FIGURE.to_owned(), count, numbers].map(Text::from)
    };
    let none = (!others.is_empty()).then(none);
    let table = columns.table_and(t.get("limited-caption"), known, none.map(Vec::from));
    Some(Block::section(t.get("limited-heading"), vec![table]))
}

/// Nothing when nothing was lost.
fn losses(losses: &[(ProbeSpec, Vec<LossAt>)], t: &Texts) -> Option<Block> {
    if losses.is_empty() {
        return None;
    }
    type Row<'r> = (&'r ProbeSpec, &'r LossAt, u64);
    let mut rows: Vec<Row<'_>> = Vec::new();
    for (spec, places) in losses {
        let all = places.iter().map(|loss| loss.packets).total();
        rows.extend(places.iter().map(|loss| (spec, loss, all)));
    }
    let table = Columns::new()
        .long(t.get("col-configuration"), |(spec, ..): &Row<'_>| probes::configuration(spec, t))
        .words(t.get("col-place"), |(_, loss, _)| Text::strong(place_at(loss.place, loss.endpoint.as_deref(), t)))
        .figures(t.get("col-packets"), |(_, loss, _)| grouped(loss.packets))
        .figures(t.get("col-share"), |(_, loss, all)| {
            format!("{:.1} %", 100.0 * loss.packets as f64 / (*all).max(1) as f64)
        })
        .long(t.get("col-counters"), |(_, loss, _)| shown_by(loss, t))
        .table(t.get("loss-caption"), &rows);
    Some(Block::section(t.get("loss-heading"), vec![table]))
}

fn shown_by(loss: &LossAt, t: &Texts) -> Text {
    let counters = loss.shown_by.iter().map(|delta| Text::code(delta.to_string()));
    let comma = |all: Text, one: Text| Text([all.0, vec![Span::Plain(", ".to_owned())], one.0].concat());
    counters.reduce(comma).unwrap_or_else(|| t.get("no-counter").into())
}

/// Counters of drops and errors that moved in trials with loss, folded away. All counters are in the JSON.
fn counters(material: &Material<'_>, t: &Texts) -> Option<Block> {
    let lossy = material.trials().filter(|(_, assessment)| assessment.saw_loss);
    let moved: Vec<_> = lossy.flat_map(|(trial, _)| telling(trial)).collect();
    if moved.is_empty() {
        return None;
    }
    let table = Columns::new()
        .figures(t.get("col-trial"), |(trial, ..): &Moved<'_>| trial.number.to_string())
        .long(t.get("col-configuration"), |(trial, ..)| probes::configuration(&trial.measured.spec(), t))
        .words(t.get("col-endpoint"), |(_, endpoint, _)| Text::from(*endpoint))
        .words(t.get("col-counter"), |(.., it)| Text::code(format!("{} {} {}", it.source, it.of, it.name)))
        .figures(t.get("col-growth"), |(.., delta)| grouped(delta.delta))
        .table(t.get("counters-caption"), &moved);
    Some(Block::Folded { summary: t.get("counters-heading"), blocks: vec![table] })
}

/// A counter with the trial in which it moved, and its end.
type Moved<'m> = (&'m Trial, &'m str, &'m Delta);

/// A trial's counters that tell of drops and errors, each with its end.
fn telling(trial: &Trial) -> Vec<Moved<'_>> {
    let ends = trial.senders().chain([trial.endpoint_to.as_str(), DUT]);
    let ends = ends.filter_map(|endpoint| Some((endpoint, trial.end(endpoint)?.0)));
    let all = ends.flat_map(|(endpoint, counters)| counters.deltas.iter().map(move |it| (trial, endpoint, it)));
    all.filter(|(.., delta)| delta.source != Source::Interrupt && tells_of_loss(&delta.name)).collect()
}
