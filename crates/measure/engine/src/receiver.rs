//! Counts what arrives: in the driver of an interface, or, without privilege, by a UDP socket.

mod sockets;

use std::net::IpAddr;

use frame::Compiled;
use model::Nanos;
pub use xdp::receiver::{Counted as ReceivedStream, Times};

use crate::{EngineError, Job};
pub use sockets::SocketReceiver;

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
    /// Whether [`crate::Pktgen`] sends: then frames carry its number, whose checksums nobody verifies.
    pub pktgen: bool,
    /// Whether the time between the frames of each sequence is taken, which costs a reading of the clock each.
    pub gaps: bool,
}

impl Receive {
    /// What this job sends: its checksums are verified, and no time is taken but what the frames carry.
    pub fn of(job: &Job) -> Self {
        let (token, sequences) = (job.token, job.sequences());
        Self { token, sequences, verify: true, per_flow: false, pktgen: false, gaps: false }
    }
}

/// What arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Each numbered sequence, by its number in the tag.
    pub numbered: Vec<ReceivedStream>,
    /// Frames that were not ours.
    pub others: u64,
    /// How far behind the highest number one is told from a copy for certain.
    pub window: u64,
    /// When the first and the last of ours came (`CLOCK_MONOTONIC`); `None` where the receiver takes no time of each.
    pub span: Option<(Nanos, Nanos)>,
}

/// Something that counts what arrives, until it is dropped.
pub trait Counter: Send {
    /// What came so far.
    fn read(&self) -> Result<Received, EngineError>;
}

/// Counts in the driver of an interface (native XDP), and passes on to the kernel what is not ours; detached when dropped, and when
/// the process ends, however it does.
pub struct Receiver(xdp::Receiver);

impl Receiver {
    /// Attaches it to an interface of the caller's namespace.
    pub fn attach(interface: &str, what: &Receive) -> Result<Self, EngineError> {
        let Receive { token, sequences, verify, per_flow, pktgen, gaps } = what.clone();
        let options = xdp::receiver::Options { token, sequences, verify, per_flow, pktgen, gaps };
        Ok(Self(xdp::Receiver::attach(interface, &options)?))
    }
}

impl Counter for Receiver {
    fn read(&self) -> Result<Received, EngineError> {
        let (numbered, others) = (self.0.read()?, self.0.others()?);
        Ok(Received { numbered, others, window: xdp::receiver::WINDOW, span: None })
    }
}

/// Where packets are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the driver, or not at all.
    Driver,
    /// By a UDP socket on this core, or on any.
    Socket(Option<usize>),
    /// In the driver where it takes our program, else by a socket on this core, or on any.
    Any(Option<usize>),
}

/// A receiver at work.
pub struct Attached {
    /// What counts.
    pub counter: Box<dyn Counter>,
    /// The port of the socket that counts; `None` where the driver does, at all of them.
    pub port: Option<u16>,
}

/// Counts from now on, what comes to an interface of the caller's namespace and this address of it.
pub fn attach(interface: &str, local: IpAddr, what: &Receive, place: Place) -> Result<Attached, EngineError> {
    let in_driver = || Receiver::attach(interface, what).map(|it| Attached { counter: Box::new(it), port: None });
    let by_socket = |core| {
        let socket = SocketReceiver::open(local, what, core)?;
        Ok(Attached { port: Some(socket.port()), counter: Box::new(socket) })
    };
    match place {
        Place::Driver => in_driver(),
        Place::Socket(core) => by_socket(core),
        Place::Any(core) => match in_driver() {
            Err(error) if error.is_of_driver() => by_socket(core),
            result => result,
        },
    }
}

impl Received {
    /// Frames of all sequences, each number once.
    pub fn frames(&self) -> u64 {
        self.numbered.iter().map(|stream| stream.frames).sum()
    }
}
