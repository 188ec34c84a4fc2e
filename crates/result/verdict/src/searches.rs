//! Searches of a plan, assessed by the trials that they asked for.

use model::{
    Bed, Run, Trial,
    alike::grouped,
    plan::{Method, Section},
    search::{AssessedGoal, AssessedSearch, PlannedSearch, SearchedTrial, TrialResult},
};
use procedure::search::assess;

/// Each search that has a trial, by configuration, sender and repeat.
pub(crate) fn searches(run: &Run) -> Vec<AssessedSearch> {
    let sections = run.plan.sections();
    let among = |trials: &[Trial]| -> Vec<AssessedSearch> {
        sections.iter().flat_map(|section| of_section(&run.bed, section, trials)).collect()
    };
    let tester = among(&run.tester);
    let of_tester = |search: &AssessedSearch| {
        let is_alike = |tester: &&AssessedSearch| {
            (&tester.procedure, &tester.spec, &tester.way) == (&search.procedure, &search.spec, &search.way)
        };
        let found = tester.iter().find(is_alike);
        found.map_or_else(Vec::new, |tester| tester.goals.iter().map(|goal| goal.result).collect())
    };
    let mut searches = among(&run.trials);
    searches.iter_mut().for_each(|search| search.tester = of_tester(search));
    searches
}

fn of_section(bed: &Bed, section: &Section, trials: &[Trial]) -> Vec<AssessedSearch> {
    let Method::Search(planned) = &section.method else { return vec![] };
    let is_of = |trial: &&Trial| trial.origin.as_ref().is_some_and(|origin| origin.procedure == section.id);
    let asked: Vec<(&Trial, SearchedTrial)> = trials.iter().filter(is_of).filter_map(searched).collect();
    let alike = |(a, _): &(&Trial, SearchedTrial), (b, _): &(&Trial, SearchedTrial)| {
        let common = |trial: &Trial| trial.measured.probe().without_load();
        (a.repeat, &a.endpoint_from) == (b.repeat, &b.endpoint_from) && common(a) == common(b)
    };
    let searches = grouped(asked, alike);
    searches.into_iter().filter_map(|trials| search(bed, section, planned, trials)).collect()
}

/// The trial as its search takes it; `None` for one that was cut off, or has no load.
pub(crate) fn searched(trial: &Trial) -> Option<(&Trial, SearchedTrial)> {
    let asked = trial.asked_load()?;
    let searched = SearchedTrial { number: trial.number, trial: asked.trial, is_valid: trial.at_load().is_some() };
    Some((trial, searched))
}

fn search(
    bed: &Bed,
    section: &Section,
    planned: &PlannedSearch,
    trials: Vec<(&Trial, SearchedTrial)>,
) -> Option<AssessedSearch> {
    let (first, _) = *trials.first()?;
    let (spec, repeat) = (first.measured.probe().without_load()?, first.repeat);
    let takes_turns = bed.senders().len() > 1 && !first.measured.probe().profile().senders_share;
    let way = takes_turns.then(|| (first.endpoint_from.clone(), first.endpoint_to.clone()));
    let mut trials: Vec<SearchedTrial> = trials.into_iter().map(|(_, trial)| trial).collect();
    trials.sort_by_key(|trial| trial.number);
    let valid: Vec<TrialResult> = trials.iter().filter(|trial| trial.is_valid).map(|trial| trial.trial).collect();
    let configuration = Some(spec.to_string());
    let goal = |goal| AssessedGoal { configuration: configuration.clone(), ..assess(goal, &valid) };
    let goals = planned.goals.iter().map(goal).collect();
    let (procedure, method) = (section.id.clone(), planned.method);
    Some(AssessedSearch { procedure, spec, way, repeat, method, trials, goals, tester: vec![] })
}

#[cfg(test)]
mod tests {
    use model::{
        Doubt, Measured, Mtu, PacketsResult, Plan, ProbeSpec, fixture,
        search::{Irregular, SearchMethod},
    };
    use procedure::Course;

    use super::*;

