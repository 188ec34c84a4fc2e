//! Follows a trial while it is under way, so that nothing of a long one is lost.

use model::{Run, Side, SoFar, Trial, plan::Step, probe::FarService};

use crate::{
    measure::TrialObserver,
    observer::{Archive, Observer},
    probes::{self, PairReports, Seconds},
    record::Record,
    trial::{Heading, unfinished},
};

/// Number of whole seconds that may pass before they are kept.
const KEEP_EVERY: usize = 5;

/// Follows a trial, and has its whole seconds kept as they pass.
pub(crate) struct Follower<'a, 'b, A: Archive> {
    run: &'a Run,
    step: &'a Step,
    pub(crate) heading: Heading,
    record: &'a mut Record<'b, A>,
    observer: &'a mut dyn Observer,
    /// Progress of each pair.
    reports: Vec<PairReports>,
    /// Whole seconds that were kept.
    kept: usize,
    /// Whole seconds that the observer has.
    shown: usize,
}

impl<'a, 'b, A: Archive> Follower<'a, 'b, A> {
    pub(crate) fn new(
        run: &'a Run,
        step: &'a Step,
        heading: Heading,
        record: &'a mut Record<'b, A>,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let most = step.spec.profile().whole_seconds;
        let seconds = || [Seconds::at_most(most), Seconds::at_most(most)];
        let reports =
            step.senders.clone().map(|_| PairReports { seconds: seconds(), ..PairReports::default() }).collect();
        Self { run, step, heading, record, observer, reports, kept: 0, shown: 0 }
    }

    /// Whether a program of the far host takes the data, which counts nothing.
    fn is_sink(&self) -> bool {
        let is_agentless = self.run.bed.receiver().is_some_and(|end| end.agentless);
        is_agentless && self.step.spec.profile().agentless == Some(FarService::Sink)
    }

    fn keep(&mut self) {
        if let Some(trial) = self.unfinished() {
            self.record.unfinished(&self.run.id, &trial);
        }
    }

    /// The part worth keeping if all ends now: an earlier try that got further is not given up for it.
    pub(crate) fn unfinished(&self) -> Option<Trial> {
        let trial = unfinished(&self.heading, self.step, &self.run.bed, &self.reports)?;
        let before = self.run.trials.iter().find(|known| known.number == trial.number);
        before.is_none_or(|before| trial.replaces(before)).then_some(trial)
    }
}

impl<A: Archive> TrialObserver for Follower<'_, '_, A> {
    fn progress(&mut self, fraction: f64) {
        self.observer.progress(fraction);
    }

    fn seconds(&mut self, pair: usize, side: Side, seconds: Seconds) {
        let is_sink = self.is_sink();
        let [near, far] = &mut self.reports[pair].seconds;
        match side {
            // Acknowledgements of the far kernel stand for what arrived there.
            Side::Near if is_sink => {
                near.add(Vec::new(), seconds.retransmits);
                far.add(seconds.bps, Vec::new());
            }
            Side::Near => near.add(seconds.bps, seconds.retransmits),
            Side::Far => far.add(seconds.bps, seconds.retransmits),
        }
        while let Some(second) = probes::of(&self.step.spec).second(&self.reports, self.shown) {
            self.shown += 1;
            self.observer.second(&second);
        }
        // Taken from all pairs, so that the stored part covers the same time of each.
        let passed = self.reports.iter().map(PairReports::passed).min().unwrap_or_default();
        if passed < self.kept + KEEP_EVERY {
            return;
        }
        self.kept = passed;
        self.keep();
    }

    /// Whole seconds say by themselves when to keep them; round trips and packets are kept whenever some are reported.
    fn so_far(&mut self, pair: usize, side: Side, so_far: SoFar) {
        let comes_by_seconds = self.step.spec.profile().whole_seconds > 0;
        let [near, far] = &mut self.reports[pair].latest;
        match side {
            Side::Near => *near = Some(so_far),
            Side::Far => *far = Some(so_far),
        }
        if !comes_by_seconds {
            self.keep();
        }
    }
}
