//! Timestamps of messages by kernel or card (`SO_TIMESTAMPING`), and busy polling.

use std::{
    io,
    net::{Ipv4Addr, UdpSocket},
    os::fd::{AsFd, AsRawFd},
    thread,
    time::{Duration, Instant},
};

use model::Nanos;

use crate::{
    control::{self, Control},
    error::{On, Result},
    socket::{option, set_option},
};

/// `SO_TIMESTAMPING_NEW` of asm-generic/socket.h, since Linux 5.1: 64 bits on every machine.
const TIMESTAMPING: libc::c_int = 65;
/// `SO_PREFER_BUSY_POLL` of asm-generic/socket.h, since Linux 5.11.
const PREFER_BUSY_POLL: libc::c_int = 69;
/// `SO_INCOMING_NAPI_ID` of asm-generic/socket.h.
const INCOMING_NAPI_ID: libc::c_int = 56;

/// Times of a message's transfer between kernel and driver, in either direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamps {
    /// By the kernel, in the time of day ([`clock::of_day`](crate::clock::of_day)).
    pub software: Option<Nanos>,
    /// By the card, in the card's own clock.
    pub hardware: Option<Nanos>,
}

/// Metadata of a message.
#[derive(Default)]
struct Notes {
    stamps: Stamps,
    /// Number of the send call, from 0 (`SOF_TIMESTAMPING_OPT_ID`).
    id: u32,
}

/// Timestamps every datagram of this socket from now on; the first sent datagram has number 0.
///
/// The card only stamps as configured (`hwstamp_ctl`), whatever is requested here.
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
    set_option(socket, libc::SOL_SOCKET, TIMESTAMPING, flags).on("setsockopt(SO_TIMESTAMPING)", "a UDP socket")?;
    wait_until_arrivals_are_stamped();
    Ok(())
}

/// The kernel starts to stamp arrivals some time after the machine's first request, late on a busy machine. A datagram
/// to oneself shows the start. Without a loopback interface there is no way to see it, and no wait.
fn wait_until_arrivals_are_stamped() {
    const PATIENCE: Duration = Duration::from_secs(2);
    const ARRIVALS: u32 = libc::SOF_TIMESTAMPING_SOFTWARE | libc::SOF_TIMESTAMPING_RX_SOFTWARE;
    let to_itself = || {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.connect(socket.local_addr()?)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        set_option(&socket, libc::SOL_SOCKET, TIMESTAMPING, ARRIVALS).map(|()| socket)
    };
    let Ok(socket) = to_itself() else { return };
    let is_stamped = || {
        socket.send(&[0])?;
        receive(&socket, &mut [0]).map(|(_, stamps)| stamps.software.is_some())
    };
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE && is_stamped().is_ok_and(|is_so| !is_so) {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Receives one datagram, as `recv` does, with its arrival timestamps.
pub fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<(usize, Stamps)> {
    let (length, notes) = receive_message(socket, buffer, 0)?;
    Ok((length, notes.stamps))
}

/// The next departure timestamps, with the datagram's number; the error is `WouldBlock` without any. Kernel and card
/// report separately, so a number may appear twice.
pub fn next_departure(socket: &UdpSocket) -> io::Result<(u32, Stamps)> {
    let (_, notes) = receive_message(socket, &mut [], libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT)?;
    Ok((notes.id, notes.stamps))
}

fn receive_message(socket: &UdpSocket, buffer: &mut [u8], flags: libc::c_int) -> io::Result<(usize, Notes)> {
    let mut room = [0; _];
    let received = control::receive(socket, buffer, &mut room, flags)?;
    let mut notes = Notes::default();
    for control in received.controls() {
        if (control.level, control.kind) == (libc::SOL_SOCKET, TIMESTAMPING) {
            notes.stamps = stamps(&control);
        } else if control.is_error() {
            // `ee_data` of the structure.
            notes.id = control.number(12).unwrap_or_default();
        }
    }
    Ok((received.length, notes))
}

/// The kernel's `struct scm_timestamping64`: seconds and nanoseconds by software, in a legacy form that is always zero,
/// and by hardware; zero means none.
fn stamps(control: &Control<'_>) -> Stamps {
    let part = |at| control.bytes(at).map(i64::from_ne_bytes).unwrap_or_default();
    let time = |at| {
        let (seconds, nanos) = (part(at), part(at + 8));
        (seconds != 0 || nanos != 0).then_some(Nanos(seconds as u64 * 1_000_000_000 + nanos as u64))
    };
    Stamps { software: time(0), hardware: time(32) }
}

/// Lets receive calls poll the card's queue for this long before they sleep (`SO_BUSY_POLL`).
///
/// Interrupts are deferred meanwhile if supported (`SO_PREFER_BUSY_POLL`). More than `net.core.busy_read` requires
/// CAP_NET_ADMIN.
pub fn busy_poll(socket: &impl AsFd, longest: Duration) -> Result<()> {
    set_option(socket, libc::SOL_SOCKET, libc::SO_BUSY_POLL, longest.as_micros() as u32)
        .on("setsockopt(SO_BUSY_POLL)", "a socket")?;
    match set_option(socket, libc::SOL_SOCKET, PREFER_BUSY_POLL, 1) {
        Err(error) if error.raw_os_error() == Some(libc::ENOPROTOOPT) => Ok(()),
        result => result.on("setsockopt(SO_PREFER_BUSY_POLL)", "a socket"),
    }
}

/// Lets waits on an epoll set poll the cards' queues of its sockets for this long before they sleep (`EPIOCSPARAMS`, Linux
/// 6.9). `false` if this kernel has no such call.
pub fn busy_poll_set(set: &impl AsFd, longest: Duration) -> Result<bool> {
    let parameters = EpollParameters {
        busy_poll_usecs: longest.as_micros() as u32,
        busy_poll_budget: BUSY_POLL_BUDGET,
        prefer_busy_poll: 1,
        padding: 0,
    };
    // SAFETY: the call reads one `epoll_params`, which lives as long as the call.
    let answer = unsafe { libc::ioctl(set.as_fd().as_raw_fd(), EPIOCSPARAMS, &raw const parameters) };
    if answer == 0 {
        return Ok(true);
    }
    match io::Error::last_os_error() {
        error if matches!(error.raw_os_error(), Some(libc::ENOTTY | libc::EINVAL)) => Ok(false),
        error => Err(error).on("ioctl(EPIOCSPARAMS)", "an epoll set"),
    }
}

/// `struct epoll_params` of linux/eventpoll.h.
#[repr(C)]
struct EpollParameters {
    busy_poll_usecs: u32,
    busy_poll_budget: u16,
    prefer_busy_poll: u8,
    padding: u8,
}

/// `_IOW(0x8a, 1, struct epoll_params)`.
const EPIOCSPARAMS: libc::Ioctl = 0x4008_8a01;

/// Packets taken in one poll: the kernel's own default. More requires CAP_NET_ADMIN.
const BUSY_POLL_BUDGET: u16 = 8;

/// The card's pollable queue of the socket's last packet (`SO_INCOMING_NAPI_ID`); `None` without one, as on loopback.
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
