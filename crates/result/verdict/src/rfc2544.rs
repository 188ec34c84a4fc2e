//! Results of tests of RFC 2544, and where the tests differ from the RFC.

use model::{
    FrameSize, FreeFigure, Metric, Modifier, Nanos, PacketStream, ProbeSpec, Profile, Run, Total, Trial,
    TrialAssessment,
    alike::distinct,
    change::Filters,
    plan::{Method, Section},
    rfc2544::{
        self, AtThroughput, BackToBack, Deviation, FRAME_SIZES, LatencyAtLoad, OVERLOAD, PlannedRfc2544, PortRates,
        RESET, Recovery, Reset, Rfc2544, Rfc2544Test, STEADY, TestedLatency, TestedLoss, TestedSize, streams,
    },
    search::{AssessedGoal, AssessedSearch, Classification, Goal, SearchMethod},
};
use procedure::rfc2544::{Tested, tested};

use crate::searches::searched;

/// Durations and numbers of RFC 2544 (sections 24, 26.2 and 26.4).
const TRIAL: Nanos = Nanos::from_secs(60);
const LATENCY_TRIAL: Nanos = Nanos::from_secs(120);
const LATENCY_TRIALS: u32 = 20;
const BURSTS: u32 = 50;
const NETWORKS: u16 = 256;
const LONGEST_BURST: Nanos = Nanos::from_secs(2);

/// Share of what the link carries that the highest load reaches, if it was meant to.
const LINE: f64 = 0.99;

/// One for each section of the plan that has such tests, in each repeat that has trials.
pub(crate) fn rfc2544(run: &Run, assessed: &[TrialAssessment]) -> Vec<Rfc2544> {
    let repeats = 1..=run.plan.repeats.get();
    let sections = run.plan.sections();
    let of_section = |section: &Section| match &section.method {
        Method::Rfc2544(planned) => {
            repeats.clone().filter_map(|repeat| of_repeat(run, assessed, section, planned, repeat)).collect()
        }
        _ => Vec::new(),
    };
    sections.iter().flat_map(of_section).collect()
}

/// The throughput of each frame size as a figure of the first page.
pub(crate) fn key_figures(run: &Run, tests: &[Rfc2544]) -> Vec<FreeFigure> {
    let figure = |size: &TestedSize| {
        let trial = size.throughput.as_ref()?.trial;
        let trial = run.trials.iter().find(|it| it.number == trial)?;
        let metric = Metric::ForwardingRate;
        let median = trial.figure(metric)?.low;
        Some(FreeFigure { spec: trial.measured.spec(), from: None, metric, median, interval: None, load_reached: None })
    };
    tests.iter().flat_map(|tests| &tests.sizes).filter_map(figure).collect()
}

/// Whether this configuration was measured by such tests alone.
pub(crate) fn is_of_tests(run: &Run, spec: &ProbeSpec) -> bool {
    let mut measured = run.trials.iter().filter(|trial| trial.measured.spec() == *spec).peekable();
    let is_of_tests = |trial: &Trial| trial.origin.as_ref().is_some_and(|origin| origin.section() == "rfc2544");
    measured.peek().is_some() && measured.all(is_of_tests)
}

