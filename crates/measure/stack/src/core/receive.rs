//! Reception: from the rings to the sockets.

use std::{os::fd::RawFd, time::Duration};

use datagram::{Arrived, SocketId};
use xdp::{
    socket::{Packet, Umem},
    steer,
};

use super::{
    Core, Kernel,
    queue::Waiting,
    rings::Ring,
    socket::{ArrivalInfo, FAIR, Live, Local},
};
use crate::message::Incoming;

/// Headers before the payload, without options.
const V4_HEADERS: usize = 14 + 20 + 8;
const V6_HEADERS: usize = 14 + 40 + 8;
/// The outcome of an attempt to receive.
pub(crate) enum Received {
    /// A bypassed datagram, of this length.
    Done(usize),
    /// No bypassed datagram. The kernel is to be asked by this descriptor; `is_sure` if the socket is known to be
    /// non-blocking.
    Ask { fd: RawFd, is_sure: bool },
    /// No bypassed datagram, and the kernel had none a moment ago. Whether the socket is non-blocking, and its
    /// descriptor.
    Nothing { nonblocking: bool, fd: RawFd },
    /// The socket is not bypassed.
    NotOurs,
    /// Something came, but the message's memory may be there no more.
    TakenAway,
}

/// Destination of a socket's next datagram if its queue is empty.
type Straight<'m, 'a, 'b> = (SocketId, &'m mut Incoming<'a, 'b>, i32);

/// The outcome of emptying the rings.
#[derive(Default)]
pub(crate) struct DrainOutcome {
    /// Whether a datagram arrived for a socket.
    pub(crate) came: bool,
    /// Length of the datagram that was received directly.
    received: Option<usize>,
}

impl Core {
    /// Receives a bypassed datagram; on `None`, [`turn_of_kernel`](Self::turn_of_kernel) decides the next step.
    #[inline]
    pub(crate) fn receive(&mut self, id: SocketId, message: &mut Incoming<'_, '_>, flags: i32) -> Option<Received> {
        let Self { sockets, rings, busy_poll, .. } = self;
        let Some(live) = sockets.get_mut(id.0 as usize).and_then(Option::as_mut) else {
            return Some(Received::NotOurs);
        };
        // Fast path of callers that poll: nothing has arrived.
        if live.since < FAIR && (!live.queue.is_empty() || rings.iter_mut().any(Ring::has_any) || busy_poll.poll(rings))
        {
            if message.is_taken_away() {
                return Some(Received::TakenAway);
            }
            live.since += 1;
            return self.receive_ours(id, message, flags).map(Received::Done);
        }
        None
    }

    /// There is no bypassed datagram: decides whether to ask the kernel now.
    #[inline]
    pub(crate) fn turn_of_kernel(&mut self, id: SocketId, flags: i32, now: u64) -> Received {
        let (every, sure_for) = (self.ask_every, self.sure_for);
        let Some(live) = self.live(id) else { return Received::NotOurs };
        let (nonblocking, fd) = (live.options.nonblocking, live.fd);
        if live.since < FAIR && now.wrapping_sub(live.asked) < every {
            return Received::Nothing { nonblocking, fd };
        }
        let peeks = flags & libc::MSG_PEEK != 0;
        live.before = live.before.saturating_sub(usize::from(!peeks));
        (live.asked, live.since) = (now, if live.before > 0 { FAIR } else { 0 });
        let is_sure = nonblocking && now.wrapping_sub(live.sure) < sure_for;
        if !is_sure {
            live.sure = now;
        }
        self.follow_changes(now);
        Received::Ask { fd, is_sure }
    }

    fn receive_ours(&mut self, id: SocketId, message: &mut Incoming<'_, '_>, flags: i32) -> Option<usize> {
        let peeks = flags & libc::MSG_PEEK != 0;
        if self.live(id)?.queue.is_empty() {
            if !peeks {
                return self.empty_rings(Some((id, message, flags))).received;
            }
            self.empty_rings(None);
        }
        let Self { sockets, places, umem, control, free, kernel, .. } = self;
        let live = sockets.get_mut(id.0 as usize)?.as_mut()?;
        let waiting = places.first(&live.queue)?;
        let payload = umem.packet(&waiting.packet).get(waiting.start..waiting.start + waiting.length)?;
        let [ttl, traffic_class] = waiting.marks;
        let arrived = Arrived { from: waiting.from, to: waiting.to, ttl, traffic_class, payload };
        // The kernel also stamps datagrams that arrived before timestamps were requested.
        let is_unknown = live.options.requested.time() && waiting.time.is_zero();
        let time = if is_unknown { kernel.realtime() } else { waiting.time };
        let length = live.hand_over(&arrived, ArrivalInfo { interface: waiting.interface, time }, message, flags);
        if !peeks {
            control.slot(live.slot).past.received(payload.len());
            free.extend(places.pop(&mut live.queue).map(|waiting| waiting.packet.frame));
        }
        Some(length)
    }

