//! Bulk data over TCP.

mod connection_states;
mod receiver;
mod sender;

use std::{
    io,
    net::{SocketAddr, TcpStream},
};

use kernel::sysctl;
use model::{Bytes, GoodputSpec, SideSetup, probe::KERNELS_DEFAULT};
use socket2::{SockRef, Socket, Type};

pub(super) use self::{
    receiver::{receive, receive_endless},
    sender::{acknowledged, send},
};
use super::{
    ARRIVAL,
    hello::{DataDirection, Hello, look_up_often},
};
use crate::{
    ProbeError,
    error::socket_error,
    greeting::greet,
    socket::{bound, connect_to_program},
};

/// Bytes of one send call. BBR is faster with large ones: it grows by what one acknowledgement confirms.
const SEND_CHUNK: usize = 512 * 1024;

/// Connects all streams of one way.
pub(super) fn connect_all(
    spec: &GoodputSpec,
    setup: &SideSetup,
    peer: SocketAddr,
    way: DataDirection,
) -> Result<Vec<TcpStream>, ProbeError> {
    let open = |number| {
        let socket = bound(SocketAddr::new(setup.local, 0), Type::STREAM)?;
        set_options(&socket, spec, setup, peer)?;
        connect(socket, peer, Hello { way, value: number }, setup.token)
    };
    (0..spec.streams).map(open).collect()
}

/// Connects the streams to programs of the far host, one at each port from that of `peer` on.
pub(super) fn connect_to_programs(
    spec: &GoodputSpec,
    setup: &SideSetup,
    peer: SocketAddr,
) -> Result<Vec<TcpStream>, ProbeError> {
    let connect = |number| {
        let peer = SocketAddr::new(peer.ip(), peer.port().saturating_add(number));
        let open = || {
            let socket = bound(SocketAddr::new(setup.local, 0), Type::STREAM)?;
            set_options(&socket, spec, setup, peer)?;
            Ok(socket)
        };
        let stream = TcpStream::from(connect_to_program(peer, ARRIVAL, open)?);
        look_up_often(&stream).map_err(socket_error("set SO_RCVTIMEO for", peer))?;
        Ok(stream)
    };
    (0..spec.streams).map(connect).collect()
}

/// Connects, and says what for.
pub(super) fn connect(socket: Socket, peer: SocketAddr, hello: Hello, token: u32) -> Result<TcpStream, ProbeError> {
    socket.connect_timeout(&peer.into(), ARRIVAL).map_err(socket_error("connect to", peer))?;
    let stream = TcpStream::from(socket);
    look_up_often(&stream).map_err(socket_error("set SO_RCVTIMEO for", peer))?;
    greet(&stream, token, hello.purpose()).map_err(socket_error("send to", peer))?;
    Ok(stream)
}

/// Options that must be set before the connection: the first packet negotiates the window scale.
pub(super) fn set_options(
    socket: &Socket,
    spec: &GoodputSpec,
    setup: &SideSetup,
    on: SocketAddr,
) -> Result<(), ProbeError> {
    if let Some(Bytes(window)) = spec.window {
        let window = usize::try_from(window).unwrap_or(usize::MAX);
        socket.set_send_buffer_size(window).map_err(socket_error("set SO_SNDBUF for", on))?;
        socket.set_recv_buffer_size(window).map_err(socket_error("set SO_RCVBUF for", on))?;
    }
    match (spec.congestion.as_deref(), &setup.congestion) {
        (Some(KERNELS_DEFAULT), _) => {}
        (Some(name), _) => {
            socket.set_tcp_congestion(name.as_bytes()).map_err(|error| no_congestion(name, &error))?;
        }
        // A kernel without it has its default; the connection's state names the one that was used.
        (None, Some(name)) => drop(socket.set_tcp_congestion(name.as_bytes())),
        (None, None) => {}
    }
    Ok(())
}

fn no_congestion(name: &str, error: &io::Error) -> ProbeError {
    let key = if error.kind() == io::ErrorKind::PermissionDenied { "allowed" } else { "available" };
    let key = format!("net.ipv4.tcp_{key}_congestion_control");
    let known = sysctl::read(&key).unwrap_or_else(|error| error.to_string());
    ProbeError::Unable {
        what: format!("congestion control \"{name}\""),
        why: format!("{error}; {key} has: {known}. Choose one of them, or load its module (modprobe tcp_{name})"),
    }
}

/// Size that the kernel granted: it doubles what was asked for, to have room for its own bookkeeping.
fn granted(
    spec: &GoodputSpec,
    stream: &TcpStream,
    size: impl Fn(&SockRef<'_>) -> io::Result<usize>,
) -> io::Result<Option<Bytes>> {
    match spec.window {
        Some(_) => size(&SockRef::from(stream)).map(|size| Some(Bytes(size as u64 / 2))),
        None => Ok(None),
    }
}
