//! Calls that send, and the calls that have the kernel look at the rings.

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
    /// Sends a datagram; returns the bytes of its payload. `flags` as of sendmsg(2).
    pub fn send(&self, id: SocketId, message: &Outgoing<'_>, flags: i32) -> Outcome<usize> {
        let Some(mut sent) = self.put(id, message, flags) else { return Outcome::Kernel };
        if sent.is_full {
            sent = self.send_patiently(id, message, flags, sent);
        }
        sent.wake.into_iter().for_each(|queue| self.kick(queue));
        sent.outcome
    }

    /// Sends several, as sendmmsg(2) does, and has the kernel called once for all of them: how many went, and what became of the first one that
    /// did not. `sent` is told the number of each and the bytes of its payload.
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

    /// Tries again until the card has room. Whatever went through the kernel instead would overtake what waits in the ring.
    #[cold]
    fn send_patiently(&self, id: SocketId, message: &Outgoing<'_>, flags: i32, mut sent: Sent) -> Sent {
        /// What the slowest cards take for some packets. A link that has gone would keep them for good.
        const PATIENCE: Duration = Duration::from_millis(1);
        let begun = Instant::now();
        while sent.is_full && begun.elapsed() < PATIENCE {
            sent.wake.into_iter().for_each(|queue| self.kick(queue));
            sent = self.put(id, message, flags).unwrap_or(sent);
        }
        sent
    }

    /// Puts a datagram into a ring, or says that it is for the kernel.
    #[inline]
    fn put(&self, id: SocketId, message: &Outgoing<'_>, flags: i32) -> Option<Sent> {
        self.locked().map(|mut shared| shared.core.send(id, message, flags, ticks::now()))
    }

    /// Has the kernel send what is in a ring.
    fn kick(&self, queue: Wake) {
        // SAFETY: the ring's own, or, where the queues were given up just now, a number that nobody has: ours are beyond those that programs open.
        let fd = unsafe { BorrowedFd::borrow_raw(queue.fd) };
        kick(fd);
        if self.has_cards && self.locked().is_some_and(|shared| shared.core.is_left(queue)) {
            send_apart(&fd);
        }
    }
}

/// Has the kernel send what is in a ring. Where it cannot just now, the next call does; where the interface is down the packets are lost.
fn kick(fd: BorrowedFd<'_>) {
    /// Each try sends what there is memory for, or drops one packet that finds the other end full.
    const TRIES: u32 = 64;
    for _ in 0..TRIES {
        match send(fd, &[], SendFlags::DONTWAIT) {
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::BUSY) => {}
            _ => return,
        }
    }
}
