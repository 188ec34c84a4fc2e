//! A machine without an agent, for tests: it records requests, and gives prepared answers.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use model::Endpoint;
use protocol::{AgentError, AgentLink, Cleaned, ClockReading, Failure, FailureKind, Fault, Reply, Request};

use super::{Agent, Machine};

/// Answers; `None` means "done", or the undone changes after a request to undo.
type Answers = dyn Fn(&Request) -> Option<Result<Reply, Fault>> + Send + Sync;

/// A fake agent. All agents that it starts in its place share its records.
#[derive(Clone)]
pub(crate) struct Fake {
    asked: Arc<Mutex<Vec<Request>>>,
    answers: Arc<Answers>,
    is_here: bool,
}

impl Fake {
    pub(crate) fn new(answers: impl Fn(&Request) -> Option<Result<Reply, Fault>> + Send + Sync + 'static) -> Self {
        Self { asked: Arc::default(), answers: Arc::new(answers), is_here: true }
    }

    /// The same on another machine.
    pub(crate) fn elsewhere(self) -> Self {
        Self { is_here: false, ..self }
    }

    /// The machine with this agent.
    pub(crate) fn machine(&self, name: &str) -> Machine {
        let mut machine = Machine::of(Box::new(self.clone()));
        machine.allowed.host = name.to_owned();
        machine
    }

    /// Requests so far: changes in words, and others of a bed's life by name.
    pub(crate) fn asked(&self) -> Vec<String> {
        let words = |request: &Request| match request {
            Request::Apply { changes } => {
                format!("apply {}", changes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" + "))
            }
            Request::OpenLedger { .. } => "open".to_owned(),
            Request::UndoLast { changes } => format!("undo last {changes}"),
            Request::UndoAll => "undo all".to_owned(),
            Request::Clean => "clean".to_owned(),
            Request::Keep { .. } => "keep".to_owned(),
            other => format!("{other:?}"),
        };
        self.asked.lock().expect("a test alone").iter().map(words).collect()
    }
}

/// The agent reports a failure.
pub(crate) fn failed() -> Fault {
    Fault::Failed(Box::new(Failure::new(FailureKind::Change, "", "no such device")))
}

/// The agent ended, alone or with its machine.
pub(crate) fn died(alone: bool) -> Fault {
    Fault::Died { status: "killed".to_owned(), told: String::new(), alone }
}

impl Agent for Fake {
    fn ask(&mut self, request: Request, _: Duration) -> Result<Reply, AgentError> {
        self.asked.lock().expect("a test alone").push(request.clone());
        let done = if request == Request::Clean { Reply::Cleaned(Cleaned::default()) } else { Reply::Done };
        (self.answers)(&request).unwrap_or(Ok(done)).map_err(|fault| self.error(fault))
    }

    fn read_clock(&mut self) -> Result<ClockReading, AgentError> {
        Err(self.error(failed()))
    }

    fn error(&self, fault: Fault) -> AgentError {
        AgentError { agent: "fake".to_owned(), fault }
    }

    fn is_here(&self) -> bool {
        self.is_here
    }

    fn again(&self) -> Result<Box<dyn Agent>, AgentError> {
        Ok(Box::new(self.clone()))
    }

    fn at_end(&self, _: &Endpoint, _: &str, _: &[String]) -> Result<AgentLink, AgentError> {
        Err(self.error(failed()))
    }
}
