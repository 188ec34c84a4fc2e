//! Everything that was verified, by measuring or by looking, in one list; and what of it did not hold.

use model::{Assessment, Doubt, LimitOutcome, ManualItem, Photo, Run, Verdict};

use crate::{
    doubts::{advice, gather},
    material::Material,
    outcome,
    page::{Block, Column, Drawing, Figure, Item, Span, Text},
    probes::{self, MainFigure},
    show,
    texts::Texts,
};

/// Failed limits with their figures, and the gravest doubts.
pub(super) fn issues(run: &Run, outcomes: &[LimitOutcome], t: &Texts) -> Block {
    let limits = outcomes.iter().filter(|it| it.verdict != Verdict::Pass).map(|it| limit_issue(run, it, t));
    let manual = manual(run).iter().filter(|it| it.verdict != Verdict::Pass).map(|it| manual_issue(it, t));
    let gathered = gather(run);
    let doubts = gathered.iter().filter(|it| is_grave(&it.doubt)).map(|it| Item::from(advice(&it.doubt, t.lang)));
    let issues: Vec<Item> = limits.chain(manual).chain(doubts).collect();
    let block = if issues.is_empty() { Block::Paragraph(t.get("issues-none").into()) } else { Block::List(issues) };
    Block::section(t.get("issues-heading"), vec![block])
}

/// Doubts whether the figures belong to the intended device.
fn is_grave(doubt: &Doubt) -> bool {
    matches!(
        doubt,
        Doubt::Failed { .. }
            | Doubt::Interrupted
            | Doubt::EnvironmentChanged { .. }
            | Doubt::PathNotProven { .. }
            | Doubt::MtuDisproved { .. }
            | Doubt::NoAddress { .. }
            | Doubt::PacketsDisagree { .. }
            | Doubt::CountersDisagree { .. }
    )
}

fn manual(run: &Run) -> &[ManualItem] {
    run.identity.as_ref().map_or(&[], |identity| &identity.items)
}

fn verdict(verdict: Verdict, t: &Texts) -> Span {
    Span::Verdict(verdict, show::verdict(verdict, t))
}

fn limit_issue(run: &Run, outcome: &LimitOutcome, t: &Texts) -> Item {
    let words = t.with(
        "issue-limit",
        &[
            ("name", &outcome::name(run, outcome, t)),
            ("figure", &show::metric(outcome.limit.metric, t)),
            ("criterion", &show::limit(outcome, t)),
            ("result", &result(outcome)),
        ],
    );
    let note = differs(outcome, t).map(Text::from);
    Item { text: Text::from(verdict(outcome.verdict, t)).and(Span::Plain(format!(" {words}"))), note }
}

/// Differing conditions of the reference that a limit uses; `None` if none is known.
fn differs(outcome: &LimitOutcome, t: &Texts) -> Option<String> {
    let against = outcome.against.as_ref()?;
    let conditions = show::differences(&against.matches, t)?;
    Some(t.with("issue-differs", &[("reference", &against.reference), ("conditions", &conditions)]))
}

fn manual_issue(item: &ManualItem, t: &Texts) -> Item {
    let words = [Some(&item.what), item.criterion.as_ref(), item.result.as_ref()];
    let words = words.into_iter().flatten().cloned().collect::<Vec<_>>().join(" – ");
    Item { text: Text::from(verdict(item.verdict, t)).and(Span::Plain(format!(" {words}"))), note: None }
}

/// Median with its interval, as far as they are known.
fn result(outcome: &LimitOutcome) -> String {
    let metric = outcome.limit.metric;
    let median = show::or_none(outcome.median, |value| show::metric_value(metric, value));
    match outcome.interval {
        Some(it) => format!("{median} ({})", show::metric_range(metric, it.low, it.high)),
        None => median,
    }
}

/// Each item with its number, criterion, result and verdict, and the photos of those that have some.
pub(super) fn items(material: &Material<'_>, t: &Texts) -> Block {
    let Material { run, assessment: Assessment { outcomes, .. }, .. } = *material;
    let columns = vec![
        Column::figures(t.get("col-number")),
        Column::long(t.get("col-item")),
        Column::long(t.get("col-criterion")),
        Column::long(t.get("col-result")),
        Column::words(t.get("col-verdict")),
    ];
    let limits = outcomes.iter().map(|outcome| limit_row(run, outcome, t));
    let without = without_limit(material, t);
    let first_manual = outcomes.len() + without.len() + 1;
    let manual_rows = manual(run).iter().map(|item| manual_row(item, t));
    let rows = limits.chain(without).chain(manual_rows).zip(1_usize..);
    let rows = rows.map(|(row, number)| [vec![number.to_string().into()], row].concat()).collect();
    let mut blocks = vec![Block::table(t.get("items-caption"), columns, rows)];
    let numbered = manual(run).iter().zip(first_manual..);
    blocks.extend(numbered.flat_map(|(item, number)| photos(run, item, number, t)));
    Block::section(t.get("items-heading"), blocks)
}

fn limit_row(run: &Run, outcome: &LimitOutcome, t: &Texts) -> Vec<Text> {
    let name = format!("{}: {}", outcome::name(run, outcome, t), show::metric(outcome.limit.metric, t));
    let criterion = show::limit(outcome, t);
    vec![name.into(), criterion.into(), result(outcome).into(), verdict(outcome.verdict, t).into()]
}

/// Measurements that no limit covers.
fn without_limit(material: &Material<'_>, t: &Texts) -> Vec<Vec<Text>> {
    let outcomes = &material.assessment.outcomes;
    let is_free = |it: &MainFigure| outcomes.iter().all(|outcome| outcome.probe != it.spec.to_string());
    let figures = probes::ALL.iter().flat_map(|probe| probe.main_figures(material, t));
    let none = || Text::from(show::NO_FIGURE);
    let row = |it: MainFigure| vec![it.name.into(), none(), it.value.into(), t.get("no-criterion").into()];
    figures.filter(is_free).map(row).collect()
}

fn manual_row(item: &ManualItem, t: &Texts) -> Vec<Text> {
    let who = [item.by.clone(), item.date.map(|date| date.to_string())];
    let who = who.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let what = Text::from(item.what.as_str());
    let what = if who.is_empty() { what } else { what.and(Span::Quiet(format!(" ({who})"))) };
    let cell = |value: &Option<String>| Text::from(value.as_deref().unwrap_or(show::NO_FIGURE));
    vec![what, cell(&item.criterion), cell(&item.result), verdict(item.verdict, t).into()]
}

fn photos(run: &Run, item: &ManualItem, number: usize, t: &Texts) -> Vec<Block> {
    let all = run.identity.iter().flat_map(|identity| &identity.photos);
    let of_item = all.filter(|photo| item.photos.contains(&photo.name));
    of_item.map(|photo| Block::Figure(figure(photo, item, number, t))).collect()
}

fn figure(photo: &Photo, item: &ManualItem, number: usize, t: &Texts) -> Figure {
    Figure {
        number: 0,
        caption: t.with("photo-caption", &[("number", &number), ("what", &item.what)]),
        note: t.with("photo-note", &[("name", &photo.name)]),
        description: t.with("photo-description", &[("what", &item.what)]),
        drawing: Drawing::Photo { bytes: photo.content.clone(), kind: photo.kind },
        legend: vec![],
    }
}
