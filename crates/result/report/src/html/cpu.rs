//! What the cores did while goodput was counted.

use maud::{Markup, html};
use model::{ClockRelation, CoreUse, Run, Trial};

use super::table::{self, figures, words};
use crate::{
    groups::{GoodputGroup, Spread},
    show::{self, or_none},
    texts::Texts,
};

/// Below this share of its time, in percent, a core that neither end is pinned to says nothing.
const IDLE: f64 = 1.0;

/// The cores of both ends; once where both are on one machine. Nothing where they were not read.
pub(super) fn table(run: &Run, groups: &[GoodputGroup<'_>], t: &Texts) -> Markup {
    let one_machine = run.bed.clocks == ClockRelation::Same;
    let rows: Vec<Markup> = groups.iter().flat_map(|group| group_rows(group, one_machine, t)).collect();
    if rows.is_empty() {
        return html! {};
    }
    let head = html! {
        (words(&t.get("col-configuration")))
        @if !one_machine { (words(&t.get("col-endpoint"))) }
        (figures(&t.get("col-core")))
        (words(&t.get("col-role")))
        (figures(&t.get("col-busy")))
        (figures(&t.get("col-softirq")))
        (figures(&t.get("col-steal")))
        (figures(&t.get("col-mhz")))
    };
    let caption = if one_machine { t.get("cpu-caption-one") } else { t.get("cpu-caption") };
    html! {
        h4 { (t.get("cpu-heading")) }
        (table::table(&caption, &head, &html! { @for row in &rows { (row) } }))
    }
}

fn group_rows(group: &GoodputGroup<'_>, one_machine: bool, t: &Texts) -> Vec<Markup> {
    let ends = if one_machine { 0..1 } else { 0..2 };
    let of_end = |end: usize| {
        let cores = cores(group, end).into_iter();
        let shown =
            cores.filter(move |core| core.busy >= IDLE || !role(group, end, core.cpu, one_machine, t).is_empty());
        shown.map(move |core| row(group, end, &core, one_machine, t))
    };
    ends.flat_map(of_end).collect()
}

fn row(group: &GoodputGroup<'_>, end: usize, core: &CoreUse, one_machine: bool, t: &Texts) -> Markup {
    html! {
        tr {
            th.long scope="row" { (show::goodput_configuration(group.spec, t)) }
            @if !one_machine { td { (or_none(group.trials.first(), |(trial, _)| end_name(trial, end).to_owned())) } }
            td.n { (core.cpu) }
            td { (role(group, end, core.cpu, one_machine, t)) }
            td.n { (format!("{:.1}", core.busy)) }
            td.n { (format!("{:.1}", core.softirq)) }
            td.n { (format!("{:.1}", core.steal)) }
            td.n { (or_none(core.mhz, frequency)) }
        }
    }
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
        mhz: all().rfind(|core| core.cpu == cpu).and_then(|core| core.mhz),
    };
    numbers.into_iter().map(core).collect()
}

/// What the threads pinned to a core did; empty where none was.
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
