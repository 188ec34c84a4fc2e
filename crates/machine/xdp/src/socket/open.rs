//! Opens a socket: memory, rings, options and binding to a queue.

use std::{
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::Arc,
    time::Duration,
};

use kernel::{
    link,
    socket::{number_option, set_option},
};
use rustix::{
    io::Errno,
    net::{
        AddressFamily, SocketFlags, SocketType, bind, socket_with, sockopt,
        xdp::{
            SocketAddrXdp, SocketAddrXdpFlags, SocketAddrXdpWithSharedUmem, XdpDesc, XdpMmapOffsets, XdpOptionsFlags,
        },
    },
};

use super::{
    Bound, Frame, Receiver, Sender, Socket, SocketError, Statistics, Umem,
    error::failed,
    ring::{Consumer, Producer},
};

/// Mapping offsets of the rings (linux/if_xdp.h): RX, TX, fill, completion.
const RX: u64 = 0;
const TX: u64 = 0x8000_0000;
const FILL: u64 = 0x1_0000_0000;
const COMPLETION: u64 = 0x1_8000_0000;

/// The kernel requires fill and completion rings also of a one-way socket; an unused ring is as small as possible.
const UNUSED: u32 = 1;

/// `XDP_MAX_TX_SKB_BUDGET` of linux/if_xdp.h (Linux 6.18): packets that one call sends in copy mode; 32 without it.
const MAX_TX_BUDGET: libc::c_int = 9;

/// Way of packets between frames and card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Zero-copy if driver and queue support it, otherwise copy.
    #[default]
    Any,
    /// Copy, even if the driver supports zero-copy.
    Copy,
    /// Zero-copy, or an error.
    ZeroCopy,
}

/// Busy polling of a zero-copy socket's queue in the program's calls (`SO_BUSY_POLL`).
///
/// Copy-mode sockets are left alone: the kernel fills them independently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusyPoll {
    /// Packets per call at most.
    pub budget: u32,
    /// Whether only the calls poll, with interrupts off meanwhile (`SO_PREFER_BUSY_POLL`).
    ///
    /// The kernel then makes no driver send by itself: see [`send_apart`](super::send_apart).
    pub alone: bool,
}

/// Options of a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The interface, in the caller's network namespace.
    pub interface: String,
    /// Queue, from 0.
    pub queue: u32,
    /// Zero-copy or copy.
    pub mode: Mode,
    /// Entries of TX ring and completion ring, a power of two; `None` for a socket that does not send.
    pub send: Option<u32>,
    /// Entries of RX ring and fill ring, a power of two; `None` for a socket that does not receive.
    pub receive: Option<u32>,
    /// Whether a packet may be several frames (`XDP_USE_SG`, Linux 6.6).
    pub parts: bool,
    /// Busy polling, if requested; a kernel without it opens the socket all the same, see [`Socket::is_busy_polled`].
    pub busy_poll: Option<BusyPoll>,
}

impl Options {
    /// Both directions on one queue, rings of 2,048 entries, any mode, single-frame packets, no busy polling.
    pub fn new(interface: &str, queue: u32) -> Self {
        Self {
            interface: interface.to_owned(),
            queue,
            mode: Mode::Any,
            send: Some(2048),
            receive: Some(2048),
            parts: false,
            busy_poll: None,
        }
    }

    fn check(&self) -> Result<(), SocketError> {
        let bad = |what: &str| Err(SocketError::BadOption(what.to_owned()));
        match (self.send, self.receive) {
            (None, None) => bad("an AF_XDP socket has to send or to receive"),
            (send, receive) if [send, receive].into_iter().flatten().any(|size| !size.is_power_of_two()) => {
                bad("a ring of an AF_XDP socket has a power of two of entries, like 2048")
            }
            _ => Ok(()),
        }
    }
}

impl Socket {
    /// Opens a socket and binds it to its queue.
    ///
    /// A receiving socket gets as many of `frames` as its fill ring holds: some drivers need them at binding.
    pub fn open(umem: &Umem, options: &Options, frames: &mut Vec<Frame>) -> Result<Self, SocketError> {
        options.check()?;
        let Options { interface, queue, .. } = options;
        let failed = |call| failed(call, interface, *queue);
        let fd = Arc::new(socket()?);
        let index = link::index(interface).map_err(|_| SocketError::NoInterface(interface.clone()))?;
        let owner = umem.register(&fd, interface).map_err(|error| match error {
            Errno::NOBUFS | Errno::NOMEM => SocketError::Memory { mib: umem.mib() },
            error => failed("setsockopt(XDP_UMEM_REG)")(error),
        })?;
        make_rings(&fd, options).map_err(failed("setsockopt(XDP_*_RING)"))?;
        let mut rings = Rings::map(&fd, options).map_err(failed("mmap"))?;
        let given = rings.give(umem, frames);
        if let Err(error) = bind_patiently(&fd, index, options, owner.as_ref()) {
            // A socket that failed to bind has used none of them.
            frames.extend(given.into_iter().filter_map(|address| Some(umem.frame_at(address)?.0)));
            return Err(refused(error, options));
        }
        let zero_copy = is_zero_copy(&fd).map_err(failed("getsockopt(XDP_OPTIONS)"))?;
        if let Some(busy_poll) = options.busy_poll.filter(|_| zero_copy) {
            match poll_busily(&fd, busy_poll) {
                // A kernel without busy polling (CONFIG_NET_RX_BUSY_POLL, as with PREEMPT_RT): packets arrive by
                // interrupts.
                Err(error) if error.raw_os_error() == Some(libc::ENOPROTOOPT) => {}
                other => other.map_err(|error| call("setsockopt(SO_BUSY_POLL)", options, error))?,
            }
        }
        Ok(rings.socket(Bound::of(fd, options, umem, zero_copy, owner)))
    }

