//! Bulk TCP: sends without a copy (`MSG_ZEROCOPY`), files in memory, and discarded data.

use std::{
    fs::File,
    io,
    net::TcpStream,
    os::fd::{AsFd, AsRawFd},
};

use model::trial::ZeroCopied;
use rustix::{
    fs::{MemfdFlags, ftruncate, memfd_create, sendfile},
    net::{RecvFlags, recv},
};

use crate::{
    control::{self, Control},
    error::{On, Result},
    socket::set_option,
};

/// `SO_ZEROCOPY` of asm-generic/socket.h, since Linux 4.14.
const ZEROCOPY: libc::c_int = 60;
/// `SO_EE_ORIGIN_ZEROCOPY` of linux/errqueue.h.
const ORIGIN_ZEROCOPY: u8 = 5;
/// `SO_EE_CODE_ZEROCOPY_COPIED` of linux/errqueue.h.
const CODE_COPIED: u8 = 1;

/// Allows this connection to send without copying.
pub fn allow_zerocopy(stream: &TcpStream) -> Result<()> {
    set_option(stream, libc::SOL_SOCKET, ZEROCOPY, 1).on("setsockopt(SO_ZEROCOPY)", "a TCP connection")
}

/// Sends from this memory without a copy, if path and card support it.
///
/// Changes before the kernel's report may be sent; constant memory can be sent again at once.
pub fn send_zerocopy(stream: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: the kernel reads at most `bytes.len()` bytes from `bytes`, and keeps its pages as long as needed.
    let sent = unsafe {
        libc::send(
            stream.as_fd().as_raw_fd(),
            bytes.as_ptr().cast(),
            bytes.len(),
            libc::MSG_ZEROCOPY | libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL,
        )
    };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// Whether a send failed because of too many unreported ones.
pub fn is_too_many_unreported(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ENOBUFS)
}

/// Takes all available reports on `MSG_ZEROCOPY` sends.
pub fn zerocopy_reports(stream: &TcpStream) -> io::Result<ZeroCopied> {
    let mut reports = ZeroCopied::default();
    while let Some(report) = next_report(stream)? {
        let sends = u64::from(report.last.wrapping_sub(report.first)) + 1;
        match (report.origin, report.code) {
            (ORIGIN_ZEROCOPY, CODE_COPIED) => reports.copied += sends,
            (ORIGIN_ZEROCOPY, _) => reports.zero_copied += sends,
            _ => {}
        }
    }
    Ok(reports)
}

/// The next entry of the error queue (`struct sock_extended_err`).
fn next_report(stream: &TcpStream) -> io::Result<Option<Report>> {
    let mut room = [0; _];
    let received = match control::receive(stream, &mut [], &mut room, libc::MSG_ERRQUEUE) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
        received => received?,
    };
    let Some(error) = received.controls().find(Control::is_error) else { return Ok(None) };
    let [origin, _, code, _] = error.bytes(4).unwrap_or_default();
    let [first, last] = [8, 12].map(|at| error.number(at).unwrap_or_default());
    Ok(Some(Report { origin, code, first, last }))
}

/// A report on consecutive sends, by numbers from 0 that wrap at 2³².
struct Report {
    origin: u8,
    code: u8,
    first: u32,
    last: u32,
}

/// A file of `length` zeros that is in memory only.
pub fn file_of_zeros(length: usize) -> Result<File> {
    let what = format_args!("a file in memory of {length} bytes");
    let file = memfd_create("zeros", MemfdFlags::CLOEXEC).on("memfd_create", what)?;
    ftruncate(&file, length as u64).on("ftruncate", what)?;
    Ok(file.into())
}

/// Sends the beginning of a file; returns the number of bytes that the kernel accepted.
pub fn send_file(stream: &TcpStream, file: &File, length: usize) -> io::Result<usize> {
    Ok(sendfile(stream, file, Some(&mut 0), length)?)
}

/// Discards received bytes, up to the length of `memory`; returns their number. 0 is the end of the stream.
pub fn discard(stream: &TcpStream, memory: &mut [u8]) -> io::Result<usize> {
    let (_, length) = recv(stream, memory, RecvFlags::TRUNC)?;
    Ok(length)
}

#[cfg(test)]
mod tests {
    use std::{io::Read, net::TcpListener, time::Duration};

    use super::*;
    use crate::socket::wait_for_errors;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let near = TcpStream::connect(listener.local_addr().expect("bound")).expect("loopback");
        (near, listener.accept().expect("connected").0)
    }

    #[test]
    fn each_send_without_copying_is_reported_once() {
        let (near, mut far) = pair();
        allow_zerocopy(&near).expect("since Linux 4.14");
        let memory = [7; 3000];
        for _ in 0..5 {
            assert_eq!(send_zerocopy(&near, &memory).expect("sent"), memory.len());
            far.read_exact(&mut [0; 3000]).expect("arrives");
        }
        let mut reported = 0;
        while reported < 5 {
            wait_for_errors([&near], Duration::from_secs(1)).expect("polls");
            let reports = zerocopy_reports(&near).expect("readable");
            reported += reports.zero_copied + reports.copied;
        }
        assert_eq!(reported, 5);
    }

    #[test]
    fn a_file_goes_out_and_is_thrown_away() {
        let (near, far) = pair();
        let file = file_of_zeros(5000).expect("since Linux 3.17");
        assert_eq!(send_file(&near, &file, 5000).expect("sent"), 5000);
        drop(near);
        let (mut memory, mut total) = ([1; 1024], 0);
        loop {
            match discard(&far, &mut memory).expect("readable") {
                0 => break,
                length => total += length,
            }
        }
        assert_eq!((total, memory), (5000, [1; 1024]));
    }
}
