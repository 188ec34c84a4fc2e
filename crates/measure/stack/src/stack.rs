//! All sockets of a process that go past the kernel.

mod left;
mod sending;
mod sleep;
pub(crate) mod waits;

use std::{
    io,
    os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd},
    sync::{Arc, Mutex, MutexGuard, atomic::AtomicBool},
    time::Duration,
};

pub use datagram::SocketId;
pub use sleep::Asleep;
pub(crate) use sleep::Sleepers;

use rustix::event::{
    EventfdFlags,
    epoll::{self, CreateFlags, EventData, EventFlags},
    eventfd,
};

use crate::{
    Control, Grant, Granted, Reason,
    aside::aside,
    calls,
    control::Record,
    engine::{Engine, Received},
    message::{Incoming, Outcome, Wait},
    wiped::Family,
};

/// Flags of recvmsg(2) that are known here.
const KNOWN_FLAGS: i32 = libc::MSG_DONTWAIT
    | libc::MSG_PEEK
    | libc::MSG_TRUNC
    | libc::MSG_WAITALL
    | libc::MSG_NOSIGNAL
    | libc::MSG_CMSG_CLOEXEC
    | libc::MSG_WAITFORONE;

/// All sockets of a process that go past the kernel; one a process, used by all its threads.
///
/// Each socket is named by a number that [`open`](Self::open) gives. Its descriptor, the *shadow*, stays the kernel's: what comes for it
/// through the kernel is received too. In a child of the process all is answered by [`Outcome::Kernel`].
pub struct Stack {
    engine: Mutex<Engine>,
    /// Where sockets are written down, also while somebody has the engine.
    page: Arc<Control>,
    /// Whether zero-copy cards are polled.
    has_cards: bool,
    wait: Wait,
    family: Family,
    /// Becomes readable when something comes in, or when what came was put into a queue by another thread than those asleep.
    poll: OwnedFd,
    number: [RawFd; 1],
    came: OwnedFd,
    /// Whether `poll` looks at the interfaces' queues. Each packet costs time for that, so that it begins when somebody first sleeps.
    watched: AtomicBool,
}

