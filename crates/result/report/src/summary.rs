//! A run as a few lines of plain text, for the terminal.

use model::{LimitOutcome, Match, PacketStream, ProbeSpec, ReferenceComparison, Run, Verdict, trial::AllSenders};
use unicode_width::UnicodeWidthStr;

use crate::{
    doubts::{gather, ranges},
    groups::{
        FlowGroup, LatencyGroup, PathGroup, Spread, StreamGroup, flow_groups, goodput_groups, knows_sender,
        latency_groups, packet_groups, path_groups, stream_groups,
    },
    lang::Lang,
    limited::{self, Limited, place_at},
    material::Material,
    show::{self, or_none},
    stacks,
    texts::Texts,
    together::{TogetherGroup, together_groups},
};

/// Columns of a terminal.
pub(crate) const WIDTH: usize = 80;

/// What `wireproof verify` says at its end: a row for each configuration, the verdict, and doubts with advice.
pub fn summary(material: &Material<'_>, lang: Lang) -> String {
    let Material { run, outcomes, comparisons, .. } = *material;
    let t = Texts::of(lang);
    let mut lines = vec![heading(run, t)];
    if run.bed.simulated {
        lines.push(format!("[{}] {}", t.get("simulated"), t.get("simulated-meaning")));
    }
    lines.extend(tables(run, t));
    lines.push(String::new());
    lines.extend(stacks::headlines(&latency_groups(run), &flow_groups(&goodput_groups(run)), t));
    lines.extend(outcome_lines(run, outcomes, t));
    lines.push(verdict_line(run, outcomes, t));
    lines.extend(comparisons.unwrap_or_default().iter().map(|comparison| comparison_line(comparison, t)));
    let doubts = gather(run);
    if !doubts.is_empty() {
        lines.push(format!("{}:", t.get("doubts-heading")));
    }
    for doubt in doubts {
        let place = match doubt.trials.as_slice() {
            [] => t.get("doubts-run"),
            trials => t.with("doubts-trials", &[("trials", &ranges(trials))]),
        };
        lines.push(format!("  ! {} [{place}]", doubt.advice(lang)));
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
    let (limited, _) = limited::limited(run, limited::find(run));
    let goes = |row: &&Limited, way: Option<(&str, &str)>| {
        let (Some((from, to)), Some(way)) = (&row.way, way) else { return true };
        (from.as_str(), to.as_str()) == way
    };
    let limit = |spec: ProbeSpec, way: Option<(&str, &str)>| {
        limit_words(limited.iter().filter(|row| row.spec == spec && goes(row, way)), t)
    };
    let (latencies, goodputs, paths) = (latency_groups(run), goodput_groups(run), path_groups(run));
    let latency =
        latencies.iter().map(|it| Row(latency_row(it, t), limit(ProbeSpec::Latency(it.spec.clone()), it.way)));
    let flows = flow_groups(&goodputs);
    let goodput = flows
        .iter()
        .map(|it| Row(goodput_row(it, t), limit(ProbeSpec::Goodput(it.spec.clone()), Some((it.from, it.to)))));
    let packets = packet_groups(run);
    let streams = stream_groups(&packets);
    let stream = streams
        .iter()
        .map(|it| Row(stream_row(run, it, t), limit(ProbeSpec::Packets(it.spec.clone()), Some((it.from, it.to)))));
    let together =
        packets.iter().flat_map(|group| together_groups(run, group)).map(|it| Row(together_row(&it, t), vec![]));
    let path = paths.iter().map(|it| Row(path_row(it, t), kept_down(it, t)));
    let tables = [
        table(latency_head(t), latency.collect()),
        table(goodput_head(t), goodput.collect()),
        table(stream_head(t), stream.chain(together).collect()),
        table(path_head(run, t), path.collect()),
    ]
    .concat();
    if tables.is_empty() { vec![t.get("headline-none")] } else { tables }
}

/// What keeps the path MTU down, each device once.
fn kept_down(group: &PathGroup<'_>, t: &Texts) -> Vec<String> {
    let mut all = Vec::new();
    for (trial, result) in &group.trials {
        if let Some(culprit) = verdict::culprit(result, &trial.endpoint_from, &trial.endpoint_to) {
            let words = t.with("kept-down-by", &[("culprit", &limited::culprit_in_short(&culprit, t))]);
            if !all.contains(&words) {
                all.push(words);
            }
        }
    }
    all
}

/// One line of a table: its cells, and what limited the figures where that is known.
pub(crate) struct Row<const N: usize>(pub(crate) [String; N], pub(crate) Vec<String>);

/// `limited by receiver CPU (b)`; where trials name several places, each with its count. Empty where it is not known.
fn limit_words<'a>(limited: impl Iterator<Item = &'a Limited>, t: &Texts) -> Vec<String> {
    let words = |row: &Limited| {
        let place = place_at(row.by.place, row.by.endpoint.as_deref(), t);
        let count =
            if row.trials.len() < row.of { format!(" ({}/{})", row.trials.len(), row.of) } else { String::new() };
        t.with("limited-by", &[("place", &(place + &count))])
    };
    limited.map(words).collect()
}

