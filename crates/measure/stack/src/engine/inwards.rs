//! What comes in: from the rings, to the sockets.

use std::{os::fd::RawFd, time::Duration};

use datagram::{Arrived, SocketId};
use rustix::time::{ClockId, clock_gettime};
use xdp::{
    socket::{Packet, Umem},
    steer,
};

use super::{
    Engine,
    queue::Waiting,
    rings::Ring,
    socket::{Beside, Live, Local, hand_over},
};
use crate::{message::Incoming, ticks};

/// Headers before the payload: what a frame that was read has, and nothing else.
const V4_HEADERS: usize = 14 + 20 + 8;
const V6_HEADERS: usize = 14 + 40 + 8;
/// Datagrams of ours after which the kernel is asked too, so that what comes through it does not wait for ever.
pub(super) const FAIR: u32 = 64;

/// What came of looking for a datagram.
pub(crate) enum Received {
    /// There was one of ours.
    Done(usize),
    /// There is none of ours; the kernel is to be asked, by this descriptor. Whether it is sure that calls on it return at once.
    Ask { fd: RawFd, is_sure: bool },
    /// There is none of ours, and the kernel had none a moment ago. Whether the socket's calls return at once then, and its descriptor.
    Nothing { nonblocking: bool, fd: RawFd },
    /// The socket is not ours.
    NotOurs,
}

