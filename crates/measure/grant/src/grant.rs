//! The resources with which a program bypasses the kernel, and their source.

mod facts;

use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use kernel::link::{self, Link};
use model::{
    bypass::{Hindrance, Steering, Wait},
    stream::Mac,
};
use xdp::{
    Steer,
    socket::{Frame, FrameSize, Options, Socket, SocketError, Umem},
    steer::{self, FlowTable},
};

use crate::{Control, GrantError};
use facts::Facts;

/// Frames per ring entry: one in the fill ring, one held by a socket, one on its way out, and one spare.
const FRAMES_AN_ENTRY: u32 = 4;

/// The resources with which a program bypasses the kernel.
pub struct Grant {
    /// The page shared with the launcher.
    pub control: Control,
    /// Flows that bypass the kernel; empty at first.
    pub flows: FlowTable,
    /// Packet memory.
    pub umem: Umem,
    /// Frames in no ring.
    pub frames: Vec<Frame>,
    /// The interfaces, by the indices of [`Control::is_gone`].
    pub interfaces: Vec<Granted>,
    /// Entries of each ring.
    pub ring: u32,
    /// Connection to the launcher, in another process: closing it ends the claim.
    pub claim: Option<OwnedFd>,
}

/// One interface of a grant.
pub struct Granted {
    /// Name.
    pub name: String,
    /// Index in its network namespace.
    pub index: u32,
    /// MAC address.
    pub mac: [u8; 6],
    /// MTU in bytes at the time of the grant.
    pub mtu: u32,
    /// Whether its packets may hold a UDP checksum of the pseudo header only (`CHECKSUM_PARTIAL`), as with virtual
    /// drivers.
    pub partial_checksums: bool,
    /// A socket for each of its queues, in order, for both directions.
    pub queues: Vec<Socket>,
}

/// The steering program on some interfaces, the source of consecutive grants. It is detached when this is dropped, or
/// when the process ends.
pub struct Attachment {
    steer: Steer,
    interfaces: Vec<Facts>,
    frame_size: FrameSize,
    ring: u32,
    /// Whether the table and the map of sockets are those of an earlier grant.
    is_used: bool,
    pub(crate) wait: Wait,
    /// Requested interfaces that are not attached, with the reasons.
    pub refused: Vec<(String, GrantError)>,
}

impl Grant {
    /// Attaches to interfaces of the caller's network namespace and grants them to this process.
    ///
    /// # Errors
    /// Also if a single one of the interfaces is unavailable.
    pub fn make(interfaces: &[String]) -> Result<(Attachment, Self), GrantError> {
        let mut attachment = Attachment::new(interfaces)?;
        if let Some((_, error)) = attachment.refused.pop() {
            return Err(error);
        }
        let grant = attachment.grant()?;
        Ok((attachment, grant))
    }

    /// Descriptors. A forked child has them too, and blocks the queues until it closes them.
    pub fn descriptors(&self) -> impl Iterator<Item = RawFd> {
        let sockets = self.interfaces.iter().flat_map(|interface| interface.queues.iter().map(AsFd::as_fd));
        let others = [self.control.file(), self.umem.file(), self.claim.as_ref().map(AsFd::as_fd)];
        sockets.chain(others.into_iter().flatten()).map(|fd| fd.as_raw_fd())
    }
}

impl Attachment {
    /// Attaches to the available interfaces; [`refused`](Self::refused) lists the others with the reasons.
    pub fn new(interfaces: &[String]) -> Result<Self, GrantError> {
        let links = link::list()?;
        let (mut there, mut refused): (Vec<Facts>, _) = (Vec::new(), Vec::new());
        for name in interfaces {
            match Facts::read(name, &links) {
                Ok(facts) => there.push(facts),
                Err(error) => refused.push((name.clone(), error)),
            }
        }
        let frame_size = facts::frame_size(&there);
        let queues = there.iter().map(|facts| facts.queues).sum();
        let mut steer = Steer::load(queues)?;
        let mut attached = Vec::new();
        for facts in there {
            match steer.attach(&facts.name, Mac(facts.mac), facts.queues, facts::room(frame_size)) {
                Ok(()) => attached.push(facts),
                Err(error) => refused.push((facts.name, not_attached(error))),
            }
        }
        let ring = facts::ring(queues, frame_size);
        Ok(Self { steer, interfaces: attached, frame_size, ring, is_used: false, wait: Wait::default(), refused })
    }

    /// For programs whose calls wait like this: spinning programs poll zero-copy cards themselves.
    pub fn for_wait(self, wait: Wait) -> Self {
        Self { wait, ..self }
    }

    /// Names and indices of the attached interfaces, in the order of each grant.
    pub fn interfaces(&self) -> impl Iterator<Item = (&str, u32)> {
        self.interfaces.iter().map(|facts| (facts.name.as_str(), facts.index))
    }

