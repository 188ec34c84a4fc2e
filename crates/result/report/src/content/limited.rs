//! Limit of each figure, places where packets were lost, and the counters that tell of them.

use model::{
    DUT, Delta, Evidence, Limited, LossAt, Place, ProbeSpec, Source, Total, Trial, alike::grouped as grouped_by,
    drop_counters::tells_of_loss,
};

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

/// Configurations limited by their load alone above which one row stands for all.
const FEW: usize = 2;

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
    let (as_asked, others_known): (Vec<&Limited>, Vec<&Limited>) = known.iter().partition(|it| is_as_asked(it));
    let known: Vec<&Limited> = if as_asked.len() > FEW { others_known } else { known.iter().collect() };
    let count = |it: &&Limited| t.with("count-of", &[("count", &it.trials.len()), ("of", &it.of)]);
    let columns = Columns::new()
        .long(t.get("col-configuration"), |it: &&Limited| probes::way(&it.spec, it.way.as_ref(), t))
        .words(t.get("col-limited"), |it| Text::strong(place_at(it.by.place, it.by.endpoint.as_deref(), t)))
        .long(t.get("col-evidence"), |it| evidence_words(&it.by, probes::rate(&it.spec), t))
        .figures(t.get("col-trials"), count)
        .long(t.get("col-trial-numbers"), |it| ranges(&it.trials));
    let together = (as_asked.len() > FEW).then(|| row_as_asked(&as_asked, t));
    let none = || {
        let (count, numbers) = (others.len().to_string(), ranges(others));
        [t.get("other-configurations"), t.get("not-known"), NO_FIGURE.to_owned(), count, numbers].map(Text::from)
    };
    let none = (!others.is_empty()).then(none).map(Vec::from);
    let table = columns.table_and(t.get("limited-caption"), &known, together.into_iter().chain(none));
    Some(Block::section(t.get("limited-heading"), vec![table]))
}

/// Whether the load that was asked for is all that held the figure down.
fn is_as_asked(limited: &Limited) -> bool {
    limited.by.place == Place::IntendedLoad && matches!(limited.by.evidence.as_slice(), [Evidence::AsAsked { .. }])
}

/// One row for the configurations whose load was all that held them down: rungs of ladders, mostly.
fn row_as_asked(all: &[&Limited], t: &Texts) -> Vec<Text> {
    let mut numbers: Vec<u32> = all.iter().flat_map(|it| it.trials.iter().copied()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let of: usize = all.iter().map(|it| it.of).sum();
    vec![
        t.with("configurations", &[("count", &all.len())]).into(),
        Text::strong(place_at(Place::IntendedLoad, None, t)),
        t.get("evidence-each-as-asked").into(),
        t.with("count-of", &[("count", &numbers.len()), ("of", &of)]).into(),
        ranges(&numbers).into(),
    ]
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

/// Counters of drops and errors that moved in trials with loss, folded away: a row for each of a configuration. All counters are in the JSON.
fn counters(material: &Material<'_>, t: &Texts) -> Option<Block> {
    let lossy = material.trials().filter(|(_, assessment)| assessment.saw_loss);
    let key = |(trial, endpoint, it): &Moved<'_>| {
        (probes::configuration(&trial.measured.spec(), t), (*endpoint).to_owned(), counter(it))
    };
    let moved = grouped_by(lossy.flat_map(|(trial, _)| telling(trial)), |a, b| key(a) == key(b));
    if moved.is_empty() {
        return None;
    }
    let numbers = |all: &Vec<Moved<'_>>| ranges(&all.iter().map(|(trial, ..)| trial.number).collect::<Vec<_>>());
    let growth = |all: &Vec<Moved<'_>>| {
        let deltas = || all.iter().map(|(.., it)| it.delta);
        let [least, most] = [deltas().min(), deltas().max()].map(|delta| grouped(delta.unwrap_or_default()));
        if least == most { most } else { format!("{least} – {most}") }
    };
    let table = Columns::new()
        .long(t.get("col-configuration"), |all: &Vec<Moved<'_>>| probes::configuration(&all[0].0.measured.spec(), t))
        .words(t.get("col-endpoint"), |all| Text::from(all[0].1))
        .words(t.get("col-counter"), |all| Text::code(counter(all[0].2)))
        .figures(t.get("col-growth"), growth)
        .long(t.get("col-trial-numbers"), numbers)
        .table(t.get("counters-caption"), &moved);
    Some(Block::Folded { summary: t.get("counters-heading"), blocks: vec![table] })
}

/// A counter with the trial in which it moved, and its end.
type Moved<'m> = (&'m Trial, &'m str, &'m Delta);

fn counter(delta: &Delta) -> String {
    format!("{} {} {}", delta.source, delta.of, delta.name)
}

/// A trial's counters that tell of drops and errors, each with its end.
fn telling(trial: &Trial) -> Vec<Moved<'_>> {
    let ends = trial.senders().chain([trial.endpoint_to.as_str(), DUT]);
    let ends = ends.filter_map(|endpoint| Some((endpoint, &trial.end(endpoint)?.0.deltas)));
    let mut moved = Vec::new();
    for (endpoint, deltas) in ends {
        let telling = deltas.iter().filter(|it| it.source != Source::Interrupt && tells_of_loss(&it.name));
        moved.extend(telling.filter(|it| !is_said_by_another(it, deltas)).map(|it| (trial, endpoint, it)));
    }
    moved
}

/// Whether it counts retransmissions of one cause that are all there were: the count of all says the same.
fn is_said_by_another(delta: &Delta, deltas: &[Delta]) -> bool {
    let all = |it: &Delta| it.source == Source::Snmp && it.name == "RetransSegs" && it.delta == delta.delta;
    delta.source == Source::Netstat && delta.name.contains("Retrans") && deltas.iter().any(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retransmissions_of_one_cause_are_said_by_the_count_of_all() {
        let delta = |source, name: &str, delta| Delta { source, of: String::new(), name: name.to_owned(), delta };
        let all = [delta(Source::Snmp, "RetransSegs", 12)];
        assert!(is_said_by_another(&delta(Source::Netstat, "TCPFastRetrans", 12), &all));
        assert!(!is_said_by_another(&delta(Source::Netstat, "TCPFastRetrans", 11), &all), "others had another cause");
        assert!(!is_said_by_another(&all[0], &all));
        assert!(!is_said_by_another(&delta(Source::Netstat, "TCPRcvQDrop", 12), &all));
    }
}
