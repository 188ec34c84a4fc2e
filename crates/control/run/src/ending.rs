//! End of a run, and failures on the way.

use bed::BedError;
use model::{Run, plausible::Implausible};
use protocol::{AgentError, Fault};

use crate::fit::Misfit;

/// End of a run.
#[derive(Debug)]
pub enum Ending {
    /// All steps done.
    Complete,
    /// The user interrupted.
    Interrupted,
    /// Something failed: trials, or what all of them need. All others are kept. Never empty.
    Failed(Vec<RunError>),
}

impl Ending {
    /// Whether the failure alone is worth reporting: a run without a trial that was never resumed.
    pub fn left_nothing(&self, run: &Run) -> bool {
        matches!(self, Self::Failed(_)) && run.trials.is_empty() && run.resumed.is_empty()
    }
}

/// A run that could not be made, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The plan requires more than the bed can provide.
    #[error(transparent)]
    Misfit(#[from] Misfit),
    /// The bed failed.
    #[error(transparent)]
    Bed(#[from] BedError),
    /// A trial failed.
    #[error("{step}: {error}")]
    Trial {
        /// The probe.
        step: String,
        /// The failure.
        error: AgentError,
    },
    /// The two ends reported figures that are not possible together.
    #[error("{step}: the agents told a figure that is not possible: {error}")]
    Impossible {
        /// The probe.
        step: String,
        /// The figure.
        error: Implausible,
    },
    /// The agents brought figures of another probe.
    #[error("{step}: the agents brought figures of another probe; this is a fault in wireproof, please report it")]
    Confused {
        /// The probe.
        step: String,
    },
}

impl RunError {
    /// Whether it says nothing of the next step, like packets of one size that do not pass.
    fn is_of_its_step(&self) -> bool {
        match self {
            Self::Trial { error, .. } => matches!(error.fault, Fault::Failed(_) | Fault::Stuck { .. }),
            Self::Impossible { .. } => true,
            Self::Misfit(_) | Self::Bed(_) | Self::Confused { .. } => false,
        }
    }

    /// Whether both are the same failure of the same step. Words tell of ports, load and events of the moment, and are not compared.
    fn repeats(&self, other: &Self) -> bool {
        let (Self::Trial { step: a, error: one }, Self::Trial { step: b, error: two }) = (self, other) else {
            return false;
        };
        let same_fault = match (&one.fault, &two.fault) {
            (Fault::Failed(one), Fault::Failed(two)) => (one.kind, host(&one.object)) == (two.kind, host(&two.object)),
            (Fault::Stuck { within: one }, Fault::Stuck { within: two }) => one == two,
            _ => false,
        };
        (a, &one.agent) == (b, &two.agent) && same_fault
    }
}

/// An object without its port, which the kernel may have chosen.
fn host(object: &str) -> &str {
    object.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(object, |(host, _)| host)
}

/// So many trials in a row fail before nothing more is expected of the others.
const MOST_IN_A_ROW: usize = 3;

/// Failures so far. A run continues after a failed trial: one configuration must not cost hours of measurement.
#[derive(Default)]
pub(crate) struct Failures {
    all: Vec<RunError>,
    in_a_row: usize,
    is_over: bool,
}

impl Failures {
    /// A trial came to its end.
    pub(crate) fn none(&mut self) {
        self.in_a_row = 0;
    }

    /// Takes one more. Each repeat of a configuration fails alike: `None` where the failure is known.
    pub(crate) fn take(&mut self, error: RunError) -> Option<&RunError> {
        self.in_a_row += 1;
        self.is_over |= self.in_a_row == MOST_IN_A_ROW || !error.is_of_its_step();
        if self.all.iter().any(|known| known.repeats(&error)) {
            return None;
        }
        self.all.push(error);
        self.all.last()
    }

    /// Whether nothing more is expected of the steps to come.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// End of a run with these failures.
    pub(crate) fn ending(self) -> Ending {
        if self.all.is_empty() { Ending::Complete } else { Ending::Failed(self.all) }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicU16, Ordering::Relaxed},
        time::Duration,
    };

    use model::{Measured, Plan, ProbeSpec};
    use protocol::{Failure, FailureKind};

    use super::*;

    const STUCK: Duration = Duration::from_secs(30);

    fn failed(fault: Fault) -> RunError {
        RunError::Trial { step: "step".to_owned(), error: AgentError { agent: "agent".to_owned(), fault } }
    }

    /// A step whose packets of this size are not answered, each time at another port.
    fn no_answer(size: u32) -> RunError {
        static PORT: AtomicU16 = AtomicU16::new(40_000);
        let peer = format!("198.18.0.2:{}", PORT.fetch_add(1, Relaxed));
        let what = format!("no answer from {peer}; other programs use 97 % of core 1");
        let fault = Fault::Failed(Box::new(Failure::new(FailureKind::Measurement, peer, what)));
        RunError::Trial { step: format!("{size} B"), error: AgentError { agent: "agent".to_owned(), fault } }
    }

    /// Whether the run goes on after these failures.
    fn goes_on(failures: &mut Failures, errors: impl IntoIterator<Item = RunError>) -> bool {
        errors.into_iter().for_each(|error| drop(failures.take(error).map(ToString::to_string)));
        !failures.is_over()
    }

    #[test]
    fn a_trial_that_fails_lets_the_run_go_on_until_three_in_a_row_do() {
        let mut failures = Failures::default();
        assert!(goes_on(&mut failures, [no_answer(1), failed(Fault::Stuck { within: STUCK })]));
        assert!(!goes_on(&mut failures, [no_answer(3)]));
        assert_eq!(failures.all.len(), 3);

        let mut failures = Failures::default();
        for _ in 0..9 {
            assert!(goes_on(&mut failures, [no_answer(1), no_answer(2)]));
            failures.none();
        }
        assert_eq!(failures.all.len(), 2, "each said once");
    }

    #[test]
    fn a_run_that_failed_and_measured_nothing_leaves_nothing() {
        let failed = || Ending::Failed(vec![no_answer(1)]);
        let plan = Plan::parse("name = \"t\"\n[[packets]]\nduration = \"1 s\"\nframe_sizes = [64]", &[]).unwrap();
        let ProbeSpec::Packets(spec) = plan.specs().remove(0) else { panic!("planned") };
        let empty = model::fixture::run(plan);
        assert!(failed().left_nothing(&empty));
        assert!(!Ending::Interrupted.left_nothing(&empty), "it can be gone on with");
        let stream = model::fixture::packet_stream(1, 1);
        let result = model::PacketsResult { mtu: model::Mtu(1500), streams: vec![stream] };
        let trials = vec![model::fixture::trial(Measured::Packets { spec, result })];
        assert!(!failed().left_nothing(&Run { trials, ..empty }));
    }

    #[test]
    fn an_agent_that_is_gone_ends_the_run() {
        assert!(!goes_on(&mut Failures::default(), [failed(Fault::Silent(STUCK))]));
        assert!(!goes_on(&mut Failures::default(), [RunError::Confused { step: "step".to_owned() }]));
    }
}
