//! Calls that send, and calls that make the kernel send the rings' packets.

use std::{
    os::fd::BorrowedFd,
    time::{Duration, Instant},
};

use datagram::SocketId;
use rustix::net::{SendFlags, send};
use xdp::socket::send_apart;

use super::Stack;
use crate::{
    core::{Sent, Wake},
    message::{Outcome, Outgoing},
    ticks,
};

impl Stack {
    /// Sends a datagram; returns the bytes of its payload. `flags` are those of sendmsg(2).
    pub fn send(&self, id: SocketId, message: &Outgoing<'_>, flags: i32) -> Outcome<usize> {
        let Some(mut sent) = self.put(id, message, flags) else { return Outcome::Kernel };
        if sent.is_full {
            sent = self.send_patiently(id, message, flags, sent);
        }
        sent.wake.into_iter().for_each(|queue| self.kick(queue));
        sent.outcome
    }

    /// Sends several datagrams like sendmmsg(2), with one call to the kernel. `sent` is called with the number and
    /// payload length of each.
    ///
    /// Returns how many were sent, and the outcome of the first one that was not.
    pub fn send_many<'a>(
        &self,
        id: SocketId,
        messages: impl IntoIterator<Item = Outgoing<'a>>,
        flags: i32,
        mut sent: impl FnMut(usize, usize),
    ) -> (usize, Option<Outcome<usize>>) {
        let (mut count, mut last, mut to_wake) = (0, None, None);
        let mut locked = self.locked();
        for message in messages {
            let Some(shared) = &mut locked else { return (count, Some(Outcome::Kernel)) };
            let mut it = shared.core.send(id, &message, flags, ticks::now());
            if it.is_full {
                drop(locked);
                it = self.send_patiently(id, &message, flags, it);
                locked = self.locked();
            }
            if to_wake != it.wake {
                if let Some(queue) = to_wake {
                    drop(locked);
                    self.kick(queue);
                    locked = self.locked();
                }
                to_wake = it.wake;
            }
            match it.outcome {
                Outcome::Done(bytes) => sent(count, bytes),
                other => {
                    last = Some(other);
                    break;
                }
            }
            count += 1;
        }
        drop(locked);
        to_wake.into_iter().for_each(|queue| self.kick(queue));
        (count, last)
    }

    /// Retries until the card has room. A datagram through the kernel would overtake those in the ring.
    #[cold]
    fn send_patiently(&self, id: SocketId, message: &Outgoing<'_>, flags: i32, mut sent: Sent) -> Sent {
        /// Time of the slowest cards for a few packets. With the link down, the ring never empties.
        const PATIENCE: Duration = Duration::from_millis(1);
        let begun = Instant::now();
        while sent.is_full && begun.elapsed() < PATIENCE {
            sent.wake.into_iter().for_each(|queue| self.kick(queue));
            sent = self.put(id, message, flags).unwrap_or(sent);
        }
        sent
    }

    /// Puts a datagram into a ring, or leaves it to the kernel.
    #[inline]
    fn put(&self, id: SocketId, message: &Outgoing<'_>, flags: i32) -> Option<Sent> {
        self.locked().map(|mut shared| shared.core.send(id, message, flags, ticks::now()))
    }

    /// Makes the kernel send a ring's packets.
    fn kick(&self, queue: Wake) {
        // SAFETY: the ring's own, or an unused number if the queues were just given up: ours are beyond those that
        // programs open.
        let fd = unsafe { BorrowedFd::borrow_raw(queue.fd) };
        kick(fd);
        if self.has_cards && self.locked().is_some_and(|shared| shared.core.is_left(queue)) {
            send_apart(&fd);
        }
    }
}

/// Makes the kernel send a ring's packets. On a transient failure, the next call does; with the interface down they are
/// lost.
fn kick(fd: BorrowedFd<'_>) {
    /// Each try sends what fits in memory, or drops one packet at a full peer.
    const TRIES: u32 = 64;
    for _ in 0..TRIES {
        match send(fd, &[], SendFlags::DONTWAIT) {
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::BUSY) => {}
            _ => return,
        }
    }
}
