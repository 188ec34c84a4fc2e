//! A bypassed socket, and a kernel socket at the other end of the wire.

use std::{
    io::{ErrorKind, IoSlice, IoSliceMut},
    net::{SocketAddr, UdpSocket},
    os::fd::{AsFd, AsRawFd},
    ptr, thread,
    time::{Duration, Instant, UNIX_EPOCH},
};

use kernel::{link, namespace, socket::set_option, sysctl};
use wireproof_stack::{Incoming, Outcome, Outgoing, SocketId, Stack};

use crate::wire::{PORT, Wire};

/// Version of a socket and of its datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    V4,
    V6,
    /// IPv4 on an IPv6 socket.
    Both,
}

/// Assigns addresses of both versions to both ends.
pub(crate) fn address(wire: &Wire) {
    for (namespace, last) in [(&wire.a, 1), (&wire.b, 2)] {
        namespace::within(namespace, || {
            for (name, value) in [("accept_dad", "0"), ("disable_ipv6", "0")] {
                sysctl::write(&format!("net.ipv6.conf.{PORT}.{name}"), value).expect("settable");
            }
        })
        .expect("it exists");
        link::add_address(namespace, PORT, [198, 18, 0, last].into(), 24).expect("settable");
        let v6: std::net::IpAddr = format!("2001:2::{last}").parse().expect("an address");
        link::add_address(namespace, PORT, v6, 64).expect("settable");
        link::set_up(namespace, "lo").expect("there is one");
    }
}

impl Version {
    pub(crate) fn at(self, last: u8, port: u16) -> SocketAddr {
        match self {
            Self::V6 => format!("[2001:2::{last}]:{port}").parse().expect("an address"),
            Self::V4 => SocketAddr::new([198, 18, 0, last].into(), port),
            Self::Both => format!("[::ffff:198.18.0.{last}]:{port}").parse().expect("an address"),
        }
    }
}

/// The socket under test.
pub(crate) enum Near<'s> {
    Plain(UdpSocket),
    Past { socket: UdpSocket, stack: &'s Stack, id: SocketId },
}

pub(crate) struct Ends<'s> {
    pub(crate) near: Near<'s>,
    pub(crate) far: UdpSocket,
    pub(crate) version: Version,
    pub(crate) wire: &'s Wire,
    pub(crate) log: Vec<String>,
}

/// A process that another thread is starting may hold the previous test's socket a moment longer.
fn bind(address: SocketAddr) -> UdpSocket {
    let begun = Instant::now();
    loop {
        match UdpSocket::bind(address) {
            Err(error) if error.kind() == ErrorKind::AddrInUse && begun.elapsed() < Duration::from_secs(2) => {
                thread::sleep(Duration::from_millis(5));
            }
            bound => return bound.expect("it is free"),
        }
    }
}

impl<'s> Ends<'s> {
    /// Opens a socket in the namespace of the near end.
    pub(crate) fn open(wire: &'s Wire, version: Version, connected: bool, stack: Option<&'s Stack>) -> Self {
        let far = wire.at_b(|| bind(version.at(2, 7002)));
        let any: SocketAddr = if version == Version::V4 { "0.0.0.0:7001" } else { "[::]:7001" }.parse().expect("any");
        let near = bind(any);
        let patience = |patience| {
            for socket in [&near, &far] {
                socket.set_read_timeout(Some(Duration::from_millis(patience))).expect("settable");
            }
        };
        // The kernel probes an unanswered neighbour again after a second.
        patience(5_000);
        if connected {
            near.connect(version.at(2, 7002)).expect("on the link");
            far.connect(version.at(1, 7001)).expect("on the link");
        }
        // Both kernels find the other's MAC address.
        near.send_to(b"hello", version.at(2, 7002)).or_else(|_| near.send(b"hello")).expect("on the link");
        far.recv_from(&mut [0; 8]).expect("it came");
        far.send_to(b"hello", version.at(1, 7001)).or_else(|_| far.send(b"hello")).expect("on the link");
        near.recv_from(&mut [0; 8]).expect("it came");
        patience(200);
        let near = match stack {
            None => Near::Plain(near),
            Some(stack) => {
                let id = stack.open(near.as_fd()).expect("it can go past");
                Near::Past { socket: near, stack, id }
            }
        };
        Self { near, far, version, wire, log: Vec::new() }
    }

    /// Runs a script; returns its observations.
    pub(crate) fn run(mut self, script: fn(&mut Self)) -> Vec<String> {
        script(&mut self);
        if let Near::Past { stack, id, .. } = &self.near {
            stack.close(*id);
        }
        self.log
    }

