//! All bypassed sockets of a process.

mod send;
mod sleep;
mod wait;

use std::{
    io,
    os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd},
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

pub use datagram::SocketId;
use grant::{Control, Grant, Granted, high_fds::high};
use model::bypass::{Reason, Record, Wait};
use rustix::event::{
    EventfdFlags,
    epoll::{self, CreateFlags, EventData, EventFlags},
    eventfd,
};

use crate::{
    calls, classify,
    core::{Core, Received, Shadow},
    kernel_answers::Answers,
    message::{Incoming, Outcome},
    socket_options,
    ticks::{self, Ticks},
    wipe_on_fork::Forked,
};
use sleep::Sleepers;

pub use sleep::Asleep;
pub use wait::Caller;

/// Flags of recvmsg(2) that are known here.
const KNOWN_FLAGS: i32 = libc::MSG_DONTWAIT
    | libc::MSG_PEEK
    | libc::MSG_TRUNC
    | libc::MSG_WAITALL
    | libc::MSG_NOSIGNAL
    | libc::MSG_CMSG_CLOEXEC
    | libc::MSG_WAITFORONE;

/// All bypassed sockets of a process; one a process, used by all its threads.
///
/// Each socket is named by a number that [`open`](Self::open) gives. Its descriptor, the *shadow*, stays the kernel's: datagrams that come for it
/// through the kernel are received too. In a child of the process all is answered by [`Outcome::Kernel`].
pub struct Stack {
    shared: Mutex<Shared>,
    /// The page with the records of sockets, for who may not wait for the lock.
    page: Arc<Control>,
    /// Whether zero-copy cards are polled.
    has_cards: bool,
    wait: Wait,
    forked: Forked,
    housekeeping: Arc<AtomicBool>,
    /// The descriptor by which the kernel is asked for routes.
    asker: Option<RawFd>,
    /// Readable when something comes in, or when another thread put a datagram into a queue.
    poll: OwnedFd,
    number: [RawFd; 1],
    came: OwnedFd,
    /// Whether `poll` looks at the interfaces' queues. That costs time for each packet, so that it begins when a thread first sleeps.
    watched: AtomicBool,
}

/// Behind the lock.
struct Shared {
    core: Core,
    sleepers: Sleepers,
}

