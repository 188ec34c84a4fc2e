//! Bulk data over UDP.
//!
//! A flow is a pair of connected sockets. Each way has one TCP connection beside its flows: over it both sides tell each other
//! their ports, and at the end the sender how much it sent and the receiver how much came.

mod label;
mod receiver;
mod schedule;
mod sender;

use std::{
    io::Write,
    net::{IpAddr, SocketAddr, TcpStream, UdpSocket},
    time::Duration,
};

use kernel::{datagram, socket};
use model::{Batch, Bytes, GoodputSpec, SideSetup, frame_size::Headers};
use socket2::{SockRef, Type};

pub(super) use self::{receiver::receive, sender::send};
use super::{
    ARRIVAL,
    hello::{DataDirection, Hello, read_all},
    tcp::connect,
};
use crate::{
    Control, ProbeError,
    datagrams::{Carrier, Datagrams},
    error::socket_error,
    greeting::peer_of,
    socket::{STOP_CHECK, bound},
};

/// Receive buffer of each flow unless one was asked for: the receiver may be away for a while without loss.
const AMPLE_RECEIVE: usize = 8 << 20;

/// Send buffer of each flow unless one was asked for: a card is kept busy while the sender is away.
const AMPLE_SEND: usize = 2 << 20;

/// All flows of one way.
pub(super) struct Flow {
    way: DataDirection,
    /// Payload of each datagram.
    size: usize,
    /// The trial's, in each datagram's label.
    token: u32,
    /// The other end of `control`.
    peer: SocketAddr,
    control: TcpStream,
    sockets: Vec<Datagrams>,
}

impl Flow {
    /// The near side's beginning: asks the far side for flows.
    pub(super) fn open(
        spec: &GoodputSpec,
        setup: &SideSetup,
        carrier: &Carrier,
        peer: SocketAddr,
        way: DataDirection,
    ) -> Result<Self, ProbeError> {
        let size = payload(spec, setup)?;
        let sockets = bind_all(spec, carrier, setup.local)?;
        let asking = bound(SocketAddr::new(setup.local, 0), Type::STREAM)?;
        let control = connect(asking, peer, Hello { way, value: size }, setup.token)?;
        let flow = Self { way, size: size.into(), token: setup.token, peer, control, sockets };
        flow.tell_ports()?;
        Ok(flow)
    }

    /// The near side's end: learns where the far side's flows are.
    pub(super) fn join(&mut self, control: &Control) -> Result<(), ProbeError> {
        self.connect_all(control)?;
        if self.way == DataDirection::Reverse {
            for socket in &self.sockets {
                // Opens the way back through a firewall that remembers; nobody reads it, and nothing needs it elsewhere.
                let _ = socket.send(&[]);
            }
        }
        Ok(())
    }

    /// The far side's answer to a near one that wants flows.
    pub(super) fn answer(
        hello: Hello,
        stream: TcpStream,
        sockets: Vec<Datagrams>,
        token: u32,
        control: &Control,
    ) -> Result<Self, ProbeError> {
        let peer = peer_of(&stream)?;
        let mut flow = Self { way: hello.way, size: hello.value.into(), token, peer, control: stream, sockets };
        flow.connect_all(control)?;
        flow.tell_ports()?;
        Ok(flow)
    }

    /// Datagrams that went through the kernel, where they were to go past it.
    fn through_kernel(&self) -> Option<u64> {
        self.sockets.iter().map(Datagrams::through_kernel).sum()
    }

    /// Whether the card reads and writes their memory itself; `None` where the kernel's stack does.
    fn is_zero_copy(&self) -> Option<bool> {
        self.sockets.first().and_then(Datagrams::is_zero_copy)
    }

    fn tell_ports(&self) -> Result<(), ProbeError> {
        let port = |datagrams: &Datagrams| datagrams.socket().local_addr().map(|local| local.port().to_be_bytes());
        let ports = self.sockets.iter().map(port).collect::<Result<Vec<_>, _>>();
        let ports = ports.map_err(socket_error("ask the port of the socket to", self.peer))?;
        self.write(ports.as_flattened())
    }

