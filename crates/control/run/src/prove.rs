//! Whether an engine works: a few numbered frames from one end of a bed to the other.

use std::sync::atomic::AtomicBool;

use bed::Session;
use model::{Engine, Nanos, PacketRate, plan::Step};
use protocol::{AgentError, Failure, Fault};

use crate::{
    alone::NoObserver,
    measure::{NoResult, measure},
    probes::{counted_frames, few_frames},
};

/// A load that every engine keeps on every machine.
const RATE: PacketRate = PacketRate(2_000);
/// Longer than it takes a slow machine to start the threads.
const DURATION: Nanos = Nanos(100_000_000);

/// Frames that an engine sent, and frames that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// That left.
    pub sent: u64,
    /// Different ones that arrived.
    pub received: u64,
}

/// Why an engine sent nothing.
#[derive(Debug, thiserror::Error)]
pub enum NoProof {
    /// The engine cannot be used.
    #[error("{0}")]
    Failed(Failure),
    /// Something went wrong with an agent.
    #[error(transparent)]
    Agent(AgentError),
    /// The agents brought nothing, or figures of another probe.
    #[error("the agents brought figures of another probe")]
    Confused,
    /// The user interrupted.
    #[error("interrupted")]
    Interrupted,
}

/// Sends by one engine from the first end of a bed to the last.
pub fn prove(engine: Engine, session: &mut Session, interrupt: &AtomicBool) -> Result<Proof, NoProof> {
    let bed = session.bed.clone();
    match measure(&step(engine), None, &bed, session.agents(), &mut NoObserver, interrupt) {
        Ok(output) => {
            let (near, far) = output.pairs.into_iter().next().ok_or(NoProof::Confused)?;
            let (sent, received) = counted_frames((near.figures, far.figures)).ok_or(NoProof::Confused)?;
            Ok(Proof { sent, received })
        }
        Err(NoResult::Interrupted) => Err(NoProof::Interrupted),
        Err(NoResult::Failed(AgentError { fault: Fault::Failed(failure), .. })) => Err(NoProof::Failed(*failure)),
        Err(NoResult::Failed(error)) => Err(NoProof::Agent(error)),
    }
}

fn step(engine: Engine) -> Step {
    let (procedure, spec) = ("prove".to_owned(), few_frames(engine, RATE, DURATION));
    Step { procedure, spec, senders: 0..1, repeat: 1, attempt: 1 }
}
