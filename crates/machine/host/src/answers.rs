//! Whether another host answers, without root and without a partner there.

use std::{
    io::{self, ErrorKind},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket},
    time::Duration,
};

use model::Answer;

/// Discard (RFC 863): rarely open, so that a host refuses it.
const PORT: u16 = 9;

/// The kernel gives up neighbour discovery after three seconds.
const PATIENCE: Duration = Duration::from_millis(3500);

/// Sends a host a request that it refuses: by TCP, and by UDP if TCP is lost.
pub fn ask(address: IpAddr) -> Answer {
    let to = SocketAddr::new(address, PORT);
    let by_tcp = TcpStream::connect_timeout(&to, PATIENCE).map_or_else(|error| answer(&error), |_| Answer::Yes);
    match by_tcp {
        Answer::Nothing => by_udp(to).map_or_else(|error| answer(&error), |()| Answer::Yes),
        answer => answer,
    }
}

fn by_udp(to: SocketAddr) -> io::Result<()> {
    let any: IpAddr = if to.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0))?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.connect(to)?;
    socket.send(b"wireproof")?;
    socket.recv(&mut [0; 16]).map(drop)
}

/// A refused port is an answer.
fn answer(error: &io::Error) -> Answer {
    match error.kind() {
        ErrorKind::ConnectionRefused => Answer::Yes,
        ErrorKind::HostUnreachable => Answer::NoHost,
        ErrorKind::NetworkUnreachable => Answer::NoRoute,
        _ => Answer::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_refuses_is_there() {
        assert_eq!(ask(Ipv4Addr::LOCALHOST.into()), Answer::Yes);
    }
}
