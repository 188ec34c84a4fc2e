//! Bulk datagrams: many per call (`sendmmsg`, `recvmmsg`), and many as one large one (`UDP_SEGMENT`, `UDP_GRO`).
//!
//! A batch's memory is allocated once: the loop neither allocates nor copies.

use std::{
    io,
    net::UdpSocket,
    ops::Range,
    os::fd::{AsFd, AsRawFd},
    ptr,
};

use model::{IpVersion, Mtu};

use crate::{
    control::controls,
    error::{On, Result},
    socket::{option, set_option},
};

/// Limit of segments of a large datagram on every kernel (`UDP_MAX_SEGMENTS` until Linux 6.9).
pub const MOST_SEGMENTS: usize = 64;

/// Largest payload of a large datagram, over both IPv4 and IPv6.
pub const LARGEST: usize = 65_487;

/// Limit of messages per call.
pub const MOST_MESSAGES: usize = 64;

/// Room for one numeric control message, aligned as required.
type ControlRoom = [u64; 4];

/// Makes the kernel cut sent data into datagrams of `size` bytes; the last may be shorter.
pub fn cut_into(socket: &UdpSocket, size: u16) -> Result<()> {
    set_option(socket, libc::SOL_UDP, libc::UDP_SEGMENT, size.into())
        .on("setsockopt(UDP_SEGMENT)", format_args!("a UDP socket, {size} bytes"))
}

/// Largest packet to the peer of a connected socket (ip(7), `IP_MTU`), from its interface, its route and routers'
/// messages.
pub fn path_mtu(socket: &UdpSocket, ip: IpVersion) -> Result<Mtu> {
    let (level, name) = match ip {
        IpVersion::V4 => (libc::IPPROTO_IP, libc::IP_MTU),
        IpVersion::V6 => (libc::IPPROTO_IPV6, libc::IPV6_MTU),
    };
    option::<u32>(socket, level, name).on("getsockopt(IP_MTU)", "a UDP socket").map(Mtu)
}

/// Lets the kernel combine received datagrams of equal size.
pub fn put_together(socket: &UdpSocket) -> Result<()> {
    set_option(socket, libc::SOL_UDP, libc::UDP_GRO, 1).on("setsockopt(UDP_GRO)", "a UDP socket")
}

/// Messages for one connected socket, or frames for one interface, each with its own memory.
pub struct Outgoing {
    each: usize,
    memory: Box<[u8]>,
    parts: Box<[libc::iovec]>,
    headers: Box<[libc::mmsghdr]>,
}

// SAFETY: its pointers only lead into its own boxes, which move with it.
unsafe impl Send for Outgoing {}

impl Outgoing {
    /// Room for `messages` messages of `each` bytes, all zero.
    pub fn new(messages: usize, each: usize) -> Self {
        let mut memory = vec![0; messages * each].into_boxed_slice();
        let mut parts = parts_of(&mut memory, each);
        let headers = headers_of(&mut parts);
        Self { each, memory, parts, headers }
    }

    /// Number of messages.
    pub fn len(&self) -> usize {
        self.headers.len()
    }

    /// Whether it has no messages.
    pub fn is_empty(&self) -> bool {
        self.headers.is_empty()
    }

    /// The memory of one message.
    pub fn message(&mut self, index: usize) -> &mut [u8] {
        &mut self.memory[index * self.each..][..self.each]
    }

    /// The bytes of a message that are sent.
    pub fn bytes(&self, index: usize) -> &[u8] {
        &self.memory[index * self.each..][..self.parts[index].iov_len]
    }

    /// Sets the number of bytes that are sent of a message; by default, all.
    pub fn cut(&mut self, index: usize, length: usize) {
        self.parts[index].iov_len = length.min(self.each);
    }

    /// Sends these messages without waiting; returns the number that the kernel accepted.
    pub fn send(&mut self, socket: &impl AsFd, messages: Range<usize>) -> io::Result<usize> {
        let headers = &mut self.headers[messages];
        let (fd, count) = (socket.as_fd().as_raw_fd(), headers.len() as u32);
        // SAFETY: each header points to one part, and each part to its own piece of `memory`, without exceeding it. All
        // three are boxes that live as long as `self`.
        let sent = unsafe { libc::sendmmsg(fd, headers.as_mut_ptr(), count, libc::MSG_DONTWAIT) };
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    }
}

/// Messages from one socket, each with its own memory.
pub struct Incoming {
    each: usize,
    memory: Box<[u8]>,
    // The kernel finds the memory through these.
    _parts: Box<[libc::iovec]>,
    control: Box<[ControlRoom]>,
    headers: Box<[libc::mmsghdr]>,
}

/// A message received into its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivedMessage {
    /// Number of bytes that fitted.
    pub length: usize,
    /// Whether it was truncated.
    pub is_truncated: bool,
}

/// A received message.
pub struct Message<'a> {
    /// Bytes that fitted.
    pub bytes: &'a [u8],
    /// Size of the datagrams combined in it, of which the last may be shorter; the full length of a single datagram.
    pub segment: usize,
    /// Whether it was longer than its memory.
    pub truncated: bool,
}

impl Incoming {
    /// Room for `messages` messages of up to `each` bytes.
    pub fn new(messages: usize, each: usize) -> Self {
        let mut memory = vec![0; messages * each].into_boxed_slice();
        let mut parts = parts_of(&mut memory, each);
        let headers = headers_of(&mut parts);
        let control = vec![[0; 4]; messages].into_boxed_slice();
        Self { each, memory, _parts: parts, control, headers }
    }

