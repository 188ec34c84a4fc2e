//! The kernel's information about a socket.

use std::{
    io,
    net::TcpStream,
    os::fd::{AsFd, AsRawFd},
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{
        AddressFamily, SocketType, socket,
        sockopt::{
            set_socket_recv_buffer_size, set_socket_recv_buffer_size_force, set_socket_send_buffer_size,
            set_socket_send_buffer_size_force, set_tcp_congestion,
        },
    },
};

use model::{
    Mtu,
    trial::{TcpSeconds, TcpState},
};

use crate::error::{On, Result};

/// `TCPI_OPT_TIMESTAMPS` of linux/tcp.h.
const TIMESTAMPS: u8 = 1;
/// `SO_NETNS_COOKIE` of asm-generic/socket.h, since Linux 5.14.
const NETNS_COOKIE: libc::c_int = 71;
/// `SO_MEMINFO` of asm-generic/socket.h, since Linux 4.12.
const MEMINFO: libc::c_int = 55;
/// Index of the drops in it: `SK_MEMINFO_DROPS` of linux/sock_diag.h.
const MEMINFO_DROPS: usize = 8;

/// `TCP_INFO` in the kernel's layout (linux/tcp.h, `struct tcp_info`), longer than in the libc crate. Older kernels
/// fill less; the rest stays zero.
type RawTcpInfo = [u64; 32];

/// State of a connection (tcp(7), `TCP_INFO` and `TCP_CONGESTION`).
pub fn tcp_state(stream: &TcpStream) -> Result<TcpState> {
    let info = tcp_info(stream)?;
    let number = |at: usize| number(&info, at);
    Ok(TcpState {
        congestion: congestion(stream)?,
        timestamps: info[0].to_ne_bytes()[5] & TIMESTAMPS != 0,
        mss: number(16),
        path_mtu: Mtu(number(60)),
        rtt_us: number(68),
        rtt_var_us: number(72),
        cwnd_segments: number(80),
        retransmits: number(100).into(),
        warmup_retransmits: None,
        min_rtt_us: number(148),
        busy_us: info[21],
        receive_window_limited_us: info[22],
        send_buffer_limited_us: info[23],
        reorderings: number(220).into(),
        seconds: TcpSeconds::default(),
    })
}

/// Fast-changing state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpMoment {
    /// Retransmitted segments since the connection began.
    pub retransmits: u64,
    /// Smoothed RTT, in microseconds.
    pub rtt_us: u32,
    /// Congestion window, in segments.
    pub cwnd_segments: u32,
    /// Pacing rate, in bit/s. Only some congestion controls (bbr) and qdiscs (fq) keep to it.
    pub pacing_bps: u64,
    /// Rate at which segments were last delivered, in bit/s.
    pub delivery_bps: u64,
}

/// Fast-changing state of a connection, by one call.
pub fn tcp_moment(stream: &TcpStream) -> Result<TcpMoment> {
    let info = tcp_info(stream)?;
    let number = |at: usize| number(&info, at);
    Ok(TcpMoment {
        retransmits: number(100).into(),
        rtt_us: number(68),
        cwnd_segments: number(80),
        pacing_bps: info[13].saturating_mul(8),
        delivery_bps: info[20].saturating_mul(8),
    })
}

/// Progress of a connection (tcp(7), `TCP_INFO`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpProgress {
    /// Payload bytes acknowledged by the peer.
    pub acknowledged: u64,
    /// Sent segments with payload, without retransmissions. The kernel's counter wraps at 2³².
    pub segments: u64,
}

/// Reads the progress of a connection.
pub fn tcp_progress(stream: &TcpStream) -> Result<TcpProgress> {
    let info = tcp_info(stream)?;
    let [sent, resent] = [number(&info, 156), number(&info, 100)];
    Ok(TcpProgress { acknowledged: info[15], segments: sent.wrapping_sub(resent).into() })
}

fn tcp_info(stream: &TcpStream) -> Result<RawTcpInfo> {
    option(stream, libc::IPPROTO_TCP, libc::TCP_INFO).on("getsockopt(TCP_INFO)", "a TCP connection")
}

