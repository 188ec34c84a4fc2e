//! How a paced load was kept to its schedule: asked and measured.

use model::trial::Pacing;

use crate::{
    groups::Spread,
    page::{Block, Column, Text},
    show::{micros, micros_or_none, or_none},
    texts::Texts,
};

/// One configuration's schedule.
pub(super) struct Schedule<'a> {
    pub(super) name: String,
    /// Rate asked for, in words.
    pub(super) intended: String,
    /// Rate made, in words.
    pub(super) achieved: String,
    /// How each trial kept it.
    pub(super) paced: Vec<&'a Pacing>,
}

/// Nothing when no load was paced.
pub(super) fn section(schedules: &[Schedule<'_>], t: &Texts) -> Option<Block> {
    if schedules.is_empty() {
        return None;
    }
    let columns = vec![
        Column::long(t.get("col-configuration")),
        Column::figures(t.get("col-asked")),
        Column::figures(t.get("col-achieved")),
        Column::figures(t.get("col-gap-asked")),
        Column::figures(t.get("col-gap-p50")),
        Column::figures(t.get("col-gap-p99")),
        Column::figures(t.get("col-behind-p50")),
        Column::figures(t.get("col-behind-p99")),
    ];
    let rows = schedules.iter().map(row).collect();
    Some(Block::section(t.get("schedule-heading"), vec![Block::table(t.get("schedule-caption"), columns, rows)]))
}

fn row(schedule: &Schedule<'_>) -> Vec<Text> {
    let cells = [
        schedule.name.clone(),
        schedule.intended.clone(),
        schedule.achieved.clone(),
        or_none(schedule.paced.first(), |pacing| micros(pacing.intended_gap_ns)),
        schedule.median(|pacing| pacing.gap_ns.p50),
        schedule.median(|pacing| pacing.gap_ns.p99),
        schedule.median(|pacing| pacing.behind_ns.p50),
        schedule.median(|pacing| pacing.behind_ns.p99),
    ];
    cells.map(Text::from).into()
}

impl Schedule<'_> {
    /// Over the trials; a dash if one of them does not have it.
    fn median(&self, figure: impl Fn(&Pacing) -> Option<u64>) -> String {
        let values: Option<Vec<f64>> = self.paced.iter().map(|pacing| figure(pacing).map(|ns| ns as f64)).collect();
        micros_or_none(values.and_then(|values| Spread::of(&values)).map(|it| it.median))
    }
}