    /// Adopts a socket of another process, received as a descriptor, over that process's [adopted](Umem::adopt) memory.
    ///
    /// `options` are those at opening; busy polling stays as set. The other process no longer uses the rings; their
    /// entries stay.
    ///
    /// Children do not inherit the rings. It needs no privileges, but Linux 6.4.
    ///
    /// Sizes that are not those at opening lose packets, and reach no other memory: entries stay within the mapping, and the kernel
    /// maps no more than the ring has.
    pub fn adopt(umem: &Umem, options: &Options, fd: OwnedFd) -> Result<Self, SocketError> {
        options.check()?;
        let failed = |call| failed(call, &options.interface, options.queue);
        let zero_copy = is_zero_copy(&fd).map_err(failed("getsockopt(XDP_OPTIONS)"))?;
        let rings = Rings::map(&fd, options).map_err(failed("mmap"))?;
        rings.keep_from_children().map_err(failed("madvise"))?;
        Ok(rings.socket(Bound::of(Arc::new(fd), options, umem, zero_copy, None)))
    }

    /// Whether the card accesses the frames itself.
    pub fn is_zero_copy(&self) -> bool {
        self.bound.zero_copy
    }

    /// Whether [`Receiver::poll`] polls its queue.
    pub fn is_busy_polled(&self) -> bool {
        self.bound.polls
    }

    /// The memory of its packets.
    pub fn umem(&self) -> &Umem {
        &self.bound.umem
    }

    /// The kernel's counters of this socket.
    pub fn statistics(&self) -> Result<Statistics, SocketError> {
        self.bound.statistics()
    }
}

impl Bound {
    fn of(fd: Arc<OwnedFd>, options: &Options, umem: &Umem, zero_copy: bool, owner: Option<Arc<OwnedFd>>) -> Self {
        let (interface, queue, umem) = (options.interface.clone(), options.queue, umem.clone());
        let (polls, polls_alone) = polls(&fd);
        Self { fd, interface, queue, umem, zero_copy, polls, polls_alone, _owner: owner }
    }
}

/// For an `XSKMAP`, or for polling beside other descriptors.
impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bound.fd.as_fd()
    }
}

fn socket() -> Result<OwnedFd, SocketError> {
    socket_with(AddressFamily::XDP, SocketType::RAW, SocketFlags::CLOEXEC, None).map_err(|error| match error {
        Errno::PERM | Errno::ACCESS => SocketError::NotAllowed,
        _ => SocketError::NoKernel,
    })
}

fn make_rings(fd: &OwnedFd, options: &Options) -> Result<(), Errno> {
    sockopt::set_xdp_umem_fill_ring_size(fd, options.receive.unwrap_or(UNUSED))?;
    sockopt::set_xdp_umem_completion_ring_size(fd, options.send.unwrap_or(UNUSED))?;
    options.receive.map_or(Ok(()), |size| sockopt::set_xdp_rx_ring_size(fd, size))?;
    options.send.map_or(Ok(()), |size| {
        sockopt::set_xdp_tx_ring_size(fd, size)?;
        // Older kernels do not know it, and send 32 packets per call.
        let _ = set_option(fd, libc::SOL_XDP, MAX_TX_BUDGET, size);
        Ok(())
    })
}

fn is_zero_copy(fd: &OwnedFd) -> Result<bool, Errno> {
    Ok(sockopt::xdp_options(fd)?.contains(XdpOptionsFlags::XDP_OPTIONS_ZEROCOPY))
}

fn poll_busily(fd: &OwnedFd, busy_poll: BusyPoll) -> std::io::Result<()> {
    /// Non-blocking calls poll once, whatever this limit.
    const US: u32 = 20;
    set_option(fd, libc::SOL_SOCKET, libc::SO_BUSY_POLL, US)?;
    // Both exist since Linux 5.11, as does busy polling of these sockets.
    set_option(fd, libc::SOL_SOCKET, libc::SO_BUSY_POLL_BUDGET, busy_poll.budget)?;
    set_option(fd, libc::SOL_SOCKET, libc::SO_PREFER_BUSY_POLL, busy_poll.alone.into())
}

/// Whether calls on a socket poll, and whether only they do, as set at opening. Older kernels have neither option.
fn polls(fd: &OwnedFd) -> (bool, bool) {
    let is_set = |name| number_option(fd, libc::SOL_SOCKET, name).is_ok_and(|value| value > 0);
    let polls = is_set(libc::SO_BUSY_POLL);
    (polls, polls && is_set(libc::SO_PREFER_BUSY_POLL))
}