impl Stack {
    /// Has the use of what was granted.
    ///
    /// # Errors
    /// Where the kernel has no descriptors or memory left.
    pub fn new(grant: Grant, wait: Wait) -> io::Result<Self> {
        let has_cards = grant.interfaces.iter().any(Granted::is_busy_polled);
        let engine = Engine::new(grant);
        let poll = aside(epoll::create(CreateFlags::CLOEXEC)?);
        let came = aside(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        epoll::add(&poll, &came, EventData::new_u64(0), EventFlags::IN)?;
        let family = Family::found()?;
        let number = [poll.as_raw_fd()];
        Ok(Self {
            page: engine.page(),
            engine: Mutex::new(engine),
            has_cards,
            wait,
            family,
            number,
            poll,
            came,
            watched: AtomicBool::new(false),
        })
    }

    /// A panic leaves no more than counts that are not right; what it was about goes on by the kernel.
    fn engine(&self) -> MutexGuard<'_, Engine> {
        self.engine.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Looks at a descriptor of the kernel's, and takes its flows.
    ///
    /// # Errors
    /// Why it stays with the kernel.
    pub fn open(&self, fd: BorrowedFd<'_>) -> Result<SocketId, Reason> {
        self.opens(fd, false)
    }

    /// The same also for what the kernel has just now, but not for good, as another process has its port too or its link is down: it goes past the
    /// kernel as soon as it can.
    ///
    /// # Errors
    /// Why it stays with the kernel.
    pub fn open_for_later(&self, fd: BorrowedFd<'_>) -> Result<SocketId, Reason> {
        self.opens(fd, true)
    }

    fn opens(&self, fd: BorrowedFd<'_>, later: bool) -> Result<SocketId, Reason> {
        if self.family.is_child() {
            return Err(Reason::Forked);
        }
        let mut engine = self.engine();
        let opened = engine.open(fd, later);
        // What had come until then is in the queues of others by now.
        self.tell_sleepers(&mut engine);
        opened
    }

    /// Looks again, after `connect`, `bind`, `setsockopt` or `fcntl` on it, or where another descriptor (`dup`) stands for it from now on.
    ///
    /// # Errors
    /// Why it is with the kernel from now on; the number stands for nothing then, and what waited in its queue is lost.
    pub fn refresh(&self, id: SocketId, fd: BorrowedFd<'_>) -> Result<(), Reason> {
        if self.family.is_child() {
            return Err(Reason::Forked);
        }
        let mut engine = self.engine();
        let refreshed = engine.refresh(id, fd);
        self.tell_sleepers(&mut engine);
        refreshed
    }

    /// Gives its flows back, where its last descriptor goes. To be called before that is closed: what waits in its queue is lost.
    pub fn close(&self, id: SocketId) {
        if !self.family.is_child() {
            let mut engine = self.engine();
            engine.close(id);
            // Who waits for it waits in vain.
            engine.queued = true;
            self.tell_sleepers(&mut engine);
        }
    }

    /// Whether a socket past the kernel has this port.
    pub(crate) fn has_port(&self, port: u16) -> bool {
        !self.family.is_child() && self.engine().has_port(port)
    }

    /// What it has done so far, past the kernel and through it.
    pub fn record(&self, id: SocketId) -> Option<Record> {
        self.engine().record(id)
    }

    /// Receives a datagram, also one that came through the kernel; returns the bytes that were written, or all that it has with `MSG_TRUNC`. It
    /// waits as the socket and `flags` (as of recvmsg(2)) say.
    pub fn receive(&self, id: SocketId, message: &mut Incoming<'_, '_>, flags: i32) -> Outcome<usize> {
        match self.try_receive(id, message, flags) {
            Tried::Over(outcome) => outcome,
            Tried::Nothing { waits: false, .. } => Outcome::Failed(libc::EAGAIN),
            Tried::Nothing { fd, .. } => self.receive_patiently(id, fd, message, flags),
        }
    }

    /// The same, but that waiting is the caller's.
    #[inline]
    pub(crate) fn try_receive(&self, id: SocketId, message: &mut Incoming<'_, '_>, flags: i32) -> Tried {
        if self.family.is_child() || flags & !KNOWN_FLAGS != 0 {
            return Tried::Over(Outcome::Kernel);
        }
        self.receive_at_once(id, message, flags)
    }

    #[inline]
    fn receive_at_once(&self, id: SocketId, message: &mut Incoming<'_, '_>, flags: i32) -> Tried {
        let mut engine = self.engine();
        let received = engine.receive(id, message, flags);
        self.tell_sleepers(&mut engine);
        drop(engine);
        let waits = |nonblocking: bool| !nonblocking && flags & libc::MSG_DONTWAIT == 0;
        match received {
            Received::Done(length) => Tried::Over(Outcome::Done(length)),
            Received::NotOurs => Tried::Over(Outcome::Kernel),
            Received::Nothing { nonblocking, fd } => Tried::Nothing { waits: waits(nonblocking), fd },
            Received::Ask { fd, is_sure } => self.ask_kernel(id, fd, is_sure, message, flags),
        }
    }

    /// What the kernel has of it.
    #[cold]
    fn ask_kernel(&self, id: SocketId, fd: RawFd, is_sure: bool, message: &mut Incoming<'_, '_>, flags: i32) -> Tried {
        match calls::receive(fd, message, flags & !libc::MSG_WAITFORONE) {
            Ok(length) => {
                let mut engine = self.engine();
                if flags & libc::MSG_PEEK == 0 {
                    engine.count_received_through(id, length);
                }
                // It may have more, and has not said that it has none.
                engine.ask_soon(id);
                Tried::Over(Outcome::Done(length))
            }
            Err(libc::EAGAIN) => {
                let nonblocking = is_sure || calls::is_nonblocking(fd);
                let mut engine = self.engine();
                engine.set_nonblocking(id, nonblocking);
                engine.has_none_before(id);
                // The kernel was asked out of turn, while something of ours waits.
                let received = engine.receive(id, message, flags);
                self.tell_sleepers(&mut engine);
                match received {
                    Received::Done(length) => Tried::Over(Outcome::Done(length)),
                    _ => Tried::Nothing { waits: !nonblocking && flags & libc::MSG_DONTWAIT == 0, fd },
                }
            }
            Err(errno) => Tried::Over(Outcome::Failed(errno)),
        }
    }

    /// Whether a datagram of ours waits; the shadow is the caller's to ask (poll(2)).
    pub fn readable(&self, id: SocketId) -> bool {
        if self.family.is_child() {
            return false;
        }
        let mut engine = self.engine();
        engine.has_waiting(id) || self.pump_into(&mut engine) && engine.has_waiting(id)
    }

    /// Whether a datagram can be sent at once. It always can: what has no room goes through the kernel.
    pub fn writable(&self, _id: SocketId) -> bool {
        true
    }

    /// How many datagrams have come for a socket past the kernel, as a number that changes with each: for who wants to know of changes alone.
    pub fn arrivals(&self, id: SocketId) -> u64 {
        if self.family.is_child() { 0 } else { self.engine().arrivals(id) }
    }

    /// The kernel says that it has something for a socket: it is asked with the next call, however soon that comes.
    pub fn ask_soon(&self, id: SocketId) {
        if !self.family.is_child() {
            self.engine().ask_soon(id);
        }
    }

    /// Bytes of the first datagram that waits (`FIONREAD`); `None` where none of ours does.
    pub fn waiting(&self, id: SocketId) -> Option<usize> {
        if self.readable(id) { self.engine().first_length(id) } else { None }
    }

    /// Bytes of the largest packet to the peer of a connected socket (`IP_MTU`, `IPV6_MTU`), as its next datagram finds it; `None` where only the kernel
    /// knows.
    pub fn path_mtu(&self, id: SocketId) -> Option<u32> {
        if self.family.is_child() { None } else { self.engine().path_mtu(id) }
    }

    /// When the last datagram came that was received, since 1970 (`SIOCGSTAMP`); `None` where only the kernel knows, which is to be asked first in any
    /// case, as it takes down times from then on.
    pub fn stamp(&self, id: SocketId) -> Option<Duration> {
        if self.family.is_child() { None } else { self.engine().stamp(id) }
    }

    /// Takes what has come from the interfaces into the queues of its sockets; whether anything came.
    pub fn pump(&self) -> bool {
        !self.family.is_child() && self.pump_into(&mut self.engine())
    }

    fn pump_into(&self, engine: &mut Engine) -> bool {
        let came = engine.pump();
        self.tell_sleepers(engine);
        came
    }

    /// How calls wait.
    pub fn wait(&self) -> Wait {
        self.wait
    }
}

/// What came of an attempt to receive.
pub(crate) enum Tried {
    Over(Outcome<usize>),
    /// There is nothing. Whether the call waits, and the socket's descriptor.
    Nothing {
        waits: bool,
        fd: RawFd,
    },
}