fn latency_head(t: &Texts) -> [String; 5] {
    let (p50, p99) = ("p50 (µs)".to_owned(), "p99 (µs)".to_owned());
    [t.get("latency-heading"), t.get("col-trials"), p50, t.get("col-spread"), p99]
}

fn latency_row(group: &LatencyGroup<'_>, t: &Texts) -> [String; 5] {
    let p50 = group.rtt(|rtt| rtt.p50);
    let range = |(low, high): (f64, f64)| format!("{} – {}", show::micros(low), show::micros(high));
    [
        group.name(t),
        group.trials.len().to_string(),
        show::micros_or_none(p50.map(|p50| p50.median)),
        or_none(p50.and_then(|p50| p50.range()), range),
        show::micros_or_none(group.rtt(|rtt| rtt.p99).map(|p99| p99.median)),
    ]
}

fn goodput_head(t: &Texts) -> [String; 5] {
    [
        t.get("goodput-heading"),
        t.get("col-trials"),
        t.get("col-mean"),
        t.get("col-range"),
        t.get("col-retransmits-or-loss"),
    ]
}

fn goodput_row(group: &FlowGroup<'_>, t: &Texts) -> [String; 5] {
    let mean = group.mean();
    let lacking = match group.spec.protocol {
        model::Protocol::Udp => or_none(group.loss(), show::percent),
        model::Protocol::Tcp => {
            let retransmits = group.over(|flow| knows_sender(flow).then(|| flow.sent.retransmits() as f64));
            or_none(retransmits, |it| format!("{:.0}", it.median))
        }
    };
    [
        group.name(t),
        group.flows.len().to_string(),
        or_none(mean, |mean| show::rate(mean.median)),
        or_none(mean.as_ref(), range_beside_mean),
        lacking,
    ]
}

fn stream_head(t: &Texts) -> [String; 5] {
    [
        t.get("packets-heading"),
        t.get("col-trials"),
        t.get("col-offered-load"),
        t.get("col-forwarding-rate"),
        t.get("col-loss"),
    ]
}

fn stream_row(run: &Run, group: &StreamGroup<'_>, t: &Texts) -> [String; 5] {
    let rate = |figure: fn(&PacketStream) -> f64| or_none(group.over(figure), |it| show::packet_rate(it.median));
    [
        group.title(t),
        group.streams.len().to_string(),
        rate(PacketStream::offered_pps),
        rate(PacketStream::forwarding_pps),
        show::stream_loss(run, group, t),
    ]
}

fn together_row(group: &TogetherGroup<'_>, t: &Texts) -> [String; 5] {
    let (from, to) = group.way();
    let rate = |figure: fn(&AllSenders) -> f64| or_none(group.over(figure), |it| show::packet_rate(it.median));
    [
        show::with_way(show::packets_traffic(group.spec, t), Some((&from, to)), t),
        group.trials.len().to_string(),
        rate(|together| together.offered_pps),
        rate(|together| together.forwarding_pps),
        show::together_loss(group, t),
    ]
}

/// In the unit of the mean, which stands beside it: the line has 80 columns.
fn range_beside_mean(mean: &Spread) -> String {
    let (size, _) = show::rate_unit(mean.median);
    or_none(mean.range(), |(low, high)| format!("{:.2} – {:.2}", low / size, high / size))
}

fn path_head(run: &Run, t: &Texts) -> [String; 4] {
    let near = run.bed.senders().iter().map(|end| end.name.as_str()).collect::<Vec<_>>().join(", ");
    let far = or_none(run.bed.receiver(), |end| end.name.clone());
    [t.get("path-heading"), t.get("col-trials"), show::way(&near, &far), show::way(&far, &near)]
}

fn path_row(group: &PathGroup<'_>, t: &Texts) -> [String; 4] {
    [
        group.name(t),
        group.trials.len().to_string(),
        show::leg_mtu(group, |result| &result.forward),
        show::leg_mtu(group, |result| &result.reverse),
    ]
}

/// A line for each limit; those in a row that were not run for one reason share theirs.
fn outcome_lines(run: &Run, outcomes: &[LimitOutcome], t: &Texts) -> Vec<String> {
    let reason = |it: &LimitOutcome| (it.limit.metric, show::limit(it, t));
    let alike = |a: &LimitOutcome, b: &LimitOutcome| {
        a.verdict == Verdict::NotRun && b.verdict == Verdict::NotRun && reason(a) == reason(b)
    };
    let line = |row: &[LimitOutcome]| match row {
        [first, _, _, ..] => {
            let (metric, limit) = (show::metric(first.limit.metric, t), show::limit(first, t));
            t.with("outcomes-not-run", &[("count", &row.len()), ("metric", &metric), ("limit", &limit)])
        }
        few => few.iter().map(|outcome| outcome_line(run, outcome, t)).collect::<Vec<_>>().join("\n"),
    };
    outcomes.chunk_by(alike).map(line).collect()
}