impl Engine {
    /// A datagram of ours, or what else to do.
    #[inline]
    pub(crate) fn receive(&mut self, id: SocketId, message: &mut Incoming<'_, '_>, flags: i32) -> Received {
        let Self { sockets, rings, cards, .. } = self;
        let Some(live) = sockets.get_mut(id.0 as usize).and_then(Option::as_mut) else { return Received::NotOurs };
        let is_fair = live.since < FAIR;
        // The way of those who ask again and again: nothing has come.
        if is_fair && (!live.queue.is_empty() || rings.iter_mut().any(Ring::has_any) || cards.poll(rings)) {
            live.since += 1;
            if let Some(length) = self.receive_ours(id, message, flags) {
                return Received::Done(length);
            }
        }
        let (now, every, sure_for) = (ticks::now(), self.ask_every, self.sure_for);
        let Some(live) = self.live(id) else { return Received::NotOurs };
        let (nonblocking, fd) = (live.look.nonblocking, live.fd);
        if is_fair && now.wrapping_sub(live.asked) < every {
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

    /// A datagram of ours.
    fn receive_ours(&mut self, id: SocketId, message: &mut Incoming<'_, '_>, flags: i32) -> Option<usize> {
        let peeks = flags & libc::MSG_PEEK != 0;
        let is_empty = self.live(id)?.queue.is_empty();
        if is_empty && !peeks {
            return self.receive_straight(id, message, flags);
        }
        if is_empty {
            self.pump();
        }
        let Self { sockets, places, umem, control, free, .. } = self;
        let live = sockets.get_mut(id.0 as usize)?.as_mut()?;
        let waiting = places.first(&live.queue)?;
        let payload = umem.packet(&waiting.packet).get(waiting.start..waiting.start + waiting.length)?;
        let [ttl, traffic_class] = waiting.marks;
        let arrived = Arrived { from: waiting.from, to: waiting.to, ttl, traffic_class, payload };
        // As the kernel tells it of what came before it was asked for times.
        let is_unknown = live.look.wants.time() && waiting.time.is_zero();
        let time = if is_unknown { reading(ClockId::Realtime) } else { waiting.time };
        let beside = Beside { interface: waiting.interface, time };
        let length = hand_over(&arrived, beside, &live.look, message, flags);
        live.stamps(beside.time);
        if !peeks {
            control.slot(live.slot).past.received(payload.len());
            free.extend(places.pop(&mut live.queue).map(|waiting| waiting.packet.frame));
        }
        Some(length)
    }

    /// The next datagram for a socket that has none waiting, straight from where it came.
    fn receive_straight(&mut self, id: SocketId, message: &mut Incoming<'_, '_>, flags: i32) -> Option<usize> {
        for number in 0..self.rings.len() {
            while let Some(packet) = self.rings[number].next() {
                let Self { rings, input, umem, sockets, control, free, filled, locals, .. } = self;
                let ring = &mut rings[number];
                fetch(umem.packet(&packet));
                let sorted =
                    input.sort(umem.packet(&packet), ring.sums).filter(|(_, arrived)| !pretends(arrived, locals));
                let live = sockets.get_mut(id.0 as usize).and_then(Option::as_mut);
                match (sorted, live) {
                    (Some((to, arrived)), Some(live)) if to == id => {
                        let time = if live.keeps_time() { time(umem, &packet, ring.interface) } else { Duration::ZERO };
                        let beside = Beside { interface: ring.interface, time };
                        let length = hand_over(&arrived, beside, &live.look, message, flags);
                        live.stamps(time);
                        control.slot(live.slot).past.received(arrived.payload.len());
                        free.push(packet.frame);
                        ring.refill(free, *filled);
                        return Some(length);
                    }
                    (Some((to, arrived)), _) => {
                        let waiting = waiting(packet_of(&arrived), packet, ring);
                        self.queue(to, waiting);
                    }
                    (None, _) => {
                        control.refuse();
                        free.push(packet.frame);
                    }
                }
                self.rings[number].refill(&mut self.free, self.filled);
            }
        }
        None
    }

    /// Takes what has come into the queues; whether anything came for a socket.
    pub(crate) fn pump(&mut self) -> bool {
        let mut came = false;
        if !self.rings.iter_mut().any(Ring::has_any) {
            self.cards.poll(&mut self.rings);
        }
        for number in 0..self.rings.len() {
            while let Some(packet) = self.rings[number].next() {
                let Self { rings, input, umem, free, control, locals, .. } = self;
                let ring = &mut rings[number];
                match input.sort(umem.packet(&packet), ring.sums).filter(|(_, arrived)| !pretends(arrived, locals)) {
                    Some((to, arrived)) => {
                        let waiting = waiting(packet_of(&arrived), packet, ring);
                        self.queue(to, waiting);
                        came = true;
                    }
                    None => {
                        control.refuse();
                        free.push(packet.frame);
                    }
                }
                self.rings[number].refill(&mut self.free, self.filled);
            }
        }
        came
    }

    /// Puts a datagram into its socket's queue, or drops it where that is full.
    fn queue(&mut self, to: SocketId, mut waiting: Waiting) {
        self.queued = true;
        if self.places.are_taken() {
            self.make_place(to);
        }
        let Self { sockets, places, free, control, umem, .. } = self;
        let Some(live) = sockets.get_mut(to.0 as usize).and_then(Option::as_mut) else {
            return free.push(waiting.packet.frame);
        };
        if live.keeps_time() {
            waiting.time = time(umem, &waiting.packet, waiting.interface);
        }
        let Live { queue, look, slot, .. } = live;
        let refused = if queue.has_room(look.room) { places.push(queue, waiting) } else { Some(waiting) };
        if let Some(waiting) = refused {
            control.slot(*slot).dropped.add(1);
            free.push(waiting.packet.frame);
        }
    }

    /// Where all places are taken, one that has more waiting loses its newest: who is read has a place however many are not.
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

    /// The longest queue among some sockets and that of before; the others have their turn with the next looks.
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

    /// How many wait for the socket with this number.
    fn count(&self, number: usize) -> u32 {
        self.sockets.get(number).and_then(Option::as_ref).map_or(0, |live| live.queue.count())
    }

    /// Whether a datagram waits in a socket's queue.
    pub(crate) fn has_waiting(&self, id: SocketId) -> bool {
        self.sockets.get(id.0 as usize).and_then(Option::as_ref).is_some_and(|live| !live.queue.is_empty())
    }

    /// How many came.
    pub(crate) fn arrivals(&self, id: SocketId) -> u64 {
        self.sockets.get(id.0 as usize).and_then(Option::as_ref).map_or(0, |live| live.queue.arrivals())
    }

    /// Bytes of the first one.
    pub(crate) fn first_length(&self, id: SocketId) -> Option<usize> {
        let live = self.sockets.get(id.0 as usize)?.as_ref()?;
        self.places.first(&live.queue).map(|waiting| waiting.length)
    }

    /// When the last one came that was received, since 1970; `None` where only the kernel knows.
    pub(crate) fn stamp(&mut self, id: SocketId) -> Option<Duration> {
        self.table.stamp();
        self.live(id)?.stamp(|| reading(ClockId::Realtime))
    }

    /// Has the kernel asked by the next call.
    pub(crate) fn ask_soon(&mut self, id: SocketId) {
        if let Some(live) = self.live(id) {
            live.asked = 0;
        }
    }

    /// The kernel has nothing of a socket: what comes past it has its turn.
    pub(crate) fn has_none_before(&mut self, id: SocketId) {
        if let Some(live) = self.live(id) {
            (live.before, live.since) = (0, 0);
        }
    }

    /// Counts what came through the kernel.
    pub(crate) fn count_received_through(&mut self, id: SocketId, bytes: usize) {
        let Self { sockets, control, .. } = self;
        if let Some(live) = sockets.get_mut(id.0 as usize).and_then(Option::as_mut) {
            live.is_stamped_by_kernel();
            control.slot(live.slot).through.received(bytes);
        }
    }

    /// Whether calls on a socket return at once, as its descriptor says now.
    pub(crate) fn set_nonblocking(&mut self, id: SocketId, nonblocking: bool) {
        if let Some(live) = self.live(id) {
            live.look.nonblocking = nonblocking;
        }
    }
}

/// Whether it says that it comes from an IPv4 address of ours, which the kernel believes nobody outside (`accept_local`).
#[inline]
fn pretends(arrived: &Arrived<'_>, locals: &[Local]) -> bool {
    let from = arrived.from.ip();
    from.is_ipv4() && locals.iter().any(|local| local.address == from)
}

/// What stays of a datagram when its frame is put aside.
struct Ends {
    from: std::net::SocketAddr,
    to: std::net::SocketAddr,
    marks: [u8; 2],
    length: usize,
}

fn packet_of(arrived: &Arrived<'_>) -> Ends {
    let Arrived { from, to, ttl, traffic_class, payload } = *arrived;
    Ends { from, to, marks: [ttl, traffic_class], length: payload.len() }
}

fn waiting(ends: Ends, packet: Packet, ring: &Ring) -> Waiting {
    let Ends { from, to, marks, length } = ends;
    let start = if to.is_ipv4() { V4_HEADERS } else { V6_HEADERS };
    Waiting { packet, start, length, from, to, marks, interface: ring.interface, time: Duration::ZERO }
}

/// Has the processor fetch a packet, which lies in the caches of the core that it came by, all at once and not line by line.
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

/// When a packet came, since 1970: as it was stamped, or this moment.
fn time(umem: &Umem, packet: &Packet, interface: u32) -> Duration {
    let now = reading(ClockId::Realtime);
    let age = steer::came_at(umem, packet, interface).map(|came| reading(ClockId::Monotonic).saturating_sub(came));
    now.saturating_sub(age.unwrap_or_default())
}

fn reading(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_outside_has_an_address_of_ours() {
        let locals = ["198.18.0.1", "2001:2::1"]
            .map(|address| Local { address: address.parse().expect("an address"), granted: false });
        let pretends = |from: &str| {
            let (from, to) = (from.parse().expect("an address"), "198.18.0.1:9".parse().expect("an address"));
            pretends(&Arrived { from, to, ttl: 64, traffic_class: 0, payload: b"" }, &locals)
        };
        assert!(pretends("198.18.0.1:7"));
        assert!(!pretends("198.18.0.2:7") && !pretends("[2001:2::1]:7"), "the kernel takes those of IPv6");
    }
}
