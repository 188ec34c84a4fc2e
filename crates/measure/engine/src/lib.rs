//! The packet engine: sends numbered frames, and counts them by number on arrival.
//!
//! A [`Job`] describes the frames, a [`Sender`] sends them. [`choose()`] selects an engine, and [`open()`] opens it.
//!
//! [`Xsk`], [`AfPacket`] and [`Udp`] write each frame in user space in a common loop, which keeps an absolute schedule
//! and measures its accuracy.
//!
//! [`Live`] runs a BPF program that does so in the kernel, which is many times faster, and sends in batches. [`Pktgen`]
//! drives the kernel's own generator.
//!
//! A [`Receiver`] counts arrivals by number, in the driver of the other end; a [`SocketReceiver`] does so without
//! privilege.

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
pub use open::{Opened, SocketAddresses, open};
pub use pktgen::Pktgen;
pub use xdp::socket::Mode;

pub use receiver::{
    Attached, Counter, Place, Received, ReceivedStream, Receiver, ReceiverOptions, SocketReceiver, Times, attach,
};
pub use udp::Udp;
pub use xsk::Xsk;
