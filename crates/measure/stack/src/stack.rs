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
    core::{Core, KernelSocketState, Received},
    kernel_answers::Answers,
    message::{Incoming, Outcome, TAKEN_AWAY},
    socket_options,
    ticks::{self, Ticks},
    wipe_on_fork::Forked,
};
use sleep::Sleepers;

pub use sleep::SleepingThread;
pub use wait::Caller;

/// Supported flags of recvmsg(2).
const KNOWN_FLAGS: i32 = libc::MSG_DONTWAIT
    | libc::MSG_PEEK
    | libc::MSG_TRUNC
    | libc::MSG_WAITALL
    | libc::MSG_NOSIGNAL
    | libc::MSG_CMSG_CLOEXEC
    | libc::MSG_WAITFORONE;

/// The bypassed sockets of a process; one stack serves all its threads.
///
/// [`open`](Self::open) gives each socket a number. Its descriptor, the *shadow*, stays with the kernel;
/// datagrams that arrive there are received too.
///
/// In a child of the process, every call returns [`Outcome::Kernel`].
pub struct Stack {
    shared: Mutex<Shared>,
    /// The page with the sockets' records, for callers that may not wait for the lock.
    page: Arc<Control>,
    /// Whether zero-copy cards are polled.
    has_cards: bool,
    wait: Wait,
    forked: Forked,
    housekeeping: Arc<AtomicBool>,
    /// Descriptor of route queries.
    queries: Option<RawFd>,
    /// Readable when a packet arrives, or when another thread has queued a datagram.
    poll: OwnedFd,
    number: [RawFd; 1],
    came: OwnedFd,
    /// Whether `poll` watches the interfaces' queues. That costs time for each packet, so it starts when a thread first
    /// sleeps.
    watched: AtomicBool,
}

/// State behind the lock.
struct Shared {
    core: Core,
    sleepers: Sleepers,
}

