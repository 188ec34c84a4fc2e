//! The packet engine: sends numbered frames, and counts them by number where they arrive.
//!
//! A [`Job`] says what to send, a [`Sender`] sends it. [`Xsk`], [`AfPacket`] and [`Udp`] write each frame in user space by one loop, which
//! keeps an absolute schedule and measures how well it is kept. [`Live`] has the kernel run a BPF program that does so, which is many
//! times faster, and leaves in batches. [`Pktgen`] drives the kernel's own generator. [`choose()`] says which of them fits, and [`open()`] opens
//! it. A [`Receiver`] counts what arrives by number, in the driver of the other end; a [`SocketReceiver`] does so without privilege.

mod af_packet;
mod choose;
mod error;
mod facts;
#[cfg(test)]
mod fixture;
mod job;
mod lanes;
mod live;
mod open;
mod pktgen;
mod pump;
mod receiver;
mod schedule;
pub mod tracker;
mod udp;
mod xsk;

pub use af_packet::AfPacket;
pub use choose::{Choice, choose, fits};
pub use error::EngineError;
pub use facts::Facts;
pub use job::{Job, Pacing, Sender, Sent, SentStream};
pub use live::Live;
pub use open::{Opened, Way, open};
pub use pktgen::Pktgen;
pub use xdp::socket::Mode;

pub use receiver::{
    Attached, Counter, Place, Receive, Received, ReceivedStream, Receiver, SocketReceiver, Times, attach,
};
pub use udp::Udp;
pub use xsk::Xsk;
