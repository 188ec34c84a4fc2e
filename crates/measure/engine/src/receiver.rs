//! Counts arrivals: in the driver of an interface or, without privilege, by a UDP socket.

mod sockets;

use std::net::IpAddr;

use model::Nanos;
pub use xdp::receiver::{Counted as ReceivedStream, Options as ReceiverOptions, Times};

use crate::{EngineError, Job};
pub use sockets::SocketReceiver;

impl Job {
    /// Options of a receiver for this job: with checksums and payloads, without gaps.
    pub fn receiver_options(&self) -> ReceiverOptions {
        ReceiverOptions {
            token: self.token,
            sequences: self.sequences(),
            verify: true,
            per_flow: false,
            pktgen: false,
            gaps: false,
            compare: true,
        }
    }
}

/// Counters of arrivals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Each numbered sequence, by its number in the tag.
    pub numbered: Vec<ReceivedStream>,
    /// Other frames.
    pub others: u64,
    /// Largest distance from the highest number at which duplicates are still detected.
    pub window: u64,
    /// Time of our first and last frame (`CLOCK_MONOTONIC`); `None` if the receiver does not measure it.
    pub span: Option<(Nanos, Nanos)>,
}

/// Counts arrivals until it is dropped.
pub trait Counter: Send {
    /// Current counters.
    fn read(&self) -> Result<Received, EngineError>;
}

/// Counts in the driver of an interface (native XDP), and passes other frames to the kernel. It is detached when
/// dropped, or when the process ends in any way.
pub struct Receiver(xdp::Receiver);

impl Receiver {
    /// Attaches to an interface of the caller's namespace.
    pub fn attach(interface: &str, what: &ReceiverOptions) -> Result<Self, EngineError> {
        Ok(Self(xdp::Receiver::attach(interface, what)?))
    }
}

impl Counter for Receiver {
    fn read(&self) -> Result<Received, EngineError> {
        let (numbered, others) = (self.0.read()?, self.0.others()?);
        Ok(Received { numbered, others, window: xdp::receiver::WINDOW, span: None })
    }
}

/// Place of counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Only in the driver.
    Driver,
    /// By a UDP socket on this core, or on any.
    Socket(Option<usize>),
    /// In the driver if it accepts our program, otherwise by a socket on this core, or on any.
    Any(Option<usize>),
}

/// An attached receiver.
pub struct Attached {
    /// The counter.
    pub counter: Box<dyn Counter>,
    /// Port of the counting socket; `None` if the driver counts, on all ports.
    pub port: Option<u16>,
}

/// Counts arrivals at an interface of the caller's namespace and this address of it, from now on.
pub fn attach(interface: &str, local: IpAddr, what: &ReceiverOptions, place: Place) -> Result<Attached, EngineError> {
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
