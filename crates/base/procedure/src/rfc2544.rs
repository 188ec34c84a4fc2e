//! Tests of RFC 2544, one after the other at each frame size. Each rests on what those before it found: latency is measured at the
//! throughput, and what the sender did not reach is the highest load of no later test.

mod bursts;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use model::{
    Doubt, Nanos, PacketStream, ProbeSpec, Total, Trial,
    rfc2544::{self, OVERLOAD, PlannedRfc2544, RESET, Rfc2544Test, STEADY},
    search::{AssessedGoal, Irregular, PlannedSearch},
};

use self::bursts::Bursts;
use crate::{
    Configuration, Next, PastTrial, Procedure, Reason,
    search::{Outcome, Search, begin},
};

/// Loads of the loss test, as shares of the highest: no step is larger than a tenth (RFC 2544, section 26.3).
const SHARES: [f64; 10] = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1];

/// Trials without loss in a row that end the loss test.
const LOSSLESS: usize = 2;

/// The overload of the recovery test, as a share of the throughput (RFC 2544, section 26.5).
const OVER: f64 = 1.1;

/// Trials at one frame size that the sender may miss before the search ends: a sender that slows down all the time would be searched for ever.
const MOST_UNREACHED: u32 = 15;

/// Bursts in a row that may fail before the search for the longest one is given up.
const MOST_FAILED: u32 = 3;

/// Share of the highest load that a device is expected to forward, and share of the longest burst that it is expected to hold.
const FORESEEN_LOAD: f64 = 0.5;
const FORESEEN_BURST: f64 = 0.05;

/// The tests of a section.
#[derive(Debug)]
pub(crate) struct Rfc2544 {
    /// A configuration for each frame size, at its highest load.
    sizes: Vec<Configuration>,
    planned: PlannedRfc2544,
}

/// Trials of the tests at one frame size, so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Tested<'t> {
    /// The configuration at the highest load of the plan.
    pub configuration: Configuration,
    /// Highest load of the later tests: that of the plan, or the highest that the sender reached.
    pub max: u64,
    /// Whether the sender did not reach the highest load of the plan.
    pub is_limited: bool,
    /// Goals of the search; empty where there was none.
    pub goals: Vec<AssessedGoal>,
    /// The longest of the last trials at the throughput.
    pub at_throughput: Option<&'t Trial>,
    /// Trials of the latency test whose sender reached the load.
    pub latency: Vec<&'t Trial>,
    /// Trials at shares of the throughput whose sender reached the load.
    pub latency_loads: Vec<(f64, &'t Trial)>,
    /// Trials of the search.
    pub searched: Vec<&'t Trial>,
    /// Trials of the loss test with their shares of the highest load.
    pub loss: Vec<(f64, &'t Trial)>,
    /// Frames sent each way in the longest burst without loss, of each search that came to its end.
    pub bursts: Vec<u64>,
    /// The trials of those bursts.
    pub burst_trials: Vec<&'t Trial>,
    /// Whether the first of the longest bursts of the test had no loss.
    pub is_unlimited: bool,
    /// Trials with an overload whose sender reached the loads.
    pub recovery: Vec<&'t Trial>,
    /// The trial in which the device was reset.
    pub reset: Option<&'t Trial>,
}

/// Results of these tests, from the trials of a section of a plan in one repeat. Trials that failed may be missing.
pub fn tested<'t>(
    specs: Vec<ProbeSpec>,
    senders: usize,
    planned: &PlannedRfc2544,
    trials: impl IntoIterator<Item = &'t Trial>,
) -> Vec<Tested<'t>> {
    let sizes = specs.into_iter().map(|spec| Configuration { spec, senders: 0..senders }).collect();
    let procedure = Rfc2544 { sizes, planned: planned.clone() };
    let trials: Vec<&'t Trial> = trials.into_iter().filter(|trial| trial.is_whole()).collect();
    // Trials that a run lacks are failed ones up to the last one that it has; there it stopped.
    let (mut made, mut count, mut last) = (MadeTrials::new(&trials), 0_usize, 0_usize);
    let whole = |asked: &Configuration| {
        let trial = made.take(asked);
        count += 1;
        last = if trial.is_some() { count } else { last };
        Some(trial)
    };
    procedure.walk(&mut Walk { past: Box::new(whole), wanted: Vec::new(), most: 0 });
    let (mut made, mut left) = (MadeTrials::new(&trials), last);
    let next = |asked: &Configuration| {
        left = left.checked_sub(1)?;
        Some(made.take(asked))
    };
    procedure.walk(&mut Walk { past: Box::new(next), wanted: Vec::new(), most: 0 })
}

