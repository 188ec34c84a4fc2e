//! What is written down of one socket, in memory that processes share.

use std::{
    net::{IpAddr, Ipv6Addr, SocketAddr},
    process,
    sync::atomic::{
        AtomicU8, AtomicU32, AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    },
};

use model::bypass::{Counted, Reason, Record};

/// What is written down of one socket. It has one writer at a time.
#[repr(C, align(64))]
#[derive(Default)]
pub struct Slot {
    descriptor: AtomicU32,
    process: AtomicU32,
    /// 0: nothing known; 1: past the kernel; others: 2 more than the number of a [`Reason`].
    fate: AtomicU32,
    closed: AtomicU32,
    local: Ends,
    peer: Ends,
    /// Datagrams that went past the kernel.
    pub past: Traffic,
    /// Datagrams that went through it.
    pub through: Traffic,
    /// Datagrams that came past the kernel and found the socket's queue full, or waited in it when the socket went back to the kernel.
    pub dropped: Counter,
}

#[repr(C)]
#[derive(Default)]
struct Ends {
    address: [AtomicU8; 16],
    /// The port; with bit 16 set where there is an end at all, with bit 17 where its address is of IPv4.
    port: AtomicU32,
}

/// Datagrams of one way, each direction, with their bytes of payload.
#[repr(C)]
#[derive(Default)]
pub struct Traffic {
    received: Counter,
    received_bytes: Counter,
    sent: Counter,
    sent_bytes: Counter,
}

/// A number that one writer at a time adds to, and anybody reads.
#[repr(transparent)]
#[derive(Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds to it. Of two threads that do so at the same moment one may go uncounted; it costs no locked instruction
    /// for that.
    #[inline]
    pub fn add(&self, count: u64) {
        self.0.store(self.0.load(Relaxed).wrapping_add(count), Relaxed);
    }

    /// What it is now.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

impl Traffic {
    /// Counts a datagram that came, with so many bytes of payload.
    #[inline]
    pub fn received(&self, bytes: usize) {
        self.received.add(1);
        self.received_bytes.add(bytes as u64);
    }

    /// Counts a datagram that went, with so many bytes of payload.
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
    /// Begins it, of a socket that has this descriptor in this process.
    pub(super) fn begin(&self, descriptor: i32) {
        self.process.store(process::id(), Relaxed);
        self.descriptor.store(descriptor.cast_unsigned(), Relaxed);
    }

    /// Says whether it goes past the kernel, or why not.
    pub fn set_fate(&self, fate: Result<(), Reason>) {
        self.fate.store(fate.map_or_else(|reason| reason as u32 + 2, |()| 1), Release);
    }

    /// Says which ends it has.
    pub fn set_ends(&self, local: Option<SocketAddr>, peer: Option<SocketAddr>) {
        self.local.write(local);
        self.peer.write(peer);
    }

    /// Says that it was closed.
    pub fn set_closed(&self) {
        self.closed.store(1, Relaxed);
    }

    /// Whether it is past the kernel, and was not closed.
    pub(super) fn is_past(&self) -> bool {
        self.fate.load(Acquire) == 1 && self.closed.load(Relaxed) == 0
    }

    /// The process that began it; 0 where nobody did yet.
    pub(super) fn process(&self) -> u32 {
        self.process.load(Relaxed)
    }

    /// All that it says, of the socket with this number.
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
