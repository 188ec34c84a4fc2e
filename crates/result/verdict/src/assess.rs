//! The conclusions of a whole run.

use std::cmp::Reverse;

use model::{
    Assessment, Bufferbloat, Delta, Evidence, FlowAssessment, KeyFigure, Limited, LimitedBy, LossAt, MainLimit,
    PageOne, Place, ProbeSpec, Reference, Run, Trial, TrialAssessment, alike::grouped, plan::Purpose, rfc2544::Rfc2544,
};

use crate::{
    Chosen, beside_references,
    bufferbloat::bufferbloat,
    card_health::card_health,
    inspection::inspections,
    judge,
    limited::is_whole_path,
    overall,
    page_one::{MOST as MOST_KEY_FIGURES, page_one},
    probes,
    rfc2544::{is_of_tests, key_figures, rfc2544},
    searches::searches,
};

/// Draws all conclusions from a run. `references` are those that limits may name, `chosen` those that the run is compared with.
pub fn assess(run: &Run, references: &[Reference], chosen: &Chosen) -> Assessment {
    let outcomes = judge(run, references);
    let trials: Vec<TrialAssessment> = run.trials.iter().map(|trial| probes::assess(run, trial)).collect();
    let tests = rfc2544(run, &trials);
    let Limits { known: limited, unknown: limit_unknown, ways } = limited(run, &trials);
    let bufferbloat = bufferbloat(run);
    let page_one = without_answered(run, &bufferbloat, page_one(run, &outcomes, &limited, ways));
    Assessment {
        verdict: overall(&outcomes, run.identity.as_ref()),
        page_one: first_page(run, &tests, page_one),
        outcomes,
        comparisons: (*chosen != Chosen::None).then(|| beside_references(run, references, chosen)),
        bufferbloat,
        rfc2544: tests,
        searches: searches(run),
        card: (run.plan.purpose == Some(Purpose::Card)).then(|| card_health(run, &trials)),
        self_tests: run.self_tests.iter().map(|trial| probes::assess(run, trial)).collect(),
        inspections: inspections(run),
        limited: limited.into_iter().filter(|it| !is_whole_path(&it.by)).collect(),
        limit_unknown,
        losses: losses(run, &trials),
        trials,
    }
}

/// The first page without figures that its answer about a card or about latency under load shows already, and without the schedule of
/// messages as a limit of that latency.
fn without_answered(run: &Run, bufferbloat: &[Bufferbloat], mut page: PageOne) -> PageOne {
    let is_shown = |spec: &ProbeSpec| {
        run.plan.purpose == Some(Purpose::Card) || bufferbloat.iter().any(|answer| answer.idle == *spec)
    };
    page.key_figures.retain(|figure| !matches!(figure, KeyFigure::Free(free) if is_shown(&free.spec)));
    let says_nothing = |limit: &MainLimit| matches!(limit.place, Place::IntendedLoad | Place::NotKnown);
    let is_answered = |spec: &ProbeSpec| spec.probe().beside_load().is_some() || is_shown(spec);
    let is_all_answered = !bufferbloat.is_empty() && run.plan.specs().iter().all(is_answered);
    page.main_limit = page.main_limit.filter(|limit| !is_all_answered || !says_nothing(limit));
    page
}

/// The first page with the throughput of tests of RFC 2544 in the place of their single trials.
fn first_page(run: &Run, tests: &[Rfc2544], mut page: PageOne) -> PageOne {
    page.key_figures.retain(|figure| !matches!(figure, KeyFigure::Free(free) if is_of_tests(run, &free.spec)));
    let room = MOST_KEY_FIGURES.saturating_sub(page.key_figures.len());
    page.key_figures.extend(key_figures(run, tests).into_iter().take(room).map(KeyFigure::Free));
    page
}

/// A trial with its conclusions.
type Assessed<'a> = (&'a Trial, &'a TrialAssessment);

/// Names of the sending and the receiving end.
type Ends = (String, String);

/// Limiting places of a run.
struct Limits {
    /// Each place that limited a configuration.
    known: Vec<Limited>,
    /// Numbers of the trials of which no limit is known.
    unknown: Vec<u32>,
    /// Configurations, or ways of them, that were judged. A path that lets all pass is none.
    ways: usize,
}

fn limited(run: &Run, assessments: &[TrialAssessment]) -> Limits {
    let mut known = Vec::new();
    let mut unknown = Vec::new();
    let mut judged = 0;
    for (spec, trials) in configurations(run, assessments).into_iter().flat_map(by_sender) {
        for way in ways(run, &trials) {
            let found: Vec<(u32, LimitedBy)> = trials
                .iter()
                .filter_map(|(trial, assessment)| Some((trial.number, limit_of(assessment, way.as_ref())?)))
                .filter(|(_, by)| by.place != Place::NotKnown || shows_loss(by))
                .collect();
            judged += usize::from(found.is_empty() || !found.iter().all(|(_, by)| is_whole_path(by)));
            if found.is_empty() {
                unknown.extend(trials.iter().map(|(trial, _)| trial.number));
            }
            known.extend(by_place(&spec, way.as_ref(), trials.len(), found));
        }
    }
    unknown.sort_unstable();
    unknown.dedup();
    Limits { known, unknown, ways: judged }
}

