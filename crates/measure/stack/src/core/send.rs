//! Sending: from the sockets to the rings.

use std::{io::IoSlice, net::SocketAddr, os::fd::RawFd};

use datagram::{DatagramHeader, SocketId, flow_label};
use xdp::socket::Packet;

use super::Core;
use crate::{
    ancillary::{SendControl, Version},
    message::{Outcome, Outgoing},
    sockaddr,
};

/// Flags of sendmsg(2) without effect here: sending never waits, and there is no SIGPIPE.
const KNOWN_FLAGS: i32 = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
/// Limit of segments per call (`UDP_MAX_SEGMENTS` of linux/udp.h).
const MOST_SEGMENTS: usize = 128;
/// The kernel's limit for their total, over either version: the payload of one IPv4 datagram.
const MOST_BYTES: usize = 65_507;

/// The outcome of sending a datagram.
pub(crate) struct Sent {
    pub(crate) outcome: Outcome<usize>,
    /// The queue that needs a system call after the lock is released.
    pub(crate) wake: Option<Wake>,
    /// Whether the card has unsent packets and will have room in a moment.
    pub(crate) is_full: bool,
}

/// A queue with packets to send.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wake {
    ring: usize,
    /// Descriptor, for the system call.
    pub(crate) fd: RawFd,
}

impl Sent {
    fn of(outcome: Outcome<usize>) -> Self {
        Self { outcome, wake: None, is_full: false }
    }
}

/// Way of sending a datagram.
struct Leaving {
    header: DatagramHeader,
    way: datagram::NextHop,
    ring: usize,
    /// Bytes of each segment of the payload.
    segment: usize,
}

/// The outcome of putting a datagram into a ring.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Put {
    Done,
    /// The ring is full, or no frame is free.
    Full,
    /// It would need fragments.
    TooLarge,
}

impl Core {
    /// Puts a datagram into a ring, or leaves it to the kernel.
    pub(crate) fn send(&mut self, id: SocketId, message: &Outgoing<'_>, flags: i32, now: u64) -> Sent {
        if message.is_taken_away() {
            return Sent::of(Outcome::Kernel);
        }
        if let Some(errno) = self.pending_error(id, now) {
            return Sent::of(Outcome::Failed(errno));
        }
        let bytes: usize = message.pieces.iter().map(|piece| piece.len()).sum();
        let leaving = if flags & !KNOWN_FLAGS == 0 { self.leaving(id, message, bytes, now) } else { None };
        let put = leaving.map(|leaving| (leaving.ring, self.put(message, &leaving, bytes)));
        let Self { sockets, control, .. } = self;
        let Some(live) = sockets.get(id.0 as usize).and_then(Option::as_ref) else { return Sent::of(Outcome::Kernel) };
        let slot = control.slot(live.slot);
        if let Some((ring, Put::Done)) = put {
            slot.past.sent(bytes);
            return Sent { wake: self.tell(ring), ..Sent::of(Outcome::Done(bytes)) };
        }
        // Packets from a time when the link was down may fill the ring.
        let full = put.filter(|(_, put)| *put == Put::Full).map(|(ring, _)| ring);
        let is_full = full.is_some_and(|ring| self.rings[ring].is_zero_copy);
        Sent { wake: full.and_then(|ring| self.tell(ring)), is_full, ..Sent::of(Outcome::Kernel) }
    }

    #[inline]
    fn tell(&mut self, ring: usize) -> Option<Wake> {
        let wants_waking = self.rings[ring].tell();
        wants_waking.then(|| Wake { ring, fd: self.rings[ring].fd() })
    }

    /// Whether packets are left although the kernel was called.
    pub(crate) fn is_left(&self, wake: Wake) -> bool {
        self.rings.get(wake.ring).is_some_and(|ring| ring.is_left())
    }

    /// Counts datagrams that the kernel has sent.
    pub(crate) fn count_sent_through(&mut self, id: SocketId, bytes: usize) {
        let Self { sockets, control, .. } = self;
        if let Some(live) = sockets.get(id.0 as usize).and_then(Option::as_ref) {
            control.slot(live.slot).through.sent(bytes);
        }
    }

    /// Path MTU of a connected socket (`IP_MTU`).
    pub(crate) fn path_mtu(&mut self, id: SocketId, now: u64) -> Option<u32> {
        self.follow_changes(now);
        let Self { sockets, routes, exits, kernel, .. } = self;
        let options = &sockets.get(id.0 as usize)?.as_ref()?.options;
        routes.mtu((options.peer?.ip(), options.binding.address), exits, &mut **kernel)
    }

    /// The socket's pending error, such as a refused datagram, which the kernel reports first.
    fn pending_error(&mut self, id: SocketId, now: u64) -> Option<i32> {
        let every = self.errors_every;
        let live = self.live(id)?;
        if now.wrapping_sub(live.asked.max(live.checked)) < every {
            return None;
        }
        live.checked = now;
        let fd = live.fd;
        self.kernel.pending_error(fd)
    }