fn of_repeat(
    run: &Run,
    assessed: &[TrialAssessment],
    section: &Section,
    planned: &PlannedRfc2544,
    repeat: u32,
) -> Option<Rfc2544> {
    let is_of = |trial: &&Trial| {
        trial.repeat == repeat && trial.origin.as_ref().is_some_and(|origin| origin.procedure == section.id)
    };
    let mut trials: Vec<&Trial> = run.trials.iter().filter(is_of).collect();
    trials.sort_by_key(|trial| trial.number);
    if trials.is_empty() {
        return None;
    }
    let tested = tested(section.specs.clone(), run.bed.senders().len(), planned, trials.iter().copied());
    let tester = tester(run, section, planned);
    let of_size = |tested: &Tested<'_>| {
        let tester = tester.iter().find(|(configuration, _)| *configuration == tested.configuration.spec);
        size(run, assessed, tested, planned.search, tester.map(|(_, pps)| *pps))
    };
    let sizes: Vec<TestedSize> = tested.iter().filter_map(of_size).collect();
    let is_loop = |trial: &&Trial| {
        let place = run.trials.iter().position(|it| it.number == trial.number);
        place.and_then(|place| assessed.get(place)).is_some_and(|it| it.flows.iter().any(|flow| flow.synchronous))
    };
    let is_below = |size: &TestedSize| size.line_pps.is_some_and(|line| size.max_pps < LINE * line);
    let found = Found {
        is_loop: trials.iter().any(is_loop),
        is_limited: tested.iter().any(|tested| tested.is_limited),
        is_below_line: sizes.iter().any(is_below),
        is_overloaded: sizes.iter().filter_map(|size| size.recovery).all(|recovery| recovery.overloaded > 0),
        bursts: tested.iter().map(|tested| tested.bursts.len()).filter(|bursts| *bursts > 0).min(),
    };
    let deviations = deviations(run, section, planned, &found);
    Some(Rfc2544 { section: section.id.clone(), repeat, deviations, filters: filters(run, section), sizes })
}

/// Highest load that the tester upheld without the device, for each configuration that it searched; 0 where it upheld none.
fn tester(run: &Run, section: &Section, planned: &PlannedRfc2544) -> Vec<(ProbeSpec, f64)> {
    let is_of = |trial: &&Trial| trial.origin.as_ref().is_some_and(|origin| origin.procedure == section.id);
    let trials: Vec<&Trial> = run.tester.iter().filter(is_of).collect();
    if trials.is_empty() {
        return Vec::new();
    }
    let searched = tested(section.specs.clone(), run.bed.senders().len(), &planned.search_alone(), trials);
    let upheld = |tested: Tested<'_>| {
        let lower = tested.goals.first()?.result.relevant_lower_bound.unwrap_or_default();
        Some((tested.configuration.spec, lower))
    };
    searched.into_iter().filter_map(upheld).collect()
}

fn size(
    run: &Run,
    assessed: &[TrialAssessment],
    tested: &Tested<'_>,
    method: SearchMethod,
    tester_pps: Option<f64>,
) -> Option<TestedSize> {
    let result = tested.goals.first().map(|goal| goal.result);
    let highest = result.and_then(|result| result.relevant_upper_bound.or(result.relevant_lower_bound));
    let latency_and_loss = || tested.latency.iter().chain(tested.loss.iter().map(|(_, trial)| trial)).copied();
    let any = tested.at_throughput.or_else(|| latency_and_loss().next());
    let flows = any.and_then(|any| {
        let place = run.trials.iter().position(|trial| trial.number == any.number)?;
        Some(&assessed.get(place)?.flows)
    });
    let spec = &tested.configuration.spec;
    let frame_size = spec.probe().selectors().frame_size;
    Some(TestedSize {
        frame_size,
        mix: streams(spec).first().map(|stream| stream.sizes.clone()).filter(|_| frame_size.is_none()),
        modifier: rfc2544::modifier(spec),
        sent_size: any.and_then(sent_size),
        max_pps: tested.max as f64,
        line_pps: flows.and_then(|flows| Some(flows.first()?.line_rate?.packets_per_second)),
        dut_cores: any.and_then(|trial| Some(trial.dut.as_ref()?.cpu.len())).filter(|cores| *cores > 0),
        search: search(tested, method),
        goals: tested.goals.clone(),
        is_contradictory: tested.goals.first().is_some_and(is_contradictory),
        tester_pps,
        is_vouched: tester_pps.zip(highest).map(|(tester, highest)| highest <= tester),
        throughput: tested.at_throughput.map(|trial| at_throughput(run, tested, trial)),
        latency: latency(&tested.latency),
        latency_loads: tested.latency_loads.iter().flat_map(|(share, trial)| at_share(*share, trial)).collect(),
        loss: tested.loss.iter().filter_map(|(share, trial)| loss(*share, trial)).collect(),
        back_to_back: back_to_back(tested),
        recovery: recovery(&tested.recovery),
        reset: tested.reset.and_then(reset),
    })
}

