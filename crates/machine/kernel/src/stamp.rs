//! Stamps that the kernel or the card puts on messages (`SO_TIMESTAMPING`), and busy polling.

use std::{
    io,
    net::{Ipv4Addr, UdpSocket},
    os::fd::AsFd,
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
    set_option(socket, libc::SOL_SOCKET, TIMESTAMPING, flags).on("setsockopt(SO_TIMESTAMPING)", "a UDP socket")?;
    wait_until_arrivals_are_stamped();
    Ok(())
}

/// The kernel begins to stamp what comes some time after the first socket of the machine asked for it, and on a busy machine that takes long:
/// it is seen by what one sends to oneself. In a namespace without a loopback interface nobody can see it, and nobody waits.
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

/// The kernel's `struct scm_timestamping64`: seconds and nanoseconds by software, in a legacy form that is always zero, and
/// by hardware; zero is none.
fn stamps(control: &Control<'_>) -> Stamps {
    let part = |at| control.bytes(at).map(i64::from_ne_bytes).unwrap_or_default();
    let time = |at| {
        let (seconds, nanos) = (part(at), part(at + 8));
        (seconds != 0 || nanos != 0).then_some(Nanos(seconds as u64 * 1_000_000_000 + nanos as u64))
    };
    Stamps { software: time(0), hardware: time(32) }
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