    /// Way of sending it; `None` if the kernel has to decide.
    #[inline]
    fn leaving(&mut self, id: SocketId, message: &Outgoing<'_>, bytes: usize, now: u64) -> Option<Leaving> {
        self.follow_changes(now);
        let Self { sockets, routes, identifications, exits, exit_rings, generation, locals, kernel, .. } = self;
        let live = sockets.get(id.0 as usize)?.as_ref().filter(|live| !live.is_shared && !live.is_inherited)?;
        let options = &live.options;
        let to = if message.name.is_empty() { options.peer? } else { sockaddr::read(message.name)? };
        if to.port() == 0 || !options.v6 && to.is_ipv6() || !options.binding.versions.hear(to.ip()) {
            return None;
        }
        let said = match message.control {
            [] => SendControl::default(),
            control => SendControl::read(control, Version::of(to.ip(), options.v6))?,
        };
        let source = said.source.or(options.binding.address);
        if said.source.is_some_and(|chosen| !locals.iter().any(|local| local.address == chosen)) {
            return None;
        }
        let ends = (to.ip(), source);
        let found = match routes.find(ends, now, *generation) {
            Some(known) => known,
            None => routes.ask(ends, now, *generation, exits, &mut **kernel),
        }?;
        let [ttl, traffic_class] = if to.is_ipv4() { options.v4_marks } else { options.v6_marks };
        let discovery = if to.is_ipv4() { options.v4_discovery } else { options.v6_discovery };
        let mtu_of_link = exits[found.exit].mtu.min(u16::MAX.into()) as u16;
        let mtu = if discovery.ignores_path() { mtu_of_link } else { found.way.mtu };
        let segment = match usize::from(said.segment.unwrap_or(options.segment)) {
            0 => bytes,
            segment if bytes > MOST_BYTES || bytes.div_ceil(segment) > MOST_SEGMENTS => return None,
            segment => segment,
        };
        // Each socket keeps to one queue, which keeps its datagrams in order. There are no queues once the launcher has
        // ended.
        let of_exit = exit_rings.get(found.exit).filter(|rings| !rings.is_empty())?;
        let ring = of_exit.start + id.0 as usize % of_exit.len();
        let is_cut = to.is_ipv4() && discovery.lets_routers_cut(found.is_mtu_locked);
        let from = SocketAddr::new(found.source, options.local.port());
        let header = DatagramHeader {
            from,
            to,
            ttl: said.ttl.unwrap_or(ttl),
            traffic_class: said.traffic_class.unwrap_or(traffic_class),
            identification: is_cut.then(|| identifications.take(found.source, to.ip(), count(bytes, segment))),
            flow_label: if options.labels { flow_label(from, to) } else { 0 },
        };
        Some(Leaving { header, way: datagram::NextHop { mtu, ..found.way }, ring, segment })
    }

    /// Writes the segments into frames and puts all of them into the ring, or none.
    #[inline]
    fn put(&mut self, message: &Outgoing<'_>, leaving: &Leaving, bytes: usize) -> Put {
        let Self { rings, free, sent, .. } = self;
        let ring = &mut rings[leaving.ring];
        ring.reclaim(sent);
        let count = count(bytes, leaving.segment);
        while sent.len() < count
            && let Some(frame) = free.pop()
        {
            sent.push(frame);
        }
        if sent.len() < count || !ring.has_room(count) {
            return Put::Full;
        }
        // No segment is longer than the first one.
        match (0..count).all(|number| self.put_segment(message, leaving, number * leaving.segment)) {
            true => Put::Done,
            false => Put::TooLarge,
        }
    }

    fn put_segment(&mut self, message: &Outgoing<'_>, leaving: &Leaving, from: usize) -> bool {
        let Self { rings, sent, umem, .. } = self;
        let Some(mut frame) = sent.pop() else { return false };
        let (room, Leaving { way, header, segment, .. }) = (umem.bytes_mut(&mut frame), leaving);
        let number = from.checked_div(*segment).unwrap_or(0) as u16;
        let identification = header.identification.map(|first| first.wrapping_add(number));
        let header = DatagramHeader { identification, ..*header };
        let written = match message.pieces {
            [piece] if piece.len() == *segment => datagram::write(way, &header, [&**piece].into_iter(), room),
            pieces => datagram::write(way, &header, parts(pieces, from, *segment), room),
        };
        let put = match written {
            Ok(length) => {
                let packet = Packet { frame, offset: 0, length: length as u32, more: false };
                rings[leaving.ring].put(packet).map_err(|packet| packet.frame)
            }
            // Larger than the MTU or than a frame.
            Err(_) => Err(frame),
        };
        put.map_err(|frame| sent.push(frame)).is_ok()
    }
}

/// Number of segments for `bytes`.
fn count(bytes: usize, segment: usize) -> usize {
    if bytes == 0 { 1 } else { bytes.div_ceil(segment) }
}

/// The parts of `pieces` that hold `length` bytes from offset `from`.
fn parts<'a>(pieces: &'a [IoSlice<'a>], from: usize, length: usize) -> impl Iterator<Item = &'a [u8]> + Clone {
    pieces.iter().scan(0, move |begun, piece| {
        let (begin, end) = (*begun, *begun + piece.len());
        *begun = end;
        let inside = |at: usize| at.clamp(begin, end) - begin;
        Some(&piece[inside(from)..inside(from + length)])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_cut_where_segments_end() {
        let pieces = [&b"abc"[..], b"", b"defgh", b"i"].map(IoSlice::new);
        let segment = |from: usize, length: usize| parts(&pieces, from, length).collect::<Vec<_>>().concat();
        assert_eq!(segment(0, 9), b"abcdefghi");
        assert_eq!([0, 4, 8].map(|from| segment(from, 4)), [&b"abcd"[..], b"efgh", b"i"]);
        assert_eq!(segment(9, 4), b"");
    }
}
