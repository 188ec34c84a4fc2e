//! The packet engine: sends numbered frames, and counts them by number where they arrive.
//!
//! A [`Job`] says what to send, a [`Sender`] sends it. [`Xsk`] and [`AfPacket`] write each frame in user space by one loop, which
//! keeps an absolute schedule and measures how well it is kept. [`Live`] has the kernel run a BPF program that does so, which is many
//! times faster, and leaves in batches. [`choose()`] says which of them fits. A [`Receiver`] counts what arrives by number, in the driver
//! of the other end.

mod af_packet;
mod choose;
mod error;
#[cfg(test)]
mod fixture;
mod job;
mod lanes;
mod live;
mod pump;
mod receiver;
mod schedule;
mod xsk;

pub use af_packet::AfPacket;
pub use choose::{Choice, Facts, choose, fits};
pub use error::EngineError;
pub use job::{Job, Pacing, Sender, Sent, SentStream};
pub use live::Live;
pub use xdp::{receiver::WINDOW, socket::Mode};

pub use receiver::{Receive, Received, ReceivedStream, Receiver, Times};
pub use xsk::Xsk;
