//! CPU time of the cores while goodput was counted.

use std::iter;

use model::{ClockRelation, CoreKinds, CoreUse, Run, Trial};

use super::{group::GoodputGroup, names};
use crate::{
    columns::Columns,
    figure::{self, NamedCore},
    groups::Spread,
    page::Block,
    show::or_none,
    texts::Texts,
};

/// Below this share of its time, in percent, a core that neither end is pinned to says nothing.
const IDLE: f64 = 1.0;

/// The cores of both ends; once where both are on one machine. Nothing where they were not read.
pub(super) fn section(run: &Run, groups: &[GoodputGroup<'_>], t: &Texts) -> Option<Block> {
    let one_machine = run.bed.clocks == ClockRelation::Same;
    let shown_of = |group| shown(group, one_machine, t).into_iter().map(move |(end, core)| (group, end, core));
    let rows: Vec<Row<'_, '_>> = groups.iter().flat_map(shown_of).collect();
    if rows.is_empty() {
        return None;
    }
    let endpoint =
        |(group, end, _): &Row<'_, '_>| or_none(group.trials.first(), |(trial, _)| end_name(trial, *end).to_owned());
    let table = Columns::new()
        .long(t.get("col-configuration"), |(group, ..): &Row<'_, '_>| names::configuration(group.spec, t))
        .words(t.get("col-endpoint"), endpoint)
        .only_if(!one_machine)
        .figures(t.get("col-core"), |(.., core)| core.cpu.to_string())
        .words(t.get("col-role"), |(group, end, core)| role(group, *end, core.cpu, one_machine, t))
        .figures(t.get("col-busy"), |(.., core)| format!("{:.1}", core.busy))
        .figures(t.get("col-softirq"), |(.., core)| format!("{:.1}", core.softirq))
        .figures(t.get("col-steal"), |(.., core)| format!("{:.1}", core.steal))
        .figures(t.get("col-mhz"), |(.., core)| or_none(core.mhz, frequency))
        .table(t.get(if one_machine { "cpu-caption-one" } else { "cpu-caption" }), &rows);
    let named: Vec<_> = groups.iter().flat_map(|group| named_cores(group, one_machine, t)).collect();
    let figures = figure::cores(&named, t).into_iter().map(Block::Figure);
    Some(Block::section(t.get("cpu-heading"), iter::once(table).chain(figures).collect()))
}

/// A core that says something, with the configuration and the end that it was of.
type Row<'g, 'a> = (&'g GoodputGroup<'a>, usize, CoreUse);

/// Each core that says something, with its end.
fn shown(group: &GoodputGroup<'_>, one_machine: bool, t: &Texts) -> Vec<(usize, CoreUse)> {
    let ends = if one_machine { 0..1 } else { 0..2 };
    let all = ends.flat_map(|end| cores(group, end).into_iter().map(move |core| (end, core)));
    all.filter(|(end, core)| core.busy >= IDLE || !role(group, *end, core.cpu, one_machine, t).is_empty()).collect()
}

/// The same with the names that a figure gives them.
fn named_cores(group: &GoodputGroup<'_>, one_machine: bool, t: &Texts) -> Vec<NamedCore> {
    let name = |end: usize, core: &CoreUse| {
        let endpoint = group.trials.first().filter(|_| !one_machine).map(|(trial, _)| end_name(trial, end).to_owned());
        let role = Some(role(group, end, core.cpu, one_machine, t)).filter(|role| !role.is_empty());
        let core = t.with("core-name", &[("cpu", &core.cpu)]);
        [endpoint, Some(core), role].into_iter().flatten().collect::<Vec<_>>().join(" · ")
    };
    let heading = format!("{} (n = {})", names::configuration(group.spec, t), group.trials.len());
    let named = |(end, core): (usize, CoreUse)| NamedCore { group: heading.clone(), name: name(end, &core), core };
    shown(group, one_machine, t).into_iter().map(named).collect()
}

fn frequency([before, after]: [u32; 2]) -> String {
    if before == after { before.to_string() } else { format!("{before} → {after}") }
}

fn end_name(trial: &Trial, end: usize) -> &str {
    if end == 0 { &trial.endpoint_from } else { &trial.endpoint_to }
}

/// Each core of an end's machine with the medians over the trials; the frequency is that of the last trial.
fn cores(group: &GoodputGroup<'_>, end: usize) -> Vec<CoreUse> {
    let all = || group.trials.iter().flat_map(|(trial, _)| &trial.counters[end].cpu);
    let mut numbers: Vec<usize> = all().map(|core| core.cpu).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let median = |cpu: usize, figure: fn(&CoreUse) -> f64| {
        let values: Vec<f64> = all().filter(|core| core.cpu == cpu).map(figure).collect();
        Spread::of(&values).map_or(0.0, |it| it.median)
    };
    let core = |cpu| CoreUse {
        cpu,
        busy: median(cpu, |core| core.busy),
        softirq: median(cpu, |core| core.softirq),
        steal: median(cpu, |core| core.steal),
        kinds: all().filter(|core| core.cpu == cpu).all(|core| core.kinds.is_some()).then(|| CoreKinds {
            user: median(cpu, |core| core.kinds.map_or(0.0, |kinds| kinds.user)),
            system: median(cpu, |core| core.kinds.map_or(0.0, |kinds| kinds.system)),
            irq: median(cpu, |core| core.kinds.map_or(0.0, |kinds| kinds.irq)),
            idle: median(cpu, |core| core.kinds.map_or(0.0, |kinds| kinds.idle)),
        }),
        mhz: all().rfind(|core| core.cpu == cpu).and_then(|core| core.mhz),
    };
    numbers.into_iter().map(core).collect()
}

/// CPU time of the threads pinned to a core; empty if there were none.
fn role(group: &GoodputGroup<'_>, end: usize, cpu: usize, one_machine: bool, t: &Texts) -> String {
    let (forward, back) = (group.spec.sends_forward(), group.spec.sends_back());
    let pinned =
        |at: usize| (one_machine || at == end) && group.trials.iter().any(|(trial, _)| trial.cpus[at].contains(&cpu));
    let (near, far) = (pinned(0), pinned(1));
    let sends = near && forward || far && back;
    let receives = near && back || far && forward;
    match (sends, receives) {
        (true, true) => t.get("role-both"),
        (true, false) => t.get("role-sender"),
        (false, true) => t.get("role-receiver"),
        (false, false) => String::new(),
    }
}
