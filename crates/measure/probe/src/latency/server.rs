//! The side that answers each message with itself.

use std::{
    io::{self, Read},
    net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket},
    thread,
    time::Duration,
};

use model::{LatencySpec, Mtu, Protocol};
use socket2::{SockRef, Type};

use super::payload_of;
use crate::{
    Control, ProbeError,
    error::socket_error,
    socket::{STOP_CHECK, bound, is_nothing_yet, is_refused, send_all, set_wait},
};

/// Larger than any payload.
const BUFFER: usize = 65_536;

/// A prepared server.
pub struct Server {
    spec: LatencySpec,
    mtu: Mtu,
    address: SocketAddr,
    door: Door,
}

enum Door {
    Udp(UdpSocket),
    Tcp(TcpListener),
}

impl Server {
    /// Listens on a free port of this address. `mtu` is that of the interface.
    pub fn prepare(spec: &LatencySpec, local: IpAddr, mtu: Mtu) -> Result<Self, ProbeError> {
        let any_port = SocketAddr::new(local, 0);
        let door = match spec.protocol {
            Protocol::Udp => {
                let socket = bound(any_port, Type::DGRAM)?;
                set_wait(&socket, spec.mode, Some(STOP_CHECK), any_port)?;
                Door::Udp(socket.into())
            }
            Protocol::Tcp => {
                let socket = bound(any_port, Type::STREAM)?;
                socket.listen(1).map_err(socket_error("listen on", any_port))?;
                socket.set_nonblocking(true).map_err(socket_error("set O_NONBLOCK for", any_port))?;
                Door::Tcp(socket.into())
            }
        };
        let address = match &door {
            Door::Udp(socket) => socket.local_addr(),
            Door::Tcp(listener) => listener.local_addr(),
        };
        let address = address.map_err(socket_error("ask the port of", any_port))?;
        Ok(Self { spec: spec.clone(), mtu, address, door })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until stopped, or until a TCP client hangs up. Gives the number of messages answered.
    pub fn serve(self, control: &Control) -> Result<u64, ProbeError> {
        match &self.door {
            Door::Udp(socket) => self.serve_udp(socket, control),
            Door::Tcp(listener) => match self.accept(listener, control)? {
                Some((stream, peer)) => self.serve_tcp(stream, peer, control),
                None => Ok(0),
            },
        }
    }

    fn serve_udp(&self, socket: &UdpSocket, control: &Control) -> Result<u64, ProbeError> {
        let mut buffer = vec![0; BUFFER];
        let Some((mut length, peer)) = self.first_datagram(socket, &mut buffer, control)? else { return Ok(0) };
        // A connected socket saves a route look-up for each answer, and lets nobody else in.
        socket.connect(peer).map_err(socket_error("connect to", peer))?;
        let mut answered = 0;
        loop {
            match socket.send(&buffer[..length]) {
                Ok(_) => answered += 1,
                Err(error) if is_nothing_yet(&error) || is_refused(&error) => {}
                Err(error) => return Err(socket_error("send to", peer)(error)),
            }
            loop {
                match socket.recv(&mut buffer) {
                    Ok(received) => {
                        length = received;
                        break;
                    }
                    Err(error) if is_nothing_yet(&error) || is_refused(&error) => {}
                    Err(error) => return Err(socket_error("receive from", peer)(error)),
                }
                if control.stopped() {
                    return Ok(answered);
                }
            }
        }
    }

    fn first_datagram(
        &self,
        socket: &UdpSocket,
        buffer: &mut [u8],
        control: &Control,
    ) -> Result<Option<(usize, SocketAddr)>, ProbeError> {
        while !control.stopped() {
            match socket.recv_from(buffer) {
                Ok(first) => return Ok(Some(first)),
                Err(error) if is_nothing_yet(&error) || is_refused(&error) => {}
                Err(error) => return Err(socket_error("receive on", self.address)(error)),
            }
        }
        Ok(None)
    }

    fn accept(&self, listener: &TcpListener, control: &Control) -> Result<Option<(TcpStream, SocketAddr)>, ProbeError> {
        while !control.stopped() {
            match listener.accept() {
                Ok(accepted) => return Ok(Some(accepted)),
                Err(error) if is_nothing_yet(&error) => thread::sleep(Duration::from_millis(1)),
                Err(error) => return Err(socket_error("accept on", self.address)(error)),
            }
        }
        Ok(None)
    }

    fn serve_tcp(&self, mut stream: TcpStream, peer: SocketAddr, control: &Control) -> Result<u64, ProbeError> {
        let socket = SockRef::from(&stream);
        socket.set_nonblocking(false).map_err(socket_error("clear O_NONBLOCK for", peer))?;
        socket.set_tcp_nodelay(true).map_err(socket_error("set TCP_NODELAY for", peer))?;
        set_wait(&socket, self.spec.mode, None, peer)?;
        let timestamps = kernel::socket::tcp_info(&stream)?.timestamps;
        let mut message = vec![0; payload_of(&self.spec, timestamps, self.mtu)?.0 as usize];
        let copy = stream.try_clone().map_err(socket_error("duplicate the stream to", peer))?;
        let _wakeable = control.wakes(copy);
        let mut answered = 0;
        while read_message(&mut stream, &mut message, control).map_err(socket_error("receive from", peer))? {
            send_all(&mut stream, &message).map_err(socket_error("send to", peer))?;
            answered += 1;
        }
        Ok(answered)
    }
}

/// Fills `message`; `false` when the client hung up or the server shall stop.
fn read_message(stream: &mut TcpStream, message: &mut [u8], control: &Control) -> io::Result<bool> {
    let mut have = 0;
    while have < message.len() {
        match stream.read(&mut message[have..]) {
            Ok(0) => return Ok(false),
            Ok(length) => have += length,
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(false),
            Err(error) if is_nothing_yet(&error) => {
                if control.stopped() {
                    return Ok(false);
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}