/// Trials of a run, which are looked for by their identity: one that failed at first may have been made after all the others.
struct MadeTrials<'t> {
    /// Trials that were not asked for yet, each with its configuration and attempt.
    left: VecDeque<(ProbeSpec, u32, &'t Trial)>,
    /// Number of times that each configuration was asked for.
    asked: Vec<(ProbeSpec, u32)>,
}

impl<'t> MadeTrials<'t> {
    fn new(trials: &[&'t Trial]) -> Self {
        let identified = |trial: &&'t Trial| {
            let attempt = trial.origin.as_ref().map_or(1, |origin| origin.attempt);
            (trial.measured.spec(), attempt, *trial)
        };
        Self { left: trials.iter().map(identified).collect(), asked: Vec::new() }
    }

    /// The trial of the next attempt at this configuration; `None` where it was not made.
    fn take(&mut self, asked: &Configuration) -> Option<&'t Trial> {
        let attempt = self.attempt(&asked.spec);
        let is_it = |(spec, of, _): &(ProbeSpec, u32, &'t Trial)| *of == attempt && *spec == asked.spec;
        let place = self.left.iter().position(is_it)?;
        self.left.remove(place).map(|(_, _, trial)| trial)
    }

    /// Number of this attempt, from 1.
    fn attempt(&mut self, spec: &ProbeSpec) -> u32 {
        // The last ones first: a configuration is mostly asked for again soon.
        if let Some((_, count)) = self.asked.iter_mut().rev().find(|(asked, _)| asked == spec) {
            *count += 1;
            return *count;
        }
        self.asked.push((spec.clone(), 1));
        1
    }
}

/// The trial that was made where this one was asked for: `None` behind the last one, `Some(None)` for one that failed.
type Made<'w, 't> = Box<dyn FnMut(&Configuration) -> Option<Option<&'t Trial>> + 'w>;

/// Goes through the tests: through trials that there are, and on through those that are expected.
struct Walk<'w, 't> {
    past: Made<'w, 't>,
    /// Trials to come.
    wanted: Vec<Configuration>,
    /// Number of those that are looked for.
    most: usize,
}

/// Outcome of a trial, or what is expected of it.
#[derive(Clone, Copy)]
struct Assessed<'t> {
    /// `None` for a trial that failed, or that is to come.
    trial: Option<&'t Trial>,
    outcome: Outcome,
}

impl Assessed<'_> {
    /// Whether nothing was lost, wherever the sender came to.
    fn is_lossless(&self) -> bool {
        match (self.trial, self.outcome) {
            (Some(trial), _) => lost(trial) == Some(0),
            (None, outcome) => outcome == Outcome::Loss(0.0),
        }
    }

    /// Whether frames were sent, or are to be: a trial that failed says nothing.
    fn is_sent(&self) -> bool {
        match (self.trial, self.outcome) {
            (Some(trial), _) => lost(trial).is_some(),
            (None, outcome) => matches!(outcome, Outcome::Loss(_)),
        }
    }

    /// Whether its sender kept up.
    fn is_reached(&self) -> bool {
        matches!(self.outcome, Outcome::Loss(_))
    }
}

impl<'t> Walk<'_, 't> {
    /// The trial of this configuration; `None` where the walk ends before it.
    fn assess(&mut self, asked: Configuration, foreseen: f64) -> Option<Assessed<'t>> {
        if self.wanted.is_empty()
            && let Some(trial) = (self.past)(&asked)
        {
            return Some(Assessed { trial, outcome: trial.map_or(Outcome::Unreached { offered: 0 }, outcome) });
        }
        if self.wanted.len() == self.most {
            return None;
        }
        self.wanted.push(asked);
        Some(Assessed { trial: None, outcome: Outcome::Loss(foreseen) })
    }
}