    /// Creates memory, sockets and an empty flow table. An interface that no longer exists, or has lost the program, gets no queues.
    ///
    /// Descriptors of earlier grants, which a program may have passed on, steer and receive nothing any more.
    ///
    /// A queue has one socket at a time: drop the previous grant first. Its release is awaited for a moment.
    ///
    /// # Errors
    /// Also if this applies to all interfaces.
    pub fn grant(&mut self) -> Result<Grant, GrantError> {
        let call = |call| move |io| GrantError::Call { call, io };
        if std::mem::replace(&mut self.is_used, true) {
            self.steer.renew()?;
        }
        let flows = FlowTable::map(&self.steer.table()?).map_err(call("mmap of the flow table"))?;
        let there = self.there()?;
        let queues: u32 = there.iter().sum();
        if queues == 0 {
            return Err(Hindrance::AllGone.into());
        }
        let (umem, mut frames) = Umem::shared(queues * self.ring * FRAMES_AN_ENTRY, self.frame_size)?;
        let mut interfaces = Vec::new();
        let busy_poll = facts::busy_poll(self.wait);
        for (facts, queues) in self.interfaces.iter().zip(there) {
            let options = |queue| Options { busy_poll, ..options(&facts.name, queue, self.ring) };
            let sockets = (0..queues).map(|queue| Socket::open(&umem, &options(queue), &mut frames));
            let queues = sockets.collect::<Result<Vec<_>, _>>().map_err(held)?;
            for (queue, socket) in (0..).zip(&queues) {
                self.steer.add(&facts.name, queue, socket)?;
            }
            interfaces.push(facts.granted(queues));
        }
        let control = Control::new().map_err(call("memfd_create"))?;
        Ok(Grant { control, flows, umem, frames, interfaces, ring: self.ring, claim: None })
    }

    /// Number of available queues of each interface.
    fn there(&self) -> Result<Vec<u32>, GrantError> {
        let links = link::list()?;
        let queues = |facts: &Facts| {
            let is_there = links.iter().any(|link| link.index == facts.index)
                && self.attachment(&facts.name)? == steer::Attachment::There;
            Ok(if is_there { facts.queues } else { 0 })
        };
        self.interfaces.iter().map(queues).collect()
    }

    /// Descriptor of the flow table.
    pub(crate) fn table(&self) -> Result<OwnedFd, GrantError> {
        Ok(self.steer.table()?)
    }

    /// Counters of the steering program since it was attached.
    pub fn counters(&self) -> Result<Steering, GrantError> {
        let steer::Counters { taken, no_flow, no_socket, too_large } = self.steer.counters()?;
        Ok(Steering { taken, no_flow, no_socket, too_large })
    }

    /// Updates the interfaces' addresses in the steering program.
    pub(crate) fn follow(&mut self, links: &[Link]) -> Result<(), GrantError> {
        let Self { steer, interfaces, .. } = self;
        for facts in interfaces {
            let mac = links.iter().find(|link| link.index == facts.index).and_then(|link| link.mac.parse().ok());
            mac.map_or(Ok(()), |mac| steer.follow(facts.index, mac))?;
        }
        Ok(())
    }

    /// State of the program on an interface.
    pub fn attachment(&self, interface: &str) -> Result<steer::Attachment, GrantError> {
        Ok(self.steer.attachment(interface)?)
    }
}

fn not_attached(error: xdp::Error) -> GrantError {
    match error {
        xdp::Error::NoXdp(interface) => Hindrance::NoXdp { interface }.into(),
        xdp::Error::Busy(interface) => Hindrance::OtherProgram { interface }.into(),
        error => error.into(),
    }
}

fn held(error: SocketError) -> GrantError {
    match error {
        SocketError::Busy { interface, queue } => Hindrance::Held { interface, queue }.into(),
        error => error.into(),
    }
}

/// Options with which each socket is opened and adopted.
pub(crate) fn options(interface: &str, queue: u32, ring: u32) -> Options {
    Options { send: Some(ring), receive: Some(ring), ..Options::new(interface, queue) }
}

impl Granted {
    /// Whether the card accesses packet memory itself, on all of its queues.
    pub fn is_zero_copy(&self) -> bool {
        self.queues.iter().all(Socket::is_zero_copy)
    }

    /// Whether readers poll its queues.
    pub fn is_busy_polled(&self) -> bool {
        self.queues.iter().any(Socket::is_busy_polled)
    }
}

impl Facts {
    fn granted(&self, queues: Vec<Socket>) -> Granted {
        let Self { name, index, mac, mtu, partial_checksums, .. } = self.clone();
        Granted { name, index, mac, mtu, partial_checksums, queues }
    }
}