    /// Receives available messages; returns their number. They are the first ones in memory.
    ///
    /// Without any, waits for one as long as the socket allows, or not at all.
    pub fn receive(&mut self, socket: &UdpSocket, wait: bool) -> io::Result<usize> {
        for (header, room) in self.headers.iter_mut().zip(&mut self.control) {
            header.msg_hdr.msg_control = room.as_mut_ptr().cast();
            header.msg_hdr.msg_controllen = size_of::<ControlRoom>() as _;
        }
        let flags = if wait { libc::MSG_WAITFORONE } else { libc::MSG_DONTWAIT };
        let (fd, count) = (socket.as_fd().as_raw_fd(), self.headers.len() as u32);
        // SAFETY: each header points to its own part and control room, with their true lengths, and each part to its
        // own piece of `memory`. All are boxes that live as long as `self`.
        let taken = unsafe { libc::recvmmsg(fd, self.headers.as_mut_ptr(), count, flags as _, ptr::null_mut()) };
        usize::try_from(taken).map_err(|_| io::Error::last_os_error())
    }

    /// Receives messages from a source other than the kernel: `receive` is called with each message's number and
    /// memory.
    ///
    /// Ends with the first error, which is returned if no message preceded it.
    pub fn receive_by(
        &mut self,
        mut receive: impl FnMut(usize, &mut [u8]) -> io::Result<ReceivedMessage>,
    ) -> io::Result<usize> {
        let memory = self.memory.chunks_exact_mut(self.each);
        for (index, (room, header)) in memory.zip(&mut self.headers).enumerate() {
            match receive(index, room) {
                Ok(took) => {
                    header.msg_len = took.length as u32;
                    header.msg_hdr.msg_controllen = 0;
                    header.msg_hdr.msg_flags = if took.is_truncated { libc::MSG_TRUNC } else { 0 };
                }
                Err(error) if index == 0 => return Err(error),
                Err(_) => return Ok(index),
            }
        }
        Ok(self.headers.len())
    }

    /// A message of the last call.
    pub fn message(&self, index: usize) -> Message<'_> {
        let header = &self.headers[index];
        let bytes = &self.memory[index * self.each..][..(header.msg_len as usize).min(self.each)];
        Message {
            bytes,
            segment: segment_of(&header.msg_hdr).unwrap_or(bytes.len()).max(1),
            truncated: header.msg_hdr.msg_flags & libc::MSG_TRUNC != 0,
        }
    }
}

/// The size in the `UDP_GRO` control message (udp(7)).
fn segment_of(header: &libc::msghdr) -> Option<usize> {
    // SAFETY: the control room belongs to this header, and the kernel has set its length to the bytes written.
    let mut controls = unsafe { controls(header) };
    let size = controls.find(|control| (control.level, control.kind) == (libc::SOL_UDP, libc::UDP_GRO))?.number(0)?;
    usize::try_from(size).ok()
}

fn parts_of(memory: &mut [u8], each: usize) -> Box<[libc::iovec]> {
    let part = |piece: &mut [u8]| libc::iovec { iov_base: piece.as_mut_ptr().cast(), iov_len: piece.len() };
    memory.chunks_exact_mut(each).map(part).collect()
}

fn headers_of(parts: &mut [libc::iovec]) -> Box<[libc::mmsghdr]> {
    let header = |part: &mut libc::iovec| {
        // SAFETY: zeros are a valid header: no address, no parts, no control messages, no flags.
        let mut header: libc::mmsghdr = unsafe { std::mem::zeroed() };
        header.msg_hdr.msg_iov = part;
        header.msg_hdr.msg_iovlen = 1;
        header
    };
    parts.iter_mut().map(header).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (UdpSocket, UdpSocket) {
        let to = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        let from = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        from.connect(to.local_addr().expect("bound")).expect("loopback");
        (from, to)
    }

    #[test]
    fn a_batch_arrives_message_by_message() {
        let (from, to) = pair();
        let mut outgoing = Outgoing::new(3, 100);
        for index in 0..outgoing.len() {
            outgoing.message(index).fill(index as u8);
        }
        outgoing.cut(2, 40);
        assert_eq!(outgoing.send(&from, 1..3).expect("sent"), 2);
        let mut incoming = Incoming::new(8, 64);
        assert_eq!(incoming.receive(&to, true).expect("received"), 2);
        let (first, second) = (incoming.message(0), incoming.message(1));
        assert_eq!((first.bytes, first.truncated), ([1; 64].as_slice(), true));
        assert_eq!((second.bytes, second.segment, second.truncated), ([2; 40].as_slice(), 40, false));
        let nothing = incoming.receive(&to, false).expect_err("empty");
        assert_eq!(nothing.kind(), io::ErrorKind::WouldBlock);
    }

    #[test]
    fn one_large_datagram_is_cut_apart_and_put_together() {
        let (from, to) = pair();
        cut_into(&from, 100).expect("since Linux 4.18");
        let mut outgoing = Outgoing::new(1, 250);
        assert_eq!(outgoing.send(&from, 0..1).expect("sent"), 1);
        assert_eq!(outgoing.send(&from, 0..1).expect("sent"), 1);
        let mut incoming = Incoming::new(3, 1000);
        assert_eq!(incoming.receive(&to, true).expect("received"), 3);
        let lengths = [0, 1, 2].map(|index| incoming.message(index).bytes.len());
        assert_eq!(lengths, [100, 100, 50]);
        put_together(&to).expect("since Linux 5.0");
        let mut taken = Vec::new();
        outgoing.send(&from, 0..1).expect("sent");
        while taken.iter().sum::<usize>() < 300 {
            for index in 0..incoming.receive(&to, true).expect("received") {
                let message = incoming.message(index);
                assert!(message.segment == 100 || message.bytes.len() <= 100, "{}", message.segment);
                taken.push(message.bytes.len());
            }
        }
    }
}