    pub(crate) fn note(&mut self, what: &str, value: impl std::fmt::Debug) {
        self.log.push(format!("{what}: {value:?}"));
    }

    /// Sends from the near end, to an address or to its peer.
    pub(crate) fn send(&mut self, payload: &[u8], to: Option<SocketAddr>) {
        self.send_with(&[payload], to, &[], 0);
    }

    pub(crate) fn send_with(&mut self, pieces: &[&[u8]], to: Option<SocketAddr>, control: &[u8], flags: i32) {
        let name = to.map(named).unwrap_or_default();
        let pieces: Vec<IoSlice<'_>> = pieces.iter().map(|piece| IoSlice::new(piece)).collect();
        let result = self.near.send(&Outgoing { name: &name, control, ..Outgoing::new(&pieces) }, flags);
        self.note("sent", result);
    }

    /// Receives at the near end, into pieces of these lengths.
    pub(crate) fn receive(&mut self, lengths: &[usize], flags: i32) {
        self.receive_with(lengths, 28, 256, flags);
    }

    pub(crate) fn receive_with(&mut self, lengths: &[usize], name: usize, control: usize, flags: i32) {
        let mut room: Vec<Vec<u8>> = lengths.iter().map(|length| vec![0; *length]).collect();
        let mut pieces: Vec<IoSliceMut<'_>> = room.iter_mut().map(|piece| IoSliceMut::new(piece)).collect();
        let (mut name, mut control) = (vec![0xee; name], vec![0xee; control]);
        let mut message = Incoming { name: &mut name, control: &mut control, ..Incoming::new(&mut pieces) };
        let result = self.near.receive(&mut message, flags);
        let (name_length, control_length, flags) = (message.name_length, message.control_length, message.flags);
        self.note("received", result);
        if result.is_ok() {
            let bytes: Vec<u8> = room.concat();
            let sum = bytes.iter().fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
            name.truncate(name_length);
            self.note("its bytes, flags and name", (sum, flags, name_length, name));
            let controls = controls(&control[..control_length]);
            self.note("its control messages", controls);
        }
    }

    /// Sends from the far end to the near one.
    pub(crate) fn far_sends(&mut self, payload: &[u8]) {
        let to = self.version.at(1, 7001);
        self.far.send_to(payload, to).or_else(|_| self.far.send(payload)).expect("on the link");
    }

    /// Receives at the far end.
    pub(crate) fn far_receives(&mut self) {
        let mut buffer = vec![0; 70_000];
        let result = self.far.recv_from(&mut buffer).map_err(|error| error.raw_os_error());
        let result = result.map(|(length, from)| {
            (length, from, buffer[..length].iter().fold(0_u64, |sum, byte| sum * 31 % 1_000_003 + u64::from(*byte)))
        });
        self.note("the far end received", result);
    }

    /// Sets an option of the near end.
    pub(crate) fn set(&mut self, level: i32, name: i32, value: u32) {
        set_option(self.near.socket(), level, name, value).expect("settable");
        self.near.refresh();
    }
}

