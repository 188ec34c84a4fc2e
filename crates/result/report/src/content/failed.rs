//! Failures and remedies, for the first page.

use std::fmt::Display;

use model::{Doubt, KeyFigure, Place, Run, Undecided, Verdict};

use super::{findings::in_words, items::manual};
use crate::{limited::place_at, material::Material, page::Text, probes, texts::Texts};

/// Most checks, items and places that are named here; all of them stand further back.
const MOST: usize = 3;

/// Failures that the table of key figures does not show, and remedies, each with its label; nothing where there is nothing to do.
pub(super) fn failed(material: &Material<'_>, t: &Texts) -> Vec<(String, Text)> {
    let checks: Vec<String> = probes::ALL.iter().flat_map(|probe| probe.failures(material, t)).collect();
    let items = failed_by_hand(material.run);
    let rows = [("page-failed", what(material, &checks, &items, t)), ("page-todo", todo(material, &checks, &items, t))];
    rows.into_iter().filter(|(_, words)| !words.is_empty()).map(|(label, words)| (t.get(label), words.into())).collect()
}

/// Items that a person found to fail.
pub(crate) fn failed_by_hand(run: &Run) -> Vec<String> {
    manual(run).iter().filter(|it| it.verdict == Verdict::Fail).map(in_words).collect()
}

/// Criteria of measured figures that failed, and those of them that the table of key figures shows.
fn failed_figures(material: &Material<'_>) -> [usize; 2] {
    let assessment = material.assessment;
    let has_failed = |index: &usize| assessment.outcomes.get(*index).is_some_and(|it| it.verdict == Verdict::Fail);
    let shown = assessment.page_one.key_figures.iter().filter_map(|it| match it {
        KeyFigure::Judged(index) => Some(*index),
        KeyFigure::Free(_) => None,
    });
    [(0..assessment.outcomes.len()).filter(has_failed).count(), shown.filter(has_failed).count()]
}

fn what(material: &Material<'_>, checks: &[String], items: &[String], t: &Texts) -> String {
    let [figures, shown] = failed_figures(material);
    let figures = match figures {
        0 => None,
        _ if figures > shown => Some(t.count("page-failed-figures-some", figures as u64)),
        _ if checks.is_empty() && items.is_empty() => None,
        _ => Some(t.count("page-failed-figures", figures as u64)),
    };
    let items: Vec<String> = items.iter().map(|item| t.with("page-failed-item", &[("item", item)])).collect();
    let named = figures.into_iter().chain(some(checks, t)).chain(some(&items, t));
    named.collect::<Vec<_>>().join(&t.get("list-semicolon"))
}

/// The first ones, the last of them with the number of the others.
fn some(all: &[String], t: &Texts) -> Vec<String> {
    let mut named: Vec<String> = all.iter().take(MOST).cloned().collect();
    let hidden = all.len() - named.len();
    if let Some(last) = named.last_mut().filter(|_| hidden > 0) {
        *last = t.with("page-failed-more", &[("last", last), ("count", &hidden)]);
    }
    named
}

/// Remedies of what failed, or else that of the most frequent reason for which nothing was decided.
fn todo(material: &Material<'_>, checks: &[String], items: &[String], t: &Texts) -> String {
    let page = &material.assessment.page_one;
    let place = |(place, end): &(Place, Option<String>)| {
        let (at, remedy) = (place_at(*place, end.as_deref(), t), t.of_value("remedy", place));
        t.with("todo-place", &[("place", &at), ("remedy", &remedy)])
    };
    let places: Vec<String> = page.failed_by.iter().take(MOST).map(place).collect();
    let figures = match failed_figures(material) {
        [0, _] => None,
        _ if places.is_empty() => Some(t.get("todo-figures-unknown")),
        _ => Some(t.with("todo-figures", &[("places", &places.join(&t.get("list-semicolon")))])),
    };
    let checks = (!checks.is_empty()).then(|| t.get("todo-checks"));
    let items = (!items.is_empty()).then(|| t.get("todo-items"));
    let remedies: Vec<String> = figures.into_iter().chain(checks).chain(items).collect();
    let open = page.undecided.first().map(|(why, _)| why).filter(|_| remedies.is_empty());
    let open = open.filter(|why| !is_said(why, page.worst_doubt.as_ref())).map(|why| decide(why, t));
    remedies.into_iter().chain(open).reduce(|a, b| t.with("sentences", &[("a", &a), ("b", &b)])).unwrap_or_default()
}

/// Whether the doubt has the remedy of this reason.
fn is_said(why: &Undecided, doubt: Option<&Doubt>) -> bool {
    matches!(
        (why, doubt),
        (Undecided::FewTrials { .. }, Some(Doubt::FewTrials { .. }))
            | (Undecided::MtuDisproved { .. }, Some(Doubt::MtuDisproved { .. }))
            | (Undecided::NoAddress { .. }, Some(Doubt::NoAddress { .. }))
    )
}

/// Remedy that leads to a verdict.
fn decide(why: &Undecided, t: &Texts) -> String {
    let values: &[(&str, &dyn Display)] = match why {
        Undecided::MtuDisproved { ip, .. } | Undecided::NoAddress { ip } => &[("ip", ip)],
        _ => &[],
    };
    t.of_value_with("todo", why, values)
}