impl Stack {
    /// Takes the use of a grant.
    ///
    /// # Errors
    /// If the kernel has no descriptors or memory left.
    pub fn new(grant: Grant, wait: Wait) -> io::Result<Self> {
        let has_cards = grant.interfaces.iter().any(Granted::is_busy_polled);
        let answers = Answers::new();
        let queries = answers.descriptor();
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
            queries,
            number: [poll.as_raw_fd()],
            poll,
            came,
            watched: AtomicBool::new(false),
        })
    }

    /// The core and its sleepers; `None` in a child. After a panic, counters may be wrong; the datagram goes through
    /// the kernel.
    #[inline]
    fn locked(&self) -> Option<MutexGuard<'_, Shared>> {
        if self.forked.is_child() {
            return None;
        }
        Some(self.shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    /// Runs `work` on the core, and wakes sleepers if it queued datagrams.
    #[inline]
    fn with_core<T>(&self, work: impl FnOnce(&mut Core) -> T) -> Option<T> {
        let mut shared = self.locked()?;
        let result = work(&mut shared.core);
        self.tell_sleepers(&mut shared);
        Some(result)
    }

    /// Examines a kernel socket and takes its flows.
    ///
    /// # Errors
    /// The reason why it stays with the kernel.
    pub fn open(&self, fd: BorrowedFd<'_>) -> Result<SocketId, Reason> {
        self.opens(fd.as_raw_fd(), false)
    }

    /// Like [`open`](Self::open), but also accepts a socket that stays with the kernel for now, because of a shared
    /// port or a link that is down. It is bypassed as soon as possible.
    ///
    /// # Errors
    /// The reason why it stays with the kernel.
    pub fn open_for_later(&self, fd: BorrowedFd<'_>) -> Result<SocketId, Reason> {
        self.opens(fd.as_raw_fd(), true)
    }

    fn opens(&self, fd: RawFd, later: bool) -> Result<SocketId, Reason> {
        let open = |core: &mut Core| {
            let (cookie, inode, ends) = (calls::cookie(fd), calls::inode(fd), classify::ends(fd));
            let shadow = KernelSocketState { fd, cookie, inode, ends, options: socket_options::read(fd) };
            core.open(shadow, later, ticks::now())
        };
        self.with_core(open).unwrap_or(Err(Reason::Forked))
    }

    /// Updates a socket after `connect`, `bind`, `setsockopt` or `fcntl`, or with another descriptor of it.
    ///
    /// # Errors
    /// The reason why it goes back to the kernel. Its number is invalid then, and its queue is lost.
    pub fn refresh(&self, id: SocketId, fd: BorrowedFd<'_>) -> Result<(), Reason> {
        let fd = fd.as_raw_fd();
        let refresh = |core: &mut Core| core.refresh(id, fd, socket_options::read(fd), ticks::now());
        self.with_core(refresh).unwrap_or(Err(Reason::Forked))
    }

    /// Returns the flows of a socket to the kernel. Call it before its last descriptor is closed; its queue is lost.
    pub fn close(&self, id: SocketId) {
        self.with_core(|core| core.close(id));
    }

    /// Leaves a socket to the kernel for good. Its number is invalid then, and its queue is lost.
    pub fn leave(&self, id: SocketId, why: Reason) {
        self.with_core(|core| core.leave(id, why, ticks::now()));
    }

    /// Call it before a fork: the kernel gets the datagrams that wait, as a child shares its queues.
    pub fn before_fork(&self) {
        self.with_core(Core::before_fork);
    }

    /// Call it before the process executes another program: the kernel gets the flows and the datagrams that wait. If the call
    /// fails, the sockets are bypassed again at their next use.
    pub fn before_exec(&self) {
        self.with_core(Core::before_exec);
    }

    /// Records that the kernel handles all sockets from now on. It takes no lock: a thread may have jumped out of its
    /// critical section.
    pub fn record_all_left(&self, why: Reason) {
        if !self.forked.is_child() {
            self.page.says_all_left(why);
        }
    }

    /// Leaves inherited sockets to the kernel while other processes share them.
    pub fn set_inherited(&self, is_shared: bool, is_inherited: impl Fn(RawFd) -> bool) {
        self.with_core(|core| core.set_inherited(is_shared, is_inherited));
    }

    /// Whether a bypassed socket has this port.
    pub fn has_port(&self, port: u16) -> bool {
        self.with_core(|core| core.has_port(port)).unwrap_or(false)
    }

    /// Counters of a socket, bypassed and through the kernel.
    pub fn record(&self, id: SocketId) -> Option<Record> {
        self.with_core(|core| core.record(id)).flatten()
    }

    /// Records a socket that was never bypassed, with the reason.
    pub fn note(&self, fd: BorrowedFd<'_>, why: Reason) {
        let fd = fd.as_raw_fd();
        self.with_core(|core| core.note(fd, calls::cookie(fd).unwrap_or_default(), classify::ends(fd), why));
    }

    /// Counts a datagram that [`send`](Self::send) left to the kernel, once the kernel has sent it.
    #[cold]
    pub fn sent_by_kernel(&self, id: SocketId, bytes: usize) {
        self.with_core(|core| core.count_sent_through(id, bytes));
    }

    /// Receives a datagram without waiting.
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
            Some(Received::TakenAway) => Tried::Over(Outcome::Failed(TAKEN_AWAY)),
            Some(Received::NotOurs) | None => Tried::Over(Outcome::Kernel),
        }
    }

    /// Receives a datagram through the kernel.
    #[cold]
    fn ask_kernel(&self, id: SocketId, fd: RawFd, is_sure: bool, message: &mut Incoming<'_, '_>, flags: i32) -> Tried {
        match calls::receive(fd, message, flags & !libc::MSG_WAITFORONE) {
            Ok(length) => {
                self.with_core(|core| {
                    if flags & libc::MSG_PEEK == 0 {
                        core.count_received_through(id, length);
                    }
                    // The kernel may have more.
                    core.ask_soon(id);
                });
                Tried::Over(Outcome::Done(length))
            }
            Err(libc::EAGAIN) => {
                let nonblocking = is_sure || calls::is_nonblocking(fd);
                let receive = |core: &mut Core| {
                    core.set_nonblocking(id, nonblocking);
                    core.has_none_before(id);
                    // The kernel was asked although a bypassed datagram waits.
                    core.receive(id, message, flags)
                };
                match self.with_core(receive).flatten() {
                    Some(Received::Done(length)) => Tried::Over(Outcome::Done(length)),
                    Some(Received::TakenAway) => Tried::Over(Outcome::Failed(TAKEN_AWAY)),
                    _ => Tried::Nothing { waits: !nonblocking && flags & libc::MSG_DONTWAIT == 0, fd },
                }
            }
            Err(errno) => Tried::Over(Outcome::Failed(errno)),
        }
    }

    /// Whether a bypassed datagram waits; the caller polls the shadow itself (poll(2)).
    pub fn readable(&self, id: SocketId) -> bool {
        let is_readable = |core: &mut Core| core.has_waiting(id) || core.empty_rings(None).came && core.has_waiting(id);
        self.with_core(is_readable).unwrap_or(false)
    }

    /// Whether a datagram can be sent at once. Always: without room in the ring it goes through the kernel.
    pub fn writable(&self, _id: SocketId) -> bool {
        true
    }

    /// Number of bypassed datagrams that have arrived for a socket.
    pub fn arrivals(&self, id: SocketId) -> u64 {
        self.with_core(|core| core.arrivals(id)).unwrap_or(0)
    }

    /// The kernel has a datagram for a socket: the next call asks it, however soon.
    pub fn ask_soon(&self, id: SocketId) {
        self.with_core(|core| core.ask_soon(id));
    }

    /// Bytes of the first waiting bypassed datagram (`FIONREAD`); `None` without one.
    pub fn waiting(&self, id: SocketId) -> Option<usize> {
        if self.readable(id) { self.with_core(|core| core.first_length(id)).flatten() } else { None }
    }

    /// Path MTU of a connected socket (`IP_MTU`, `IPV6_MTU`); `None` if only the kernel knows.
    pub fn path_mtu(&self, id: SocketId) -> Option<u32> {
        self.with_core(|core| core.path_mtu(id, ticks::now())).flatten()
    }

    /// Timestamp of the last received datagram, since 1970 (`SIOCGSTAMP`); `None` if only the kernel knows.
    ///
    /// Ask the kernel first in any case: it keeps timestamps from then on.
    pub fn stamp(&self, id: SocketId) -> Option<Duration> {
        self.with_core(|core| core.stamp(id)).flatten()
    }

    /// Moves packets from the interfaces to their sockets' queues; returns whether any arrived.
    pub fn pump(&self) -> bool {
        self.with_core(|core| core.empty_rings(None).came).unwrap_or(false)
    }

    /// Call it once memory is no longer [intact](crate::Lent), before it is unmapped: waits for copies to and from it.
    pub fn finish_copies(&self) {
        drop(self.locked());
    }

    /// Way in which calls wait.
    pub fn wait(&self) -> Wait {
        self.wait
    }

    /// Whether housekeeping is due; true once per interval.
    #[inline]
    pub fn is_housekeeping_due(&self) -> bool {
        self.housekeeping.load(Relaxed) && self.housekeeping.swap(false, Relaxed)
    }

    /// Closes the queues given up after the launcher's end. `forget` receives their descriptors first.
    pub fn close_retired(&self, forget: impl FnOnce(&[RawFd])) {
        if let Some(retired) = self.with_core(Core::take_retired).flatten() {
            forget(&retired.descriptors().collect::<Vec<_>>());
        }
    }
}

/// The outcome of an attempt to receive.
enum Tried {
    Over(Outcome<usize>),
    /// No datagram. Whether the call waits, and the socket's descriptor.
    Nothing {
        waits: bool,
        fd: RawFd,
    },
}