impl Rfc2544 {
    pub(crate) fn new(sizes: Vec<Configuration>, planned: PlannedRfc2544) -> Self {
        Self { sizes, planned }
    }

    /// At most so many of the trials that come after this past.
    fn rest(&self, past: &[PastTrial], most: usize) -> Vec<Configuration> {
        let mut past = past.iter();
        let next = |_: &Configuration| past.next().map(|past| past.trial.as_deref());
        let mut walk = Walk { past: Box::new(next), wanted: Vec::new(), most };
        self.walk(&mut walk);
        walk.wanted
    }

    fn walk<'t>(&self, walk: &mut Walk<'_, 't>) -> Vec<Tested<'t>> {
        let mut all = Vec::new();
        for configuration in &self.sizes {
            let Some(max) = configuration.spec.probe().selectors().rate else { continue };
            let mut tested = Tested {
                configuration: configuration.clone(),
                max: max.0,
                is_limited: false,
                goals: Vec::new(),
                at_throughput: None,
                latency: Vec::new(),
                latency_loads: Vec::new(),
                searched: Vec::new(),
                loss: Vec::new(),
                bursts: Vec::new(),
                burst_trials: Vec::new(),
                is_unlimited: false,
                recovery: Vec::new(),
                reset: None,
            };
            let is_through = self.test(&mut tested, walk).is_some();
            all.push(tested);
            if !is_through {
                break;
            }
        }
        all
    }