fn sent_size(trial: &Trial) -> Option<FrameSize> {
    Some(trial.packet_streams().first()?.sent.frame_size)
}

/// Load that was asked for, in frames a second each way.
fn load(trial: &Trial) -> f64 {
    trial.measured.probe().selectors().rate.map_or(0.0, |rate| rate.0 as f64)
}

fn at_throughput(run: &Run, tested: &Tested<'_>, trial: &Trial) -> AtThroughput {
    let streams = trial.packet_streams();
    let sum = |is_of: &dyn Fn(&PacketStream) -> bool, rate: &dyn Fn(&PacketStream) -> f64| {
        let rates = streams.iter().filter(|stream| is_of(stream)).map(|stream| rate(stream));
        // A sum of none would be -0.
        rates.fold(0.0, |sum, rate| sum + rate)
    };
    let received = |stream: &PacketStream| stream.rx().l1_bps;
    let port = |name: &String| {
        let (sends, receives) =
            (|stream: &PacketStream| stream.from == *name, |stream: &PacketStream| stream.to == *name);
        PortRates {
            port: name.clone(),
            tx_pps: sum(&sends, &PacketStream::offered_pps),
            rx_pps: sum(&receives, &PacketStream::forwarding_pps),
            tx_l1_bps: sum(&sends, &|stream| stream.tx().l1_bps),
            rx_l1_bps: sum(&receives, &received),
        }
    };
    AtThroughput {
        trial: trial.number,
        load_pps: load(trial),
        forwarded_pps: streams.iter().copied().map(PacketStream::forwarding_pps).sum(),
        forwarded_l1_bps: sum(&|_| true, &received),
        frames: streams.iter().map(|stream| stream.sent.frames).total(),
        lost: streams.iter().copied().map(PacketStream::lost).total(),
        is_bounded: tested.goals.first().is_some_and(|goal| goal.result.relevant_upper_bound.is_some()),
        ports: run.bed.endpoints.iter().map(|end| port(&end.name)).collect(),
    }
}

/// One for each direction that has times.
fn latency(trials: &[&Trial]) -> Vec<TestedLatency> {
    let ways = trials.first().map(|trial| trial.packet_streams()).unwrap_or_default();
    let way = |way: &PacketStream| {
        let goes = |stream: &&PacketStream| (&stream.from, &stream.to) == (&way.from, &way.to);
        let of_way = trials.iter().filter_map(|trial| trial.packet_streams().into_iter().find(goes));
        let times: Vec<_> = of_way.filter_map(|stream| stream.received.latency_ns.as_ref()).collect();
        let means: Vec<f64> = times.iter().filter_map(|times| times.mean).collect();
        let median = |of: fn(&model::TimeSummary) -> Option<u64>| {
            let values: Vec<f64> = times.iter().filter_map(|times| of(times)).map(|ns| ns as f64).collect();
            stats::median(&values)
        };
        Some(TestedLatency {
            from: way.from.clone(),
            to: way.to.clone(),
            load_pps: load(trials.first()?),
            trials: times.len(),
            min_ns: times.iter().filter_map(|times| times.min).min(),
            mean_ns: mean(&means),
            medians_ns: times.iter().filter_map(|times| times.p50).map(|ns| ns as f64).collect(),
            p50_ns: median(|times| times.p50),
            p90_ns: median(|times| times.p90),
            p99_ns: median(|times| times.p99),
            p999_ns: median(|times| times.p999),
            max_ns: times.iter().filter_map(|times| times.max).max(),
        })
        .filter(|latency| latency.trials > 0)
    };
    ways.into_iter().filter_map(way).collect()
}

