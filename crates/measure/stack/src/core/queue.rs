//! Datagrams waiting for their sockets, in places allocated at the start.

use std::{net::SocketAddr, time::Duration};

use xdp::socket::{Frame, Packet};

/// No place.
const NONE: u32 = u32::MAX;

/// The kernel's accounting of a small datagram in the receive buffer, beside its payload.
pub(super) const OVERHEAD: usize = 768;

/// A datagram in its frame.
pub(super) struct Waiting {
    pub(super) packet: Packet,
    /// Offset of its payload in the packet.
    pub(super) start: usize,
    pub(super) length: usize,
    pub(super) from: SocketAddr,
    pub(super) to: SocketAddr,
    pub(super) marks: [u8; 2],
    /// Index of the interface of arrival.
    pub(super) interface: u32,
    /// Time of arrival since 1970, if the socket asked for it.
    pub(super) time: Duration,
}

/// Datagrams of one socket, in order of arrival.
pub(super) struct Queue {
    first: u32,
    last: u32,
    count: u32,
    bytes: usize,
    arrivals: u64,
}

impl Default for Queue {
    fn default() -> Self {
        Self { first: NONE, last: NONE, count: 0, bytes: 0, arrivals: 0 }
    }
}

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Datagrams in the queue.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Datagrams that have ever arrived.
    pub(super) fn arrivals(&self) -> u64 {
        self.arrivals
    }

    /// Whether it takes another datagram within `room` bytes. Like the kernel, it counts the queued bytes and not the
    /// new ones.
    pub(super) fn has_room(&self, room: usize) -> bool {
        self.bytes <= room
    }
}

/// Places of all queues.
pub(super) struct Places {
    places: Vec<Place>,
    free: u32,
}

struct Place {
    waiting: Option<Waiting>,
    next: u32,
    before: u32,
}

impl Places {
    /// With `count` places.
    pub(super) fn new(count: u32) -> Self {
        let next = |number: u32| if number + 1 < count { number + 1 } else { NONE };
        let places = (0..count).map(|number| Place { waiting: None, next: next(number), before: NONE }).collect();
        Self { places, free: if count > 0 { 0 } else { NONE } }
    }

    /// Whether all places are taken.
    pub(super) fn are_taken(&self) -> bool {
        self.free == NONE
    }

    /// Appends a datagram to a queue; returns it if no place is free.
    pub(super) fn push(&mut self, queue: &mut Queue, waiting: Waiting) -> Option<Waiting> {
        let number = self.free;
        let Some(place) = self.places.get_mut(number as usize) else { return Some(waiting) };
        self.free = place.next;
        queue.bytes += waiting.length + OVERHEAD;
        *place = Place { waiting: Some(waiting), next: NONE, before: queue.last };
        match self.places.get_mut(queue.last as usize) {
            Some(last) => last.next = number,
            None => queue.first = number,
        }
        queue.last = number;
        queue.count += 1;
        queue.arrivals += 1;
        None
    }

    /// The datagram at the head of a queue.
    pub(super) fn first(&self, queue: &Queue) -> Option<&Waiting> {
        self.places.get(queue.first as usize)?.waiting.as_ref()
    }

    /// Takes the first datagram.
    pub(super) fn pop(&mut self, queue: &mut Queue) -> Option<Waiting> {
        let number = queue.first;
        let place = self.places.get_mut(number as usize)?;
        let waiting = place.waiting.take()?;
        queue.first = std::mem::replace(&mut place.next, self.free);
        self.free = number;
        match self.places.get_mut(queue.first as usize) {
            Some(first) => first.before = NONE,
            None => queue.last = NONE,
        }
        queue.count -= 1;
        queue.bytes -= waiting.length + OVERHEAD;
        Some(waiting)
    }

    /// Takes the last datagram.
    pub(super) fn pop_last(&mut self, queue: &mut Queue) -> Option<Waiting> {
        let number = queue.last;
        let place = self.places.get_mut(number as usize)?;
        let waiting = place.waiting.take()?;
        queue.last = place.before;
        place.next = std::mem::replace(&mut self.free, number);
        match self.places.get_mut(queue.last as usize) {
            Some(last) => last.next = NONE,
            None => queue.first = NONE,
        }
        queue.count -= 1;
        queue.bytes -= waiting.length + OVERHEAD;
        Some(waiting)
    }

