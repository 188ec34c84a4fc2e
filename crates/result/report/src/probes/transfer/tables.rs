//! Tables and figures of transfers.

use model::{
    Compared, Metric, ProbeSpec, ReferenceComparison, TransferContents, TransferResult, TransferSpec, Verdict,
};

use super::{TransferGroup, cost::cpu_s_per_gib};
use crate::{
    columns::Columns,
    figure::{self, Bars, FigureSubject, Repeated, Sides},
    groups::Spread,
    material::Material,
    page::{Block, Figure, Span, Text},
    show::{self, or_none},
    texts::Texts,
};

/// All of them: of one file, and of many small ones.
pub(super) fn section(groups: &[TransferGroup<'_>], material: &Material<'_>, t: &Texts) -> Block {
    let (many, one): (Vec<_>, Vec<_>) = groups.iter().partition(|group| group.spec.is_many());
    let mut blocks = Vec::new();
    if !one.is_empty() {
        blocks.push(rate_table(&one, &many, material, t));
        blocks.extend(bars(&one, material, t).into_iter().map(Block::Figure));
        blocks.extend(repeats(&one, t).into_iter().map(Block::Figure));
    }
    if !many.is_empty() {
        blocks.push(small_table(&many, material, t));
    }
    blocks.extend(command_table(groups, t));
    Block::section(t.get("transfer-heading"), blocks)
}

/// A rate in bit/s as MiB/s.
pub(super) fn mib(bps: f64) -> String {
    format!("{:.1}", in_mib(bps))
}

/// A rate in bit/s as Gbit/s.
pub(super) fn gbit(bps: f64) -> String {
    format!("{:.2}", bps / 1e9)
}

fn in_mib(bps: f64) -> f64 {
    bps / 8.0 / f64::from(1 << 20)
}

/// Rates and cost, and beside them the rate of small files by the same method.
fn rate_table(groups: &[&TransferGroup<'_>], many: &[&TransferGroup<'_>], material: &Material<'_>, t: &Texts) -> Block {
    type Group<'a> = &'a TransferGroup<'a>;
    let rate = |it: &Group<'_>| it.over(TransferResult::bps);
    let small = |it: &Group<'_>| {
        let asked = TransferSpec { contents: TransferContents::SmallFiles, size: None, file: None, ..it.spec.clone() };
        let found = many.iter().find(|other| *other.spec == asked && other.way == it.way);
        found.map_or_else(|| Text::quiet(show::NO_FIGURE.to_owned()), |group| files_per_s(group, t))
    };
    let range = |(low, high)| format!("{} – {}", mib(low), mib(high));
    let cost = |it: &Group<'_>, end: usize| {
        let trials = it.trials.iter().zip(&it.assessed);
        let costs = trials.map(|((trial, result), assessed)| cpu_s_per_gib(trial, assessed, end, result));
        let costs = costs.collect::<Option<Vec<_>>>().and_then(|costs| Spread::of(&costs));
        or_none(costs, |it| format!("{:.2}", it.median))
    };
    let remarks = |it: &Group<'_>| it.remarks(material, t).join("; ");
    let has_disks = groups.iter().any(|group| group.spec.file.is_some());
    Columns::new()
        .long(t.get("col-configuration"), |it: &Group<'_>| it.name(t))
        .figures(t.get("col-trials"), |it| it.trials.len().to_string())
        .figures("MiB/s", |it| speed(it, t))
        .figures(t.get("transfer-col-range"), |it| or_none(rate(it).and_then(|rate| rate.range()), range))
        .figures("Gbit/s", |it| or_none(rate(it), |rate| gbit(rate.median)))
        .figures(t.get("transfer-col-size"), |it| size(it))
        .figures(t.get("transfer-col-read"), |it| or_none(it.over_disks(|disks| disks.read_bps), mib))
        .only_if(has_disks)
        .figures(t.get("transfer-col-write"), |it| or_none(it.over_disks(|disks| disks.write_bps), mib))
        .only_if(has_disks)
        .figures(t.get("transfer-col-small"), small)
        .only_if(!many.is_empty())
        .words(t.get("transfer-col-contents"), |it| contents(it, t))
        .figures(t.get("transfer-col-client-cpu"), |it| cost(it, 0))
        .figures(t.get("transfer-col-server-cpu"), |it| cost(it, 1))
        .long(t.get("transfer-col-remarks"), remarks)
        .table(t.get("transfer-caption"), groups)
}

