//! AF_XDP sockets: packets between a program and a queue of an interface, past the kernel's network stack
//! (Documentation/networking/af_xdp.rst).
//!
//! Packets lie in a [`Umem`], memory that the program shares with the kernel, divided into frames of one size. Only the
//! holder of a [`Frame`] may access its bytes. Frames, and with them that right, travel through four rings:
//!
//! ```text
//!            refill                       receive
//! program ──────────▶ fill ring ─▶ kernel ─────────▶ program      Receiver
//! program ──────────▶ TX ring   ─▶ kernel ─────────▶ program      Sender
//!              put                        completed
//! ```
//!
//! A [`Socket`] has both directions of one queue; each may be moved to a thread of its own.
//!
//! Packets reach the socket only if an XDP program directs them there: [`crate::Redirect`] is a minimal one, and any
//! other program does it with an `XSKMAP` that holds the socket.
//!
//! **Zero-copy or copy.** If the driver supports it, the card accesses the frames itself. Otherwise the kernel copies
//! each packet, and sends during the caller's [`Sender::wake`]. [`Socket::is_zero_copy`] tells them apart.
//!
//! **Waking.** Sockets are bound with `XDP_USE_NEED_WAKEUP`: [`Sender::wake`] and [`Receiver::wake`] call the kernel
//! only on its request, which is always set for sending in copy mode.
//!
//! **Busy poll** ([`BusyPoll`]): the program's calls poll a zero-copy card's queue ([`Receiver::poll`]), and its
//! interrupts stay off meanwhile. That also needs two settings of the interface: `napi_defer_hard_irqs` and
//! `gro_flush_timeout`.
//!
//! **Larger than a frame**: with [`Options::parts`] (`XDP_USE_SG`, Linux 6.6) a packet consists of several frames, all
//! but the last marked with [`Packet::more`].
//!
//! **Sharing**: sockets of several queues and interfaces may use one [`Umem`]; a frame received on one is then sent on
//! another without a copy. A queue has one socket at most. The queues of an interface are all zero-copy, or none.
//!
//! The queue of a dropped socket becomes free a moment later, for which [`Socket::open`] waits. Frames in its rings are
//! lost.
//!
//! The socket that registered shared memory keeps its queue until the others are gone too.
//!
//! Binding to an interface that is down succeeds; sending fails.

mod error;
mod open;
mod receiver;
mod ring;
mod sender;
mod statistics;
mod umem;

use std::{os::fd::OwnedFd, sync::Arc};

pub use error::SocketError;
pub use open::{BusyPoll, Mode, Options};
pub use receiver::Receiver;
pub use sender::{Sender, WakeOutcome, send_apart};
pub use statistics::Statistics;
pub use umem::{Frame, FrameSize, Packet, Umem};

/// An AF_XDP socket that is bound to one queue.
pub struct Socket {
    /// The sending side; `None` without [`Options::send`].
    pub sender: Option<Sender>,
    /// The receiving side; `None` without [`Options::receive`].
    pub receiver: Option<Receiver>,
    bound: Arc<Bound>,
}

/// State of a socket while one of its sides lives.
struct Bound {
    fd: Arc<OwnedFd>,
    interface: String,
    queue: u32,
    umem: Umem,
    zero_copy: bool,
    /// Whether calls poll its queue, and whether only they do.
    polls: bool,
    polls_alone: bool,
    /// The socket with which the memory was registered, if another: the kernel requires it to stay open.
    _owner: Option<Arc<OwnedFd>>,
}