    /// Moves packets from the rings into the queues of their sockets.
    ///
    /// It stops early at a datagram for the socket of `straight` if that socket's queue is empty.
    pub(crate) fn empty_rings(&mut self, mut straight: Option<Straight<'_, '_, '_>>) -> DrainOutcome {
        let mut emptied = DrainOutcome::default();
        if straight.is_none() && !self.rings.iter_mut().any(Ring::has_any) {
            self.busy_poll.poll(&mut self.rings);
        }
        for number in 0..self.rings.len() {
            while let Some(packet) = self.rings[number].next() {
                let Self { rings, input, umem, sockets, control, free, kernel, locals, .. } = self;
                let ring = &mut rings[number];
                fetch(umem.packet(&packet));
                let read = input.sort(umem.packet(&packet), ring.sums);
                match read.filter(|(_, arrived)| !is_spoofed(arrived, locals)) {
                    None => {
                        control.refuse();
                        free.push(packet.frame);
                    }
                    Some((to, arrived)) => {
                        let live = sockets.get_mut(to.0 as usize).and_then(Option::as_mut);
                        match (live, &mut straight) {
                            (Some(live), Some((id, message, flags))) if to == *id => {
                                let stamp = || time(&**kernel, umem, &packet, ring.interface);
                                let time = if live.keeps_time() { stamp() } else { Duration::ZERO };
                                let info = ArrivalInfo { interface: ring.interface, time };
                                emptied.received = Some(live.hand_over(&arrived, info, message, *flags));
                                control.slot(live.slot).past.received(arrived.payload.len());
                                free.push(packet.frame);
                            }
                            _ => {
                                let waiting = waiting(ends(&arrived), packet, ring);
                                self.queue(to, waiting);
                                emptied.came = true;
                            }
                        }
                    }
                }
                self.rings[number].refill(&mut self.free, self.filled);
                if emptied.received.is_some() {
                    return emptied;
                }
            }
        }
        emptied
    }

    /// Queues a datagram for its socket, or drops it if the queue is full.
    fn queue(&mut self, to: SocketId, mut waiting: Waiting) {
        self.queued = true;
        if self.places.are_taken() {
            self.make_place(to);
        }
        let Self { sockets, places, free, control, umem, kernel, .. } = self;
        let Some(live) = sockets.get_mut(to.0 as usize).and_then(Option::as_mut) else {
            return free.push(waiting.packet.frame);
        };
        if live.keeps_time() {
            waiting.time = time(&**kernel, umem, &waiting.packet, waiting.interface);
        }
        let Live { queue, options, slot, .. } = live;
        let refused = if queue.has_room(options.room) { places.push(queue, waiting) } else { Some(waiting) };
        if let Some(waiting) = refused {
            control.slot(*slot).dropped.add(1);
            free.push(waiting.packet.frame);
        }
    }

    /// With all places taken, a longer queue loses its newest datagram, so unread sockets do not starve the others.
    #[cold]
    fn make_place(&mut self, to: SocketId) {
        let own = self.count(to.0 as usize);
        self.look_for_longest();
        let Self { sockets, places, free, control, longest, .. } = self;
        if let Some(live) = sockets.get_mut(*longest).and_then(Option::as_mut)
            && live.queue.count() > own + 1
        {
            free.extend(places.pop_last(&mut live.queue).map(|waiting| waiting.packet.frame));
            control.slot(live.slot).dropped.add(1);
        }
    }

    /// Searches for the longest queue among some sockets and the previous one; later calls visit the other sockets.
    fn look_for_longest(&mut self) {
        const AT_ONCE: usize = 64;
        let count = self.sockets.len();
        for _ in 0..AT_ONCE.min(count) {
            self.looked_at = (self.looked_at + 1) % count;
            if self.count(self.looked_at) > self.count(self.longest) {
                self.longest = self.looked_at;
            }
        }
    }

    /// Length of the queue of the socket with this number.
    fn count(&self, number: usize) -> u32 {
        self.sockets.get(number).and_then(Option::as_ref).map_or(0, |live| live.queue.count())
    }

    /// Whether a datagram waits in a socket's queue.
    pub(crate) fn has_waiting(&self, id: SocketId) -> bool {
        self.sockets.get(id.0 as usize).and_then(Option::as_ref).is_some_and(|live| !live.queue.is_empty())
    }