/// Rates of small files.
fn small_table(groups: &[&TransferGroup<'_>], material: &Material<'_>, t: &Texts) -> Block {
    type Group<'a> = &'a TransferGroup<'a>;
    let range = |(low, high): (f64, f64)| format!("{low:.0} – {high:.0}");
    Columns::new()
        .long(t.get("col-configuration"), |it: &Group<'_>| it.name(t))
        .figures(t.get("col-trials"), |it| it.trials.len().to_string())
        .figures(t.get("transfer-col-files"), |it| files_per_s(it, t))
        .figures(t.get("transfer-col-files-range"), |it| or_none(it.files_per_s().and_then(|rate| rate.range()), range))
        .figures("MiB/s", |it| or_none(it.over(TransferResult::bps), |rate| mib(rate.median)))
        .words(t.get("transfer-col-contents"), |it| contents(it, t))
        .long(t.get("transfer-col-remarks"), |it| it.remarks(material, t).join("; "))
        .table(t.get("transfer-small-caption"), groups)
}

fn files_per_s(group: &TransferGroup<'_>, t: &Texts) -> Text {
    match group.files_per_s() {
        Some(rate) => Text::strong(format!("{:.0}", rate.median)),
        None => speed(group, t),
    }
}

fn speed(group: &TransferGroup<'_>, t: &Texts) -> Text {
    let words = group.rate(|rate| mib(rate.median), t);
    match group.is_run() {
        true => Text::strong(words),
        false => Span::Verdict(Verdict::NotRun, words).into(),
    }
}

/// Size of the contents, the largest one where the memory gave each trial another.
fn size(group: &TransferGroup<'_>) -> String {
    let sizes = group.trials.iter().map(|(_, result)| result.size).filter(|size| *size > 0);
    or_none(sizes.max(), |size| format!("{:.0} MiB", size as f64 / f64::from(1 << 20)))
}

/// Whether the contents arrived as they were.
fn contents(group: &TransferGroup<'_>, t: &Texts) -> Text {
    let verified = group.trials.iter().map(|(_, result)| result.verified);
    match verified.collect::<Option<Vec<bool>>>() {
        Some(all) if all.iter().all(|same| *same) => Span::Verdict(Verdict::Pass, t.get("transfer-same")).into(),
        Some(_) => Span::Verdict(Verdict::Fail, t.get("transfer-damaged")).into(),
        None => Text::quiet(show::NO_FIGURE.to_owned()),
    }
}

/// A bar for each method, and beside it that of each source that published one.
fn bars(groups: &[&TransferGroup<'_>], material: &Material<'_>, t: &Texts) -> Vec<Figure> {
    let sources = material.assessment.comparisons.iter().flatten();
    let is_of_one = |row: &Compared| row.metric == Metric::TransferRate;
    let sources: Vec<&ReferenceComparison> = sources.filter(|source| source.rows.iter().any(is_of_one)).collect();
    let published = |source: &ReferenceComparison, spec: &ProbeSpec| {
        let row = source.rows.iter().find(|row| row.spec == *spec && is_of_one(row));
        row.map(|row| in_mib(row.theirs.amount()))
    };
    let bar = |group: &&TransferGroup<'_>| {
        let (ours, spec) = (group.over(TransferResult::bps).map(|rate| in_mib(rate.median)), group.spec.clone().into());
        let theirs = sources.iter().map(|source| published(source, &spec));
        Bars { name: group.name(t), values: [ours].into_iter().chain(theirs).collect() }
    };
    let titles = sources.iter().map(|source| show::words(&source.reference.title, t).to_owned());
    let sides = Sides {
        title: t.get("figure-transfer"),
        note: t.get("figure-transfer-note"),
        axis: t.get("axis-transfer"),
        runs: [t.get("figure-transfer-bar")].into_iter().chain(titles).collect(),
    };
    figure::side_by_side(sides, &groups.iter().map(bar).collect::<Vec<_>>(), t)
}

/// How the rate differs from trial to trial.
fn repeats(groups: &[&TransferGroup<'_>], t: &Texts) -> Vec<Figure> {
    let values = |group: &TransferGroup<'_>| {
        group.trials.iter().filter_map(|(_, result)| result.bps().map(in_mib)).collect::<Vec<_>>()
    };
    let one =
        |group: &&TransferGroup<'_>| Repeated { group: group.name(t), name: String::new(), values: values(group) };
    let spoken = FigureSubject { title: t.get("figure-transfer-repeats"), axis: t.get("axis-transfer") };
    figure::repeats(spoken, &groups.iter().map(one).collect::<Vec<_>>(), t)
}

/// The exact commands of the first trial of each configuration; nothing where wireproof itself moved all.
fn command_table(groups: &[TransferGroup<'_>], t: &Texts) -> Option<Block> {
    let first = |group: &TransferGroup<'_>| {
        let (_, result) = group.trials.iter().find(|(_, result)| result.is_run())?;
        let [client, server] = &result.commands;
        Some((group.name(t), client.clone()?, server.clone()?))
    };
    let rows: Vec<_> = groups.iter().filter_map(first).collect();
    let table = Columns::new()
        .long(t.get("col-configuration"), |(name, ..): &(String, String, String)| name.clone())
        .long(t.get("transfer-col-client"), |(_, client, _)| Text::code(client.clone()))
        .long(t.get("transfer-col-server"), |(.., server)| Text::code(server.clone()))
        .table(t.get("transfer-commands"), &rows);
    (!rows.is_empty()).then_some(table)
}
