//! What stays with the kernel, or goes back to it: a socket, or all of them.

use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

use datagram::SocketId;

use super::{Engine, cards::Cards, take_flows};
use crate::{
    Reason, calls,
    program::{family, gone, own},
};

impl Engine {
    /// Gives its flows back, where its last descriptor goes.
    pub(crate) fn close(&mut self, id: SocketId) {
        if let Some((live, _)) = self.forget(id) {
            self.control.slot(live.slot).set_closed();
        }
    }

    /// Gives its flows back, as it is with the kernel from now on.
    pub(crate) fn leave(&mut self, id: SocketId, why: Reason) {
        let Some((live, lost)) = self.forget(id) else { return };
        let (slot, port) = (live.slot, live.look.local.port());
        // What waited for it is lost, and counted so.
        self.control.slot(slot).dropped.add(lost);
        self.control.slot(slot).set_fate(Err(why));
        self.look_at_port(port);
    }

    /// The descriptor that hangs up when the launcher has ended.
    pub(crate) fn claim(&self) -> Option<RawFd> {
        self.claim.as_ref().map(AsRawFd::as_raw_fd)
    }

    /// Writes down one that was never taken past it.
    pub(crate) fn note(&self, fd: BorrowedFd<'_>, why: Reason) {
        self.control.note(fd, why);
    }

    /// Looks for what nobody tells of.
    #[cold]
    pub(super) fn look_around(&mut self, now: u64) {
        /// Who shares a port is asked for once a second.
        const PORTS_WAIT: u32 = 9;
        self.looked = now;
        gone::is_time();
        self.look_after_claim();
        match self.ports_wait.checked_sub(1).filter(|_| !self.looks.is_put_off()) {
            Some(left) => self.ports_wait = left,
            None => {
                self.ports_wait = PORTS_WAIT;
                self.look_at_ports();
            }
        }
    }

    /// Sockets that others of the same parent have by now are the kernel's, which gives what comes to whoever asks; as long as they have them.
    pub(crate) fn set_inherited(&mut self, is_shared: bool) {
        for live in self.sockets.iter_mut().flatten().filter(|live| family::is_inherited(live.fd)) {
            live.is_inherited = is_shared;
            let fate = take_flows(live, &self.exits, &mut self.table, &self.locals);
            self.control.slot(live.slot).set_fate(fate);
        }
    }

    /// Gives the queues up once the launcher has ended: nothing comes by them any more, and nobody else could have them.
    fn look_after_claim(&mut self) {
        let Some(claim) = self.claim.take_if(|claim| calls::hangs_up(claim.as_raw_fd())) else { return };
        // What came until now is still for its sockets.
        self.pump();
        // They could not be closed as long as they are ours.
        own::forget(&self.descriptors().chain([claim.as_raw_fd()]).collect::<Vec<_>>());
        self.exit_rings.fill(0..0);
        self.rings.clear();
        self.cards = Cards::default();
        self.read_interfaces();
        self.take_flows_anew();
    }
}