    /// The tests at one frame size; `None` where the walk ended before them.
    fn test<'t>(&self, tested: &mut Tested<'t>, walk: &mut Walk<'_, 't>) -> Option<()> {
        let has = |test| self.planned.has(test);
        let throughput = match self.planned.is_searched() {
            true => self.throughput(tested, walk)?,
            false => 0,
        };
        if has(Rfc2544Test::Latency) && throughput > 0 {
            self.latency(throughput, tested, walk)?;
        }
        if has(Rfc2544Test::Loss) {
            self.loss(tested, walk)?;
        }
        if has(Rfc2544Test::BackToBack) {
            self.back_to_back(tested, walk)?;
        }
        if has(Rfc2544Test::Recovery) && throughput > 0 {
            self.recovery(throughput, tested, walk)?;
        }
        let is_first = self.sizes.first() == Some(&tested.configuration);
        if has(Rfc2544Test::Reset) && throughput > 0 && is_first {
            let stream = (RESET, throughput, None);
            let Some(asked) = with_streams(&tested.configuration, &[stream], self.planned.reset_duration) else {
                return Some(());
            };
            tested.reset = walk.assess(asked, 0.0)?.trial;
        }
        Some(())
    }

    /// Searches; gives the throughput, or 0 where there is none: a search without bounds, or with bounds too far apart, has found none.
    fn throughput<'t>(&self, tested: &mut Tested<'t>, walk: &mut Walk<'_, 't>) -> Option<u64> {
        let Some(mut search) = self.search(tested.max) else { return Some(0) };
        let foreseen = |load: u64| expected_loss(load as f64, tested.max as f64 * FORESEEN_LOAD);
        let mut trials: Vec<&'t Trial> = Vec::new();
        let (mut offered, mut unreached) = (0, 0);
        let mut is_through = true;
        while unreached < MOST_UNREACHED
            && let Some(input) = search.ask()
        {
            let Some(asked) = at(&tested.configuration, input.load, input.duration) else { break };
            let Some(assessed) = walk.assess(asked, foreseen(input.load)) else {
                is_through = false;
                break;
            };
            if let Outcome::Unreached { offered: reached } = assessed.outcome {
                (offered, unreached) = (offered.max(reached), unreached + 1);
            }
            trials.extend(assessed.trial);
            search.take(assessed.outcome);
        }
        tested.goals = search.results();
        let found = tested.goals.first().map(|goal| goal.result);
        let found = found.filter(|result| matches!(result.irregular, None | Some(Irregular::NoUpperBound)));
        let throughput = found.and_then(|result| result.relevant_lower_bound).unwrap_or_default() as u64;
        let at_throughput = trials.iter().filter(|trial| load(trial) == Some(throughput as f64) && is_reached(trial));
        tested.at_throughput = at_throughput.copied().max_by(|a, b| a.duration_s.total_cmp(&b.duration_s));
        // A load that was given up, and not one that the sender missed once.
        let highest =
            trials.iter().filter(|trial| is_reached(trial)).filter_map(|trial| load(trial)).fold(0.0, f64::max);
        if offered > 0 && highest < tested.max as f64 {
            (tested.max, tested.is_limited) = (offered.max(highest as u64), true);
        }
        tested.searched = trials;
        is_through.then_some(throughput)
    }

    fn search(&self, max: u64) -> Option<Box<dyn Search>> {
        let PlannedRfc2544 { goals, search: method, .. } = self.planned.clone();
        begin(PlannedSearch { method, goals, min: self.planned.min(max), max })
    }

    fn latency<'t>(&self, throughput: u64, tested: &mut Tested<'t>, walk: &mut Walk<'_, 't>) -> Option<()> {
        for _ in 0..self.planned.latency_repeats {
            let Some(asked) = at(&tested.configuration, throughput, self.planned.latency_duration) else { break };
            tested.latency.extend(walk.assess(asked, 0.0)?.trial.filter(|trial| is_reached(trial)));
        }
        for share in &self.planned.latency_loads {
            let load = (throughput as f64 * share).round().max(1.0) as u64;
            let Some(asked) = at(&tested.configuration, load, self.planned.latency_duration) else { break };
            let trial = walk.assess(asked, 0.0)?.trial.filter(|trial| is_reached(trial));
            tested.latency_loads.extend(trial.map(|trial| (*share, trial)));
        }
        Some(())
    }

    /// From the highest load down, until two loads in a row are without loss. The first one shows what the sender reaches; another one
    /// that it misses does not count.
    fn loss<'t>(&self, tested: &mut Tested<'t>, walk: &mut Walk<'_, 't>) -> Option<()> {
        let mut lossless = 0;
        for share in SHARES {
            let max = tested.max as f64;
            let rung = (max * share).round().max(1.0);
            let Some(asked) = at(&tested.configuration, rung as u64, self.planned.duration) else { break };
            let assessed = walk.assess(asked, expected_loss(rung, max * FORESEEN_LOAD))?;
            if let Outcome::Unreached { offered: reached @ 1.. } = assessed.outcome
                && share == 1.0
            {
                (tested.max, tested.is_limited) = (reached, true);
            }
            tested.loss.extend(assessed.trial.map(|trial| (share, trial)));
            let counts = assessed.is_reached() || share == 1.0;
            lossless = if counts && assessed.is_lossless() { lossless + 1 } else { 0 };
            if lossless == LOSSLESS {
                break;
            }
        }
        Some(())
    }

    /// One search after the other; none after the first, if its longest burst is without loss. A burst that failed is repeated.
    fn back_to_back<'t>(&self, tested: &mut Tested<'t>, walk: &mut Walk<'_, 't>) -> Option<()> {
        let longest = (tested.max as f64 * self.planned.longest_burst.as_secs_f64()).round().max(1.0) as u64;
        for _ in 0..self.planned.burst_repeats {
            let (mut bursts, mut held, mut failed) = (Bursts::new(longest), None, 0);
            while failed < MOST_FAILED
                && let Some(frames) = bursts.ask()
            {
                let duration = Nanos((frames as f64 * 1e9 / tested.max as f64).ceil() as u64);
                let Some(asked) = at(&at_once(&tested.configuration), tested.max, duration) else { return Some(()) };
                let holds = frames as f64 <= longest as f64 * FORESEEN_BURST;
                let assessed = walk.assess(asked, if holds { 0.0 } else { 0.1 })?;
                if !assessed.is_sent() {
                    failed += 1;
                    continue;
                }
                failed = 0;
                held = if assessed.is_lossless() { assessed.trial } else { held };
                bursts.took(assessed.is_lossless());
            }
            if failed == MOST_FAILED {
                continue;
            }
            tested.bursts.push(held.map_or(bursts.held(), sent));
            tested.burst_trials.extend(held);
            if tested.bursts.len() == 1 && bursts.held() == longest {
                tested.is_unlimited = true;
                break;
            }
        }
        Some(())
    }
}

