//! Increase of latency while TCP fills the path.

use model::{
    Direction, Metric, Run,
    bufferbloat::{Bufferbloat, Grade, LoadedRtt},
};

use crate::Probe;

/// Upper ends of the grades, in milliseconds: <https://www.dslreports.com/faq/17930>. Its A+ goes by the average of both directions;
/// here the worst load decides each grade.
const SCALE: [(f64, Grade); 5] =
    [(5.0, Grade::APlus), (30.0, Grade::A), (60.0, Grade::B), (200.0, Grade::C), (400.0, Grade::D)];

/// One for each idle configuration that was also measured beside a load.
pub(crate) fn bufferbloat(run: &Run) -> Vec<Bufferbloat> {
    let probes = crate::probes(run);
    probes.iter().filter_map(|idle| of_idle(run, idle, &probes)).collect()
}

fn of_idle(run: &Run, idle: &Probe, probes: &[Probe]) -> Option<Bufferbloat> {
    let idle_ns = median(run, idle, Metric::RttP50)?;
    let loaded = |probe: &Probe| {
        let (direction, unloaded) = probe.spec.probe().beside_load()?;
        let same = unloaded == idle.spec && probe.from == idle.from;
        same.then(|| beside(run, probe, direction, idle_ns))?
    };
    let loads: Vec<LoadedRtt> = probes.iter().filter_map(loaded).collect();
    let worst = loads.iter().map(|load| load.increase_ns).reduce(f64::max)?;
    Some(Bufferbloat { idle: idle.spec.clone(), from: idle.from.clone(), idle_ns, loads, grade: grade(worst) })
}

fn beside(run: &Run, probe: &Probe, direction: Direction, idle_ns: f64) -> Option<LoadedRtt> {
    let rtt_ns = median(run, probe, Metric::LoadedRtt)?;
    let goodput_bps = median(run, probe, Metric::GoodputMean);
    Some(LoadedRtt { direction, rtt_ns, increase_ns: rtt_ns - idle_ns, goodput_bps })
}

/// Median over the whole trials; missing replies count as they would if each had only just been late.
fn median(run: &Run, probe: &Probe, metric: Metric) -> Option<f64> {
    let whole = run.trials.iter().filter(|trial| probe.is_of(trial) && trial.is_whole());
    let values: Vec<f64> = whole.filter_map(|trial| Some(trial.figure(metric)?.low)).collect();
    stats::median(&values)
}

fn grade(increase_ns: f64) -> Grade {
    SCALE.iter().find(|(below, _)| increase_ns < below * 1e6).map_or(Grade::F, |(_, grade)| *grade)
}

#[cfg(test)]
mod tests {
    use model::{LatencyResult, LatencySpec, Limit, Measured, Plan, ProbeSpec, TimeSummary, Trial, Verdict, fixture};

    use super::*;

    const PLAN: &str = "name = \"t\"\n[[latency]]\nprotocol = \"udp\"\nframe_sizes = [128]\nrate = \"100 pps\"\nduration = \"2 s\"\n\
                        timeout = \"5 s\"\ntcp_load = [\"forward\", \"both\"]\n";

    fn trial(spec: &ProbeSpec, result: LatencyResult) -> Trial {
        let ProbeSpec::Latency(spec) = spec.clone() else { panic!("{spec}") };
        fixture::trial(Measured::Latency { spec, result: Box::new(result) })
    }

    fn rtt(p50: u64) -> LatencyResult {
        let rtt_ns = TimeSummary { n: 200, min: Some(1), p50: Some(p50), ..TimeSummary::default() };
        LatencyResult { sent: 200, lost: Some(0), rtt_ns, ..LatencyResult::default() }
    }

    /// Three trials each of the idle path and of both loads.
    fn measured(idle: u64, loaded: [LatencyResult; 2]) -> Run {
        let plan = Plan::parse(PLAN, &[]).unwrap();
        let specs = plan.specs();
        let results = [rtt(idle)].into_iter().chain(loaded);
        let trials = specs.iter().zip(results).map(|(spec, result)| trial(spec, result));
        let trials = trials.flat_map(|trial| vec![trial; 6]).collect();
        Run { trials, ..fixture::run(plan) }
    }

    #[test]
    fn the_largest_increase_is_graded() {
        const MS: u64 = 1_000_000;
        for (increase, grade) in [
            (0, Grade::APlus),
            (5 * MS - 1, Grade::APlus),
            (5 * MS, Grade::A),
            (30 * MS, Grade::B),
            (60 * MS, Grade::C),
            (200 * MS, Grade::D),
            (400 * MS, Grade::F),
        ] {
            let found = bufferbloat(&measured(20 * MS, [rtt(20 * MS), rtt(20 * MS + increase)]));
            assert_eq!(found.iter().map(|it| it.grade).collect::<Vec<_>>(), [grade], "{increase}");
            assert_eq!(found[0].loads[1].increase_ns, increase as f64);
            let directions: Vec<Direction> = found[0].loads.iter().map(|load| load.direction).collect();
            assert_eq!(directions, [Direction::Forward, Direction::Both]);
        }
    }

    #[test]
    fn replies_that_are_missing_count_as_late_and_a_faster_path_as_a_decrease() {
        let lost = LatencyResult {
            lost: Some(150),
            rtt_ns: TimeSummary { n: 200, min: Some(1), ..TimeSummary::default() },
            ..rtt(0)
        };
        let found = bufferbloat(&measured(10_000, [rtt(9_000), lost])).remove(0);
        let increases: Vec<f64> = found.loads.iter().map(|load| load.increase_ns).collect();
        assert_eq!((increases, found.grade), (vec![-1_000.0, 5e9 - 10_000.0], Grade::F));
    }

    #[test]
    fn without_an_idle_path_or_a_load_there_is_no_grade() {
        let run = measured(10_000, [rtt(20_000), rtt(20_000)]);
        let only = |holds: fn(&LatencySpec) -> bool| {
            let trials =
                run.trials.iter().filter(|trial| trial.measured.of::<LatencySpec>().is_some_and(|(it, _)| holds(it)));
            Run { trials: trials.cloned().collect(), ..run.clone() }
        };
        assert!(bufferbloat(&only(|spec| spec.tcp_load.is_some())).is_empty());
        assert!(bufferbloat(&only(|spec| spec.tcp_load.is_none())).is_empty());
    }

    #[test]
    fn a_limit_on_the_loaded_rtt_judges_the_loads_alone() {
        let mut run = measured(10_000, [rtt(20_000), rtt(90_000)]);
        let limit = "metric = \"loaded_rtt\"\nat_most = \"50 us\"";
        run.plan.limits = vec![toml_limit(limit)];
        let outcomes = crate::judge(&run, &[]);
        let found: Vec<_> = outcomes.iter().map(|it| (it.probe.as_str(), it.verdict)).collect();
        let name = |direction| format!("latency UDP IPv4 spin 128 B at 100 pps beside TCP {direction}");
        let [forward, both] = ["forward", "both"].map(name);
        assert_eq!(found, [(forward.as_str(), Verdict::Pass), (both.as_str(), Verdict::Fail)]);
    }

    fn toml_limit(text: &str) -> Limit {
        let plan = Plan::parse(&format!("{PLAN}[[limits]]\n{text}\n"), &[]).unwrap();
        plan.limits[0].clone()
    }
}
