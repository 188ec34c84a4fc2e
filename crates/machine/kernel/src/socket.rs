//! What the kernel knows of a socket.

use std::{
    io,
    net::TcpStream,
    os::fd::{AsFd, AsRawFd},
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};

use crate::error::{On, Result};

/// `TCPI_OPT_TIMESTAMPS` of linux/tcp.h.
const TIMESTAMPS: u8 = 1;
/// `SO_NETNS_COOKIE` of asm-generic/socket.h, since Linux 5.14.
const NETNS_COOKIE: libc::c_int = 71;

/// What the kernel knows of a TCP connection (tcp(7), `TCP_INFO`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpInfo {
    /// Segments sent again since the connection began.
    pub retransmits: u32,
    /// Whether segments carry timestamps (RFC 7323), which take 12 bytes of each.
    pub timestamps: bool,
}

/// Reads what the kernel knows of a connection.
pub fn tcp_info(stream: &TcpStream) -> Result<TcpInfo> {
    let info: libc::tcp_info =
        option(stream, libc::IPPROTO_TCP, libc::TCP_INFO).on("getsockopt(TCP_INFO)", "a TCP connection")?;
    Ok(TcpInfo { retransmits: info.tcpi_total_retrans, timestamps: info.tcpi_options & TIMESTAMPS != 0 })
}

/// Sleeps until one of the streams can take data, or `patience` is over.
pub fn wait_until_writable(streams: &[TcpStream], patience: Duration) -> Result<()> {
    let mut watched: Vec<PollFd<'_>> = streams.iter().map(|stream| PollFd::new(stream, PollFlags::OUT)).collect();
    let patience = Timespec { tv_sec: patience.as_secs() as i64, tv_nsec: patience.subsec_nanos().into() };
    match poll(&mut watched, Some(&patience)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error).on("poll", "TCP connections"),
    }
}

/// A number that no other network namespace has, or will have until the next boot, of the namespace this socket is in.
pub(crate) fn namespace_cookie(socket: &impl AsFd) -> io::Result<u64> {
    option(socket, libc::SOL_SOCKET, NETNS_COOKIE)
}

/// Plain numbers: any bytes are a valid value.
///
/// # Safety
/// Only for types without padding rules, references or enums.
unsafe trait Plain: Copy {}
// SAFETY: any eight bytes are a number.
unsafe impl Plain for u64 {}
// SAFETY: all its fields are integers.
unsafe impl Plain for libc::tcp_info {}

fn option<T: Plain>(socket: &impl AsFd, level: libc::c_int, name: libc::c_int) -> io::Result<T> {
    // SAFETY: `Plain` promises that zeros are a value.
    let mut value: T = unsafe { std::mem::zeroed() };
    let mut length = size_of::<T>() as libc::socklen_t;
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: the kernel writes at most `length` bytes to `value`, and any bytes are a `T`.
    let result = unsafe { libc::getsockopt(fd, level, name, (&raw mut value).cast(), &mut length) };
    if result == 0 { Ok(value) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_fresh_connection_has_no_retransmissions() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let stream = TcpStream::connect(listener.local_addr().expect("bound")).expect("loopback");
        let info = tcp_info(&stream).expect("connected");
        assert_eq!(info.retransmits, 0);
        let setting = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_timestamps").expect("readable");
        assert_eq!(info.timestamps, setting.trim() != "0");
    }
}
