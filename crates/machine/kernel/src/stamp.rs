//! Stamps that the kernel or the card puts on messages (`SO_TIMESTAMPING`), and busy polling.

use std::{
    io,
    mem::zeroed,
    net::UdpSocket,
    os::fd::{AsFd, AsRawFd},
    time::Duration,
};

use model::Nanos;

use crate::{
    error::{On, Result},
    socket::{option, set_option},
};

/// `SO_TIMESTAMPING_NEW` of asm-generic/socket.h, since Linux 5.1: 64 bits on every machine.
const TIMESTAMPING: libc::c_int = 65;
/// `SO_PREFER_BUSY_POLL` of asm-generic/socket.h, since Linux 5.11.
const PREFER_BUSY_POLL: libc::c_int = 69;
/// `SO_INCOMING_NAPI_ID` of asm-generic/socket.h.
const INCOMING_NAPI_ID: libc::c_int = 56;

/// When a message passed the border between kernel and driver, on its way out or in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamps {
    /// By the kernel, in its time of day ([`clock::of_day`](crate::clock::of_day)).
    pub software: Option<Nanos>,
    /// By the card, in the card's own clock.
    pub hardware: Option<Nanos>,
}

/// What came with a message.
#[derive(Default)]
struct Notes {
    stamps: Stamps,
    /// Which send call it is about, counted from 0 (`SOF_TIMESTAMPING_OPT_ID`).
    id: u32,
}

/// Has every datagram of this socket stamped from now on; the first to be sent has the number 0. The card stamps only where
/// it was told to (`hwstamp_ctl`), whatever is asked for here.
pub fn enable(socket: &UdpSocket, hardware: bool) -> Result<()> {
    const SOFTWARE: u32 = libc::SOF_TIMESTAMPING_SOFTWARE
        | libc::SOF_TIMESTAMPING_TX_SOFTWARE
        | libc::SOF_TIMESTAMPING_RX_SOFTWARE
        | libc::SOF_TIMESTAMPING_OPT_ID
        | libc::SOF_TIMESTAMPING_OPT_TSONLY;
    const HARDWARE: u32 = libc::SOF_TIMESTAMPING_RAW_HARDWARE
        | libc::SOF_TIMESTAMPING_TX_HARDWARE
        | libc::SOF_TIMESTAMPING_RX_HARDWARE
        | libc::SOF_TIMESTAMPING_OPT_TX_SWHW;
    let flags = if hardware { SOFTWARE | HARDWARE } else { SOFTWARE };
    set_option(socket, libc::SOL_SOCKET, TIMESTAMPING, flags).on("setsockopt(SO_TIMESTAMPING)", "a UDP socket")
}

/// Receives one datagram, as `recv` does, with the stamps of its arrival.
pub fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<(usize, Stamps)> {
    let (length, notes) = receive_message(socket, buffer, 0)?;
    Ok((length, notes.stamps))
}

/// The next stamps of a datagram that left, with its number; the error is `WouldBlock` where there are none (yet). Kernel
/// and card report by themselves, so that a number can come twice.
pub fn next_departure(socket: &UdpSocket) -> io::Result<(u32, Stamps)> {
    let (_, notes) = receive_message(socket, &mut [], libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT)?;
    Ok((notes.id, notes.stamps))
}

fn receive_message(socket: &UdpSocket, buffer: &mut [u8], flags: libc::c_int) -> io::Result<(usize, Notes)> {
    // Of 64-bit words, because control messages have to be aligned; twice as large as those that come here.
    let mut control = [0u64; 32];
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: zeros are a valid `msghdr`.
    let mut header: libc::msghdr = unsafe { zeroed() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    header.msg_control = control.as_mut_ptr().cast();
    header.msg_controllen = size_of_val(&control) as _;
    // SAFETY: the header points to one buffer and one control buffer of the lengths it says, which outlive the call.
    let length = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, flags) };
    if length < 0 { Err(io::Error::last_os_error()) } else { Ok((length as usize, notes(&header))) }
}