impl Stack {
    /// Has the use of what was granted.
    ///
    /// # Errors
    /// Where the kernel has no descriptors or memory left.
    pub fn new(grant: Grant, wait: Wait) -> io::Result<Self> {
        let has_cards = grant.interfaces.iter().any(Granted::is_busy_polled);
        let answers = Answers::new();
        let asker = answers.descriptor();
        let core = Core::new(grant, Box::new(answers), Ticks::measure(), ticks::now());
        let poll = high(epoll::create(CreateFlags::CLOEXEC)?);
        let came = high(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        epoll::add(&poll, &came, EventData::new_u64(0), EventFlags::IN)?;
        let forked = Forked::watch()?;
        Ok(Self {
            page: core.page(),
            housekeeping: core.housekeeping(),
            shared: Mutex::new(Shared { core, sleepers: Sleepers::default() }),
            has_cards,
            wait,
            forked,
            asker,
            number: [poll.as_raw_fd()],
            poll,
            came,
            watched: AtomicBool::new(false),
        })
    }

    /// The core and its sleepers; none in a child. A panic leaves no more than wrong counts; its datagram goes on through the kernel.
    #[inline]
    fn locked(&self) -> Option<MutexGuard<'_, Shared>> {
        if self.forked.is_child() {
            return None;
        }
        Some(self.shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    /// Runs this on the core, and wakes sleepers where that put datagrams into queues.
    #[inline]
    fn with_core<T>(&self, work: impl FnOnce(&mut Core) -> T) -> Option<T> {
        let mut shared = self.locked()?;
        let result = work(&mut shared.core);
        self.tell_sleepers(&mut shared);
        Some(result)
    }

    /// Looks at a descriptor of the kernel's, and takes its flows.
    ///
    /// # Errors
    /// Why it stays with the kernel.
    pub fn open(&self, fd: BorrowedFd<'_>) -> Result<SocketId, Reason> {
        self.opens(fd.as_raw_fd(), false)
    }

    /// The same also for a socket that the kernel has for now, as another process shares its port or its link is down: it is bypassed as soon as it
    /// can be.
    ///
    /// # Errors
    /// Why it stays with the kernel.
    pub fn open_for_later(&self, fd: BorrowedFd<'_>) -> Result<SocketId, Reason> {
        self.opens(fd.as_raw_fd(), true)
    }

    fn opens(&self, fd: RawFd, later: bool) -> Result<SocketId, Reason> {
        let open = |core: &mut Core| {
            let (cookie, inode, ends) = (calls::cookie(fd), calls::inode(fd), classify::ends(fd));
            let shadow = Shadow { fd, cookie, inode, ends, options: socket_options::read(fd) };
            core.open(shadow, later, ticks::now())
        };
        self.with_core(open).unwrap_or(Err(Reason::Forked))
    }

    /// Takes over what changed about a socket: after `connect`, `bind`, `setsockopt` or `fcntl`, or where another descriptor stands for it.
    ///
    /// # Errors
    /// Why it is with the kernel from now on; the number stands for nothing then, and what waited in its queue is lost.
    pub fn refresh(&self, id: SocketId, fd: BorrowedFd<'_>) -> Result<(), Reason> {
        let fd = fd.as_raw_fd();
        let refresh = |core: &mut Core| core.refresh(id, fd, socket_options::read(fd), ticks::now());
        self.with_core(refresh).unwrap_or(Err(Reason::Forked))
    }

    /// Gives the flows of a socket back. To be called before its last descriptor is closed: what waits in its queue is lost.
    pub fn close(&self, id: SocketId) {
        self.with_core(|core| core.close(id));
    }

    /// Leaves a socket to the kernel from now on; its number stands for nothing then, and what waits in its queue is lost.
    pub fn leave(&self, id: SocketId, why: Reason) {
        self.with_core(|core| core.leave(id, why, ticks::now()));
    }

    /// Records that all sockets are the kernel's from now on. It takes no lock: a thread may have jumped out of its critical section.
    pub fn record_all_left(&self, why: Reason) {
        if !self.forked.is_child() {
            self.page.says_all_left(why);
        }
    }

    /// Leaves inherited sockets to the kernel as long as other processes share them.
    pub fn set_inherited(&self, is_shared: bool, is_inherited: impl Fn(RawFd) -> bool) {
        self.with_core(|core| core.set_inherited(is_shared, is_inherited));
    }

    /// Whether a bypassed socket has this port.
    pub fn has_port(&self, port: u16) -> bool {
        self.with_core(|core| core.has_port(port)).unwrap_or(false)
    }

    /// The record of a socket, past the kernel and through it.
    pub fn record(&self, id: SocketId) -> Option<Record> {
        self.with_core(|core| core.record(id)).flatten()
    }

    /// Records a socket that was never bypassed, and why.
    pub fn note(&self, fd: BorrowedFd<'_>, why: Reason) {
        let fd = fd.as_raw_fd();
        self.with_core(|core| core.note(fd, calls::cookie(fd).unwrap_or_default(), classify::ends(fd), why));
    }

    /// Counts a datagram that the kernel sent for a socket: one that [`send`](Self::send) left to it, once that has succeeded.
    #[cold]
    pub fn sent_by_kernel(&self, id: SocketId, bytes: usize) {
        self.with_core(|core| core.count_sent_through(id, bytes));
    }

    /// Receives at once, if there is a datagram.
    #[inline]
    fn try_receive(&self, id: SocketId, message: &mut Incoming<'_, '_>, flags: i32) -> Tried {
        if flags & !KNOWN_FLAGS != 0 {
            return Tried::Over(Outcome::Kernel);
        }
        let receive = |core: &mut Core| {
            let received = core.receive(id, message, flags);
            received.unwrap_or_else(|| core.turn_of_kernel(id, flags, ticks::now()))
        };
        let waits = |nonblocking: bool| !nonblocking && flags & libc::MSG_DONTWAIT == 0;
        match self.with_core(receive) {
            Some(Received::Done(length)) => Tried::Over(Outcome::Done(length)),
            Some(Received::Nothing { nonblocking, fd }) => Tried::Nothing { waits: waits(nonblocking), fd },
            Some(Received::Ask { fd, is_sure }) => self.ask_kernel(id, fd, is_sure, message, flags),
            Some(Received::NotOurs) | None => Tried::Over(Outcome::Kernel),
        }
    }

    /// Receives a datagram that the kernel has.
    #[cold]
    fn ask_kernel(&self, id: SocketId, fd: RawFd, is_sure: bool, message: &mut Incoming<'_, '_>, flags: i32) -> Tried {
        match calls::receive(fd, message, flags & !libc::MSG_WAITFORONE) {
            Ok(length) => {
                self.with_core(|core| {
                    if flags & libc::MSG_PEEK == 0 {
                        core.count_received_through(id, length);
                    }
                    // It may have more, and has not said that it has none.
                    core.ask_soon(id);
                });
                Tried::Over(Outcome::Done(length))
            }
            Err(libc::EAGAIN) => {
                let nonblocking = is_sure || calls::is_nonblocking(fd);
                let receive = |core: &mut Core| {
                    core.set_nonblocking(id, nonblocking);
                    core.has_none_before(id);
                    // The kernel was asked out of turn, while a bypassed datagram waits.
                    core.receive(id, message, flags)
                };
                match self.with_core(receive).flatten() {
                    Some(Received::Done(length)) => Tried::Over(Outcome::Done(length)),
                    _ => Tried::Nothing { waits: !nonblocking && flags & libc::MSG_DONTWAIT == 0, fd },
                }
            }
            Err(errno) => Tried::Over(Outcome::Failed(errno)),
        }
    }

    /// Whether a bypassed datagram waits; the shadow is the caller's to ask (poll(2)).
    pub fn readable(&self, id: SocketId) -> bool {
        let is_readable = |core: &mut Core| core.has_waiting(id) || core.empty_rings(None).came && core.has_waiting(id);
        self.with_core(is_readable).unwrap_or(false)
    }

    /// Whether a datagram can be sent at once. It always can: what has no room goes through the kernel.
    pub fn writable(&self, _id: SocketId) -> bool {
        true
    }

    /// How many bypassed datagrams have come for a socket: a number that changes with each.
    pub fn arrivals(&self, id: SocketId) -> u64 {
        self.with_core(|core| core.arrivals(id)).unwrap_or(0)
    }

    /// The kernel says that it has something for a socket: the next call asks it, however soon that comes.
    pub fn ask_soon(&self, id: SocketId) {
        self.with_core(|core| core.ask_soon(id));
    }

    /// Bytes of the first bypassed datagram that waits (`FIONREAD`); `None` where none does.
    pub fn waiting(&self, id: SocketId) -> Option<usize> {
        if self.readable(id) { self.with_core(|core| core.first_length(id)).flatten() } else { None }
    }

    /// Bytes of the largest packet to the peer of a connected socket (`IP_MTU`, `IPV6_MTU`), as its next datagram finds it; `None` where only the kernel
    /// knows.
    pub fn path_mtu(&self, id: SocketId) -> Option<u32> {
        self.with_core(|core| core.path_mtu(id, ticks::now())).flatten()
    }

    /// When the last received datagram came, since 1970 (`SIOCGSTAMP`); `None` where only the kernel knows. The kernel is to be asked first in any
    /// case, as it keeps times from then on.
    pub fn stamp(&self, id: SocketId) -> Option<Duration> {
        self.with_core(|core| core.stamp(id)).flatten()
    }

    /// Takes what has come from the interfaces into the queues of its sockets; whether anything came.
    pub fn pump(&self) -> bool {
        self.with_core(|core| core.empty_rings(None).came).unwrap_or(false)
    }

    /// How calls wait.
    pub fn wait(&self) -> Wait {
        self.wait
    }

    /// Whether the time has come to look for what nobody announces; once each time.
    #[inline]
    pub fn is_housekeeping_due(&self) -> bool {
        self.housekeeping.load(Relaxed) && self.housekeeping.swap(false, Relaxed)
    }

    /// Closes the queues that were given up as the launcher has ended. `forget` is told their descriptors before.
    pub fn close_retired(&self, forget: impl FnOnce(&[RawFd])) {
        if let Some(retired) = self.with_core(Core::take_retired).flatten() {
            forget(&retired.descriptors().collect::<Vec<_>>());
        }
    }
}

/// The outcome of an attempt to receive.
enum Tried {
    Over(Outcome<usize>),
    /// There is no datagram. Whether the call waits, and the socket's descriptor.
    Nothing {
        waits: bool,
        fd: RawFd,
    },
}
