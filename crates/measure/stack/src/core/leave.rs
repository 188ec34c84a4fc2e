//! Sockets that stay with the kernel or go back to it.

use std::{
    os::fd::{AsRawFd, OwnedFd, RawFd},
    sync::atomic::Ordering::Relaxed,
};

use datagram::SocketId;
use grant::control::Ends;
use model::bypass::Reason;

use super::{Core, busy_poll::BusyPoll, rings::Ring, take_flows};

/// Queues given up and the connection to the launcher. Dropping it closes their descriptors.
pub(crate) struct Retired {
    rings: Vec<Ring>,
    claim: OwnedFd,
}

impl Retired {
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = RawFd> {
        self.rings.iter().map(Ring::fd).chain([self.claim.as_raw_fd()])
    }
}

impl Core {
    /// Gives the flows of a socket back, before its last descriptor is closed.
    pub(crate) fn close(&mut self, id: SocketId) {
        if let Some((live, _)) = self.forget(id) {
            self.control.slot(live.slot).set_closed();
        }
    }

    /// Returns the flows of a socket to the kernel for good.
    pub(crate) fn leave(&mut self, id: SocketId, why: Reason, now: u64) {
        let Some((live, lost)) = self.forget(id) else { return };
        let (slot, port) = (live.slot, live.options.local.port());
        // Waiting datagrams are lost and counted as dropped.
        self.control.slot(slot).dropped.add(lost);
        self.control.slot(slot).set_fate(Err(why));
        self.look_at_port(port, now);
    }

    /// Descriptor that hangs up when the launcher has ended.
    pub(crate) fn claim(&self) -> Option<RawFd> {
        self.claim.as_ref().map(AsRawFd::as_raw_fd)
    }

    /// Records a socket that was never bypassed.
    pub(crate) fn note(&self, fd: RawFd, cookie: u64, ends: Ends, why: Reason) {
        self.control.note(fd, cookie, ends, why);
    }

    /// Checks for changes without a notification.
    #[cold]
    pub(super) fn look_around(&mut self, now: u64) {
        /// Other sockets on our ports are queried once a second.
        const PORTS_WAIT: u32 = 9;
        self.looked = now;
        self.housekeeping.store(true, Relaxed);
        self.look_after_claim();
        match self.ports_wait.checked_sub(1).filter(|_| !self.looks.is_put_off()) {
            Some(left) => self.ports_wait = left,
            None => {
                self.ports_wait = PORTS_WAIT;
                self.look_at_ports(now);
            }
        }
    }

    /// Inherited sockets that other processes share stay with the kernel, which demultiplexes them, for as long as they are shared.
    pub(crate) fn set_inherited(&mut self, is_shared: bool, is_inherited: impl Fn(RawFd) -> bool) {
        for live in self.sockets.iter_mut().flatten().filter(|live| is_inherited(live.fd)) {
            live.is_inherited = is_shared;
            let fate = take_flows(live, &self.exits, &mut self.table, &self.locals);
            self.control.slot(live.slot).set_fate(fate);
        }
    }

    /// Gives up the queues once the launcher has ended: they receive nothing any more, and another program may need
    /// them.
    fn look_after_claim(&mut self) {
        let Self { claim, kernel, .. } = self;
        let Some(claim) = claim.take_if(|claim| kernel.hangs_up(claim.as_raw_fd())) else { return };
        // Packets from before are still for their sockets.
        self.empty_rings(None);
        self.exit_rings.fill(0..0);
        self.retired = Some(Retired { rings: std::mem::take(&mut self.rings), claim });
        self.busy_poll = BusyPoll::default();
        self.read_interfaces();
        self.take_flows_anew();
    }

    /// The queues given up. The caller drops them once it has forgotten their descriptors' numbers.
    pub(crate) fn take_retired(&mut self) -> Option<Retired> {
        self.retired.take()
    }
}