fn outcome_line(run: &Run, outcome: &LimitOutcome, t: &Texts) -> String {
    let median = or_none(outcome.median, |it| show::metric_value(outcome.limit.metric, it));
    format!(
        "{}: {} {}, {}: {median}",
        show::verdict(outcome.verdict, t),
        show::outcome_name(run, outcome, t),
        show::metric(outcome.limit.metric, t),
        show::limit(outcome, t),
    )
}

/// How the run stands to one reference.
fn comparison_line(comparison: &ReferenceComparison, t: &Texts) -> String {
    let rows = &comparison.rows;
    let deviations = || rows.iter().map(|row| row.deviation_percent);
    let (Some(low), Some(high)) = (deviations().reduce(f64::min), deviations().reduce(f64::max)) else {
        return t.with("references-line-none", &[("reference", &comparison.reference.id)]);
    };
    let differing = rows.iter().filter(|row| row.matches != Match::Comparable).count();
    t.with(
        "references-line",
        &[
            ("reference", &comparison.reference.id),
            ("count", &rows.len()),
            ("low", &show::deviation(low)),
            ("high", &show::deviation(high)),
            ("differing", &differing),
        ],
    )
}

fn verdict_line(run: &Run, outcomes: &[LimitOutcome], t: &Texts) -> String {
    let (word, meaning) = show::overall(run, outcomes, t);
    let partial = if run.partial { format!(" {}", show::partial(run, t)) } else { String::new() };
    t.with("verdict-line", &[("word", &word), ("meaning", &meaning)]) + &partial
}

/// An empty line, the head, and the rows; nothing without rows.
///
/// The first column stands to the left, the rest to the right, each as wide as its widest cell. A name that leaves no room
/// for the figures stands on a line of its own above them, and what limited them on one below where it does not fit.
pub(crate) fn table<const N: usize>(head: [String; N], rows: Vec<Row<N>>) -> Vec<String> {
    if rows.is_empty() {
        return vec![];
    }
    let cells = || std::iter::once(&head).chain(rows.iter().map(|Row(cells, _)| cells));
    let widest = |column: usize| cells().map(|row| row[column].width()).max().unwrap_or_default();
    let mut widths: [usize; N] = std::array::from_fn(widest);
    let figures: usize = widths[1..].iter().map(|width| width + 2).sum();
    let room = WIDTH.saturating_sub(2 + figures);
    let fitting = cells().map(|row| row[0].width()).filter(|width| *width <= room).max();
    widths[0] = fitting.unwrap_or(room);
    let mut lines = vec![String::new()];
    lines.extend(row_lines(&head, &[], &widths));
    for Row(cells, limit) in &rows {
        lines.extend(row_lines(cells, limit, &widths));
    }
    lines
}

fn row_lines<const N: usize>(cells: &[String; N], limits: &[String], widths: &[usize; N]) -> Vec<String> {
    let pad = |width: usize, text: &str| " ".repeat(width.saturating_sub(text.width()));
    let mut lines = Vec::new();
    let mut line = format!("  {}{}", cells[0], pad(widths[0], &cells[0]));
    if cells[0].width() > widths[0] {
        lines.push(line);
        line = " ".repeat(2 + widths[0]);
    }
    for (cell, width) in cells.iter().zip(widths).skip(1) {
        line += &format!("  {}{cell}", pad(*width, cell));
    }
    line.truncate(line.trim_end().len());
    match limits {
        [limit] if line.width() + 2 + limit.width() <= WIDTH => lines.push(format!("{line}  {limit}")),
        limits => {
            lines.push(line);
            lines.extend(limits.iter().map(|limit| format!("    {limit}")));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, figure: &str, limit: Option<&str>) -> Row<2> {
        Row([name.into(), figure.into()], limit.map(str::to_owned).into_iter().collect())
    }

    #[test]
    fn columns_line_up_though_japanese_letters_are_twice_as_wide() {
        let lines = table(["通信".into(), "p50".into()], vec![row("UDP", "9", None)]);
        assert_eq!(lines, ["", "  通信  p50", "  UDP     9"]);
    }

    #[test]
    fn what_does_not_fit_has_a_line_of_its_own() {
        let (long, place) = ("n".repeat(76), "p".repeat(70));
        let rows =
            vec![row("TCP", "9", Some("limited by qdisc")), row(&long, "8", None), row("UDP", "7", Some(&place))];
        let lines = table(["x".into(), "p50".into()], rows);
        let expected = [
            "".to_owned(),
            "  x    p50".into(),
            "  TCP    9  limited by qdisc".into(),
            format!("  {long}"),
            "         8".into(),
            "  UDP    7".into(),
            format!("    {place}"),
        ];
        assert_eq!(lines, expected);
    }
}
