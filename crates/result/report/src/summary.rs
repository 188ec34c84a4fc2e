//! A run as a few lines of plain text, for the terminal.

use model::{LimitOutcome, Match, ReferenceComparison, Run, Verdict, plain::one_line};

use crate::{
    content,
    doubts::gather,
    histogram::{Bars, Times},
    lang::Lang,
    material::Material,
    outcome, probes,
    show::{self, or_none},
    texts::Texts,
};

/// Last words of `wireproof verify`: a row for each configuration, its histogram where it is asked for, the verdict, and
/// doubts with advice.
pub fn summary(material: &Material<'_>, lang: Lang, histograms: Option<Bars>) -> String {
    let Material { run, assessment, .. } = *material;
    let t = &material.texts(lang);
    let mut lines = vec![heading(run, t)];
    if run.bed.simulated {
        lines.push(format!("[{}] {}", t.get("simulated"), t.get("simulated-meaning")));
    }
    lines.extend(tables(material, t));
    lines.extend(histograms.into_iter().flat_map(|bars| histogram_lines(material, bars, t)));
    lines.push(String::new());
    lines.extend(probes::ALL.iter().flat_map(|probe| probe.stack_headlines(material, t)));
    lines.extend(content::search_lines(assessment, t));
    lines.extend(content::bufferbloat_lines(assessment, t));
    lines.extend(content::card_lines(assessment, t));
    lines.extend(outcome_lines(run, &assessment.outcomes, t));
    let by_hand = |item: String| format!("{}: {item}", show::verdict(Verdict::Fail, t));
    lines.extend(content::failed_by_hand(run).into_iter().map(by_hand));
    lines.extend(verdict_line(material, t));
    lines.extend(assessment.comparisons.iter().flatten().map(|comparison| comparison_line(comparison, t)));
    let doubts = gather(run);
    if !doubts.is_empty() {
        lines.push(format!("{}:", t.get("doubts-heading")));
    }
    for doubt in doubts {
        lines.push(format!("  ! {} [{}]", doubt.advice(run, lang), doubt.place(run, t)));
    }
    // A name that could begin a line of its own could say anything.
    lines.iter().map(|line| one_line(line) + "\n").collect()
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

/// The tables of all tests and probes.
fn tables(material: &Material<'_>, t: &Texts) -> Vec<String> {
    let mut tables = content::rfc2544_table(material.assessment, t);
    tables.extend(probes::ALL.iter().flat_map(|probe| probe.terminal_table(material, t)));
    if tables.is_empty() { vec![t.get("headline-none")] } else { tables }
}

/// The histograms of all probes.
fn histogram_lines(material: &Material<'_>, bars: Bars, t: &Texts) -> Vec<String> {
    let times: Vec<Times> = probes::ALL.iter().flat_map(|probe| probe.times(material, t)).collect();
    let lines: Vec<String> = times.iter().flat_map(|times| times.histogram(bars, t)).collect();
    if lines.is_empty() { vec![String::new(), t.get("histogram-none")] } else { lines }
}

/// A line for each limit; those in a row that are undecided for one reason share theirs.
fn outcome_lines(run: &Run, outcomes: &[LimitOutcome], t: &Texts) -> Vec<String> {
    let reason = |it: &LimitOutcome| (it.limit.metric, show::limit_of_several(it, t));
    let alike = |a: &LimitOutcome, b: &LimitOutcome| outcome::alike(a, b) && reason(a) == reason(b);
    let lines = |row: &[LimitOutcome]| match row {
        [first, _, _, ..] => {
            let (metric, limit) = (show::metric(first.limit.metric, t), show::limit_of_several(first, t));
            let word = show::verdict(first.verdict, t);
            let count = row.len();
            vec![
                t.with("outcomes-alike", &[("word", &word), ("count", &count), ("metric", &metric), ("limit", &limit)]),
            ]
        }
        few => few.iter().map(|outcome| outcome_line(run, outcome, t)).collect(),
    };
    outcomes.chunk_by(alike).flat_map(lines).collect()
}

fn outcome_line(run: &Run, outcome: &LimitOutcome, t: &Texts) -> String {
    let median = or_none(outcome.median, |it| show::metric_value(outcome.limit.metric, it));
    let figure = show::figure_of(&outcome::name(run, outcome, t), " ", outcome.limit.metric, t);
    let limited = [figure, show::limit(outcome, t)].join(&t.get("list-comma"));
    format!("{}: {limited}: {median}", show::verdict(outcome.verdict, t))
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

/// The verdict. Where another answer stands in its place, only whether the run is partial.
fn verdict_line(material: &Material<'_>, t: &Texts) -> Option<String> {
    let Material { run, assessment, .. } = material;
    let partial = run.partial.then(|| show::partial(run, t));
    let Some((word, meaning)) = show::overall(assessment, t) else { return partial };
    let tally = assessment.verdict.map(|_| show::tally(&assessment.page_one, t));
    let sentences = [tally, Some(meaning), partial].into_iter().flatten();
    let sentences = sentences.reduce(|a, b| t.with("sentences", &[("a", &a), ("b", &b)])).unwrap_or_default();
    Some(t.with("verdict-line", &[("word", &word), ("meaning", &sentences)]))
}
