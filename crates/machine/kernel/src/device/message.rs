//! Raw rtnetlink(7) messages, parsed as far as needed to select them.

use std::{io, net::IpAddr, ops::Range};

use model::nic::Saved;
use netlink_packet_core::NLM_F_DUMP;

use crate::{
    error::{On, Result},
    netlink::{Raw, request},
};

const CALL: &str = "rtnetlink";

/// A kind of object in messages.
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// `RTM_NEW…` and `RTM_GET…` of linux/rtnetlink.h.
    pub(super) new: u16,
    pub(super) get: u16,
    /// Length of the part before the attributes.
    pub(super) head: usize,
    /// Attribute with the interface's index, for routes; other kinds have it in the head.
    pub(super) index_attribute: Option<u16>,
}

/// One object as the kernel described it.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) bytes: Vec<u8>,
    pub(super) head: usize,
}

impl Entry {
    pub(super) fn attributes(&self) -> impl Iterator<Item = (u16, Range<usize>)> + use<'_> {
        let mut at = self.head;
        std::iter::from_fn(move || {
            let length = usize::from(u16::from_ne_bytes([*self.bytes.get(at)?, *self.bytes.get(at + 1)?]));
            let kind = u16::from_ne_bytes([*self.bytes.get(at + 2)?, *self.bytes.get(at + 3)?]);
            let value = at + 4..at + length;
            // The two highest bits are flags (linux/netlink.h).
            let found = (length >= 4 && value.end <= self.bytes.len()).then_some((kind & 0x3fff, value));
            at += length.next_multiple_of(4);
            found
        })
    }

    pub(super) fn place(&self, attribute: u16) -> Option<Range<usize>> {
        self.attributes().find(|(kind, _)| *kind == attribute).map(|(_, place)| place)
    }

    pub(super) fn value(&self, attribute: u16) -> Option<&[u8]> {
        self.place(attribute).map(|place| &self.bytes[place])
    }

    pub(super) fn number(&self, attribute: u16) -> Option<u32> {
        self.value(attribute).and_then(number)
    }

    pub(super) fn text(&self, attribute: u16) -> Option<String> {
        let bytes = self.value(attribute)?;
        Some(String::from_utf8_lossy(bytes.strip_suffix(&[0]).unwrap_or(bytes)).into_owned())
    }

    pub(super) fn address(&self, attribute: u16) -> Option<IpAddr> {
        let bytes = self.value(attribute)?;
        let v4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
        v4.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok()
    }

    pub(super) fn is_ipv6(&self) -> bool {
        i32::from(self.bytes[0]) == libc::AF_INET6
    }

    pub(super) fn is_ip(&self) -> bool {
        [libc::AF_INET, libc::AF_INET6].contains(&i32::from(self.bytes[0]))
    }

    pub(super) fn head_number(&self, at: usize) -> u32 {
        self.bytes.get(at..at + 4).and_then(number).unwrap_or_default()
    }

    /// The same with only these attributes.
    pub(super) fn only(&self, attributes: &[u16]) -> Self {
        self.chosen(|attribute| attributes.contains(&attribute))
    }

    /// The same without these attributes.
    pub(super) fn without(&self, attributes: &[u16]) -> Self {
        self.chosen(|attribute| !attributes.contains(&attribute))
    }

    /// The same with another value of an attribute, moved to the end.
    pub(super) fn with(&self, attribute: u16, value: &[u8]) -> Self {
        let mut entry = self.without(&[attribute]);
        entry.push(attribute, value);
        entry
    }

    fn chosen(&self, is_chosen: impl Fn(u16) -> bool) -> Self {
        let mut entry = Self { bytes: self.bytes[..self.head].to_vec(), head: self.head };
        for (attribute, place) in self.attributes().filter(|(attribute, _)| is_chosen(*attribute)) {
            entry.push(attribute, &self.bytes[place]);
        }
        entry
    }

    /// Values come from attributes, whose length has 16 bits.
    fn push(&mut self, attribute: u16, value: &[u8]) {
        let length = u16::try_from(4 + value.len()).unwrap_or(u16::MAX);
        self.bytes.extend_from_slice(&length.to_ne_bytes());
        self.bytes.extend_from_slice(&attribute.to_ne_bytes());
        self.bytes.extend_from_slice(value);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    pub(super) fn saved(self, words: String) -> Saved {
        Saved { words, message: self.bytes }
    }
}

impl Kind {
    /// All objects of this kind in this namespace.
    pub(super) fn all(&self) -> Result<Vec<Entry>> {
        self.ask(vec![0; self.head])
    }

    /// Objects of one interface below a parent in its queueing (`struct tcmsg`); there is no other way to list them.
    pub(super) fn at(&self, index: u32, parent: u32) -> Result<Vec<Entry>> {
        let mut head = vec![0; self.head];
        head[4..8].copy_from_slice(&index.to_ne_bytes());
        head[12..16].copy_from_slice(&parent.to_ne_bytes());
        self.ask(head)
    }

    fn ask(&self, head: Vec<u8>) -> Result<Vec<Entry>> {
        let question = Raw { kind: self.get, bytes: head };
        let answers = request(question, NLM_F_DUMP).on(CALL, self.name)?;
        let whole = answers.into_iter().filter(|answer| answer.kind == self.new && answer.bytes.len() >= self.head);
        Ok(whole.map(|answer| Entry { bytes: answer.bytes, head: self.head }).collect())
    }

    /// Objects of one interface.
    pub(super) fn of(&self, index: u32) -> Result<Vec<Entry>> {
        Ok(self.all()?.into_iter().filter(|entry| self.index(entry) == Some(index)).collect())
    }

    pub(super) fn index(&self, entry: &Entry) -> Option<u32> {
        let place = self.index_place(entry)?;
        number(&entry.bytes[place])
    }

    fn index_place(&self, entry: &Entry) -> Option<Range<usize>> {
        match self.index_attribute {
            Some(attribute) => entry.place(attribute),
            None => Some(4..8),
        }
    }

    /// Creates an object again from its saved message, for an interface whose index may have changed.
    pub(super) fn tell(&self, saved: &[u8], index: u32, flags: u16) -> io::Result<()> {
        self.say(self.new, saved, index, flags)
    }

    /// Removes it again.
    pub(super) fn take_away(&self, saved: &[u8], index: u32) -> io::Result<()> {
        // `RTM_DEL…` follows `RTM_NEW…`.
        self.say(self.new + 1, saved, index, 0)
    }

    fn say(&self, kind: u16, saved: &[u8], index: u32, flags: u16) -> io::Result<()> {
        let mut entry = Entry { bytes: saved.to_vec(), head: self.head };
        if let Some(place) = self.index_place(&entry) {
            entry.bytes[place].copy_from_slice(&index.to_ne_bytes());
        }
        request(Raw { kind, bytes: entry.bytes }, flags).map(drop)
    }
}

fn number(bytes: &[u8]) -> Option<u32> {
    bytes.try_into().map(u32::from_ne_bytes).ok()
}
