//! Whole Ethernet frames of one interface (packet(7)).

mod capture;

use std::{
    io, mem,
    os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd},
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::{Errno, read, write},
};

use crate::{
    error::{On, Result},
    link::existing,
    socket::set_option,
};

pub use capture::{Capture, Captured};

/// A promiscuous socket for frames of one EtherType on one interface.
pub struct Frames {
    socket: OwnedFd,
    interface: String,
}

impl Frames {
    /// Opens it on an interface of the caller's namespace.
    pub fn open(interface: &str, ethertype: u16) -> Result<Self> {
        let what = format_args!("interface {interface}");
        let index = existing(interface).on("RTM_GETLINK", what)?.header.index;
        let socket = opened().on("socket(AF_PACKET)", what)?;
        hear_all(&socket, index).on("setsockopt(PACKET_ADD_MEMBERSHIP)", what)?;
        bind(&socket, index, ethertype).on("bind", what)?;
        Ok(Self { socket, interface: interface.to_owned() })
    }

    /// Sends a frame: addresses, EtherType and payload, without FCS.
    pub fn send(&self, frame: &[u8]) -> Result<()> {
        write(&self.socket, frame).on("write", format_args!("interface {}", self.interface)).map(drop)
    }

    /// The next frame from outside, as far as `buffer` holds it; `None` after this time.
    pub fn receive<'a>(&self, buffer: &'a mut [u8], within: Duration) -> Result<Option<&'a [u8]>> {
        let what = format_args!("interface {}", self.interface);
        let timeout = Timespec { tv_sec: within.as_secs() as i64, tv_nsec: within.subsec_nanos().into() };
        let mut ready = [PollFd::from_borrowed_fd(self.socket.as_fd(), PollFlags::IN)];
        match poll(&mut ready, Some(&timeout)) {
            Ok(0) | Err(Errno::INTR) => return Ok(None),
            result => result.on("poll", what)?,
        };
        let length = read(&self.socket, &mut *buffer).on("read", what)?;
        Ok(Some(&buffer[..length]))
    }
}

/// Sends whole frames on one interface past its queueing disciplines (`PACKET_QDISC_BYPASS`); receives nothing.
pub struct FrameSender(OwnedFd);

impl FrameSender {
    /// Opens it on an interface of the caller's namespace.
    pub fn open(interface: &str) -> Result<Self> {
        let what = format_args!("interface {interface}");
        let index = existing(interface).on("RTM_GETLINK", what)?.header.index;
        let socket = opened().on("socket(AF_PACKET)", what)?;
        set_option(&socket, libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, 1)
            .on("setsockopt(PACKET_QDISC_BYPASS)", what)?;
        bind(&socket, index, 0).on("bind", what)?;
        Ok(Self(socket))
    }
}

impl AsFd for FrameSender {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A socket of protocol 0, which receives no frames.
fn opened() -> io::Result<OwnedFd> {
    // SAFETY: a plain system call; nothing else owns the returned descriptor.
    let socket = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
    checked(socket)?;
    // SAFETY: as above.
    Ok(unsafe { OwnedFd::from_raw_fd(socket) })
}

/// Promiscuous mode while the socket is open.
fn hear_all(socket: &OwnedFd, index: u32) -> io::Result<()> {
    let request = libc::packet_mreq {
        mr_ifindex: index.cast_signed(),
        mr_type: libc::PACKET_MR_PROMISC as _,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    // SAFETY: the kernel reads a `struct packet_mreq`, which `request` is.
    checked(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_ADD_MEMBERSHIP,
            (&raw const request).cast(),
            mem::size_of_val(&request) as u32,
        )
    })
}

fn bind(socket: &OwnedFd, index: u32, ethertype: u16) -> io::Result<()> {
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: ethertype.to_be(),
        sll_ifindex: index.cast_signed(),
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    // SAFETY: the kernel reads a `struct sockaddr_ll`, which `address` is.
    checked(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), mem::size_of_val(&address) as u32) })
}

fn checked(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_that_is_not_there_is_named() {
        let error = Frames::open("none0", 0x88b5).err().expect("there is none").to_string();
        assert!(error.contains("interface none0"), "{error}");
    }

    #[test]
    fn nothing_comes_when_nothing_is_sent() {
        let frames = Frames::open("lo", 0x88b5).expect("tests run as root");
        assert_eq!(frames.receive(&mut [0; 64], Duration::from_millis(1)).expect("poll"), None);
    }
}
