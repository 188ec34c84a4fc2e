//! Summary for a hurried reader: subject, verdict, main figures, and reasons for care.

use std::{collections::BTreeMap, fmt::Display};

use model::{Interval, LimitOutcome, Match, Run, reference::Difference};

use crate::{
    columns::Columns,
    doubts::{Gathered, gather, ranges},
    material::Material,
    outcome,
    page::{Block, Item, Span, Text},
    probes, show,
    texts::Texts,
};

/// Nothing for real hardware.
pub(super) fn simulated(run: &Run, t: &Texts) -> Vec<Block> {
    let notice = || Block::Notice { word: t.get("simulated"), text: t.get("simulated-meaning").into() };
    run.bed.simulated.then(notice).into_iter().collect()
}

pub(super) fn verdict(material: &Material<'_>, t: &Texts) -> Block {
    let Material { run, assessment, .. } = material;
    let (word, meaning) = show::overall(assessment.verdict, t);
    let partial = run.partial.then(|| Text::strong(show::partial(run, t)));
    let differing = references_that_differ(&assessment.outcomes, t).into_iter().map(Text::from);
    let meaning = [Text::from(meaning)].into_iter().chain(partial).chain(differing).collect();
    Block::Verdict { verdict: assessment.verdict, word, meaning }
}

/// A line for each reference that a verdict goes by though its conditions were others.
fn references_that_differ(outcomes: &[LimitOutcome], t: &Texts) -> Vec<String> {
    let mut by_reference: BTreeMap<&str, Vec<&Difference>> = BTreeMap::new();
    for against in outcomes.iter().filter_map(|outcome| outcome.against.as_ref()) {
        if let Match::Differs { conditions } = &against.matches {
            by_reference.entry(&against.reference).or_default().extend(conditions);
        }
    }
    let line = |(reference, differences): (&str, Vec<&Difference>)| {
        t.with("verdict-differs", &[("reference", &reference), ("conditions", &show::in_short(&differences, t))])
    };
    by_reference.into_iter().map(line).collect()
}

/// The main figures in words.
pub(super) fn summary(material: &Material<'_>, t: &Texts) -> Block {
    let headlines = probes::ALL.iter().flat_map(|probe| probe.headlines(material, t));
    let stacks = probes::ALL.iter().flat_map(|probe| probe.stack_headlines(material, t));
    let lines: Vec<Item> = headlines.chain(stacks).map(Item::from).collect();
    let block = match lines.is_empty() {
        true => Block::Paragraph(t.get("headline-none").into()),
        false => Block::List(lines),
    };
    Block::section(t.get("summary-heading"), vec![block])
}

/// Each doubt once, with its advice and where it arose.
pub(super) fn doubts(run: &Run, t: &Texts) -> Block {
    let doubts = gather(run);
    let block = if doubts.is_empty() {
        Block::Paragraph(t.get("doubts-none").into())
    } else {
        Block::List(doubts.iter().map(|gathered| doubt(gathered, t)).collect())
    };
    Block::section(t.get("doubts-heading"), vec![block])
}

fn doubt(gathered: &Gathered, t: &Texts) -> Item {
    let place = match gathered.trials.as_slice() {
        [] => t.get("doubts-run"),
        trials => t.with("doubts-trials", &[("trials", &ranges(trials))]),
    };
    Item { text: gathered.advice(t.lang).into(), note: Some(place.into()) }
}

/// Each limit with its verdict; nothing when the plan has none.
pub(super) fn limits(run: &Run, outcomes: &[LimitOutcome], t: &Texts) -> Option<Block> {
    if outcomes.is_empty() {
        return None;
    }
    let interval = |it: &LimitOutcome| {
        show::or_none(it.interval, |Interval { low, high, confidence }| {
            format!("{} ({:.1} %)", show::metric_range(it.limit.metric, low, high), confidence * 100.0)
        })
    };
    let table = Columns::new()
        .words(t.get("col-configuration"), |it: &LimitOutcome| outcome::name(run, it, t))
        .words(t.get("col-figure"), |it| show::metric(it.limit.metric, t))
        .long(t.get("col-limit"), |it| show::limit(it, t))
        .figures(t.get("col-trials"), |it| it.trials.to_string())
        .figures(t.get("col-median"), |it| show::or_none(it.median, |value| show::metric_value(it.limit.metric, value)))
        .figures(t.get("col-interval"), interval)
        .words(t.get("col-verdict"), |it| Span::Verdict(it.verdict, show::verdict(it.verdict, t)))
        .table(t.get("limits-caption"), outcomes);
    let notes = outcomes.iter().filter_map(|outcome| limit_note(run, outcome, t));
    Some(Block::section(t.get("limits-heading"), [table].into_iter().chain(notes).collect()))
}

/// Under which other conditions the reference was measured that a limit goes by.
fn limit_note(run: &Run, one: &LimitOutcome, t: &Texts) -> Option<Block> {
    let against = one.against.as_ref()?;
    let (name, conditions) = (outcome::name(run, one, t), show::differences(&against.matches, t)?);
    let values: [(&str, &dyn Display); 3] =
        [("reference", &against.reference), ("name", &name), ("conditions", &conditions)];
    Some(Block::Note(t.with("limit-differs", &values).into()))
}
