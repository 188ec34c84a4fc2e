//! Goodput: the tables and the figure.

use maud::{Markup, html};
use model::{Run, trial::CoreUse};

use super::table::{figures, table, words};
use crate::{
    figure,
    groups::{GoodputGroup, Spread, goodput_groups},
    show::{self, NO_FIGURE, grouped},
    texts::Texts,
};

/// Nothing when no goodput was measured.
pub(super) fn goodput(run: &Run, t: &Texts) -> Markup {
    let groups = goodput_groups(run);
    if groups.is_empty() {
        return html! {};
    }
    html! {
        h3 { (t.get("goodput-heading")) }
        (goodput_table(&groups, t))
        @if run.bed.simulated { p { (t.get("goodput-lab-note")) } }
        div.charts {
            @if let Some(figure) = figure::goodput_over_time(&groups, t) { (figure) }
        }
        h3 { (t.get("cpu-heading")) }
        (cpu_table(&groups, t))
    }
}

fn goodput_table(groups: &[GoodputGroup<'_>], t: &Texts) -> Markup {
    let mean = |group: &GoodputGroup<'_>| group.over_trials(|result| result.mean_bps);
    let intervals = groups.iter().any(|group| mean(group).is_some_and(|mean| mean.interval.is_some()));
    let head = html! {
        (words(&t.get("col-traffic")))
        (figures(&t.get("col-streams")))
        (figures("MTU"))
        (figures(&t.get("col-trials")))
        (figures(&t.get("col-mean")))
        (figures(&t.get("col-mean-spread")))
        @if intervals { (figures(&t.get("col-interval-mean"))) }
        (figures(&t.get("col-fastest")))
        (figures(&t.get("col-slowest")))
        (figures(&t.get("col-sent")))
        (figures(&t.get("col-retransmits")))
        (figures(&t.get("col-busiest")))
    };
    let unit = Unit::of(groups);
    let rows = html! { @for group in groups { (row(group, intervals, &unit, t)) } };
    table(&t.with("goodput-caption", &[("unit", &unit.name)]), &head, &rows)
}

/// One unit for all rates of the table.
struct Unit {
    size: f64,
    name: &'static str,
}

impl Unit {
    fn of(groups: &[GoodputGroup<'_>]) -> Self {
        let fastest = groups.iter().filter_map(GoodputGroup::seconds).map(|(_, fastest)| fastest);
        let (size, name) = show::rate_unit(fastest.fold(0.0, f64::max));
        Self { size, name }
    }

    fn show(&self, bps: f64) -> String {
        format!("{:.2}", bps / self.size)
    }

    fn show_or_none(&self, bps: Option<f64>) -> String {
        bps.map_or(NO_FIGURE.to_owned(), |bps| self.show(bps))
    }

    fn range(&self, low: f64, high: f64) -> String {
        format!("{} – {}", self.show(low), self.show(high))
    }
}

fn row(group: &GoodputGroup<'_>, intervals: bool, unit: &Unit, t: &Texts) -> Markup {
    let mean = group.over_trials(|result| result.mean_bps);
    let (slowest, fastest) = group.seconds().unzip();
    let median_rate = |spread: Option<Spread>| unit.show_or_none(spread.map(|it| it.median));
    let retransmits = group.over_trials(|result| result.retransmits as f64);
    html! {
        tr {
            th scope="row" { (group.spec.protocol) " " (group.spec.ip) }
            td.n { (group.spec.streams) }
            td.n { @if let Some((_, result)) = group.trials.first() { (result.mtu.0) } }
            td.n { (group.trials.len()) }
            td.n { strong { (median_rate(mean)) } }
            td.n { (mean.and_then(|mean| mean.range()).map_or(NO_FIGURE.to_owned(), |(low, high)| unit.range(low, high))) }
            @if intervals {
                td.n {
                    (mean.and_then(|mean| mean.interval).map_or(NO_FIGURE.to_owned(), |it| unit.range(it.low, it.high)))
                }
            }
            td.n { (unit.show_or_none(fastest)) }
            td.n { (unit.show_or_none(slowest)) }
            td.n { (median_rate(group.over_trials(|result| result.sent_bps))) }
            td.n { (retransmits.map_or(NO_FIGURE.to_owned(), |it| grouped(it.median.round() as u64))) }
            td.n { (busiest(group, t)) }
        }
    }
}

fn busiest(group: &GoodputGroup<'_>, t: &Texts) -> String {
    match cores(group).into_iter().max_by(|a, b| a.busy.total_cmp(&b.busy)) {
        Some(core) => t.with("busiest-core", &[("cpu", &core.cpu), ("busy", &format!("{:.0}", core.busy))]),
        None => NO_FIGURE.to_owned(),
    }
}

/// Each core with the medians over the trials.
fn cores(group: &GoodputGroup<'_>) -> Vec<CoreUse> {
    let all = || group.trials.iter().flat_map(|(_, result)| &result.cpu);
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
    };
    numbers.into_iter().map(core).collect()
}

fn cpu_table(groups: &[GoodputGroup<'_>], t: &Texts) -> Markup {
    let head = html! {
        (words(&t.get("col-traffic")))
        (figures(&t.get("col-core")))
        (words(&t.get("col-role")))
        (figures(&t.get("col-busy")))
        (figures(&t.get("col-softirq")))
        (figures(&t.get("col-steal")))
    };
    let rows = html! {
        @for group in groups {
            @for core in cores(group).iter().filter(|core| core.busy >= 1.0) {
                tr {
                    th scope="row" { (show::goodput_traffic(group.spec, t)) }
                    td.n { (core.cpu) }
                    td { (role(group, core.cpu, t)) }
                    td.n { (format!("{:.1}", core.busy)) }
                    td.n { (format!("{:.1}", core.softirq)) }
                    td.n { (format!("{:.1}", core.steal)) }
                }
            }
        }
    };
    table(&t.get("cpu-caption"), &head, &rows)
}

/// Which end was pinned to the core.
fn role(group: &GoodputGroup<'_>, cpu: usize, t: &Texts) -> String {
    let pinned = |end: usize| group.trials.iter().any(|(trial, _)| trial.cpus[end] == Some(cpu));
    match (pinned(0), pinned(1)) {
        (true, true) => t.get("role-both"),
        (true, false) => t.get("role-sender"),
        (false, true) => t.get("role-receiver"),
        (false, false) => String::new(),
    }
}