/// Whether loss limited a figure, wherever it was.
fn shows_loss(by: &LimitedBy) -> bool {
    by.evidence.iter().any(|it| matches!(it, Evidence::Unseen { .. } | Evidence::Counter { .. }))
}

/// Trials by configuration, in the order they were first measured. Those that have no limit are left out.
fn configurations<'a>(run: &'a Run, assessments: &'a [TrialAssessment]) -> Vec<(ProbeSpec, Vec<Assessed<'a>>)> {
    let has_limit =
        |(trial, assessment): &Assessed<'_>| assessment.limited_by.is_some() || probes::has_limit(&trial.measured);
    let all = run.trials.iter().zip(assessments).filter(has_limit);
    let specs = grouped(all, |a, b| a.0.measured.spec() == b.0.measured.spec());
    specs.into_iter().map(|trials| (trials[0].0.measured.spec(), trials)).collect()
}

/// A configuration once for each sender, where senders took turns.
fn by_sender<'a>((spec, trials): (ProbeSpec, Vec<Assessed<'a>>)) -> Vec<(ProbeSpec, Vec<Assessed<'a>>)> {
    let senders = grouped(trials, |a, b| a.0.endpoint_from == b.0.endpoint_from);
    senders.into_iter().map(|trials| (spec.clone(), trials)).collect()
}

/// Each way that is judged by itself. Otherwise the trial is one figure, and its way is named where senders took turns.
fn ways(run: &Run, trials: &[Assessed<'_>]) -> Vec<Option<Ends>> {
    let Some((trial, assessment)) = trials.first() else { return vec![] };
    let judged = |flow: &FlowAssessment| flow.limited_by.is_some().then(|| (flow.from.clone(), flow.to.clone()));
    let flows: Vec<Ends> = assessment.flows.iter().filter_map(judged).collect();
    let takes_turns = flows.is_empty() && run.bed.senders().len() > 1;
    match flows.len() {
        0 | 1 => vec![takes_turns.then(|| (trial.endpoint_from.clone(), trial.endpoint_to.clone()))],
        _ => flows.into_iter().map(Some).collect(),
    }
}

/// Limit of the flow that goes this way, or of the whole trial where none does.
fn limit_of(assessment: &TrialAssessment, way: Option<&Ends>) -> Option<LimitedBy> {
    let goes = |flow: &&FlowAssessment, (from, to): &Ends| (&flow.from, &flow.to) == (from, to);
    let flow = way.and_then(|way| assessment.flows.iter().find(|flow| goes(flow, way)));
    flow.and_then(|flow| flow.limited_by.clone()).or_else(|| assessment.limited_by.clone())
}

/// The place that most trials name comes first.
fn by_place(spec: &ProbeSpec, way: Option<&Ends>, of: usize, found: Vec<(u32, LimitedBy)>) -> Vec<Limited> {
    let place = |(_, by): &(u32, LimitedBy)| (by.place, by.endpoint.clone());
    let mut places = grouped(found, |a, b| place(a) == place(b));
    places.sort_by_key(|place| Reverse(place.len()));
    let row = |place: Vec<(u32, LimitedBy)>| Limited {
        spec: spec.clone(),
        way: way.cloned(),
        by: place[place.len() / 2].1.clone(),
        trials: place.iter().map(|(number, _)| *number).collect(),
        of,
    };
    places.into_iter().map(row).collect()
}

/// Losses over all trials of each configuration, by place and end.
fn losses(run: &Run, assessments: &[TrialAssessment]) -> Vec<(ProbeSpec, Vec<LossAt>)> {
    let all = configurations(run, assessments).into_iter().map(|(spec, trials)| {
        let mut places: Vec<LossAt> = Vec::new();
        for loss in trials.into_iter().flat_map(|(_, assessment)| &assessment.losses) {
            match places.iter_mut().find(|known| (known.place, &known.endpoint) == (loss.place, &loss.endpoint)) {
                Some(known) => add(known, loss),
                None => places.push(loss.clone()),
            }
        }
        (spec, places)
    });
    all.filter(|(_, places)| !places.is_empty()).collect()
}

fn add(known: &mut LossAt, more: &LossAt) {
    known.packets = known.packets.saturating_add(more.packets);
    for delta in &more.shown_by {
        let same = |it: &&mut Delta| (it.source, &it.of, &it.name) == (delta.source, &delta.of, &delta.name);
        match known.shown_by.iter_mut().find(same) {
            Some(it) => it.delta = it.delta.saturating_add(delta.delta),
            None => known.shown_by.push(delta.clone()),
        }
    }
}

#[cfg(test)]
mod tests;
