//! Bypassed sockets.

use std::{
    io::{IoSlice, IoSliceMut},
    net::UdpSocket,
    os::fd::AsFd,
    time::Instant,
};

use grant::{Attachment, Grant};
use model::bypass::Wait;
use wireproof_stack::{Incoming, Outcome, Outgoing, SocketId, Stack};

use crate::{
    pingpong::End,
    wire::{PORT, Wire},
};

/// One end.
pub(crate) struct Past {
    stack: Stack,
    id: SocketId,
    socket: UdpSocket,
    through: u32,
    _attachment: Attachment,
}

impl Past {
    /// A bypassed socket at this end of the wire.
    pub(crate) fn open(wire: &Wire, is_near: bool, socket: UdpSocket) -> Self {
        let open = || {
            let (attachment, grant) = Grant::make(&[PORT.to_owned()]).unwrap();
            let stack = Stack::new(grant, Wait::Spin).unwrap();
            let id = stack.open(socket.as_fd()).unwrap();
            Self { stack, id, socket, through: 0, _attachment: attachment }
        };
        if is_near { wire.at_a(open) } else { wire.at_b(open) }
    }

    /// Nanoseconds of a poll that finds nothing, averaged over `looks` polls.
    pub(crate) fn look_ns(&self, looks: u32) -> f64 {
        let mut buffer = [0; 64];
        let begun = Instant::now();
        for _ in 0..looks {
            let looked = self.stack.receive(self.id, &mut Incoming::new(&mut [IoSliceMut::new(&mut buffer)]), 0);
            assert_eq!(looked, Outcome::Failed(libc::EAGAIN));
        }
        begun.elapsed().as_nanos() as f64 / f64::from(looks)
    }
}

impl End for Past {
    fn send(&mut self, payload: &[u8]) {
        let pieces = [IoSlice::new(payload)];
        let message = Outgoing::new(&pieces);
        if self.stack.send(self.id, &message, 0) == Outcome::Kernel {
            self.socket.send(payload).unwrap();
            self.through += 1;
            // The neighbour is not confirmed at the moment.
            assert!(self.through < 10, "it goes through the kernel");
        }
    }

    fn receive(&mut self, payload: &mut [u8]) -> Option<usize> {
        let pieces = &mut [IoSliceMut::new(payload)];
        match self.stack.receive(self.id, &mut Incoming::new(pieces), 0) {
            Outcome::Done(length) => Some(length),
            _ => None,
        }
    }
}
