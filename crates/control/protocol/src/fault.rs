//! What can go wrong with an agent, in words.

use std::time::Duration;

use crate::{Failure, framing::FrameError};

/// Something went wrong with an agent.
#[derive(Debug, thiserror::Error)]
#[error("the {agent} {fault}")]
pub struct AgentError {
    /// Which agent, like `machine agent` or `agent at endpoint a`.
    pub agent: String,
    /// What went wrong.
    pub fault: Fault,
}

/// What can go wrong with an agent.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// It could not be started.
    #[error("could not be started ({program}): {error}")]
    Launch {
        /// The program that was to run.
        program: String,
        /// Why not.
        error: std::io::Error,
    },
    /// Something else wrote into its stream, or it is no agent.
    #[error("does not speak wireproof's protocol: {0}")]
    Protocol(FrameError),
    /// It is another build of this program.
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
    /// It ended though nobody asked it to.
    #[error("ended unexpectedly ({status}){told}")]
    Died {
        /// How its process ended.
        status: String,
        /// The last it said, and what to do about it.
        told: String,
        /// Whether it was reached until then, so that it alone ended.
        alone: bool,
    },
    /// It is there but says nothing.
    #[error("has said nothing for {0:?}; it hangs, its machine is overloaded, or the way there is cut; it was ended")]
    Silent(Duration),
    /// It did not answer in time.
    #[error("did not {what} within {within:?}; it was ended")]
    Deadline {
        /// What it should have done.
        what: String,
        /// The time it had.
        within: Duration,
    },
    /// It is there, and its measurement stands still.
    #[error(
        "came no further with its measurement for {within:?}; check with \"wireproof path\" that packets of this size pass"
    )]
    Stuck {
        /// How long it was waited for.
        within: Duration,
    },
    /// It says that what was asked did not work.
    #[error("reports: {0}")]
    Failed(Box<Failure>),
    /// It answers something else than was asked.
    #[error("gave an answer that does not fit the question: {0}")]
    Confused(String),
}

impl Fault {
    /// Whether the agent alone ended, while the way to its machine was there.
    pub fn is_of_agent_alone(&self) -> bool {
        matches!(self, Self::Died { alone: true, .. })
    }
}

/// What an agent said, after an error.
pub(crate) fn quoted(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!("; it said: {}", stderr.trim()) }
}
