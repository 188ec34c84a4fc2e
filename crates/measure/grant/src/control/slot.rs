//! Record of one socket in shared memory.

use std::{
    net::{IpAddr, Ipv6Addr, SocketAddr},
    process,
    sync::atomic::{
        AtomicU8, AtomicU32, AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    },
};

use model::bypass::{Counted, Reason, Record};

/// Record of one socket. It has one writer at a time.
#[repr(C, align(64))]
#[derive(Default)]
pub struct Slot {
    descriptor: AtomicU32,
    process: AtomicU32,
    /// 0: unknown; 1: bypassed; others: 2 more than the number of a [`Reason`].
    fate: AtomicU32,
    closed: AtomicU32,
    local: Ends,
    peer: Ends,
    /// Bypassed datagrams.
    pub past: Traffic,
    /// Datagrams through the kernel.
    pub through: Traffic,
    /// Bypassed datagrams dropped at a full queue, or left in it when the socket went back to the kernel.
    pub dropped: Counter,
}

#[repr(C)]
#[derive(Default)]
struct Ends {
    address: [AtomicU8; 16],
    /// The port; bit 16 is set if there is an address at all, bit 17 if it is IPv4.
    port: AtomicU32,
}

/// Datagrams and their payload bytes, in each direction.
#[repr(C)]
#[derive(Default)]
pub struct Traffic {
    received: Counter,
    received_bytes: Counter,
    sent: Counter,
    sent_bytes: Counter,
}

/// A counter with one writer at a time and any number of readers.
#[repr(transparent)]
#[derive(Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds to it, without a locked instruction. One of two concurrent additions may be lost.
    #[inline]
    pub fn add(&self, count: u64) {
        self.0.store(self.0.load(Relaxed).wrapping_add(count), Relaxed);
    }

    /// Value.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

impl Traffic {
    /// Counts a received datagram.
    #[inline]
    pub fn received(&self, bytes: usize) {
        self.received.add(1);
        self.received_bytes.add(bytes as u64);
    }

    /// Counts a sent datagram.
    #[inline]
    pub fn sent(&self, bytes: usize) {
        self.sent.add(1);
        self.sent_bytes.add(bytes as u64);
    }

    pub(super) fn read(&self) -> Counted {
        Counted {
            received: self.received.get(),
            received_bytes: self.received_bytes.get(),
            sent: self.sent.get(),
            sent_bytes: self.sent_bytes.get(),
        }
    }
}

impl Slot {
    /// Starts the record of a socket with this descriptor in this process.
    pub(super) fn begin(&self, descriptor: i32) {
        self.process.store(process::id(), Relaxed);
        self.descriptor.store(descriptor.cast_unsigned(), Relaxed);
    }

    /// Records that the socket is bypassed, or why not.
    pub fn set_fate(&self, fate: Result<(), Reason>) {
        self.fate.store(fate.map_or_else(|reason| reason as u32 + 2, |()| 1), Release);
    }

    /// Records its addresses.
    pub fn set_ends(&self, local: Option<SocketAddr>, peer: Option<SocketAddr>) {
        self.local.write(local);
        self.peer.write(peer);
    }

    /// Records that it was closed.
    pub fn set_closed(&self) {
        self.closed.store(1, Relaxed);
    }

    /// Whether it is bypassed and open.
    pub(super) fn is_past(&self) -> bool {
        self.fate.load(Acquire) == 1 && self.closed.load(Relaxed) == 0
    }

    /// The process that started it; 0 if unused.
    pub(super) fn process(&self) -> u32 {
        self.process.load(Relaxed)
    }

    /// Contents, for the socket with this cookie.
    pub(super) fn record(&self, cookie: u64) -> Record {
        let fate = match self.fate.load(Acquire) {
            1 => Ok(()),
            number => Err(*Reason::ALL.get(number.wrapping_sub(2) as usize).unwrap_or(&Reason::NotBound)),
        };
        Record {
            cookie,
            descriptor: self.descriptor.load(Relaxed).cast_signed(),
            process: self.process.load(Relaxed),
            fate,
            closed: self.closed.load(Relaxed) != 0,
            local: self.local.read(),
            peer: self.peer.read(),
            past: self.past.read(),
            through: self.through.read(),
            dropped: self.dropped.get(),
        }
    }
}

impl Ends {
    const THERE: u32 = 1 << 16;
    const V4: u32 = 1 << 17;

    fn write(&self, end: Option<SocketAddr>) {
        let (bytes, version) = match end.map(|end| end.ip()) {
            None => ([0; 16], 0),
            Some(IpAddr::V4(address)) => (address.to_ipv6_mapped().octets(), Self::V4),
            Some(IpAddr::V6(address)) => (address.octets(), 0),
        };
        for (there, byte) in self.address.iter().zip(bytes) {
            there.store(byte, Relaxed);
        }
        let port = end.map_or(0, |end| u32::from(end.port()) | Self::THERE);
        self.port.store(port | version, Release);
    }

    fn read(&self) -> Option<SocketAddr> {
        let port = self.port.load(Acquire);
        let address = Ipv6Addr::from(std::array::from_fn(|number| self.address[number].load(Relaxed)));
        let address = if port & Self::V4 != 0 { address.to_canonical() } else { address.into() };
        (port & Self::THERE != 0).then(|| SocketAddr::new(address, port as u16))
    }
}