    /// Datagrams that have arrived for a socket.
    pub(crate) fn arrivals(&self, id: SocketId) -> u64 {
        self.sockets.get(id.0 as usize).and_then(Option::as_ref).map_or(0, |live| live.queue.arrivals())
    }

    /// Bytes of its first datagram.
    pub(crate) fn first_length(&self, id: SocketId) -> Option<usize> {
        let live = self.sockets.get(id.0 as usize)?.as_ref()?;
        self.places.first(&live.queue).map(|waiting| waiting.length)
    }

    /// Time of arrival of the last received datagram, since 1970; `None` if only the kernel knows.
    pub(crate) fn stamp(&mut self, id: SocketId) -> Option<Duration> {
        let Self { table, sockets, kernel, .. } = self;
        table.stamp();
        sockets.get_mut(id.0 as usize)?.as_mut()?.stamp(|| kernel.realtime())
    }

    /// The next call asks the kernel.
    pub(crate) fn ask_soon(&mut self, id: SocketId) {
        if let Some(live) = self.live(id) {
            live.asked = 0;
        }
    }

    /// The kernel has no datagram for a socket: the bypassed ones are next.
    pub(crate) fn has_none_before(&mut self, id: SocketId) {
        if let Some(live) = self.live(id) {
            (live.before, live.since) = (0, 0);
        }
    }

    /// Counts a datagram received through the kernel.
    pub(crate) fn count_received_through(&mut self, id: SocketId, bytes: usize) {
        let Self { sockets, control, .. } = self;
        if let Some(live) = sockets.get_mut(id.0 as usize).and_then(Option::as_mut) {
            live.is_stamped_by_kernel();
            control.slot(live.slot).through.received(bytes);
        }
    }

    /// Stores whether a socket's descriptor is non-blocking.
    pub(crate) fn set_nonblocking(&mut self, id: SocketId, nonblocking: bool) {
        if let Some(live) = self.live(id) {
            live.options.nonblocking = nonblocking;
        }
    }
}

/// Whether the source is a local IPv4 address, which the kernel does not accept from outside (`accept_local`).
#[inline]
fn is_spoofed(arrived: &Arrived<'_>, locals: &[Local]) -> bool {
    let from = arrived.from.ip();
    from.is_ipv4() && locals.iter().any(|local| local.address == from)
}

/// Addresses of a datagram, kept after its frame is set aside.
struct Addresses {
    from: std::net::SocketAddr,
    to: std::net::SocketAddr,
    marks: [u8; 2],
    length: usize,
}

fn ends(arrived: &Arrived<'_>) -> Addresses {
    let Arrived { from, to, ttl, traffic_class, payload } = *arrived;
    Addresses { from, to, marks: [ttl, traffic_class], length: payload.len() }
}

fn waiting(ends: Addresses, packet: Packet, ring: &Ring) -> Waiting {
    let Addresses { from, to, marks, length } = ends;
    let start = if to.is_ipv4() { V4_HEADERS } else { V6_HEADERS };
    Waiting { packet, start, length, from, to, marks, interface: ring.interface, time: Duration::ZERO }
}

/// Prefetches a packet from the cache of another core, all lines at once.
#[inline]
fn fetch(packet: &[u8]) {
    const LINE: usize = 64;
    #[cfg(target_arch = "x86_64")]
    for at in (0..packet.len()).step_by(LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: it reads nothing, and the byte is one of the packet's.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(packet.as_ptr().add(at).cast()) };
    }
}

/// Time of arrival of a packet since 1970: its timestamp, or now.
fn time(kernel: &dyn Kernel, umem: &Umem, packet: &Packet, interface: u32) -> Duration {
    let now = kernel.realtime();
    let age = steer::came_at(umem, packet, interface).map(|came| kernel.monotonic().saturating_sub(came));
    now.saturating_sub(age.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_outside_has_an_address_of_ours() {
        let locals = ["198.18.0.1", "2001:2::1"]
            .map(|address| Local { address: address.parse().expect("an address"), granted: false });
        let is_spoofed = |from: &str| {
            let (from, to) = (from.parse().expect("an address"), "198.18.0.1:9".parse().expect("an address"));
            super::is_spoofed(&Arrived { from, to, ttl: 64, traffic_class: 0, payload: b"" }, &locals)
        };
        assert!(is_spoofed("198.18.0.1:7"));
        assert!(!is_spoofed("198.18.0.2:7") && !is_spoofed("[2001:2::1]:7"), "the kernel takes those of IPv6");
    }
}
