//! What limited each figure, or that it is not known.

use maud::{Markup, html};
use model::{LimitedBy, Run, Trial};

use super::table::{table, words};
use crate::{doubts::ranges, show, texts::Texts};

/// Trials of one kind of traffic that name the same place.
struct Limited<'a> {
    traffic: String,
    by: Option<&'a LimitedBy>,
    trials: Vec<u32>,
}

/// Nothing when no limit is known.
pub(super) fn limited(run: &Run, t: &Texts) -> Markup {
    let rows = gather(&run.trials, t);
    if rows.iter().all(|row| row.by.is_none()) {
        return html! {};
    }
    let head = html! {
        (words(&t.get("col-traffic")))
        (words(&t.get("col-limited")))
        (words(&t.get("col-evidence")))
        (words(&t.get("col-trial-numbers")))
    };
    let rows = html! { @for row in &rows { (limited_row(row, t)) } };
    html! {
        h3 { (t.get("limited-heading")) }
        (table(&t.get("limited-caption"), &head, &rows))
    }
}

fn limited_row(row: &Limited<'_>, t: &Texts) -> Markup {
    html! {
        tr {
            th scope="row" { (row.traffic) }
            @match row.by {
                // Place and evidence are quoted from counters, in English.
                Some(by) => { td lang="en" { (by.place) } td.long lang="en" { (by.evidence) } }
                None => { td { (t.get("not-known")) } td { (show::NO_FIGURE) } }
            }
            td.long { (ranges(&row.trials)) }
        }
    }
}

fn gather<'a>(trials: &'a [Trial], t: &Texts) -> Vec<Limited<'a>> {
    let mut rows: Vec<Limited<'_>> = Vec::new();
    for trial in trials {
        let traffic = show::traffic(&trial.measured.spec(), t);
        let by = trial.limited_by.as_ref();
        let same = |row: &Limited<'_>| row.traffic == traffic && row.by.map(|it| &it.place) == by.map(|it| &it.place);
        match rows.iter_mut().find(|row| same(row)) {
            Some(row) => row.trials.push(trial.number),
            None => rows.push(Limited { traffic, by, trials: vec![trial.number] }),
        }
    }
    rows
}
