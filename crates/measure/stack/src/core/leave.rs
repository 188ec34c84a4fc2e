//! Sockets that stay with the kernel or go back to it.

use std::{
    os::fd::{AsFd, AsRawFd, OwnedFd, RawFd},
    sync::atomic::Ordering::Relaxed,
};

use datagram::SocketId;
use grant::{Returned, control::Ends};
use model::bypass::Reason;

use super::{Core, busy_poll::BusyPoll, queue::Waiting, rings::Ring, socket::FAIR, take_flows};

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
        let is_forked = self.live(id).is_some_and(|live| live.is_forked);
        if let Some((live, lost)) = self.forget(id, is_forked) {
            // A child may have the socket still.
            self.control.slot(live.slot).dropped.add(if is_forked { lost } else { 0 });
            self.control.slot(live.slot).set_closed();
        }
    }

    /// The kernel gets what waits: a child shares its queues, and not ours.
    pub(crate) fn before_fork(&mut self) {
        self.empty_rings(None);
        for number in 0..self.sockets.len() {
            if let Some(live) = &mut self.sockets[number] {
                live.is_forked = true;
                self.hand_over(SocketId(number as u32));
            }
        }
    }

    /// The kernel gets the flows and what waits: the next program of this process has the sockets, and no queues of ours.
    ///
    /// Datagrams that the kernel does not take count as dropped. If this program goes on, its next call takes all of it back.
    pub(crate) fn before_exec(&mut self) {
        let Self { sockets, table, .. } = self;
        sockets.iter_mut().flatten().for_each(|live| live.give_flows(table));
        self.empty_rings(None);
        for number in 0..self.sockets.len() {
            self.hand_over(SocketId(number as u32));
            let Self { sockets, control, .. } = self;
            if let Some(live) = &mut sockets[number] {
                live.has_gone_on(control);
                live.left_behind = live.queue.count().into();
                control.slot(live.slot).dropped.add(live.left_behind);
                live.since = FAIR;
            }
        }
        // As if the kernel had announced a change.
        self.generation = self.generation.wrapping_sub(1);
    }

    /// Moves a socket's waiting datagrams into the kernel's queue, as far as there is room and the kernel takes them
    /// for this socket.
    pub(super) fn hand_over(&mut self, id: SocketId) {
        let Self { sockets, places, umem, free, kernel, claim, .. } = self;
        let Some(live) = sockets.get_mut(id.0 as usize).and_then(Option::as_mut) else { return };
        let Some(claim) = claim else { return };
        while let Some(Waiting { packet, start, length, from, to, marks: [ttl, traffic_class], interface, .. }) =
            places.first(&live.queue)
        {
            let returned =
                Returned { interface: *interface, from: *from, to: *to, ttl: *ttl, traffic_class: *traffic_class };
            let payload = umem.packet(packet).get(*start..*start + *length).unwrap_or_default();
            if live.options.peer.is_some_and(|peer| peer != *from)
                || !kernel.deliver(claim.as_fd(), live.fd, &returned, payload)
            {
                return;
            }
            free.extend(places.pop(&mut live.queue).map(|waiting| waiting.packet.frame));
            // Datagrams that the kernel has come first.
            (live.before, live.since) = (live.before + 1, FAIR);
        }
    }

    /// Returns the flows of a socket to the kernel for good.
    pub(crate) fn leave(&mut self, id: SocketId, why: Reason, now: u64) {
        let Some((live, lost)) = self.forget(id, true) else { return };
        let (slot, port) = (live.slot, live.options.local.port());
        // Waiting datagrams that the kernel did not take are lost and counted as dropped.
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