fn notes(header: &libc::msghdr) -> Notes {
    let mut notes = Notes::default();
    // SAFETY: the kernel filled the header's control buffer with whole control messages.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(header) };
    // SAFETY: it is null or points to a control message in that buffer.
    while let Some(message) = unsafe { next.as_ref() } {
        // SAFETY: the data stand behind the message's head.
        let data = unsafe { libc::CMSG_DATA(message) };
        match (message.cmsg_level, message.cmsg_type) {
            (libc::SOL_SOCKET, TIMESTAMPING) => {
                // SAFETY: the kernel's `struct scm_timestamping64`: three pairs of seconds and nanoseconds.
                notes.stamps = stamps(unsafe { data.cast::<[[i64; 2]; 3]>().read_unaligned() });
            }
            (libc::SOL_IP, libc::IP_RECVERR) | (libc::SOL_IPV6, libc::IPV6_RECVERR) => {
                // SAFETY: both hold the same structure, and an address behind it.
                let report = unsafe { data.cast::<libc::sock_extended_err>().read_unaligned() };
                notes.id = report.ee_data;
            }
            _ => {}
        }
        // SAFETY: as the first one.
        next = unsafe { libc::CMSG_NXTHDR(header, message) };
    }
    notes
}

/// Software, a legacy form that is always zero, hardware; zero is none.
fn stamps([software, _, hardware]: [[i64; 2]; 3]) -> Stamps {
    let time = |[seconds, nanos]: [i64; 2]| {
        (seconds != 0 || nanos != 0).then_some(Nanos(seconds as u64 * 1_000_000_000 + nanos as u64))
    };
    Stamps { software: time(software), hardware: time(hardware) }
}

/// Has receive calls poll the card's queue for this long before they sleep (`SO_BUSY_POLL`), and the card's interrupts wait
/// meanwhile, where the kernel can (`SO_PREFER_BUSY_POLL`). More than `net.core.busy_read` is for CAP_NET_ADMIN only.
pub fn busy_poll(socket: &impl AsFd, longest: Duration) -> Result<()> {
    set_option(socket, libc::SOL_SOCKET, libc::SO_BUSY_POLL, longest.as_micros() as u32)
        .on("setsockopt(SO_BUSY_POLL)", "a socket")?;
    match set_option(socket, libc::SOL_SOCKET, PREFER_BUSY_POLL, 1) {
        Err(error) if error.raw_os_error() == Some(libc::ENOPROTOOPT) => Ok(()),
        result => result.on("setsockopt(SO_PREFER_BUSY_POLL)", "a socket"),
    }
}

/// The card's queue that brought the socket's last packet and that it can poll (`SO_INCOMING_NAPI_ID`); `None` where there
/// is none to poll, as on loopback.
pub fn napi(socket: &impl AsFd) -> Result<Option<u32>> {
    let id: u32 =
        option(socket, libc::SOL_SOCKET, INCOMING_NAPI_ID).on("getsockopt(SO_INCOMING_NAPI_ID)", "a socket")?;
    Ok((id != 0).then_some(id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    #[test]
    fn a_datagram_is_stamped_between_the_program_s_own_readings() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let socket = UdpSocket::bind(address).expect("loopback");
            socket.connect(socket.local_addr().expect("bound")).expect("to itself");
            enable(&socket, true).expect("UDP has stamps");
            // The kernel begins to stamp what comes a moment after it was asked to.
            std::thread::sleep(Duration::from_millis(50));
            for number in 0..3 {
                let before = clock::of_day();
                socket.send(b"message").expect("loopback");
                let (length, came) = receive(&socket, &mut [0; 100]).expect("it is there");
                let after = clock::of_day();
                let (id, left) = next_departure(&socket).expect("loopback stamps at once");
                assert_eq!((length, id, came.hardware, left.hardware), (7, number, None, None));
                let (left, came) = (left.software.expect("stamped"), came.software.expect("stamped"));
                assert!(before <= left && left <= came && came <= after, "{before:?} {left:?} {came:?} {after:?}");
            }
            let none = next_departure(&socket).expect_err("all were read");
            assert_eq!(none.kind(), io::ErrorKind::WouldBlock);
        }
    }

    #[test]
    fn loopback_has_no_queue_to_poll() {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        busy_poll(&socket, Duration::from_micros(50)).expect("needs root");
        socket.send_to(&[0], socket.local_addr().expect("bound")).expect("loopback");
        socket.recv(&mut [0]).expect("it is there");
        assert_eq!(napi(&socket).expect("readable"), None);
    }
}