    fn connect_all(&mut self, control: &Control) -> Result<(), ProbeError> {
        let mut ports = vec![[0; 2]; self.sockets.len()];
        read_all(&self.control, ports.as_flattened_mut(), self.peer, ARRIVAL, control)?;
        for (socket, port) in self.sockets.iter_mut().zip(ports) {
            let mut peer = self.peer;
            peer.set_port(u16::from_be_bytes(port));
            socket.connect(peer)?;
        }
        Ok(())
    }

    /// Tells the other side a number for each flow.
    fn tell(&self, numbers: &[u64]) -> Result<(), ProbeError> {
        let bytes: Vec<_> = numbers.iter().map(|number| number.to_be_bytes()).collect();
        self.write(bytes.as_flattened())
    }

    fn write(&self, bytes: &[u8]) -> Result<(), ProbeError> {
        (&self.control).write_all(bytes).map_err(socket_error("send to", self.peer))
    }

    /// Message of the other side, if it comes within `patience`.
    fn hear(&self, patience: Duration, control: &Control) -> Result<Vec<u64>, ProbeError> {
        let mut bytes = vec![[0; 8]; self.sockets.len()];
        read_all(&self.control, bytes.as_flattened_mut(), self.peer, patience, control)?;
        Ok(bytes.into_iter().map(u64::from_be_bytes).collect())
    }
}

/// A socket for each flow of one way.
pub(super) fn bind_all(spec: &GoodputSpec, carrier: &Carrier, local: IpAddr) -> Result<Vec<Datagrams>, ProbeError> {
    let any_port = SocketAddr::new(local, 0);
    let open = |_| {
        let socket = bound(any_port, Type::DGRAM)?;
        match spec.window {
            Some(Bytes(window)) => {
                let window = usize::try_from(window).unwrap_or(usize::MAX);
                socket.set_send_buffer_size(window).map_err(socket_error("set SO_SNDBUF for", any_port))?;
                socket.set_recv_buffer_size(window).map_err(socket_error("set SO_RCVBUF for", any_port))?;
            }
            None => socket::set_ample_buffers(&socket, AMPLE_SEND, AMPLE_RECEIVE)?,
        }
        socket.set_read_timeout(Some(STOP_CHECK)).map_err(socket_error("set SO_RCVTIMEO for", any_port))?;
        carrier.carry(UdpSocket::from(socket))
    };
    (0..spec.streams).map(open).collect()
}

/// Whether datagrams can have this payload.
pub(super) fn is_payload(size: u16) -> bool {
    (label::LENGTH..=datagram::LARGEST).contains(&size.into())
}

/// Payload of each datagram.
fn payload(spec: &GoodputSpec, setup: &SideSetup) -> Result<u16, ProbeError> {
    let headers = Headers { ip: spec.ip, protocol: spec.protocol, tcp_timestamps: false };
    let fits = setup.mtu.0.saturating_sub(headers.bytes()).min(datagram::LARGEST as u32);
    let size = spec.datagram.map_or(fits, |asked| asked.0);
    let unable = |why: String| ProbeError::Unable { what: format!("datagrams of {size} bytes"), why };
    if size < label::LENGTH as u32 {
        return Err(unable(format!("each carries a label of {} bytes", label::LENGTH)));
    }
    if spec.batch == Batch::Gso && size > fits {
        let mtu = setup.mtu.0;
        return Err(unable(format!("MTU {mtu} takes {fits}, and batch = \"gso\" cannot fragment")));
    }
    u16::try_from(size).map_err(|_| unable("IP takes no more than 65,507".to_owned()))
}

/// Size that the kernel granted: it doubles what was asked for, to have room for its own bookkeeping.
fn granted(
    sockets: &[Datagrams],
    size: impl Fn(&SockRef<'_>) -> std::io::Result<usize>,
    on: SocketAddr,
) -> Result<Bytes, ProbeError> {
    let size =
        size(&SockRef::from(sockets[0].socket())).map_err(socket_error("ask the buffers of the socket to", on))?;
    Ok(Bytes(size as u64 / 2))
}
