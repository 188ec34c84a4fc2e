//! A single rtnetlink request and its answer, without allocation, for callers with waiting packets.

use std::{
    io,
    net::IpAddr,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::{
    io::Errno,
    net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with},
};

use crate::error::{On, Result};

/// `struct nlmsghdr`.
const HEADER: usize = 16;
/// `struct rtattr`.
const ATTRIBUTE: usize = 4;
/// `NLMSG_ERROR`.
const ERROR: u16 = 2;
/// `NLM_F_REQUEST`.
const REQUEST: u16 = 1;

/// Queries routes and neighbours by one socket: opening one takes longer than a query.
pub struct RouteQueries {
    socket: OwnedFd,
    /// Sequence number of the last request.
    asked: u32,
}

impl AsFd for RouteQueries {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl RouteQueries {
    /// Opens a socket in the calling thread's current network namespace. `aside` may move it to another descriptor
    /// number.
    ///
    /// # Errors
    /// If the kernel has no descriptor or memory left.
    pub fn open(aside: impl FnOnce(OwnedFd) -> OwnedFd) -> Result<Self> {
        // Protocol 0 is NETLINK_ROUTE.
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None);
        let socket = socket.map_err(io::Error::from).on("socket(AF_NETLINK)", "routes and neighbours")?;
        Ok(Self { socket: aside(socket), asked: 0 })
    }

    /// Afterwards, `room` holds the answer; returns the part after its header.
    pub(crate) fn ask<'a>(&mut self, mut question: Question, room: &'a mut [u8; 2048]) -> io::Result<&'a [u8]> {
        self.asked = self.asked.wrapping_add(1);
        question.number(self.asked);
        let received = self.tell(&question, room)?;
        body(room.get(..received).unwrap_or_default())
    }

    /// Sends the request; returns the bytes of the answer.
    fn tell(&self, question: &Question, room: &mut [u8; 2048]) -> std::result::Result<usize, Errno> {
        send(&self.socket, &question.bytes[..question.length], SendFlags::empty())?;
        loop {
            // The answer is there when the request has been sent.
            match recv(&self.socket, &mut room[..], RecvFlags::DONTWAIT) {
                Err(Errno::INTR) => {}
                // The answer to an abandoned request.
                Ok((received, _)) if number_of(&room[..received]) != Some(self.asked) => {}
                received => return received.map(|(received, _)| received),
            }
        }
    }
}

/// The part of an answer after its header.
fn body(answer: &[u8]) -> io::Result<&[u8]> {
    let header = answer.get(..HEADER).ok_or(Errno::BADMSG)?;
    let length = u32::from_ne_bytes([header[0], header[1], header[2], header[3]]) as usize;
    let body = answer.get(HEADER..length).ok_or(Errno::BADMSG)?;
    match (u16::from_ne_bytes([header[4], header[5]]), body) {
        (ERROR, [a, b, c, d, ..]) => Err(io::Error::from_raw_os_error(-i32::from_ne_bytes([*a, *b, *c, *d]))),
        _ => Ok(body),
    }
}

/// Sequence number of the answered request (`nlmsg_seq`).
fn number_of(answer: &[u8]) -> Option<u32> {
    answer.get(8..12).and_then(number)
}

/// A request, built in place.
pub(crate) struct Question {
    bytes: [u8; 128],
    length: usize,
}

impl Question {
    /// A request of this type (such as `RTM_GETROUTE`), with the fixed part that follows its header.
    pub(crate) fn new(kind: u16, head: &[u8]) -> Self {
        let mut question = Self { bytes: [0; 128], length: HEADER };
        question.bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        question.bytes[6..8].copy_from_slice(&REQUEST.to_ne_bytes());
        question.put(head);
        question
    }

    /// Adds an attribute.
    pub(crate) fn with(mut self, kind: u16, value: &[u8]) -> Self {
        self.put(&((ATTRIBUTE + value.len()) as u16).to_ne_bytes());
        self.put(&kind.to_ne_bytes());
        self.put(value);
        self
    }

    /// Adds an attribute with an address.
    pub(crate) fn with_address(self, kind: u16, address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => self.with(kind, &address.octets()),
            IpAddr::V6(address) => self.with(kind, &address.octets()),
        }
    }

    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.length..][..bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    /// Writes length and sequence number to the header.
    fn number(&mut self, number: u32) {
        self.bytes[..4].copy_from_slice(&(self.length as u32).to_ne_bytes());
        self.bytes[8..12].copy_from_slice(&number.to_ne_bytes());
    }
}

/// Attributes (`struct rtattr`) with their types.
pub(crate) fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let [low, high, kind @ ..] = bytes.get(..ATTRIBUTE)? else { return None };
        let length = usize::from(u16::from_ne_bytes([*low, *high]));
        let value = bytes.get(ATTRIBUTE..length)?;
        let kind = u16::from_ne_bytes([kind[0], kind[1]]);
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

/// An IPv4 or IPv6 address.
pub(crate) fn address(bytes: &[u8]) -> Option<IpAddr> {
    if let Ok(v4) = <[u8; 4]>::try_from(bytes) {
        return Some(v4.into());
    }
    <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from)
}

/// A 32-bit number.
pub(crate) fn number(bytes: &[u8]) -> Option<u32> {
    bytes.try_into().ok().map(u32::from_ne_bytes)
}

/// `AF_INET` or `AF_INET6`.
pub(crate) fn family(address: IpAddr) -> u8 {
    (if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 }) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_socket_has_many_answers_each_to_its_question() {
        let mut queries = RouteQueries::open(|fd| fd).expect("a socket");
        let mut room = [0; 2048];
        let mut way_to = |queries: &mut RouteQueries, last: u8| {
            let head = [family([127, 0, 0, 1].into()), 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            let question = Question::new(26, &head).with_address(1, [127, 0, 0, last].into());
            let answer = queries.ask(question, &mut room).expect("a way");
            let found = attributes(&answer[12..]).find(|(kind, _)| *kind == 1).and_then(|(_, value)| address(value));
            assert_eq!(found, Some([127, 0, 0, last].into()));
        };
        (1..200).for_each(|last| way_to(&mut queries, last));
        // An answer that no request waits for.
        send(&queries.socket, &Question::new(26, &[2; 12]).bytes[..28], SendFlags::empty()).ok();
        way_to(&mut queries, 7);
    }

    #[test]
    fn attributes_that_end_too_early_are_no_attributes() {
        let good = [8, 0, 4, 0, 7, 0, 0, 0, 5, 0, 1, 0, 9, 0, 0, 0];
        let all: Vec<_> = attributes(&good).collect();
        assert_eq!(all, [(4, &[7, 0, 0, 0][..]), (1, &[9][..])]);
        assert_eq!(attributes(&good[..7]).count(), 0, "shorter than it says");
        assert_eq!(attributes(&[3, 0, 1, 0]).count(), 0, "shorter than its own head");
    }
}
