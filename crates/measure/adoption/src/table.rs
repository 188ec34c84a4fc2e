//! The kind of each descriptor of the program, by its number.
//!
//! An entry is one atomic word, so that every shim may read and change it at any time, in signal handlers too.
//!
//! Its version changes whenever the descriptor may stand for another file. Findings about an older version are not
//! written.

use std::{
    ffi::c_int,
    sync::atomic::{AtomicU64, Ordering},
};

/// Number of entries; higher descriptors stay with the kernel.
pub const ENTRIES: usize = 1 << 16;

/// The kind of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Not classified yet.
    Unknown,
    /// No socket that could be bypassed.
    Foreign,
    /// A UDP socket that stays with the kernel.
    Kernel,
    /// Being closed: concurrent users get the kernel's answers.
    Closing,
    /// A bypassed socket.
    Live(u32),
    /// A UDP socket left to the kernel while another process has the grant.
    Refused,
    /// An epoll set with bypassed sockets, or with sets of them.
    Set,
    /// An epoll set without.
    EmptySet,
    /// A socket that always stays with the kernel, such as TCP.
    Never,
}

/// An entry as read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry(u64);

/// Entries, all zero at first: [`Kind::Unknown`].
#[repr(C)]
pub struct Table([AtomicU64; ENTRIES]);

/// Bits: kind in the lowest 8, version in the next 24, socket number above.
const VERSION: u64 = 1 << 8;
const VERSIONS: u64 = 0xffff_ff00;

impl Entry {
    /// Kind.
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
    /// The entry of a descriptor; `None` beyond the table.
    #[inline(always)]
    pub fn load(&self, fd: c_int) -> Option<Entry> {
        Some(Entry(self.entry(fd)?.load(Ordering::Acquire)))
    }

    /// Writes a finding, unless the entry has changed since; returns whether it was written.
    pub fn settle(&self, fd: c_int, seen: Entry, kind: Kind) -> bool {
        self.entry(fd).is_some_and(|entry| {
            entry.compare_exchange(seen.0, seen.with(kind), Ordering::AcqRel, Ordering::Acquire).is_ok()
        })
    }

    /// Replaces the kind; returns the previous one.
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