impl Near<'_> {
    pub(crate) fn socket(&self) -> &UdpSocket {
        match self {
            Self::Plain(socket) | Self::Past { socket, .. } => socket,
        }
    }

    /// Updates the stack after a change to the socket.
    pub(crate) fn refresh(&self) {
        if let Self::Past { socket, stack, id } = self {
            stack.refresh(*id, socket.as_fd()).expect("it still goes past");
        }
    }

    /// Sends through the stack only; `None` if it leaves the datagram to the kernel.
    pub(crate) fn raw_send(&self, payload: &[u8]) -> Option<usize> {
        let Self::Past { stack, id, .. } = self else { panic!("it goes past") };
        match stack.send(*id, &Outgoing::new(&[IoSlice::new(payload)]), 0) {
            Outcome::Done(sent) => Some(sent),
            _ => None,
        }
    }

    pub(crate) fn raw_receive(&self, flags: i32) -> Option<Result<usize, i32>> {
        let Self::Past { stack, id, .. } = self else { panic!("it goes past") };
        match stack.receive(*id, &mut Incoming::new(&mut [IoSliceMut::new(&mut [0; 64])]), flags) {
            Outcome::Done(length) => Some(Ok(length)),
            Outcome::Failed(errno) => Some(Err(errno)),
            Outcome::Kernel => None,
        }
    }

    /// Receives a timestamped datagram; returns its age.
    pub(crate) fn age(&self) -> Duration {
        let (mut payload, mut room) = ([0; 64], [0; 64]);
        let mut pieces = [IoSliceMut::new(&mut payload)];
        let mut message = Incoming { control: &mut room, ..Incoming::new(&mut pieces) };
        self.receive(&mut message, 0).expect("it came");
        let word = |at: usize| u64::from_ne_bytes(room[at..at + 8].try_into().expect("eight"));
        let came = UNIX_EPOCH + Duration::new(word(16), word(24) as u32);
        came.elapsed().expect("before now")
    }

    fn send(&self, message: &Outgoing<'_>, flags: i32) -> Result<usize, i32> {
        if let Self::Past { stack, id, .. } = self {
            match stack.send(*id, message, flags) {
                Outcome::Done(length) => return Ok(length),
                Outcome::Failed(errno) => return Err(errno),
                Outcome::Kernel => {}
            }
        }
        let header = libc::msghdr {
            msg_name: if message.name.is_empty() { ptr::null_mut() } else { message.name.as_ptr().cast_mut().cast() },
            msg_namelen: message.name.len() as _,
            msg_iov: message.pieces.as_ptr().cast_mut().cast(),
            msg_iovlen: message.pieces.len(),
            msg_control: if message.control.is_empty() {
                ptr::null_mut()
            } else {
                message.control.as_ptr().cast_mut().cast()
            },
            msg_controllen: message.control.len(),
            msg_flags: 0,
        };
        // SAFETY: the header points to memory of the lengths that it says, which the kernel reads.
        let sent = unsafe { libc::sendmsg(self.socket().as_raw_fd(), &header, flags) };
        usize::try_from(sent).map_err(|_| errno())
    }

    fn receive(&self, message: &mut Incoming<'_, '_>, flags: i32) -> Result<usize, i32> {
        if let Self::Past { stack, id, .. } = self {
            match stack.receive(*id, message, flags) {
                Outcome::Done(length) => return Ok(length),
                Outcome::Failed(errno) => return Err(errno),
                Outcome::Kernel => {}
            }
        }
        let mut header = libc::msghdr {
            msg_name: if message.name.is_empty() { ptr::null_mut() } else { message.name.as_mut_ptr().cast() },
            msg_namelen: message.name.len() as _,
            msg_iov: message.pieces.as_mut_ptr().cast(),
            msg_iovlen: message.pieces.len(),
            msg_control: message.control.as_mut_ptr().cast(),
            msg_controllen: message.control.len(),
            msg_flags: 0,
        };
        // SAFETY: the header points to memory of the lengths that it says.
        let received = unsafe { libc::recvmsg(self.socket().as_raw_fd(), &mut header, flags) };
        let received = usize::try_from(received).map_err(|_| errno())?;
        message.name_length = if message.name.is_empty() { 0 } else { header.msg_namelen as usize };
        message.control_length = header.msg_controllen;
        message.flags = header.msg_flags;
        Ok(received)
    }
}

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().expect("a call failed")
}

/// An address as `struct sockaddr`.
pub(crate) fn named(address: SocketAddr) -> Vec<u8> {
    let mut name = Vec::new();
    let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 } as u16;
    name.extend(family.to_ne_bytes());
    name.extend(address.port().to_be_bytes());
    match address {
        SocketAddr::V4(address) => name.extend(address.ip().octets()),
        SocketAddr::V6(address) => {
            name.extend([0; 4]);
            name.extend(address.ip().octets());
        }
    }
    name.resize(if address.is_ipv4() { 16 } else { 28 }, 0);
    name
}

/// A control message in memory.
pub(crate) fn control(level: i32, kind: i32, data: &[u8]) -> Vec<u8> {
    let mut bytes = (16 + data.len()).to_ne_bytes().to_vec();
    bytes.extend(level.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(data);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

/// Control messages; timestamps without their values.
fn controls(mut bytes: &[u8]) -> Vec<(i32, i32, Vec<u8>)> {
    let mut controls = Vec::new();
    while bytes.len() >= 16 {
        let length = usize::from_ne_bytes(bytes[..8].try_into().expect("eight")).min(bytes.len());
        let word = |at: usize| i32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four"));
        let is_time = word(8) == libc::SOL_SOCKET;
        let data = if is_time { vec![(length - 16) as u8] } else { bytes[16..length].to_vec() };
        controls.push((word(8), word(12), data));
        bytes = bytes.get(length.next_multiple_of(8)..).unwrap_or_default();
    }
    controls
}
