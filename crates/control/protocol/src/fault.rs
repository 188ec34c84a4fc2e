//! Errors of an agent, in words.

use std::time::Duration;

use crate::{Failure, framing::FrameError};

/// An error of an agent.
#[derive(Debug, thiserror::Error)]
#[error("the {agent} {fault}")]
pub struct AgentError {
    /// The agent, like `machine agent` or `agent at endpoint a`.
    pub agent: String,
    /// The error.
    pub fault: Fault,
}

/// Kinds of errors of an agent.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// It could not be started.
    #[error("could not be started ({program}): {error}")]
    Launch {
        /// The program.
        program: String,
        /// The cause.
        error: std::io::Error,
    },
    /// Another program wrote to its stream, or it is no agent.
    #[error("does not speak wireproof's protocol: {0}")]
    Protocol(FrameError),
    /// Its build differs from ours.
    #[error(
        "is another build (\"{theirs}\", here \"{ours}\"); use the same wireproof program on both ends, or have this one copied \
         there for the run with --push"
    )]
    OtherBuild {
        /// This program's build.
        ours: String,
        /// The agent's build.
        theirs: String,
    },
    /// It ended unexpectedly.
    #[error("ended unexpectedly ({status}){told}")]
    Died {
        /// Exit status of its process.
        status: String,
        /// Last output, with advice.
        told: String,
        /// Whether it was reachable until then, so that only the agent ended.
        alone: bool,
    },
    /// It runs, but is silent.
    #[error("has said nothing for {0:?}; it hangs, its machine is overloaded, or the way there is cut; it was ended")]
    Silent(Duration),
    /// It did not answer in time.
    #[error("did not {what} within {within:?}; it was ended")]
    Deadline {
        /// The request.
        what: String,
        /// Time limit.
        within: Duration,
    },
    /// It runs, but its measurement makes no progress.
    #[error(
        "came no further with its measurement for {within:?}; check with \"wireproof path\" that packets of this size pass"
    )]
    Stuck {
        /// Waiting time.
        within: Duration,
    },
    /// It reports a failed request.
    #[error("reports: {0}")]
    Failed(Box<Failure>),
    /// Its answer is of the wrong kind.
    #[error("gave an answer that does not fit the question: {0}")]
    Confused(String),
}

impl Fault {
    /// Whether only the agent ended, while its machine was reachable.
    pub fn is_of_agent_alone(&self) -> bool {
        matches!(self, Self::Died { alone: true, .. })
    }
}

/// An agent's output, to append to an error.
pub(crate) fn quoted(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!("; it said: {}", stderr.trim()) }
}