    /// Empties a queue and frees its frames.
    pub(super) fn clear(&mut self, queue: &mut Queue, free: &mut Vec<Frame>) -> u64 {
        let mut count = 0;
        while let Some(waiting) = self.pop(queue) {
            free.push(waiting.packet.frame);
            count += 1;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use xdp::socket::{FrameSize, Umem};

    use super::*;

    fn waiting(frame: Frame, length: usize) -> Waiting {
        let end = "198.18.0.1:7".parse().expect("an address");
        let packet = Packet { frame, offset: 0, length: length as u32, more: false };
        Waiting { packet, start: 0, length, from: end, to: end, marks: [0; 2], interface: 1, time: Duration::ZERO }
    }

    #[test]
    fn queues_share_their_places_and_keep_their_order() {
        let (_umem, mut frames) = Umem::new(4, FrameSize::Half).expect("memory");
        let mut places = Places::new(3);
        let (mut one, mut other) = (Queue::default(), Queue::default());
        let mut push = |queue: &mut Queue, length| {
            let refused = places.push(queue, waiting(frames.pop().expect("enough"), length));
            let is_refused = refused.is_some();
            frames.extend(refused.map(|it| it.packet.frame));
            is_refused
        };
        assert!(!push(&mut one, 1) && !push(&mut other, 2) && !push(&mut one, 3));
        assert!(push(&mut one, 4), "no place is left");
        let mut length = |queue: &mut Queue| {
            let length = places.first(queue).map(|it| it.length);
            let taken = places.pop(queue);
            assert_eq!(length, taken.as_ref().map(|it| it.length));
            frames.extend(taken.map(|it| it.packet.frame));
            length
        };
        assert_eq!((length(&mut one), length(&mut one), length(&mut one)), (Some(1), Some(3), None));
        assert!(one.is_empty() && !other.is_empty());
        for round in 0..100 {
            assert!(places.push(&mut one, waiting(frames.pop().expect("one"), round)).is_none());
            assert!(places.push(&mut one, waiting(frames.pop().expect("one"), round)).is_none());
            assert!(!one.has_room(2 * (OVERHEAD + round) - 1) && one.has_room(2 * (OVERHEAD + round)));
            places.clear(&mut one, &mut frames);
            assert!(one.is_empty() && one.bytes == 0);
        }
        assert_eq!((frames.len(), places.pop(&mut other).map(|it| it.length)), (3, Some(2)));
    }

    #[test]
    fn the_last_one_is_taken_and_the_others_keep_their_order() {
        let (_umem, mut frames) = Umem::new(4, FrameSize::Half).expect("memory");
        let (mut places, mut queue) = (Places::new(3), Queue::default());
        for length in 1..=3 {
            assert!(places.push(&mut queue, waiting(frames.pop().expect("enough"), length)).is_none());
        }
        assert!(places.are_taken());
        assert_eq!(places.pop_last(&mut queue).map(|it| it.length), Some(3));
        assert!(!places.are_taken() && queue.count() == 2);
        assert_eq!(places.pop(&mut queue).map(|it| it.length), Some(1));
        assert!(places.push(&mut queue, waiting(frames.pop().expect("enough"), 4)).is_none());
        assert_eq!([(); 3].map(|()| places.pop_last(&mut queue).map(|it| it.length)), [Some(4), Some(2), None]);
        assert!(queue.is_empty() && queue.bytes == 0 && places.first(&queue).is_none());
        let (_umem, frames) = Umem::new(4, FrameSize::Half).expect("memory");
        for (length, frame) in (5..8).zip(frames) {
            assert!(places.push(&mut queue, waiting(frame, length)).is_none());
        }
        assert_eq!([(); 4].map(|()| places.pop(&mut queue).map(|it| it.length)), [Some(5), Some(6), Some(7), None]);
    }
}