fn at_share(share: f64, trial: &Trial) -> Vec<LatencyAtLoad> {
    latency(&[trial]).into_iter().map(|latency| LatencyAtLoad { share, latency }).collect()
}

/// The search with the trials that it asked for; `None` where none was made.
fn search(tested: &Tested<'_>, method: SearchMethod) -> Option<AssessedSearch> {
    let trials = tested.searched.iter().filter_map(|trial| searched(trial)).map(|(_, trial)| trial).collect();
    let spec = tested.searched.first()?.measured.probe().without_load()?;
    let goals = tested.goals.clone();
    Some(AssessedSearch { procedure: String::new(), spec, way: None, repeat: 1, method, trials, goals, tester: vec![] })
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Frames a second that were offered each way.
fn offered(trial: &Trial) -> Option<f64> {
    let streams = trial.packet_streams();
    let from = &streams.first()?.from;
    Some(streams.iter().filter(|stream| stream.from == *from).copied().map(PacketStream::offered_pps).sum())
}

/// `None` where nothing was sent.
fn loss(share: f64, trial: &Trial) -> Option<TestedLoss> {
    let streams = trial.packet_streams();
    let sent = streams.iter().map(|stream| stream.sent.frames).total();
    let lost = streams.iter().copied().map(PacketStream::lost).total();
    let offered_pps = offered(trial)?;
    (sent > 0).then(|| TestedLoss { trial: trial.number, share, offered_pps, loss_ratio: lost as f64 / sent as f64 })
}

fn back_to_back(tested: &Tested<'_>) -> Option<BackToBack> {
    let frames: Vec<f64> = tested.bursts.iter().map(|frames| *frames as f64).collect();
    let mean = mean(&frames)?;
    let squares: f64 = frames.iter().map(|frames| (frames - mean).powi(2)).sum();
    let rates: Vec<f64> = tested.burst_trials.iter().filter_map(|trial| offered(trial)).collect();
    // A sender that is slower than it was asked to be sends no bursts at the highest load.
    let rate = stats::median(&rates).unwrap_or(tested.max as f64);
    let goal = tested.goals.first().map(|goal| &goal.goal);
    let is_limited = !tested.is_unlimited && goal.is_some_and(|goal| !allows_loss(goal));
    let throughput = tested.at_throughput.map(load).filter(|throughput| is_limited && *throughput < rate);
    Some(BackToBack {
        rate_pps: rate,
        repeats: frames.len(),
        is_unlimited: tested.is_unlimited,
        mean_frames: mean,
        min_frames: tested.bursts.iter().copied().min()?,
        max_frames: tested.bursts.iter().copied().max()?,
        deviation_frames: (squares / (frames.len().max(2) - 1) as f64).sqrt(),
        buffer_s: throughput.map(|throughput| mean / rate * (1.0 - throughput / rate)),
    })
}

/// Share of the time after an overload in which a device that still loses frames at the end has not recovered.
const AT_THE_END: f64 = 0.1;

fn recovery(trials: &[&Trial]) -> Option<Recovery> {
    let named = |name: &'static str| move |stream: &&&PacketStream| stream.sent.stream == name;
    let of = |trial: &Trial| {
        let streams = trial.packet_streams();
        let after = streams.iter().filter(named(STEADY)).map(|stream| stream.sent.intended_pps).next()??;
        let seconds = streams.iter().find(named(OVERLOAD))?.sent.seconds;
        let lasts = |stream: &PacketStream| {
            let last = stream.after_last_lost()? as f64 / after;
            Some((last - seconds).max(0.0))
        };
        let last = streams.iter().filter(named(STEADY)).copied().map(lasts).collect::<Option<Vec<_>>>()?;
        let is_overloaded = streams.iter().any(|stream| stream.lost() > 0);
        Some((after, seconds, last.into_iter().fold(0.0, f64::max), is_overloaded))
    };
    let known: Vec<(f64, f64, f64, bool)> = trials.iter().filter_map(|trial| of(trial)).collect();
    let (after_pps, seconds) = known.first().map(|(after, seconds, ..)| (*after, *seconds))?;
    let times = known.iter().map(|(_, seconds, last, _)| (*last, *last < seconds * (1.0 - AT_THE_END)));
    let recovered: Vec<f64> = times.filter(|(_, is_recovered)| *is_recovered).map(|(last, _)| last).collect();
    Some(Recovery {
        overload_pps: 2.0 * after_pps,
        after_pps,
        seconds,
        trials: known.len(),
        overloaded: known.iter().filter(|(.., is_overloaded)| *is_overloaded).count(),
        not_recovered: known.len() - recovered.len(),
        mean_s: mean(&recovered),
        max_s: recovered.into_iter().reduce(f64::max),
    })
}

/// The way with the longest outage counts.
fn reset(trial: &Trial) -> Option<Reset> {
    let streams: Vec<&PacketStream> =
        trial.packet_streams().into_iter().filter(|stream| stream.sent.stream == RESET).collect();
    let load_pps = streams.first()?.sent.intended_pps?;
    let longest = |of: &dyn Fn(&PacketStream) -> Option<f64>| streams.iter().filter_map(|it| of(it)).reduce(f64::max);
    let between = |stream: &PacketStream| Some(stream.received.inter_arrival_ns.as_ref()?.max? as f64 / 1e9);
    // A frame that a port without a link refuses is lost to the outage, too.
    let used = |stream: &PacketStream| stream.sent.frames + stream.sent.refused;
    let is_back = |stream: &&PacketStream| {
        stream.received.numbers.is_none_or(|numbers| numbers.next as f64 > used(stream) as f64 - load_pps * QUIET)
    };
    Some(Reset {
        trial: trial.number,
        load_pps,
        is_seen: streams.iter().any(|stream| used(stream) > stream.received.frames),
        is_back: streams.iter().all(is_back),
        by_loss_s: longest(&|stream| Some(used(stream).saturating_sub(stream.received.frames) as f64 / load_pps)),
        by_time_s: longest(&between),
    })
}

/// Whether a load failed the goal and a higher one upheld it.
fn is_contradictory(goal: &AssessedGoal) -> bool {
    let of = |classification: Classification| {
        let loads = goal.loads.iter().filter(move |load| load.classification == classification);
        loads.map(|load| load.load)
    };
    let (lowest, highest) = (of(Classification::Upper).reduce(f64::min), of(Classification::Lower).reduce(f64::max));
    lowest.zip(highest).is_some_and(|(upper, lower)| lower > upper)
}

/// Seconds without a frame at the end of a trial that show a device which did not come back.
const QUIET: f64 = 0.1;

/// Fewer networks than section 11 asks for, here and in each other section of these tests.
fn few_networks(run: &Run, section: &Section) -> Option<Deviation> {
    let of = |section: &Section| {
        let stream = streams(section.specs.first()?).first()?;
        matches!(section.method, Method::Rfc2544(_)).then(|| stream.networks.unwrap_or(1))
    };
    let most = run.plan.sections().iter().filter_map(of).max()?;
    (most < NETWORKS).then(|| of(section)).flatten().map(|networks| Deviation::FewNetworks { networks })
}

/// Modifiers that the section leaves out.
fn few_modifiers(section: &Section) -> Deviation {
    let tested: Vec<Modifier> = section.specs.iter().filter_map(rfc2544::modifier).collect();
    Deviation::FewModifiers {
        missing: Modifier::ALL.into_iter().filter(|modifier| !tested.contains(modifier)).collect(),
    }
}

/// Filters of the device, as nft reads them, for each IP version and number once.
fn filters(run: &Run, section: &Section) -> Vec<String> {
    let device = run.bed.dut.as_ref();
    let of = |spec: &ProbeSpec| {
        let Profile { ip, filters, .. } = spec.profile();
        let (namespace, bridge) = (String::new(), device?.gateways.is_empty());
        Some(Filters { namespace, bridge, ip, count: filters? }.ruleset())
    };
    distinct(section.specs.iter().filter_map(of))
}

/// Time in which the load of each trial rises, where it does.
fn ramp(section: &Section) -> Option<Nanos> {
    section.specs.first().map(rfc2544::ramp).filter(|ramp| *ramp > Nanos::default())
}

/// Whether trials may lose frames.
fn allows_loss(goal: &Goal) -> bool {
    goal.loss_ratio.0 > 0.0 || goal.exceed_ratio.0 > 0.0
}

/// Deviations that trials show.
struct Found {
    /// Whether the sender's cores did the receiving too.
    is_loop: bool,
    /// Whether the sender did not reach the highest load.
    is_limited: bool,
    /// Whether the highest load is below what the link carries.
    is_below_line: bool,
    /// Whether each overload of the recovery test lost frames.
    is_overloaded: bool,
    /// The fewest bursts that were searched for at a frame size; `None` where none was.
    bursts: Option<usize>,
}

fn deviations(run: &Run, section: &Section, planned: &PlannedRfc2544, found: &Found) -> Vec<Deviation> {
    let has = |test| planned.has(test);
    let recovery = has(Rfc2544Test::Recovery);
    let goal = planned.goals.first().filter(|_| planned.is_searched());
    let is_short = |is_asked: bool, duration: Nanos, of: Nanos| is_asked && duration < of;
    let sizes = section.specs.iter().filter_map(|spec| spec.probe().selectors().frame_size);
    let sizes: Vec<u32> = sizes.map(|size| size.0).collect();
    let tested = FRAME_SIZES.iter().filter(|size| sizes.contains(size)).count();
    let short_goal = goal.map(|goal| goal.final_trial_duration).filter(|duration| *duration < TRIAL);
    let lossy_goal = goal.filter(|goal| allows_loss(goal));
    let searched = found.bursts.map_or(planned.burst_repeats, |bursts| bursts as u32);
    let (loss, latency, bursts) = (has(Rfc2544Test::Loss), has(Rfc2544Test::Latency), has(Rfc2544Test::BackToBack));
    [
        run.bed.dut.is_none().then_some(Deviation::NoDevice),
        run.bed.simulated.then_some(Deviation::Simulated),
        found.is_loop.then_some(Deviation::SynchronousLoop),
        short_goal.map(|duration| Deviation::ShortTrials { duration }),
        lossy_goal
            .map(|goal| Deviation::LossAllowed { loss_ratio: goal.loss_ratio.0, exceed_ratio: goal.exceed_ratio.0 }),
        is_short(loss, planned.duration, TRIAL).then_some(Deviation::ShortLossTrials { duration: planned.duration }),
        is_short(latency, planned.latency_duration, LATENCY_TRIAL)
            .then_some(Deviation::ShortLatencyTrials { duration: planned.latency_duration }),
        (latency && planned.latency_repeats < LATENCY_TRIALS)
            .then_some(Deviation::FewLatencyTrials { trials: planned.latency_repeats }),
        latency.then_some(Deviation::ManyFramesTimed),
        (bursts && searched < BURSTS).then_some(Deviation::FewBursts { bursts: searched }),
        is_short(bursts, planned.longest_burst, LONGEST_BURST)
            .then_some(Deviation::ShortBursts { duration: planned.longest_burst }),
        is_short(recovery, planned.duration, TRIAL).then_some(Deviation::ShortOverloads { duration: planned.duration }),
        (recovery && !found.is_overloaded).then_some(Deviation::NoOverload),
        ramp(section).map(|duration| Deviation::Ramp { duration }),
        few_networks(run, section),
        Some(few_modifiers(section)),
        (tested < FRAME_SIZES.len()).then_some(Deviation::FewSizes { tested, of: FRAME_SIZES.len() }),
        found.is_limited.then_some(Deviation::SenderLimited),
        found.is_below_line.then_some(Deviation::BelowLine),
        Some(Deviation::ShortWaits),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests;
