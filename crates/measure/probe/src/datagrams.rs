//! A socket for datagrams: the kernel's, or one past it.

use std::{
    io::{self, IoSlice, IoSliceMut},
    net::{SocketAddr, UdpSocket},
    os::fd::{AsFd, BorrowedFd},
    slice,
    sync::{Arc, mpsc},
};

use grant::{Attachment, Granted, Launcher};
use kernel::datagram::{Incoming, MOST_MESSAGES, Outgoing, ReceivedMessage};
use model::{
    SideSetup, Stack, WaitMode,
    bypass::{Record, Wait},
};
use stack::{Outcome, SocketId};

use crate::{ProbeError, error::socket_error, socket::WOULD_BLOCK};

/// Carrier of the datagrams of one side.
#[derive(Clone)]
pub(crate) enum Carrier {
    /// The kernel's stack.
    Kernel,
    /// One of our own, past the kernel.
    Bypass(Arc<Bypass>),
}

/// The interface of one side, past the kernel.
pub(crate) struct Bypass {
    stack: stack::Stack,
    is_zero_copy: bool,
    /// Follows what changes in the kernel, and takes everything from the interface when it goes.
    launcher: Option<Launcher>,
}

/// A socket that may be connected.
pub(crate) struct Datagrams {
    /// The kernel's socket. With bypass it holds the port, and receives datagrams that still go through the kernel.
    socket: UdpSocket,
    past: Option<(Arc<Bypass>, SocketId)>,
}

impl Carrier {
    /// Prepares the sockets that a spec asks for.
    pub(crate) fn prepare(asked: Stack, mode: WaitMode, setup: &SideSetup) -> Result<Self, ProbeError> {
        match asked {
            Stack::Kernel => Ok(Self::Kernel),
            Stack::Bypass => Ok(Self::Bypass(Arc::new(Bypass::of(&setup.interface, mode)?))),
        }
    }

    /// Takes a socket that is bound.
    pub(crate) fn carry(&self, socket: UdpSocket) -> Result<Datagrams, ProbeError> {
        let past = match self {
            Self::Kernel => None,
            Self::Bypass(bypass) => Some((Arc::clone(bypass), bypass.open(&socket)?)),
        };
        Ok(Datagrams { socket, past })
    }
}

impl Bypass {
    fn of(interface: &str, mode: WaitMode) -> Result<Self, ProbeError> {
        let unable = |why: String| ProbeError::Unable { what: format!("stack = \"bypass\" on {interface}"), why };
        let mut attachment = Attachment::new(&[interface.to_owned()]).map_err(|error| unable(error.to_string()))?;
        if let Some((_, error)) = attachment.refused.pop() {
            return Err(unable(error.to_string()));
        }
        // Its messages are not needed: failures show as datagrams that went through the kernel.
        let (tell, _) = mpsc::channel();
        let wait = if mode == WaitMode::Block { Wait::Sleep } else { Wait::Spin };
        let launcher = Launcher::start(attachment.for_wait(wait), tell).map_err(|error| unable(error.to_string()))?;
        let grant = grant::claim(launcher.name()).map_err(|error| unable(error.to_string()))?;
        let is_zero_copy = grant.interfaces.iter().all(Granted::is_zero_copy);
        let stack = stack::Stack::new(grant, wait).map_err(|error| unable(error.to_string()))?;
        Ok(Self { stack, is_zero_copy, launcher: Some(launcher) })
    }

    fn open(&self, socket: &UdpSocket) -> Result<SocketId, ProbeError> {
        self.stack.open(socket.as_fd()).map_err(|reason| ProbeError::Unable {
            what: "stack = \"bypass\"".to_owned(),
            why: format!("this socket stays with the kernel: {reason}"),
        })
    }

    fn send(&self, id: SocketId, payload: &[u8]) -> Outcome<usize> {
        let pieces = [IoSlice::new(payload)];
        self.stack.send(id, &stack::Outgoing::new(&pieces), 0)
    }

    fn receive(&self, id: SocketId, room: &mut [u8], flags: i32) -> Outcome<ReceivedMessage> {
        let mut pieces = [IoSliceMut::new(room)];
        let mut message = stack::Incoming::new(&mut pieces);
        match self.stack.receive(id, &mut message, flags) {
            Outcome::Done(length) => {
                Outcome::Done(ReceivedMessage { length, is_truncated: message.flags & stack::TRUNCATED != 0 })
            }
            Outcome::Kernel => Outcome::Kernel,
            Outcome::Failed(error) => Outcome::Failed(error),
        }
    }
}

impl Drop for Bypass {
    fn drop(&mut self) {
        if let Some(launcher) = self.launcher.take() {
            // It fails where its thread is ended already, and all that it held with it.
            let _ = launcher.end();
        }
    }
}

