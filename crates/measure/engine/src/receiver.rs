//! Counts what arrives.

use frame::Compiled;
pub use xdp::receiver::{Counted as ReceivedStream, Latency as Times};

use crate::EngineError;

/// What to receive.
#[derive(Clone, Debug)]
pub struct Receive {
    /// The job's.
    pub token: u16,
    /// Each numbered sequence's stream, as [`crate::Job::sequences`] says.
    pub sequences: Vec<Compiled>,
    /// Whether the checksum of each frame is verified, so that corrupt ones are told from good ones.
    pub verify: bool,
    /// Whether each flow is taken for a sequence of its own: where a path may reorder flows among each other.
    pub per_flow: bool,
}

/// What arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Each numbered sequence, by its number in the tag.
    pub numbered: Vec<ReceivedStream>,
    /// Frames that were not ours, and went on to the kernel.
    pub others: u64,
}

/// Counts in the driver of an interface (native XDP); detached when dropped, and when the process ends, however it does.
pub struct Receiver(xdp::Receiver);

impl Receiver {
    /// Attaches it to an interface of the caller's namespace.
    pub fn attach(interface: &str, what: &Receive) -> Result<Self, EngineError> {
        let Receive { token, sequences, verify, per_flow } = what.clone();
        let options = xdp::receiver::Options { token, sequences, verify, per_flow };
        Ok(Self(xdp::Receiver::attach(interface, &options)?))
    }

    /// What came so far.
    pub fn read(&self) -> Result<Received, EngineError> {
        Ok(Received { numbered: self.0.read()?, others: self.0.others()? })
    }
}

impl Received {
    /// Frames of all sequences, each number once.
    pub fn frames(&self) -> u64 {
        self.numbered.iter().map(|stream| stream.frames).sum()
    }
}
