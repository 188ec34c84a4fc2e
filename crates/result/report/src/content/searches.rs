//! Searches for the highest load: bounds of each goal, and the course of each search.

mod course;

pub(super) use course::figure;

use std::fmt::Display;

use model::{
    Assessment, Verdict,
    alike::distinct,
    search::{AssessedGoal, AssessedSearch, Goal, GoalResult},
};

use crate::{
    columns::Columns,
    page::{Block, Item, Text},
    probes,
    show::{grouped, or_none, percent, verdict},
    texts::Texts,
};

/// A search, and one of its goals.
type Row<'a> = (&'a AssessedSearch, &'a AssessedGoal);

/// A section; nothing where the plan searches for nothing.
pub(super) fn section(assessment: &Assessment, t: &Texts) -> Option<Block> {
    let searches = &assessment.searches;
    if searches.is_empty() {
        return None;
    }
    let goals = distinct(searches.iter().flat_map(|search| search.goals.iter().map(|it| &it.goal)));
    let mut blocks =
        vec![bounds(searches, t), Block::List(goals.into_iter().map(|it| Item::from(goal(it, t))).collect())];
    let (first, others): (Vec<_>, Vec<_>) = searches.iter().partition(|search| search.repeat == 1);
    let figures = |searches: Vec<&AssessedSearch>| -> Vec<Block> {
        searches.into_iter().filter_map(|search| course::figure(search, t)).map(Block::Figure).collect()
    };
    blocks.extend(figures(first));
    let others = figures(others);
    let summary = t.get("search-other-repeats");
    blocks.extend((!others.is_empty()).then_some(Block::Folded { summary, blocks: others }));
    Some(Block::section(t.get("search-heading"), blocks))
}

/// The result of each goal in a line.
pub(crate) fn lines(assessment: &Assessment, t: &Texts) -> Vec<String> {
    rows(&assessment.searches).into_iter().map(|row| line(&row, t)).collect()
}

fn line(row: &Row<'_>, t: &Texts) -> String {
    let (search, assessed) = *row;
    let (result, traffic) = (&assessed.result, name(search, t));
    if let Some(why) = result.irregular {
        let why = t.of_value("irregular", &why);
        return t.with("search-line-irregular", &[("traffic", &traffic), ("goal", &assessed.goal.name), ("why", &why)]);
    }
    if let Some(why) = beyond_tester(row, t) {
        return t.with("search-line-irregular", &[("traffic", &traffic), ("goal", &assessed.goal.name), ("why", &why)]);
    }
    let load = |load: Option<f64>| or_none(load, |load| probes::load(&search.spec, load));
    let values: [(&str, &dyn Display); 5] = [
        ("traffic", &traffic),
        ("goal", &assessed.goal.name),
        ("lower", &load(result.relevant_lower_bound)),
        ("upper", &load(result.relevant_upper_bound)),
        ("throughput", &load(result.conditional_throughput)),
    ];
    t.with("search-line", &values)
}

fn rows(searches: &[AssessedSearch]) -> Vec<Row<'_>> {
    searches.iter().flat_map(|search| search.goals.iter().map(move |goal| (search, goal))).collect()
}

/// Bounds and conditional throughput of each goal.
fn bounds(searches: &[AssessedSearch], t: &Texts) -> Block {
    let load = |(search, _): &Row<'_>, load: Option<f64>| or_none(load, |load| probes::load(&search.spec, load));
    let result = |row: &Row<'_>| {
        let irregular = row.1.result.irregular.map(|why| t.of_value("irregular", &why));
        irregular.or_else(|| beyond_tester(row, t)).unwrap_or_else(|| t.get("search-regular"))
    };
    Columns::new()
        .long(t.get("col-configuration"), |(search, _): &Row<'_>| name(search, t))
        .figures(t.get("col-search-repeat"), |(search, _)| search.repeat.to_string())
        .only_if(searches.iter().any(|search| search.repeat > 1))
        .words(t.get("col-search-goal"), |(_, assessed)| Text::code(assessed.goal.name.clone()))
        .figures(t.get("col-search-lower"), |it| Text::strong(load(it, it.1.result.relevant_lower_bound)))
        .figures(t.get("col-search-upper"), |it| Text::strong(load(it, it.1.result.relevant_upper_bound)))
        .figures(t.get("col-search-width"), |(_, assessed)| or_none(assessed.result.width, percent))
        .figures(t.get("col-search-throughput"), |it| load(it, it.1.result.conditional_throughput))
        .figures(t.get("col-search-tester"), |it| load(it, of_tester(it).and_then(|alone| alone.relevant_lower_bound)))
        .only_if(searches.iter().any(|search| !search.tester.is_empty()))
        .figures(t.get("col-trials"), |(search, _)| grouped(search.trials.len() as u64))
        .long(t.get("col-result"), result)
        .table(t.get("search-caption"), &rows(searches))
}

/// Place of the goal in its search.
fn place((search, assessed): &Row<'_>) -> Option<usize> {
    search.goals.iter().position(|goal| goal == *assessed)
}

/// Result of the tester alone for the goal.
fn of_tester<'a>(row: &Row<'a>) -> Option<&'a GoalResult> {
    row.0.tester.get(place(row)?)
}

/// Words for a result that the tester does not vouch for.
fn beyond_tester(row: &Row<'_>, t: &Texts) -> Option<String> {
    let is_vouched = row.0.is_vouched(place(row)?)?;
    (!is_vouched).then(|| t.with("search-beyond-tester", &[("verdict", &verdict(Verdict::Inconclusive, t))]))
}

/// Demands of a goal.
fn goal(goal: &Goal, t: &Texts) -> String {
    let values: [(&str, &dyn Display); 6] = [
        ("goal", &goal.name),
        ("final", &goal.final_trial_duration),
        ("sum", &goal.duration_sum),
        ("loss", &percent(goal.loss_ratio.0)),
        ("exceed", &percent(goal.exceed_ratio.0)),
        ("width", &percent(goal.width.0)),
    ];
    t.with("classified-goal", &values)
}

/// The configuration, and the way where senders took turns.
fn name(search: &AssessedSearch, t: &Texts) -> String {
    probes::way(&search.spec, search.way.as_ref(), t)
}
