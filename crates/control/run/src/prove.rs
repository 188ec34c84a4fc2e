//! Whether an engine works: a few numbered frames from one end of a bed to the other.

use std::sync::atomic::AtomicBool;

use bed::Session;
use model::{
    Direction, Engine, Nanos, PacketRate, PacketsSpec, ProbeSpec, SideFigures, Stream,
    plan::Step,
    stream::{Load, Pacing, Rate},
};
use protocol::{AgentError, Fault};

use crate::{
    alone::Unwatched,
    measure::{NoResult, measure},
};

/// A load that every engine keeps on every machine.
const RATE: PacketRate = PacketRate(2_000);
/// Longer than it takes a slow machine to start the threads.
const DURATION: Nanos = Nanos(100_000_000);

/// Frames that an engine sent, and those that came of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// That left.
    pub sent: u64,
    /// Different ones that arrived.
    pub received: u64,
}

/// Sends by one engine from the first end of a bed to the last; the error says why it cannot, in English.
pub fn prove(engine: Engine, session: &mut Session, interrupt: &AtomicBool) -> Result<Proof, String> {
    let bed = session.bed.clone();
    match measure(&step(engine), &bed, session.agents(), &mut Unwatched, interrupt) {
        Ok(brought) => {
            let (near, far) = brought.pairs.into_iter().next().ok_or("nobody sent")?;
            match (near.figures, far.figures) {
                (SideFigures::Packets(near), SideFigures::Packets(far)) => Ok(Proof {
                    sent: near.sent.iter().map(|stream| stream.frames).sum(),
                    received: far.received.iter().map(|stream| stream.frames).sum(),
                }),
                _ => Err("the agents brought figures of another probe".to_owned()),
            }
        }
        Err(NoResult::Interrupted) => Err("interrupted".to_owned()),
        Err(NoResult::Failed(AgentError { fault: Fault::Failed(failure), .. })) => Err(failure.text),
        Err(NoResult::Failed(error)) => Err(error.to_string()),
    }
}

fn step(engine: Engine) -> Step {
    let load = Load { rate: Rate::Packets(RATE), pacing: Pacing::Constant };
    let spec = PacketsSpec {
        streams: vec![Stream { load, ..Stream::default() }],
        direction: Direction::Forward,
        duration: DURATION,
        engine: Some(engine),
        mtu: None,
    };
    Step { repeat: 1, spec: ProbeSpec::Packets(spec), senders: 0..1 }
}
