//! The means by which a program goes past the kernel, and where they come from.

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

/// Frames for each entry of a ring: one in the fill ring, one that a socket holds, one on its way out, and one to
/// spare.
const FRAMES_AN_ENTRY: u32 = 4;

/// All that a program needs to go past the kernel.
pub struct Grant {
    /// The page that it shares with the launcher.
    pub control: Control,
    /// Flows that come past the kernel; empty at first.
    pub flows: FlowTable,
    /// The memory that packets lie in.
    pub umem: Umem,
    /// Frames that are in no ring.
    pub frames: Vec<Frame>,
    /// The interfaces, by the numbers that [`Control::is_gone`] knows them by.
    pub interfaces: Vec<Granted>,
    /// Entries of each ring.
    pub ring: u32,
    /// The connection to the launcher of another process: it ends the claim when it is closed.
    pub claim: Option<OwnedFd>,
}

/// One interface of a grant.
pub struct Granted {
    /// Its name.
    pub name: String,
    /// Its number in its network namespace.
    pub index: u32,
    /// Its own address.
    pub mac: [u8; 6],
    /// Its MTU in bytes, when the grant was made.
    pub mtu: u32,
    /// Whether it hands over packets whose UDP checksum is that of the pseudo header alone (`CHECKSUM_PARTIAL`), as
    /// virtual drivers do.
    pub partial_checksums: bool,
    /// A socket for each of its queues, in their order, both ways.
    pub queues: Vec<Socket>,
}

/// The steering program on some interfaces, from which grants come, one after the other; it is gone when dropped, or
/// when the process ends.
pub struct Attachment {
    steer: Steer,
    interfaces: Vec<Facts>,
    frame_size: FrameSize,
    ring: u32,
    pub(crate) wait: Wait,
    /// Interfaces that were asked for and are not among them, and why.
    pub refused: Vec<(String, GrantError)>,
}

impl Grant {
    /// Attaches to interfaces of the caller's network namespace and grants them to this process.
    ///
    /// # Errors
    /// Also where one of the interfaces alone cannot be had.
    pub fn make(interfaces: &[String]) -> Result<(Attachment, Self), GrantError> {
        let mut attachment = Attachment::new(interfaces)?;
        if let Some((_, error)) = attachment.refused.pop() {
            return Err(error);
        }
        let grant = attachment.grant()?;
        Ok((attachment, grant))
    }

    /// Its descriptors. A child that was forked has them too: as long as it does not close them, nobody else can have
    /// the queues.
    pub fn descriptors(&self) -> impl Iterator<Item = RawFd> {
        let sockets = self.interfaces.iter().flat_map(|interface| interface.queues.iter().map(AsFd::as_fd));
        let others = [self.control.file(), self.umem.file(), self.claim.as_ref().map(AsFd::as_fd)];
        sockets.chain(others.into_iter().flatten()).map(|fd| fd.as_raw_fd())
    }
}

impl Attachment {
    /// Attaches to those of the interfaces that can be had; of the others [`refused`](Self::refused) says why not.
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
        Ok(Self { steer, interfaces: attached, frame_size, ring, wait: Wait::default(), refused })
    }

    /// For programs whose calls wait like this: where they ask again and again, zero-copy cards are polled by them.
    pub fn for_wait(self, wait: Wait) -> Self {
        Self { wait, ..self }
    }

    /// Names of the interfaces that it is attached to and their numbers in the network namespace, in the order of each
    /// grant.
    pub fn interfaces(&self) -> impl Iterator<Item = (&str, u32)> {
        self.interfaces.iter().map(|facts| (facts.name.as_str(), facts.index))
    }

    /// Fresh memory and sockets, and no flows. What was granted before has to be dropped first, as a queue has one
    /// socket at a time; it is waited for a moment. An interface that is gone, or has lost the program, has no queues in it.
    ///
    /// # Errors
    /// Also where that goes for all of them.
    pub fn grant(&mut self) -> Result<Grant, GrantError> {
        let call = |call| move |io| GrantError::Call { call, io };
        let mut flows = FlowTable::map(&self.steer.table()?).map_err(call("mmap of the flow table"))?;
        flows.clear();
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

    /// How many queues of each interface can be had.
    fn there(&self) -> Result<Vec<u32>, GrantError> {
        let links = link::list()?;
        let queues = |facts: &Facts| {
            let is_there = links.iter().any(|link| link.index == facts.index)
                && self.attachment(&facts.name)? == steer::Attachment::There;
            Ok(if is_there { facts.queues } else { 0 })
        };
        self.interfaces.iter().map(queues).collect()
    }

    /// The descriptor of the table of flows.
    pub(crate) fn table(&self) -> Result<OwnedFd, GrantError> {
        Ok(self.steer.table()?)
    }

    /// What the steering program did since it was attached.
    pub fn counters(&self) -> Result<Steering, GrantError> {
        let steer::Counters { taken, no_flow, no_socket, too_large } = self.steer.counters()?;
        Ok(Steering { taken, no_flow, no_socket, too_large })
    }

    /// Has the steering program know the addresses that interfaces have by now.
    pub(crate) fn follow(&mut self, links: &[Link]) -> Result<(), GrantError> {
        let Self { steer, interfaces, .. } = self;
        for facts in interfaces {
            let mac = links.iter().find(|link| link.index == facts.index).and_then(|link| link.mac.parse().ok());
            mac.map_or(Ok(()), |mac| steer.follow(facts.index, mac))?;
        }
        Ok(())
    }

    /// What has become of the program on an interface.
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

/// How each socket is opened, and adopted.
pub(crate) fn options(interface: &str, queue: u32, ring: u32) -> Options {
    Options { send: Some(ring), receive: Some(ring), ..Options::new(interface, queue) }
}

impl Granted {
    /// Whether the card reads and writes the memory of packets itself, on all of its queues.
    pub fn is_zero_copy(&self) -> bool {
        self.queues.iter().all(Socket::is_zero_copy)
    }

    /// Whether its queues are polled by who looks for packets.
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
