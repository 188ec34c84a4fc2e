//! Findings: criteria that are missed or open, by reason, and doubts.

use std::{collections::BTreeMap, fmt::Display};

use model::{LimitOutcome, ManualItem, Match, Run, Undecided, Verdict, alike::grouped, reference::Difference};

use super::items::{Items, manual, result, verdict};
use crate::{
    doubts::{GroupedDoubt, gather, ranges},
    material::Material,
    outcome,
    page::{Block, Item, Span, Text},
    show,
    texts::Texts,
};

/// Number of failures of one criterion above which the range is named.
const NAMED: usize = 3;

/// Missed criteria, then the open ones by reason, references of other conditions, and doubts. Items are named by their numbers.
pub(super) fn findings(material: &Material<'_>, items: &Items<'_>, t: &Texts) -> Block {
    let Material { run, assessment, .. } = *material;
    let outcomes = assessment.outcomes.as_slice();
    let mut found = failed(run, outcomes, items, t);
    found.extend(failed_by_hand(run, items, t));
    found.extend(open(outcomes, items, t));
    found.extend(open_by_hand(run, items, t));
    found.extend(references_that_differ(outcomes, t).into_iter().map(Item::from));
    let block = if found.is_empty() { Block::Paragraph(t.get("issues-none").into()) } else { Block::List(found) };
    Block::section(t.get("issues-heading"), vec![block, doubts(run, t)])
}

/// Numbers of the items that carry a verdict, and words.
fn line(mark: Verdict, numbers: &[u32], words: &str, t: &Texts) -> Item {
    let words = t.with("issue", &[("numbers", &ranges(numbers)), ("words", &words)]);
    Item { text: Text::from(verdict(mark, t)).and(Span::Plain(format!(" {words}"))), note: None }
}

fn numbered(outcomes: &[LimitOutcome]) -> impl Iterator<Item = (usize, &LimitOutcome)> {
    outcomes.iter().enumerate()
}

fn failed(run: &Run, outcomes: &[LimitOutcome], items: &Items<'_>, t: &Texts) -> Vec<Item> {
    let failed = numbered(outcomes).filter(|(_, it)| it.verdict == Verdict::Fail);
    let criterion = |it: &LimitOutcome| (it.limit.metric, show::declared(it, t));
    let of_criterion = grouped(failed, |(_, a), (_, b)| criterion(a) == criterion(b));
    let item = |all: Vec<(usize, &LimitOutcome)>| {
        let numbers: Vec<u32> = all.iter().map(|(index, _)| items.of_outcome(*index)).collect();
        let (metric, criterion) = criterion(all[0].1);
        let figures = match all.len() {
            ..=NAMED => all.iter().map(|(_, it)| format!("{} {}", outcome::name(run, it, t), result(it))).collect(),
            _ => vec![t.with("configurations", &[("count", &all.len())])],
        };
        let figures = figures.join(&t.get("list-semicolon"));
        let values: [(&str, &dyn Display); 3] =
            [("figure", &show::metric(metric, t)), ("criterion", &criterion), ("figures", &figures)];
        line(Verdict::Fail, &numbers, &t.with("issue-failed", &values), t)
    };
    of_criterion.into_iter().map(item).collect()
}

/// Each reason once.
fn open(outcomes: &[LimitOutcome], items: &Items<'_>, t: &Texts) -> Vec<Item> {
    let open = numbered(outcomes).filter_map(|(index, it)| Some((index, it.verdict, it.undecided.as_ref()?)));
    let alike = grouped(open, |(_, _, a), (_, _, b)| a == b);
    let item = |all: Vec<(usize, Verdict, &Undecided)>| {
        let numbers: Vec<u32> = all.iter().map(|(index, ..)| items.of_outcome(*index)).collect();
        line(all[0].1, &numbers, &show::undecided(all[0].2, t), t)
    };
    alike.into_iter().map(item).collect()
}

fn failed_by_hand(run: &Run, items: &Items<'_>, t: &Texts) -> Vec<Item> {
    let failed = manual(run).iter().enumerate().filter(|(_, it)| it.verdict == Verdict::Fail);
    failed.map(|(index, it)| line(Verdict::Fail, &[items.of_manual(index)], &in_words(it), t)).collect()
}

fn open_by_hand(run: &Run, items: &Items<'_>, t: &Texts) -> Vec<Item> {
    let open = manual(run).iter().enumerate();
    let open = open.filter(|(_, it)| !matches!(it.verdict, Verdict::Pass | Verdict::Fail));
    open.map(|(index, it)| line(it.verdict, &[items.of_manual(index)], &in_words(it), t)).collect()
}

pub(crate) fn in_words(item: &ManualItem) -> String {
    let words = [Some(&item.what), item.criterion.as_ref(), item.result.as_ref()];
    words.into_iter().flatten().cloned().collect::<Vec<_>>().join(" – ")
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

/// Each doubt once, with its advice and where it arose.
fn doubts(run: &Run, t: &Texts) -> Block {
    let doubts = gather(run);
    let block = if doubts.is_empty() {
        Block::Paragraph(t.get("doubts-none").into())
    } else {
        Block::List(doubts.iter().map(|gathered| doubt(run, gathered, t)).collect())
    };
    Block::section(t.get("doubts-heading"), vec![block])
}

fn doubt(run: &Run, gathered: &GroupedDoubt, t: &Texts) -> Item {
    Item { text: gathered.advice(run, t.lang).into(), note: Some(gathered.place(run, t).into()) }
}
