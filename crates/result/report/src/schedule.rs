//! How a paced load was kept to its schedule: asked and measured.

use model::trial::{Pacing, TimeSummary};

use crate::{
    groups::Spread,
    page::{Block, Column, Text},
    show::{NO_FIGURE, micros, micros_or_none, or_none},
    texts::Texts,
};

/// One configuration's schedule.
pub(crate) struct Schedule<'a> {
    pub(crate) name: String,
    /// Rate asked for, in words.
    pub(crate) intended: String,
    /// Rate made, in words.
    pub(crate) achieved: String,
    /// How each trial kept it.
    pub(crate) paced: Vec<&'a Pacing>,
    /// Times between what arrived, of each trial.
    pub(crate) arrived: Vec<&'a TimeSummary>,
}

/// A column of figures: its title, and the figure of a configuration.
type Figure = (String, fn(&Schedule<'_>) -> String);

/// Nothing if no load was paced. Columns without any value are left out.
pub(crate) fn section(schedules: &[Schedule<'_>], t: &Texts) -> Option<Block> {
    if schedules.is_empty() {
        return None;
    }
    let mut figures = figures(t);
    figures.retain(|(_, figure)| schedules.iter().any(|schedule| figure(schedule) != NO_FIGURE));
    let mut columns = vec![Column::long(t.get("col-configuration"))];
    columns.extend(figures.iter().map(|(title, _)| Column::figures(title.clone())));
    let row = |schedule: &Schedule<'_>| -> Vec<Text> {
        let cells = figures.iter().map(|(_, figure)| figure(schedule));
        [schedule.name.clone()].into_iter().chain(cells).map(Text::from).collect()
    };
    let rows = schedules.iter().map(row).collect();
    Some(Block::section(t.get("schedule-heading"), vec![Block::table(t.get("schedule-caption"), columns, rows)]))
}

fn figures(t: &Texts) -> Vec<Figure> {
    vec![
        (t.get("col-asked"), |it| it.intended.clone()),
        (t.get("col-achieved"), |it| it.achieved.clone()),
        (t.get("col-gap-asked"), |it| or_none(it.paced.first(), |pacing| micros(pacing.intended_gap_ns))),
        (t.get("col-gap-p50"), |it| median(&it.paced, |pacing| pacing.gap_ns.p50)),
        (t.get("col-gap-p99"), |it| median(&it.paced, |pacing| pacing.gap_ns.p99)),
        (t.get("col-behind-p50"), |it| median(&it.paced, |pacing| pacing.behind_ns.p50)),
        (t.get("col-behind-p99"), |it| median(&it.paced, |pacing| pacing.behind_ns.p99)),
        (t.get("col-arrived-p50"), |it| median(&it.arrived, |gaps| gaps.p50)),
        (t.get("col-arrived-p99"), |it| median(&it.arrived, |gaps| gaps.p99)),
    ]
}

/// Over the trials; a dash if one of them does not have it.
fn median<T>(trials: &[&T], figure: impl Fn(&T) -> Option<u64>) -> String {
    let values: Option<Vec<f64>> = trials.iter().map(|trial| figure(trial).map(|ns| ns as f64)).collect();
    micros_or_none(values.and_then(|values| Spread::of(&values)).map(|it| it.median))
}