/// Binds, with retries: the kernel frees the queue of a closed socket with a delay.
fn bind_patiently(fd: &OwnedFd, index: u32, options: &Options, owner: Option<&Arc<OwnedFd>>) -> Result<(), Errno> {
    const TRIES: u32 = 50;
    for _ in 1..TRIES {
        match bind_to(fd, index, options, owner) {
            Err(Errno::BUSY) => std::thread::sleep(Duration::from_millis(2)),
            result => return result,
        }
    }
    bind_to(fd, index, options, owner)
}

fn bind_to(fd: &OwnedFd, index: u32, options: &Options, owner: Option<&Arc<OwnedFd>>) -> Result<(), Errno> {
    let mut flags = SocketAddrXdpFlags::empty();
    // With shared memory, the kernel uses the flags of the socket that registered it.
    if owner.is_none() {
        flags |= SocketAddrXdpFlags::XDP_USE_NEED_WAKEUP;
        flags |= match options.mode {
            Mode::Any => SocketAddrXdpFlags::empty(),
            Mode::Copy => SocketAddrXdpFlags::XDP_COPY,
            Mode::ZeroCopy => SocketAddrXdpFlags::XDP_ZEROCOPY,
        };
        if options.parts {
            flags |= SocketAddrXdpFlags::XDP_USE_SG;
        }
    }
    match owner {
        None => bind(fd, &SocketAddrXdp::new(flags, index, options.queue)),
        Some(owner) => {
            flags |= SocketAddrXdpFlags::XDP_SHARED_UMEM;
            let addr = SocketAddrXdp::new(flags, index, options.queue);
            bind(fd, &SocketAddrXdpWithSharedUmem { addr, shared_umem_fd: owner.as_fd() })
        }
    }
}

fn call(call: &'static str, options: &Options, io: std::io::Error) -> SocketError {
    SocketError::Call { call, interface: options.interface.clone(), queue: options.queue, io }
}

/// The reason why the kernel does not bind a socket.
fn refused(error: Errno, options: &Options) -> SocketError {
    let Options { interface, queue, mode, parts, .. } = options.clone();
    match error {
        Errno::BUSY => SocketError::Busy { interface, queue },
        Errno::OPNOTSUPP if mode == Mode::ZeroCopy => SocketError::NoSupport {
            interface,
            what: "zero-copy AF_XDP with these settings",
            instead: "use copy mode, or one page as frame size and the MTU that the driver takes with XDP",
        },
        Errno::OPNOTSUPP | Errno::INVAL if parts => SocketError::NoSupport {
            interface,
            what: "packets of several frames over AF_XDP (Linux 6.6 or newer)",
            instead: "use an MTU that fits into one frame",
        },
        Errno::INVAL => SocketError::NoQueue { interface, queue },
        error => failed("bind", &interface, queue)(error),
    }
}

/// Rings of a socket that is being opened.
struct Rings {
    fill: Producer<u64>,
    rx: Option<Consumer<XdpDesc>>,
    tx: Option<Producer<XdpDesc>>,
    completion: Consumer<u64>,
}

impl Rings {
    fn map(fd: &OwnedFd, options: &Options) -> Result<Self, Errno> {
        let XdpMmapOffsets { rx, tx, fr, cr } = sockopt::xdp_mmap_offsets(fd)?;
        let Options { send, receive, .. } = *options;
        Ok(Self {
            fill: Producer::map(fd, FILL, &fr, receive.unwrap_or(UNUSED))?,
            rx: receive.map(|size| Consumer::map(fd, RX, &rx, size)).transpose()?,
            tx: send.map(|size| Producer::map(fd, TX, &tx, size)).transpose()?,
            completion: Consumer::map(fd, COMPLETION, &cr, send.unwrap_or(UNUSED))?,
        })
    }

    /// Fills the fill ring of a receiving socket; returns the frames' addresses.
    fn give(&mut self, umem: &Umem, frames: &mut Vec<Frame>) -> Vec<u64> {
        let mut given = Vec::new();
        while self.rx.is_some() && self.fill.room(1) > 0 {
            let Some(frame) = frames.pop() else { break };
            given.push(umem.frame_address(&frame));
            self.fill.put(umem.frame_address(&frame));
        }
        self.fill.tell();
        given
    }

    fn keep_from_children(&self) -> Result<(), Errno> {
        self.fill.keep_from_children()?;
        self.completion.keep_from_children()?;
        self.rx.as_ref().map_or(Ok(()), Consumer::keep_from_children)?;
        self.tx.as_ref().map_or(Ok(()), Producer::keep_from_children)
    }

    fn socket(self, bound: Bound) -> Socket {
        let bound = Arc::new(bound);
        let Self { fill, rx, tx, completion } = self;
        let receiver = rx.map(|ring| Receiver { bound: Arc::clone(&bound), fill, ring });
        let sender = tx.map(|ring| Sender { bound: Arc::clone(&bound), ring, completion, out: 0 });
        Socket { sender, receiver, bound }
    }
}