impl Rfc2544 {
    /// An overload, then half of it for as long. Two streams of the same load, of which one ends, make the step without a pause.
    fn recovery<'t>(&self, throughput: u64, tested: &mut Tested<'t>, walk: &mut Walk<'_, 't>) -> Option<()> {
        let Nanos(duration) = self.planned.duration;
        let half = ((throughput as f64 * OVER).min(tested.max as f64) / 2.0).round().max(1.0) as u64;
        let streams = [(STEADY, half, None), (OVERLOAD, half, Some(Nanos(duration)))];
        for _ in 0..self.planned.recovery_repeats {
            let Some(asked) = with_streams(&tested.configuration, &streams, Nanos(2 * duration)) else { break };
            tested.recovery.extend(walk.assess(asked, 0.05)?.trial.filter(|trial| is_reached(trial)));
        }
        Some(())
    }
}

impl Procedure for Rfc2544 {
    fn next(&self, past: &[PastTrial]) -> Next {
        let next = self.rest(past, 1).pop();
        next.map_or(Next::End(Reason::AllAsked), |next| Next::Measure(next, Reason::Tested))
    }

    fn expected(&self, past: &[PastTrial]) -> Vec<Configuration> {
        self.rest(past, usize::MAX)
    }
}

/// A configuration at another load, for another time.
fn at(configuration: &Configuration, load: u64, duration: Nanos) -> Option<Configuration> {
    let spec = configuration.spec.probe().with_load(load, duration)?;
    Some(Configuration { spec, senders: configuration.senders.clone() })
}

/// A configuration without a ramp.
fn at_once(configuration: &Configuration) -> Configuration {
    Configuration { spec: rfc2544::at_once(&configuration.spec), senders: configuration.senders.clone() }
}

/// A configuration with these streams in the place of its own: their names, loads and times.
fn with_streams(
    configuration: &Configuration,
    streams: &[(&str, u64, Option<Nanos>)],
    duration: Nanos,
) -> Option<Configuration> {
    let spec = rfc2544::with_streams(&configuration.spec, streams, duration)?;
    Some(Configuration { spec, senders: configuration.senders.clone() })
}

/// Loss of a device that forwards so much.
fn expected_loss(load: f64, forwarded: f64) -> f64 {
    (1.0 - forwarded / load).max(0.0)
}

fn outcome(trial: &Trial) -> Outcome {
    match trial.at_load() {
        Some(loaded) => Outcome::Loss(loaded.trial.loss_ratio),
        None => Outcome::Unreached { offered: offered(trial) },
    }
}

/// Whether its sender kept up.
fn is_reached(trial: &Trial) -> bool {
    trial.at_load().is_some()
}

/// Load that was asked for, in frames a second each way.
fn load(trial: &Trial) -> Option<f64> {
    trial.measured.probe().selectors().rate.map(|rate| rate.0 as f64)
}

/// Load that a sender reached which was too slow, or was paused.
fn offered(trial: &Trial) -> u64 {
    let achieved = trial.doubts.iter().filter_map(|doubt| match doubt {
        Doubt::SenderTooSlow { achieved, .. } | Doubt::SenderPaused { achieved, .. } => Some(*achieved),
        _ => None,
    });
    achieved.reduce(f64::min).unwrap_or_default() as u64
}

/// Frames that were sent each way; of several ways the smallest number.
fn sent(trial: &Trial) -> u64 {
    let streams = trial.packet_streams();
    let of = |from: &str| streams.iter().filter(|stream| stream.from == from).map(|stream| stream.sent.frames).total();
    streams.iter().map(|stream| of(&stream.from)).min().unwrap_or_default()
}

/// Frames that were lost; `None` where none was sent.
fn lost(trial: &Trial) -> Option<u64> {
    let streams = trial.packet_streams();
    let sent = streams.iter().map(|stream| stream.sent.frames).total();
    (sent > 0).then(|| streams.iter().copied().map(PacketStream::lost).total())
}