/// The 32-bit number at offset `at`, a multiple of 4.
fn number(info: &RawTcpInfo, at: usize) -> u32 {
    let bytes = info[at / 8].to_ne_bytes();
    let at = at % 8;
    u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn congestion(stream: &TcpStream) -> Result<String> {
    let name: [u64; 2] =
        option(stream, libc::IPPROTO_TCP, libc::TCP_CONGESTION).on("getsockopt(TCP_CONGESTION)", "a TCP connection")?;
    let bytes: Vec<u8> = name.iter().flat_map(|part| part.to_ne_bytes()).take_while(|byte| *byte != 0).collect();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether this kernel has this congestion control, even if the caller may not use it.
///
/// If the caller may load modules, the kernel searches for one, as for any connection that requests it.
pub fn has_congestion_control(name: &str) -> Result<bool> {
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).on("socket", "TCP")?;
    Ok(matches!(set_tcp_congestion(&socket, name), Ok(()) | Err(Errno::PERM)))
}

/// Sleeps until one of the sockets is writable or has an entry in its error queue, or for `patience`. Returns for each
/// socket, in order, whether it is writable.
pub fn wait_until_writable<'a, S: AsFd + 'a>(
    sockets: impl IntoIterator<Item = &'a S>,
    patience: Duration,
) -> Result<Vec<bool>> {
    wait(sockets, PollFlags::OUT, patience)
}

/// Sleeps until one of the sockets has an entry in its error queue, or for `patience`.
pub fn wait_for_errors<'a, S: AsFd + 'a>(sockets: impl IntoIterator<Item = &'a S>, patience: Duration) -> Result<()> {
    // Errors are always reported.
    wait(sockets, PollFlags::empty(), patience).map(drop)
}

fn wait<'a, S: AsFd + 'a>(
    sockets: impl IntoIterator<Item = &'a S>,
    events: PollFlags,
    patience: Duration,
) -> Result<Vec<bool>> {
    let mut watched: Vec<PollFd<'_>> = sockets.into_iter().map(|socket| PollFd::new(socket, events)).collect();
    let patience = Timespec { tv_sec: patience.as_secs() as i64, tv_nsec: patience.subsec_nanos().into() };
    match poll(&mut watched, Some(&patience)) {
        Ok(_) | Err(Errno::INTR) => Ok(watched.iter().map(|socket| socket.revents().intersects(events)).collect()),
        Err(error) => Err(error).on("poll", "sockets"),
    }
}

/// Sleeps until the socket is readable, or for `patience`.
pub fn wait_until_readable(socket: &impl AsFd, patience: Duration) -> Result<()> {
    wait([socket], PollFlags::IN, patience).map(drop)
}

/// Lets a sleeping receive call on a TCP socket wake only for this many bytes, or at its timeout (`SO_RCVLOWAT`).
///
/// Below that, the kernel acknowledges segments as they arrive.
pub fn set_receive_low_water(socket: &impl AsFd, bytes: u32) -> Result<()> {
    set_option(socket, libc::SOL_SOCKET, libc::SO_RCVLOWAT, bytes)
        .on("setsockopt(SO_RCVLOWAT)", format_args!("a TCP socket, {bytes} bytes"))
}

/// Packets dropped at this socket's full receive buffer since it was opened (`SO_MEMINFO`). The kernel's counter wraps
/// at 2³².
pub fn drops(socket: &impl AsFd) -> Result<u64> {
    let info: [u32; MEMINFO_DROPS + 1] =
        option(socket, libc::SOL_SOCKET, MEMINFO).on("getsockopt(SO_MEMINFO)", "a socket")?;
    Ok(info[MEMINFO_DROPS].into())
}

/// Requests buffers of this many bytes: beyond the system's limits if the caller may, otherwise up to them.
pub fn set_ample_buffers(socket: &impl AsFd, send: usize, receive: usize) -> Result<()> {
    set_socket_send_buffer_size_force(socket, send)
        .or_else(|_| set_socket_send_buffer_size(socket, send))
        .on("setsockopt(SO_SNDBUF)", format_args!("a socket, {send} bytes"))?;
    set_socket_recv_buffer_size_force(socket, receive)
        .or_else(|_| set_socket_recv_buffer_size(socket, receive))
        .on("setsockopt(SO_RCVBUF)", format_args!("a socket, {receive} bytes"))
}

/// Unique number of the socket's network namespace in this boot.
pub(crate) fn namespace_cookie(socket: &impl AsFd) -> io::Result<u64> {
    option(socket, libc::SOL_SOCKET, NETNS_COOKIE)
}

/// Plain numbers: any bytes are a valid value.
///
/// # Safety
/// Only for types without padding rules, references or enums.
pub(crate) unsafe trait Plain: Copy {}
// SAFETY: any eight bytes are a number.
unsafe impl Plain for u64 {}
// SAFETY: any bytes are numbers.
unsafe impl<const N: usize> Plain for [u32; N] {}
// SAFETY: any bytes are numbers.
unsafe impl<const N: usize> Plain for [u64; N] {}
// SAFETY: any four bytes are a number.
unsafe impl Plain for u32 {}

pub(crate) fn option<T: Plain>(socket: &impl AsFd, level: libc::c_int, name: libc::c_int) -> io::Result<T> {
    // SAFETY: `Plain` guarantees that zeros are a value.
    let mut value: T = unsafe { std::mem::zeroed() };
    let mut length = size_of::<T>() as libc::socklen_t;
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: the kernel writes at most `length` bytes to `value`, and any bytes are a `T`.
    let result = unsafe { libc::getsockopt(fd, level, name, (&raw mut value).cast(), &mut length) };
    if result == 0 { Ok(value) } else { Err(io::Error::last_os_error()) }
}

/// Reads a numeric option.
pub fn number_option(socket: &impl AsFd, level: libc::c_int, name: libc::c_int) -> io::Result<u32> {
    option(socket, level, name)
}

/// Sets a numeric option.
pub fn set_option(socket: &impl AsFd, level: libc::c_int, name: libc::c_int, value: u32) -> io::Result<()> {
    let length = size_of::<u32>() as libc::socklen_t;
    // SAFETY: the kernel reads `length` bytes of `value`, which outlives the call.
    let result =
        unsafe { libc::setsockopt(socket.as_fd().as_raw_fd(), level, name, (&raw const value).cast(), length) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::{TcpListener, UdpSocket},
    };

    use super::*;

    #[test]
    fn a_fresh_connection_has_no_retransmissions() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let stream = TcpStream::connect(listener.local_addr().expect("bound")).expect("loopback");
        let info = tcp_state(&stream).expect("connected");
        assert_eq!(info.retransmits, 0);
        assert!(info.path_mtu.0 >= 1500 && info.mss > 1000 && info.cwnd_segments > 0, "{info:?}");
        let available = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
        assert!(available.expect("readable").split_whitespace().any(|name| name == info.congestion), "{info:?}");
        let setting = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_timestamps").expect("readable");
        assert_eq!(info.timestamps, setting.trim() != "0");
        let moment = tcp_moment(&stream).expect("connected");
        assert_eq!((moment.retransmits, moment.cwnd_segments), (0, info.cwnd_segments));
        // Nothing was sent but the SYN: no segment was delivered, and one window per RTT is the most.
        let window_per_rtt = u64::from(info.cwnd_segments * info.mss) * 8_000_000 / u64::from(info.rtt_us.max(1));
        assert!(moment.pacing_bps >= window_per_rtt / 2, "{moment:?} {info:?}");
    }

    #[test]
    fn what_left_and_what_arrived_is_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let mut stream = TcpStream::connect(listener.local_addr().expect("bound")).expect("loopback");
        stream.set_nodelay(true).expect("settable");
        let mut other = listener.accept().expect("connected").0;
        for part in 1..=3 {
            stream.write_all(&[0; 100]).expect("sent");
            other.read_exact(&mut [0; 100]).expect("came");
            other.write_all(&[0]).expect("sent");
            stream.read_exact(&mut [0]).expect("came, and with it the acknowledgement");
            let progress = tcp_progress(&stream).expect("connected");
            assert_eq!((progress.segments, progress.acknowledged), (part, part * 100 + 1), "SYN counts as a byte");
        }
    }

    #[test]
    fn a_full_receive_buffer_is_counted() {
        let to = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        let from = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        from.connect(to.local_addr().expect("bound")).expect("loopback");
        set_socket_recv_buffer_size(&to, 4096).expect("settable");
        assert_eq!(drops(&to).expect("readable"), 0);
        for _ in 0..100 {
            from.send(&[0; 1000]).expect("sent");
        }
        to.set_nonblocking(true).expect("settable");
        let taken = (0..100).take_while(|_| to.recv(&mut [0; 1000]).is_ok()).count() as u64;
        assert!(taken > 0 && taken < 100, "{taken}");
        assert_eq!(drops(&to).expect("readable"), 100 - taken);
    }

    #[test]
    fn waiting_ends_when_something_is_there_or_patience_is_over() {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        wait_until_readable(&socket, Duration::from_millis(1)).expect("ends");
        socket.send_to(&[0], socket.local_addr().expect("bound")).expect("loopback");
        wait_until_readable(&socket, Duration::from_secs(3600)).expect("ends at once");
    }
}
