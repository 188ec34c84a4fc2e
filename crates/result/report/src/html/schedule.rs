//! How a paced load was kept to its schedule: asked and measured.

use maud::{Markup, html};
use model::trial::Pacing;

use super::table::{self, figures, words};
use crate::{
    groups::Spread,
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
pub(super) fn table(schedules: &[Schedule<'_>], t: &Texts) -> Markup {
    if schedules.is_empty() {
        return html! {};
    }
    let head = html! {
        (words(&t.get("col-configuration")))
        (figures(&t.get("col-asked")))
        (figures(&t.get("col-achieved")))
        (figures(&t.get("col-gap-asked")))
        (figures(&t.get("col-gap-p50")))
        (figures(&t.get("col-gap-p99")))
        (figures(&t.get("col-behind-p50")))
        (figures(&t.get("col-behind-p99")))
    };
    let rows = html! {
        @for schedule in schedules {
            tr {
                th.long scope="row" { (schedule.name) }
                td.n { (schedule.intended) }
                td.n { (schedule.achieved) }
                td.n { (or_none(schedule.paced.first(), |pacing| micros(pacing.intended_gap_ns))) }
                td.n { (schedule.median(|pacing| pacing.gap_ns.p50)) }
                td.n { (schedule.median(|pacing| pacing.gap_ns.p99)) }
                td.n { (schedule.median(|pacing| pacing.behind_ns.p50)) }
                td.n { (schedule.median(|pacing| pacing.behind_ns.p99)) }
            }
        }
    };
    html! { h4 { (t.get("schedule-heading")) } (table::table(&t.get("schedule-caption"), &head, &rows)) }
}

impl Schedule<'_> {
    /// Over the trials; a dash if one of them does not have it.
    fn median(&self, figure: impl Fn(&Pacing) -> Option<u64>) -> String {
        let values: Option<Vec<f64>> = self.paced.iter().map(|pacing| figure(pacing).map(|ns| ns as f64)).collect();
        micros_or_none(values.and_then(|values| Spread::of(&values)).map(|it| it.median))
    }
}
