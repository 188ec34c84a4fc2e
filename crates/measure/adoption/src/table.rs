//! The kind of each descriptor of the program, by its number.
//!
//! An entry is one atomic word, so that every shim may read and change it at any time, in signal handlers too. It has a version, which
//! changes whenever the descriptor may have become another one: what was found out of an older one is then not written.

use std::{
    ffi::c_int,
    sync::atomic::{AtomicU64, Ordering},
};

/// Numbers that there are entries for; what is above is the kernel's.
pub const ENTRIES: usize = 1 << 16;

/// What a descriptor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nobody looked yet.
    Unknown,
    /// No socket that could be taken past the kernel.
    Foreign,
    /// A UDP socket that is left to the kernel.
    Kernel,
    /// Being closed: whoever uses it now uses what the kernel has.
    Closing,
    /// A socket that goes past the kernel.
    Live(u32),
    /// A UDP socket that is left to the kernel as long as another process has what there is.
    Refused,
    /// An epoll set with sockets in it that go past the kernel, or with such sets.
    Set,
    /// An epoll set without.
    EmptySet,
    /// A socket that stays with the kernel whatever becomes of it, like one of TCP.
    Never,
}

/// An entry as it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry(u64);

/// Entries, all zero at first: [`Kind::Unknown`].
#[repr(C)]
pub struct Table([AtomicU64; ENTRIES]);

/// Bits: what it is in the lowest 8, version in the next 24, number of the socket above.
const VERSION: u64 = 1 << 8;
const VERSIONS: u64 = 0xffff_ff00;

impl Entry {
    /// What it says.
    #[inline(always)]
    pub fn kind(self) -> Kind {
        let number = (self.0 >> 32) as u32;
        match self.0 as u8 {
            0 => Kind::Unknown,
            1 => Kind::Foreign,
            2 => Kind::Kernel,
            3 => Kind::Closing,
            4 => Kind::Live(number),
            5 => Kind::Set,
            6 => Kind::Never,
            7 => Kind::EmptySet,
            _ => Kind::Refused,
        }
    }

    fn with(self, kind: Kind) -> u64 {
        let (kind, number) = match kind {
            Kind::Unknown => (0, 0),
            Kind::Foreign => (1, 0),
            Kind::Kernel => (2, 0),
            Kind::Closing => (3, 0),
            Kind::Live(number) => (4, number),
            Kind::Set => (5, 0),
            Kind::Never => (6, 0),
            Kind::EmptySet => (7, 0),
            Kind::Refused => (8, 0),
        };
        u64::from(number) << 32 | self.0 & VERSIONS | kind
    }

    fn next_version(self) -> Self {
        Self(self.0 & !VERSIONS | self.0.wrapping_add(VERSION) & VERSIONS)
    }
}

impl Table {
    /// The entry of a descriptor; none for numbers that have none.
    #[inline(always)]
    pub fn look(&self, fd: c_int) -> Option<Entry> {
        Some(Entry(self.entry(fd)?.load(Ordering::Acquire)))
    }

    /// Writes what was found out, unless the descriptor may be another one by now; whether it was written.
    pub fn settle(&self, fd: c_int, seen: Entry, kind: Kind) -> bool {
        self.entry(fd).is_some_and(|entry| {
            entry.compare_exchange(seen.0, seen.with(kind), Ordering::AcqRel, Ordering::Acquire).is_ok()
        })
    }

    /// Makes it something else, whatever it was; what it was.
    pub fn replace(&self, fd: c_int, kind: Kind) -> Option<Kind> {
        let entry = self.entry(fd)?;
        let mut seen = Entry(entry.load(Ordering::Acquire));
        loop {
            let next = seen.next_version().with(kind);
            match entry.compare_exchange_weak(seen.0, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(seen.kind()),
                Err(now) => seen = Entry(now),
            }
        }
    }

    #[inline(always)]
    fn entry(&self, fd: c_int) -> Option<&AtomicU64> {
        self.0.get(usize::try_from(fd).ok()?)
    }
}