    const PLAN: &str = r#"
name = "t"
repeats = 2
[[packets]]
frame_sizes = [64, 128]
duration = "10 s"
rate = "10 kpps..10 Mpps"
search = "binary"
[[packets]]
frame_sizes = [64]
duration = "10 s"
rate = "1 Mpps..2 Mpps"
"#;

    /// The run of a plan on a path that carries so many packets a second.
    fn run(carried: f64) -> Run {
        let mut run = fixture::run(Plan::parse(PLAN, &[]).unwrap());
        let mut course = Course::of(&run.plan, 1);
        while let Some(step) = course.ask() {
            let ProbeSpec::Packets(spec) = &step.spec else { panic!("packets") };
            let asked = spec.rate().unwrap().0 as f64;
            let mut stream = fixture::packet_stream(asked as u64, asked.min(carried) as u64);
            stream.sent.intended_pps = Some(asked);
            let result = PacketsResult { mtu: Mtu(1500), streams: vec![stream] };
            let measured = Measured::Packets { spec: spec.clone(), result };
            let (number, origin) = (course.number(), Some(step.origin()));
            let trial = Trial { number, origin, repeat: step.repeat, ..fixture::trial(measured) };
            course.took(Some(&trial));
            run.trials.push(trial);
        }
        run
    }

    #[test]
    fn each_search_of_each_repeat_has_its_course_and_bounds_around_what_was_carried() {
        let run = run(3e6);
        let searches = searches(&run);
        let shown: Vec<_> =
            searches.iter().map(|it| (it.procedure.as_str(), it.spec.to_string(), it.repeat, it.method)).collect();
        let of = |size: u32, repeat| ("packets.1", format!("packets IPv4 {size} B"), repeat, SearchMethod::Binary);
        assert_eq!(shown, [of(64, 1), of(128, 1), of(64, 2), of(128, 2)], "the ladder is none");
        for search in &searches {
            let result = &search.goals[0].result;
            let [lower, upper] = [result.relevant_lower_bound, result.relevant_upper_bound].map(Option::unwrap);
            assert!(lower <= 3e6 && upper >= 3e6 && result.irregular.is_none(), "{result:?}");
            assert_eq!((search.trials[0].trial.load, search.trials[1].trial.load), (10e6, 10e3));
            let goal = &search.goals[0].goal;
            assert_eq!(search.trials[0].exceeds(goal), Some(true));
            assert_eq!((search.trials[1].exceeds(goal), &search.way), (Some(false), &None));
        }
        let in_all: usize = searches.iter().map(|search| search.trials.len()).sum();
        let is_rung = |trial: &&Trial| trial.origin.as_ref().is_some_and(|origin| origin.procedure == "packets.2");
        assert_eq!(in_all + run.trials.iter().filter(is_rung).count(), run.trials.len());
    }

    #[test]
    fn a_result_above_what_the_tester_reaches_alone_is_not_vouched_for() {
        let vouched = |tester: f64| {
            let alone = run(tester).trials.into_iter().filter(|trial| trial.repeat == 1).collect();
            let searches = searches(&Run { tester: alone, ..run(3e6) });
            assert_eq!(searches.len(), 4);
            searches.iter().map(|search| search.is_vouched(0)).collect::<Vec<_>>()
        };
        assert_eq!(vouched(6e6), [Some(true); 4]);
        assert_eq!(vouched(3e6), [Some(false); 4], "the tester may have lost what was lost");
        assert_eq!(searches(&run(3e6))[0].is_vouched(0), None);
    }

    #[test]
    fn a_load_that_the_sender_did_not_reach_is_no_bound() {
        let mut run = run(3e6);
        run.trials.truncate(2);
        run.trials[0].doubts.push(Doubt::SenderTooSlow { intended: 10e6, achieved: 9e6 });
        let searches = searches(&run);
        let [search] = searches.as_slice() else { panic!("{searches:?}") };
        assert_eq!(search.trials.iter().map(|trial| trial.is_valid).collect::<Vec<_>>(), [false, true]);
        let goal = &search.goals[0];
        assert_eq!((goal.result.relevant_upper_bound, goal.result.irregular), (None, Some(Irregular::NoUpperBound)));
        assert_eq!(search.trials[0].exceeds(&goal.goal), None);
    }
}
