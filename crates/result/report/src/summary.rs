//! A run as a few lines of plain text, for the terminal.

use model::{LimitOutcome, Run};
use unicode_width::UnicodeWidthStr;

use crate::{
    doubts::{advice, gather, ranges},
    groups::{GoodputGroup, LatencyGroup, goodput_groups, latency_groups},
    lang::Lang,
    show,
    texts::Texts,
};

/// What `wireproof verify` says at its end: a row for each configuration, the verdict, and doubts with advice.
pub fn summary(run: &Run, outcomes: &[LimitOutcome], lang: Lang) -> String {
    let t = Texts::of(lang);
    let mut lines = vec![heading(run, t)];
    if run.bed.simulated {
        lines.push(format!("[{}] {}", t.get("simulated"), t.get("simulated-meaning")));
    }
    lines.extend(tables(run, t));
    lines.push(String::new());
    lines.extend(outcomes.iter().map(|outcome| outcome_line(run, outcome, t)));
    lines.push(verdict_line(run, outcomes, t));
    let doubts = gather(run);
    if !doubts.is_empty() {
        lines.push(format!("{}:", t.get("doubts-heading")));
    }
    for doubt in doubts {
        let place = match doubt.trials.as_slice() {
            [] => t.get("doubts-run"),
            trials => t.with("doubts-trials", &[("trials", &ranges(trials))]),
        };
        lines.push(format!("  ! {} [{place}]", advice(&doubt.doubt, lang)));
    }
    lines.join("\n") + "\n"
}

fn heading(run: &Run, t: &Texts) -> String {
    let field = |label: &str, value: &str| format!("{label} {value}");
    [
        field(&t.get("label-run"), &run.id.0),
        field(&t.get("label-plan"), &run.plan.name),
        field(&t.get("label-bed"), &run.bed.name),
    ]
    .join(" · ")
}

fn tables(run: &Run, t: &Texts) -> Vec<String> {
    let latency: Vec<_> = latency_groups(run).iter().map(|group| latency_row(group, t)).collect();
    let goodput: Vec<_> = goodput_groups(run).iter().map(|group| goodput_row(group, t)).collect();
    let mut lines = Vec::new();
    if latency.is_empty() && goodput.is_empty() {
        lines.push(t.get("headline-none"));
    }
    if !latency.is_empty() {
        lines.push(String::new());
        let head = [
            t.get("latency-heading"),
            t.get("col-trials"),
            "p50 (µs)".to_owned(),
            t.get("col-spread"),
            "p99 (µs)".to_owned(),
        ];
        lines.extend(aligned(head, latency));
    }
    if !goodput.is_empty() {
        lines.push(String::new());
        let head = [
            t.get("goodput-heading"),
            t.get("col-trials"),
            t.get("col-mean"),
            t.get("col-range"),
            t.get("col-retransmits"),
        ];
        lines.extend(aligned(head, goodput));
    }
    lines
}

fn latency_row(group: &LatencyGroup<'_>, t: &Texts) -> [String; 5] {
    let p50 = group.rtt(|rtt| rtt.p50);
    [
        show::latency_configuration(group.spec, t),
        group.trials.len().to_string(),
        show::micros_or_none(p50.map(|p50| p50.median)),
        p50.and_then(|p50| p50.range())
            .map_or(show::NO_FIGURE.into(), |(low, high)| format!("{} – {}", show::micros(low), show::micros(high))),
        show::micros_or_none(group.rtt(|rtt| rtt.p99).map(|p99| p99.median)),
    ]
}

fn goodput_row(group: &GoodputGroup<'_>, t: &Texts) -> [String; 5] {
    let mean = group.over_trials(|result| result.mean_bps);
    let none = || show::NO_FIGURE.to_owned();
    [
        show::goodput_traffic(group.spec, t),
        group.trials.len().to_string(),
        mean.map_or_else(none, |mean| show::rate(mean.median)),
        mean.and_then(|mean| mean.range()).map_or_else(none, |(low, high)| show::rate_range(low, high)),
        group.over_trials(|result| result.retransmits as f64).map_or_else(none, |it| format!("{:.0}", it.median)),
    ]
}

fn outcome_line(run: &Run, outcome: &LimitOutcome, t: &Texts) -> String {
    let median = outcome.median.map_or(show::NO_FIGURE.into(), |it| show::metric_value(outcome.limit.metric, it));
    format!(
        "{}: {} {}, {}: {median}",
        show::verdict(outcome.verdict, t),
        show::outcome_name(run, outcome, t),
        show::metric(outcome.limit.metric, t),
        show::limit(&outcome.limit, t),
    )
}

fn verdict_line(run: &Run, outcomes: &[LimitOutcome], t: &Texts) -> String {
    let (word, meaning) = show::overall(outcomes, t);
    let partial = if run.partial { format!(" {}", show::partial(run, t)) } else { String::new() };
    t.with("verdict-line", &[("word", &word), ("meaning", &meaning)]) + &partial
}

/// Columns as wide as their widest cell, the first to the left and the rest to the right.
fn aligned<const N: usize>(head: [String; N], rows: Vec<[String; N]>) -> Vec<String> {
    let table: Vec<[String; N]> = std::iter::once(head).chain(rows).collect();
    let widths: [usize; N] =
        std::array::from_fn(|column| table.iter().map(|row| row[column].width()).max().unwrap_or_default());
    let line = |row: &[String; N]| {
        let cells = row.iter().enumerate().map(|(column, cell)| {
            let padding = " ".repeat(widths[column] - cell.width());
            if column == 0 { format!("{cell}{padding}") } else { format!("{padding}{cell}") }
        });
        format!("  {}", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    table.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_though_japanese_letters_are_twice_as_wide() {
        let rows = aligned(["通信".into(), "p50".into()], vec![["UDP".into(), "9".into()]]);
        assert_eq!(rows, ["  通信  p50", "  UDP     9"]);
    }
}
