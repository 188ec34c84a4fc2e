//! Course of a search as a figure: the load of each trial, and the bounds that they led to.

use model::search::{AssessedGoal, AssessedSearch, SearchedTrial};

use super::name;
use crate::{
    figure::{
        axis::Axis,
        chart::{Chart, Series},
    },
    page::{Figure, LegendEntry, Line},
    probes,
    show::{NO_FIGURE, or_none, percent},
    texts::Texts,
};

/// Relation of a trial to the goals of its search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// No goal counts it.
    Invalid,
    /// Its loss is within all goals.
    Kept,
    /// Its loss is within some goals.
    Between,
    /// Its loss is above all goals.
    Lost,
}

/// All marks, each with the style that it is drawn in and the key of its words.
const MARKS: [(Mark, usize, Line, &str); 4] = [
    (Mark::Kept, 0, Line::Solid, "legend-search-kept"),
    (Mark::Between, 2, Line::Solid, "legend-search-between"),
    (Mark::Lost, 1, Line::Solid, "legend-search-lost"),
    (Mark::Invalid, 0, Line::Dotted, "legend-search-invalid"),
];

/// Style of the line from trial to trial, and that of the bounds of the first goal.
const COURSE: usize = 5;
const BOUNDS: usize = 3;

/// `None` without trials.
pub(in crate::content) fn figure(search: &AssessedSearch, t: &Texts) -> Option<Figure> {
    let loads = || search.trials.iter().map(|it| it.trial.load);
    let (lowest, highest) = (loads().reduce(f64::min)?, loads().reduce(f64::max)?);
    let (size, unit) = probes::load_unit(&search.spec, highest);
    let points: Vec<(f64, f64)> = (1..).map(f64::from).zip(loads().map(|load| load / size)).collect();
    let of_mark = |mark: Mark| -> Vec<(f64, f64)> {
        let marked = points.iter().zip(&search.trials).filter(|(_, trial)| self::mark(search, trial) == mark);
        marked.map(|(point, _)| *point).collect()
    };
    let marked = |(mark, style, line, _): (Mark, usize, Line, &str)| Series {
        style,
        line,
        marks: of_mark(mark),
        ..Series::default()
    };
    let bounds = search.goals.iter().enumerate().map(|(index, goal)| Series {
        style: BOUNDS + index,
        line: Line::Dashed,
        levels: levels(goal).into_iter().map(|load| load / size).collect(),
        ..Series::default()
    });
    let course = Series { style: COURSE, points: points.clone(), ..Series::default() };
    let is_there = |(mark, ..): &(Mark, usize, Line, &str)| !of_mark(*mark).is_empty();
    let entries = MARKS.into_iter().filter(is_there).map(|(_, style, line, key)| entry(style, line, key, t));
    let name = name(search, t);
    let chart = Chart {
        title: t.with("figure-search", &[("traffic", &name), ("repeat", &search.repeat)]),
        note: t.get("figure-search-note"),
        description: in_words(search, &name),
        x: Axis::counted(t.get("axis-search-trial"), search.trials.len()),
        y: Axis::of_spread(t.with("axis-search-load", &[("unit", &unit)]), lowest / size, highest / size),
        series: [course].into_iter().chain(MARKS.map(marked)).chain(bounds).collect(),
        legend: entries.chain(search.goals.iter().enumerate().map(|goal| bounds_entry(search, goal, t))).collect(),
    };
    Some(chart.figure())
}

fn mark(search: &AssessedSearch, trial: &SearchedTrial) -> Mark {
    let exceeds: Option<Vec<bool>> = search.goals.iter().map(|it| trial.exceeds(&it.goal)).collect();
    match exceeds {
        None => Mark::Invalid,
        Some(exceeds) if exceeds.iter().all(|exceeds| !exceeds) => Mark::Kept,
        Some(exceeds) if exceeds.iter().all(|exceeds| *exceeds) => Mark::Lost,
        Some(_) => Mark::Between,
    }
}

fn levels(goal: &AssessedGoal) -> Vec<f64> {
    [goal.result.relevant_lower_bound, goal.result.relevant_upper_bound].into_iter().flatten().collect()
}

fn entry(style: usize, line: Line, key: &str, t: &Texts) -> LegendEntry {
    LegendEntry { style, line, name: t.get(key) }
}

fn bounds_entry(search: &AssessedSearch, (index, assessed): (usize, &AssessedGoal), t: &Texts) -> LegendEntry {
    let load = |load: Option<f64>| or_none(load, |load| probes::load(&search.spec, load));
    let result = &assessed.result;
    let (lower, upper) = (load(result.relevant_lower_bound), load(result.relevant_upper_bound));
    let name = t.with("legend-search-goal", &[("goal", &assessed.goal.name), ("lower", &lower), ("upper", &upper)]);
    LegendEntry { style: BOUNDS + index, line: Line::Dashed, name }
}

/// Load and loss of each trial.
fn in_words(search: &AssessedSearch, name: &str) -> String {
    let trial = |(place, it): (usize, &SearchedTrial)| {
        let loss = if it.is_valid { percent(it.trial.loss_ratio) } else { NO_FIGURE.to_owned() };
        format!("{place}: {} {loss}", probes::load(&search.spec, it.trial.load))
    };
    let trials: Vec<String> = (1..).zip(&search.trials).map(trial).collect();
    format!("{name}: {}", trials.join(", "))
}
