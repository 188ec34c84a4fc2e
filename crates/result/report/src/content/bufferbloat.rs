//! Latency under load against that of the idle path: first page and terminal.

use model::{
    Assessment, Bufferbloat, Verdict,
    bufferbloat::{Grade, LoadedRtt},
};

use crate::{
    columns::Columns,
    page::{Block, Text},
    probes,
    show::{self, NO_FIGURE, or_none},
    texts::Texts,
};

/// Row of the table: without a load, or beside one.
type Row<'a> = (&'a Bufferbloat, Option<&'a LoadedRtt>);

/// A grade and a table for each configuration that was measured beside a load.
pub(super) fn blocks(assessment: &Assessment, t: &Texts) -> Vec<Block> {
    assessment.bufferbloat.iter().flat_map(|it| [conclusion(it, t), table(it, t)]).collect()
}

/// The same in a line each.
pub(crate) fn lines(assessment: &Assessment, t: &Texts) -> Vec<String> {
    let load = |load: &LoadedRtt| {
        let (direction, rtt) = (show::direction(load.direction, t), millis(load.rtt_ns));
        t.with("bufferbloat-load", &[("direction", &direction), ("rtt", &rtt), ("increase", &change(load.increase_ns))])
    };
    let line = |it: &Bufferbloat| {
        let loads: Vec<String> = it.loads.iter().map(load).collect();
        let loads = loads.join(&t.get("list-semicolon"));
        t.with("bufferbloat-line", &[("grade", &grade(it, t)), ("idle", &millis(it.idle_ns)), ("loads", &loads)])
    };
    assessment.bufferbloat.iter().map(line).collect()
}

fn conclusion(it: &Bufferbloat, t: &Texts) -> Block {
    let largest =
        |size: fn(&f64) -> f64| it.loads.iter().map(|load| load.increase_ns).max_by(|a, b| size(a).total_cmp(&size(b)));
    let increase = || or_none(largest(|ns| *ns), millis);
    let (colour_of, meaning, increase) = match it.grade {
        Grade::APlus | Grade::A => (Verdict::Pass, "bufferbloat-good", or_none(largest(|ns| ns.abs()), change)),
        Grade::B | Grade::C => (Verdict::Inconclusive, "bufferbloat-fair", increase()),
        Grade::D | Grade::F => (Verdict::Fail, "bufferbloat-bad", increase()),
    };
    let meaning = Text::from(t.with(meaning, &[("increase", &increase)]));
    let meaning = it.from.clone().map(Text::from).into_iter().chain([meaning]).collect();
    Block::Verdict { verdict: Some(colour_of), word: grade(it, t), meaning }
}

fn grade(it: &Bufferbloat, t: &Texts) -> String {
    t.with("bufferbloat-grade", &[("grade", &it.grade)])
}

fn table(it: &Bufferbloat, t: &Texts) -> Block {
    let rows: Vec<Row<'_>> = [(it, None)].into_iter().chain(it.loads.iter().map(|load| (it, Some(load)))).collect();
    let traffic = match &it.from {
        Some(from) => show::joined([probes::configuration(&it.idle, t), from.clone()], t),
        None => probes::configuration(&it.idle, t),
    };
    let direction = |load: &LoadedRtt| show::direction(load.direction, t);
    Columns::new()
        .words(t.get("col-tcp-load"), |(_, load): &Row<'_>| load.map_or_else(|| t.get("bufferbloat-idle"), direction))
        .figures(t.get("col-loaded-rtt"), |(it, load)| millis(load.map_or(it.idle_ns, |load| load.rtt_ns)))
        .figures(t.get("col-increase"), |(_, load)| {
            load.map_or_else(|| Text::from(NO_FIGURE), |load| Text::strong(change(load.increase_ns)))
        })
        .figures(t.get("col-load-goodput"), |(_, load)| or_none(load.and_then(|it| it.goodput_bps), show::rate))
        .table(t.with("bufferbloat-caption", &[("traffic", &traffic)]), &rows)
}

/// The same with its sign.
fn change(ns: f64) -> String {
    let words = millis(ns.abs());
    let sign = if ns < 0.0 && words != millis(0.0) { '−' } else { '+' };
    format!("{sign}{words}")
}

/// Nanoseconds as milliseconds, without the unit.
fn millis(ns: f64) -> String {
    format!("{:.2}", ns / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shorter_round_trip_has_its_sign_and_no_change_is_no_decrease() {
        assert_eq!([1.5e6, -40e3, -1e3].map(change), ["+1.50", "−0.04", "+0.00"]);
    }
}
