//! Runs side by side, as plain text for the terminal.

use std::iter;

use model::{
    Comparison, Finding,
    comparison::{FigureComparison, RunComparison},
};
use unicode_width::UnicodeWidthStr;

use crate::{changes, lang::Lang, probes, show, terminal, texts::Texts};

/// Before the figures of a configuration.
const INDENT: &str = "    ";

/// Text of `wireproof compare`: for each run a row for each figure of each configuration in common, what only one of the runs
/// has, what changed between them, and what follows.
pub fn comparison(comparison: &Comparison, lang: Lang) -> String {
    let configurations = comparison.runs.iter().flat_map(|run| &run.configurations);
    let t = &Texts::naming(lang, configurations.map(|configuration| configuration.spec.clone()));
    let mut lines = vec![t.with("compare-reference", &[("run", &show::compared_run(&comparison.reference, t))])];
    if iter::once(&comparison.reference).chain(comparison.runs.iter().map(|it| &it.run)).any(|run| run.simulated) {
        lines.push(format!("[{}] {}", t.get("simulated"), t.get("simulated-meaning")));
    }
    for run in &comparison.runs {
        lines.push(String::new());
        lines.extend(run_lines(run, t));
    }
    lines.push(String::new());
    lines.extend(conclusion(comparison, t));
    lines.extend(notes(comparison, t));
    lines.join("\n") + "\n"
}

fn run_lines(run: &RunComparison, t: &Texts) -> Vec<String> {
    let mut lines = vec![t.with("compare-run", &[("run", &show::compared_run(&run.run, t))])];
    lines.extend(figure_lines(run, t));
    lines.extend(unshared(run, t).into_iter().map(|words| format!("  {words}")));
    if run.changed.is_empty() {
        lines.push(format!("  {}", t.get("compare-changed-none")));
    } else {
        lines.push(format!("  {}", t.get("compare-changed")));
        lines.extend(changes::grouped(&run.changed, None, t).iter().map(|change| format!("    {change}")));
    }
    lines
}

/// A row for each figure, below its configuration.
pub(crate) fn figure_lines(run: &RunComparison, t: &Texts) -> Vec<String> {
    let rows: Vec<_> = run.figures().map(|figure| cells(figure, t)).collect();
    let mut rows = aligned(&rows).into_iter();
    let mut lines = Vec::new();
    for configuration in &run.configurations {
        lines.push(format!("  {}", probes::configuration(&configuration.spec, t)));
        lines.extend(rows.by_ref().take(configuration.figures.len()));
    }
    lines
}

/// Figure, both medians, difference, its interval, finding.
fn cells(figure: &FigureComparison, t: &Texts) -> [String; 5] {
    let ([reference, run], unit) = show::medians(figure);
    [
        t.of_value("compare", &figure.figure),
        format!("{reference} → {run} {unit}"),
        show::difference(figure, t),
        or_blank(figure, show::difference_interval(figure, t)),
        t.of_value("finding", &figure.finding),
    ]
}

/// In brackets; nothing where there is no interval, which the finding says.
fn or_blank(figure: &FigureComparison, interval: String) -> String {
    if figure.interval.is_some() { format!("({interval})") } else { String::new() }
}

/// Each row with its columns below each other: the first and the last to the left, the rest to the right. Where the rows are
/// wider than a terminal, the interval and what follows from it have a line of their own.
fn aligned(rows: &[[String; 5]]) -> Vec<String> {
    let widths: [usize; 5] =
        std::array::from_fn(|column| rows.iter().map(|row| row[column].width()).max().unwrap_or_default());
    let fits = INDENT.width() + widths.iter().map(|width| width + 2).sum::<usize>() - 2 <= terminal::WIDTH;
    let between = if fits { "  ".to_owned() } else { format!("\n{INDENT}{INDENT}") };
    let line = |row: &[String; 5]| {
        let pad = |column: usize| " ".repeat(widths[column] - row[column].width());
        let [name, medians, difference, interval, finding] = row;
        let figures = format!("{name}{}  {}{medians}  {}{difference}", pad(0), pad(1), pad(2));
        format!("{INDENT}{figures}{between}{}{interval}  {finding}", pad(3))
    };
    rows.iter().map(line).collect()
}

/// Configurations that one of the runs alone has; a word where nothing else is left.
pub(crate) fn unshared(run: &RunComparison, t: &Texts) -> Vec<String> {
    let reference = run
        .only_reference
        .iter()
        .map(|spec| t.with("compare-only-reference", &[("configuration", &probes::configuration_and_amount(spec, t))]));
    let own = run
        .only_run
        .iter()
        .map(|spec| t.with("compare-only-run", &[("configuration", &probes::configuration_and_amount(spec, t))]));
    let none = run.configurations.is_empty().then(|| t.get("compare-nothing-in-common"));
    none.into_iter().chain(reference).chain(own).collect()
}

/// The result.
pub(crate) fn conclusion(comparison: &Comparison, t: &Texts) -> Vec<String> {
    let count = |finding| comparison.figures().filter(|figure| figure.finding == finding).count();
    let open = count(Finding::NotDecidable);
    let mut lines = vec![t.with(
        "compare-tally",
        &[
            ("word", &t.of_value("conclusion", &comparison.conclusion)),
            ("worse", &count(Finding::Worse)),
            ("better", &count(Finding::Better)),
            ("same", &count(Finding::NoDifference)),
            ("open", &open),
        ],
    )];
    if comparison.tolerance > 0.0 {
        let tolerance = format!("{} %", comparison.tolerance * 100.0);
        let beyond = comparison.figures().filter(|figure| figure.beyond_tolerance).count();
        lines.push(t.with("compare-tolerance", &[("tolerance", &tolerance), ("beyond", &beyond)]));
    }
    if comparison.runs.iter().any(|it| it.run.id == comparison.reference.id) {
        lines.push(t.with("compare-itself", &[("run", &comparison.reference.id)]));
    }
    let missing: usize = comparison.runs.iter().map(|run| run.only_reference.len()).sum();
    if missing > 0 {
        lines.push(t.with("compare-missing", &[("missing", &missing)]));
    }
    if let Some(needed) = comparison.figures().filter_map(|figure| figure.trials_needed).max() {
        lines.push(t.with("compare-needed", &[("open", &open), ("needed", &needed)]));
    }
    lines
}

/// How far to trust it; nothing where nothing could be decided.
pub(crate) fn notes(comparison: &Comparison, t: &Texts) -> Vec<String> {
    let decided = comparison.figures().filter(|figure| figure.finding != Finding::NotDecidable).count();
    if decided == 0 {
        return vec![];
    }
    let confidence = format!("{:.0} %", stats::CONFIDENCE * 100.0);
    let chance = format!("{:.1}", (1.0 - stats::CONFIDENCE) * decided as f64);
    vec![
        t.with("compare-note-difference", &[("confidence", &confidence)]),
        t.get("compare-note-same"),
        t.with("compare-note-chance", &[("figures", &decided), ("chance", &chance)]),
        t.get("compare-note-runs"),
    ]
}
