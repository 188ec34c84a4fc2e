//! AF_XDP sockets: packets between a program and a queue of an interface, past the kernel's network stack
//! (Documentation/networking/af_xdp.rst).
//!
//! Packets lie in a [`Umem`], memory that the program shares with the kernel and that is cut into frames of one size. Who holds a
//! [`Frame`] may read and write its bytes; nobody else can. Frames travel through four rings, and with them that right:
//!
//! ```text
//!            refill                       receive
//! program ──────────▶ fill ring ─▶ kernel ─────────▶ program      Receiver
//! program ──────────▶ TX ring   ─▶ kernel ─────────▶ program      Sender
//!              put                        completed
//! ```
//!
//! A [`Socket`] is both directions of one queue; each may be taken out of it and used in a thread of its own. What arrives on the
//! queue comes to the socket only where an XDP program sends it there: [`crate::Redirect`] is the least of them, and any other
//! program does it with an `XSKMAP` that the socket was put into.
//!
//! **Zero-copy or copy.** Where the driver can, the card reads and writes the frames itself. Elsewhere the kernel copies each packet, and
//! sends from within the caller's [`Sender::wake`]. [`Socket::is_zero_copy`] says which it is.
//!
//! **Waking.** Sockets are bound with `XDP_USE_NEED_WAKEUP`: [`Sender::wake`] and [`Receiver::wake`] call the kernel only where it asked for
//! that, as it always does for sending in copy mode.
//!
//! **Busy poll** ([`BusyPoll`]): a zero-copy card's queue is polled in the program's own calls ([`Receiver::poll`]), and its interrupts stay off
//! while the program asks again and again. That takes two settings of the interface as well: `napi_defer_hard_irqs` and `gro_flush_timeout`.
//!
//! **Larger than a frame**: with [`Options::parts`] (`XDP_USE_SG`, Linux 6.6) a packet is several frames, all but the last of them marked
//! with [`Packet::more`].
//!
//! **Sharing**: sockets of several queues and interfaces may use one [`Umem`], and then a frame that came in on one leaves on
//! another without being copied. One socket only may be bound to a queue. The queues of an interface are zero-copy all or none.
//!
//! When a socket is dropped its queue is free again a moment later, for which [`Socket::open`] waits. Frames that are in its rings
//! then do not come back. The queue of the socket that shared memory was registered with stays taken until the others are gone too.
//!
//! An interface that is down can be bound to; it is found when the kernel is to send.

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
pub use sender::{Sender, Woken, send_apart};
pub use statistics::Statistics;
pub use umem::{Frame, FrameSize, Packet, Umem};

/// An AF_XDP socket that is bound to one queue.
pub struct Socket {
    /// The way out; `None` where [`Options::send`] was not asked for.
    pub sender: Option<Sender>,
    /// The way in; `None` where [`Options::receive`] was not asked for.
    pub receiver: Option<Receiver>,
    bound: Arc<Bound>,
}

/// What both directions of a socket need as long as one of them lives.
struct Bound {
    fd: Arc<OwnedFd>,
    interface: String,
    queue: u32,
    umem: Umem,
    zero_copy: bool,
    /// Whether calls poll its queue, and whether they alone do.
    polls: bool,
    polls_alone: bool,
    /// The socket that the memory was registered with, where it was another one: the kernel wants it to stay.
    _owner: Option<Arc<OwnedFd>>,
}