impl Datagrams {
    /// Sends one to the peer.
    #[inline]
    pub(crate) fn send(&self, payload: &[u8]) -> io::Result<usize> {
        let Some((bypass, id)) = &self.past else { return self.socket.send(payload) };
        match bypass.send(*id, payload) {
            Outcome::Kernel => self.socket.send(payload).inspect(|length| bypass.stack.sent_by_kernel(*id, *length)),
            past => done(past),
        }
    }

    /// Receives one.
    #[inline]
    pub(crate) fn recv(&self, room: &mut [u8]) -> io::Result<usize> {
        match self.past.as_ref().map_or(Outcome::Kernel, |(bypass, id)| bypass.receive(*id, room, 0)) {
            Outcome::Kernel => self.socket.recv(room),
            past => done(past).map(|took| took.length),
        }
    }

    /// Sends the first so many messages without waiting, and returns how many went.
    pub(crate) fn send_batch(&self, outgoing: &mut Outgoing, messages: usize) -> io::Result<usize> {
        let Some((bypass, id)) = &self.past else { return outgoing.send(&self.socket, 0..messages) };
        let mut pieces = [IoSlice::new(&[]); MOST_MESSAGES];
        let pieces = &mut pieces[..messages];
        for (index, piece) in pieces.iter_mut().enumerate() {
            *piece = IoSlice::new(outgoing.bytes(index));
        }
        let each = |piece| stack::Outgoing::new(slice::from_ref(piece));
        match bypass.stack.send_many(*id, pieces.iter().map(each), 0, |_, _| {}) {
            (0, Some(Outcome::Kernel)) => {
                let sent = outgoing.send(&self.socket, 0..messages)?;
                (0..sent).for_each(|index| bypass.stack.sent_by_kernel(*id, outgoing.bytes(index).len()));
                Ok(sent)
            }
            (0, Some(failed)) => done(failed).map(|_| 0),
            (went, _) => Ok(went),
        }
    }

    /// Receives as [`Incoming::receive`] does.
    pub(crate) fn receive_batch(&self, incoming: &mut Incoming, wait: bool) -> io::Result<usize> {
        let Some((bypass, id)) = &self.past else { return incoming.receive(&self.socket, wait) };
        let mut is_left = false;
        let received = incoming.receive_by(|index, room| {
            let flags = if wait && index == 0 { 0 } else { stack::DO_NOT_WAIT };
            match bypass.receive(*id, room, flags) {
                Outcome::Kernel => {
                    is_left = index == 0;
                    Err(WOULD_BLOCK.into())
                }
                past => done(past),
            }
        });
        // A socket that was left to the kernel has nothing past it any more.
        if is_left { incoming.receive(&self.socket, wait) } else { received }
    }

    /// Datagrams, each way, that went through the kernel, where they were to go past it.
    pub(crate) fn through_kernel(&self) -> Option<u64> {
        let through = self.record()?.through;
        Some(through.sent + through.received)
    }

    /// Whether the card reads and writes their memory itself; `None` where the kernel's stack does.
    pub(crate) fn is_zero_copy(&self) -> Option<bool> {
        self.past.as_ref().map(|(bypass, _)| bypass.is_zero_copy)
    }

    /// Datagrams that were dropped because what waits for this socket was full, in the kernel and past it.
    pub(crate) fn overflowed(&self) -> Result<u64, kernel::Error> {
        let past = self.record().map_or(0, |record| record.dropped);
        Ok(kernel::socket::drops(&self.socket)? + past)
    }

    fn record(&self) -> Option<Record> {
        let (bypass, id) = self.past.as_ref()?;
        bypass.stack.record(*id)
    }

    /// Whether it is past the kernel, whose buffers hold more than the rings while a thread sleeps.
    pub(crate) fn is_past_the_kernel(&self) -> bool {
        self.past.is_some()
    }

    /// The kernel's.
    pub(crate) fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// Connects, and hears the peer alone from now on.
    pub(crate) fn connect(&mut self, peer: SocketAddr) -> Result<(), ProbeError> {
        self.socket.connect(peer).map_err(socket_error("connect to", peer))?;
        self.look_again()
    }

    /// To be called after a change of the kernel's socket.
    fn look_again(&self) -> Result<(), ProbeError> {
        let Some((bypass, id)) = &self.past else { return Ok(()) };
        bypass.stack.refresh(*id, self.socket.as_fd()).map_err(|reason| ProbeError::Unable {
            what: "stack = \"bypass\"".to_owned(),
            why: format!("this socket stays with the kernel: {reason}"),
        })
    }
}

impl AsFd for Datagrams {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Datagrams {
    fn drop(&mut self) {
        if let Some((bypass, id)) = &self.past {
            bypass.stack.close(*id);
        }
    }
}

fn done<T>(outcome: Outcome<T>) -> io::Result<T> {
    match outcome {
        Outcome::Done(value) => Ok(value),
        Outcome::Failed(error) => Err(io::Error::from_raw_os_error(error)),
        Outcome::Kernel => Err(WOULD_BLOCK.into()),
    }
}
