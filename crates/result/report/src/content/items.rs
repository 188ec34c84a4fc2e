//! Everything that was verified, by measuring or by looking, in one numbered list.

use model::{LimitOutcome, ManualItem, Photo, Run, Verdict};

use crate::{
    doubts::ranges,
    material::Material,
    outcome,
    page::{Block, Column, Drawing, Figure, Number, Span, Text},
    probes::{self, MainFigure},
    show,
    texts::Texts,
};

/// Number of rows that say the same above which one stands for all.
const ALIKE: usize = 2;

/// Each item: limits in the order of the plan, measurements without a limit, and what a person verified.
pub(super) struct Items<'i> {
    limits: &'i [LimitOutcome],
    /// Without a limit, by probe.
    free: Vec<Vec<MainFigure>>,
    manual: &'i [ManualItem],
}

impl<'i> Items<'i> {
    pub(super) fn of(material: &Material<'i>, t: &Texts) -> Self {
        let Material { run, assessment, .. } = *material;
        let is_free =
            |it: &MainFigure| assessment.outcomes.iter().all(|outcome| outcome.probe != t.names.name(&it.spec));
        let free = probes::ALL
            .iter()
            .map(|probe| probe.main_figures(material, t).into_iter().filter(|it| is_free(it)).collect::<Vec<_>>());
        let free = free.filter(|of_probe| !of_probe.is_empty()).collect();
        Self { limits: &assessment.outcomes, free, manual: manual(run) }
    }

    /// Number of a limit, by its place among the outcomes.
    pub(super) fn of_outcome(&self, index: usize) -> u32 {
        number(index)
    }

    /// Number of an item for a person, by its place in the identity.
    pub(super) fn of_manual(&self, index: usize) -> u32 {
        number(self.limits.len() + self.free.iter().map(Vec::len).sum::<usize>() + index)
    }

    /// Each item with its number, criterion, result and verdict, and the photos of those that have some. Nothing without any criterion:
    /// the results say the rest.
    pub(super) fn section(&self, run: &Run, t: &Texts) -> Option<Block> {
        if self.limits.is_empty() && self.manual.is_empty() {
            return None;
        }
        let columns = vec![
            Column::figures(t.get("col-number")),
            Column::long(t.get("col-item")),
            Column::long(t.get("col-criterion")),
            Column::figures(t.get("col-trials")),
            Column::long(t.get("col-result")),
            Column::words(t.get("col-verdict")),
        ];
        let limits = self.limit_rows(run, t);
        let free = self.free.iter().flat_map(|of_probe| free_rows(of_probe, t));
        let manual = self.manual.iter().map(|item| (1, manual_row(item, t)));
        let mut before = 0;
        let numbered = limits.into_iter().chain(free).chain(manual).map(|(count, row)| {
            let numbers: Vec<u32> = (before..before + count).map(number).collect();
            before += count;
            [vec![ranges(&numbers).into()], row].concat()
        });
        let mut blocks = vec![Block::table(t.get("items-caption"), columns, numbered.collect())];
        let photos = self.manual.iter().enumerate();
        blocks.extend(photos.flat_map(|(index, item)| photos_of(run, item, self.of_manual(index), t)));
        Some(Block::section(t.get("items-heading"), blocks))
    }

    /// Rows with the number of items that each stands for.
    fn limit_rows(&self, run: &Run, t: &Texts) -> Vec<(usize, Vec<Text>)> {
        let criterion = |it: &LimitOutcome| (it.limit.metric, show::declared(it, t));
        let alike = |a: &LimitOutcome, b: &LimitOutcome| outcome::alike(a, b) && criterion(a) == criterion(b);
        let row = |alike: &[LimitOutcome]| match alike {
            [first, ..] if alike.len() > ALIKE => vec![(alike.len(), row_of_several(first, alike, t))],
            few => few.iter().map(|outcome| (1, limit_row(run, outcome, t))).collect(),
        };
        self.limits.chunk_by(alike).flat_map(row).collect()
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}

pub(crate) fn manual(run: &Run) -> &[ManualItem] {
    run.identity.as_ref().map_or(&[], |identity| &identity.items)
}

pub(super) fn verdict(verdict: Verdict, t: &Texts) -> Span {
    Span::Verdict(verdict, show::verdict(verdict, t))
}

/// Median with its interval, as far as they are known.
pub(crate) fn result(outcome: &LimitOutcome) -> String {
    let metric = outcome.limit.metric;
    let median = show::or_none(outcome.median, |value| show::metric_value(metric, value));
    match outcome.interval {
        Some(it) => format!("{median} ({})", show::metric_range(metric, it.low, it.high)),
        None => median,
    }
}

fn limit_row(run: &Run, outcome: &LimitOutcome, t: &Texts) -> Vec<Text> {
    let name = show::figure_of(&outcome::name(run, outcome, t), ": ", outcome.limit.metric, t);
    let (criterion, trials) = (show::criterion(outcome, t), outcome.trials.to_string());
    vec![name.into(), criterion.into(), trials.into(), result(outcome).into(), verdict(outcome.verdict, t).into()]
}

/// One row for outcomes that are undecided for one reason, with the lowest and the highest of their medians.
fn row_of_several(first: &LimitOutcome, alike: &[LimitOutcome], t: &Texts) -> Vec<Text> {
    let metric = first.limit.metric;
    let name = format!("{}: {}", t.with("configurations", &[("count", &alike.len())]), show::metric(metric, t));
    let is_of_one = alike.iter().all(|it| it.trials == first.trials);
    let trials = if is_of_one { first.trials.to_string() } else { show::NO_FIGURE.to_owned() };
    let medians = || alike.iter().filter_map(|it| it.median);
    let range = medians().reduce(f64::min).zip(medians().reduce(f64::max));
    let result = show::or_none(range, |(low, high)| show::metric_range(metric, low, high));
    vec![name.into(), show::declared(first, t).into(), trials.into(), result.into(), verdict(first.verdict, t).into()]
}

/// Measurements of one probe that no limit covers.
fn free_rows(figures: &[MainFigure], t: &Texts) -> Vec<(usize, Vec<Text>)> {
    let none = || Text::from(show::NO_FIGURE);
    let row = |name: String, value: Text| vec![name.into(), none(), none(), value, t.get("no-criterion").into()];
    match figures {
        [first, ..] if figures.len() > ALIKE => {
            let heading = t.get(&format!("{}-heading", first.spec.probe().name()));
            let count = t.with("configurations", &[("count", &figures.len())]);
            vec![(figures.len(), row(format!("{heading}: {count}"), t.get("see-results").into()))]
        }
        few => few.iter().map(|it| (1, row(it.name.clone(), it.value.clone().into()))).collect(),
    }
}

fn manual_row(item: &ManualItem, t: &Texts) -> Vec<Text> {
    let who = [item.by.clone(), item.date.map(|date| date.to_string())];
    let who = who.into_iter().flatten().collect::<Vec<_>>().join(&t.get("list-comma"));
    let what = Text::from(item.what.as_str());
    let what = if who.is_empty() { what } else { what.and(Span::Quiet(format!(" ({who})"))) };
    let cell = |value: &Option<String>| Text::from(value.as_deref().unwrap_or(show::NO_FIGURE));
    let none = Text::from(show::NO_FIGURE);
    vec![what, cell(&item.criterion), none, cell(&item.result), verdict(item.verdict, t).into()]
}

fn photos_of(run: &Run, item: &ManualItem, number: u32, t: &Texts) -> Vec<Block> {
    let all = run.identity.iter().flat_map(|identity| &identity.photos);
    let of_item = all.filter(|photo| item.photos.contains(&photo.name));
    of_item.map(|photo| Block::Figure(figure(photo, item, number, t))).collect()
}

fn figure(photo: &Photo, item: &ManualItem, number: u32, t: &Texts) -> Figure {
    Figure {
        number: Number::default(),
        caption: t.with("photo-caption", &[("number", &number), ("what", &item.what)]),
        note: t.with("photo-note", &[("name", &photo.name)]),
        description: t.with("photo-description", &[("what", &item.what)]),
        drawing: Drawing::Photo { bytes: photo.content.clone(), kind: photo.kind },
        legend: vec![],
        floats: false,
    }
}
