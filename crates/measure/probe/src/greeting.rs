//! The first bytes on each TCP connection of a trial: its token and purpose. Anybody on the bed can connect; a connection
//! without them is closed, and a silent one costs the trial no time.

use std::{
    collections::VecDeque,
    io::{self, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    thread,
    time::Duration,
};

use crate::{
    ProbeError,
    error::socket_error,
    socket::{accept, is_nothing_yet},
};

const LENGTH: usize = 12;
const MAGIC: [u8; 4] = *b"wpgr";

/// Connections with an unfinished greeting. The oldest one makes room: a near side greets at once.
const WAITING: usize = 256;

/// Connections accepted before those that wait have their turn.
const ACCEPTED_AT_ONCE: usize = 64;

/// A listening socket and the connections that have not greeted yet.
pub(crate) struct PendingConnections {
    listener: TcpListener,
    address: SocketAddr,
    token: u32,
    waiting: VecDeque<Guest>,
}

/// A connection that has not greeted yet.
struct Guest {
    stream: TcpStream,
    greeting: [u8; LENGTH],
    have: usize,
}

/// State of a greeting.
enum GreetingState {
    /// More has to come.
    Part,
    /// The purpose of a connection of this trial.
    Purpose(u32),
    /// Another connection than one of this trial.
    Other,
}

/// Greets on a connection that sleeps in its calls.
pub(crate) fn greet(mut stream: &TcpStream, token: u32, purpose: u32) -> io::Result<()> {
    stream.write_all(&encode(token, purpose))
}

/// The other end of a connection. The kernel forgets it only once the connection is broken.
pub(crate) fn peer_of(stream: &TcpStream) -> Result<SocketAddr, ProbeError> {
    let unknown = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    stream.peer_addr().map_err(socket_error("ask the peer of a connection that is", unknown))
}

impl PendingConnections {
    /// Takes a listening socket that does not block.
    pub(crate) fn new(listener: TcpListener, address: SocketAddr, token: u32) -> Self {
        Self { listener, address, token, waiting: VecDeque::new() }
    }

    /// Address to which they connect.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// A connection of this trial, which does not block, and its purpose. Where there is none, waits a millisecond.
    pub(crate) fn next(&mut self) -> Result<Option<(TcpStream, u32)>, ProbeError> {
        for _ in 0..ACCEPTED_AT_ONCE {
            let accepted = accept(&self.listener).map_err(socket_error("accept on", self.address))?;
            let Some(socket) = accepted else { break };
            if self.waiting.len() == WAITING {
                self.waiting.pop_front();
            }
            self.waiting.push_back(Guest { stream: socket.into(), greeting: [0; LENGTH], have: 0 });
        }
        let mut at = 0;
        while let Some(guest) = self.waiting.get_mut(at) {
            let state = guest.read(self.token);
            if let GreetingState::Part = state {
                at += 1;
                continue;
            }
            let guest = self.waiting.remove(at);
            if let (Some(guest), GreetingState::Purpose(purpose)) = (guest, state) {
                return Ok(Some((guest.stream, purpose)));
            }
        }
        thread::sleep(Duration::from_millis(1));
        Ok(None)
    }
}

impl Guest {
    /// Receives what there is. Nothing is judged before all of it is there, so that no byte of the token can be guessed alone.
    fn read(&mut self, token: u32) -> GreetingState {
        match self.stream.read(&mut self.greeting[self.have..]) {
            Ok(0) => return GreetingState::Other,
            Ok(length) => self.have += length,
            Err(error) if is_nothing_yet(&error) => return GreetingState::Part,
            Err(_) => return GreetingState::Other,
        }
        if self.have < LENGTH {
            return GreetingState::Part;
        }
        decode(self.greeting, token).map_or(GreetingState::Other, GreetingState::Purpose)
    }
}

fn encode(token: u32, purpose: u32) -> [u8; LENGTH] {
    let [token, purpose] = [token, purpose].map(u32::to_be_bytes);
    let mut bytes = [0; LENGTH];
    bytes.as_chunks_mut().0.copy_from_slice(&[MAGIC, token, purpose]);
    bytes
}

/// The purpose in a greeting of this trial.
fn decode(bytes: [u8; LENGTH], token: u32) -> Option<u32> {
    let [.., a, b, c, d] = bytes;
    let purpose = u32::from_be_bytes([a, b, c, d]);
    (encode(token, purpose) == bytes).then_some(purpose)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use socket2::Type;

    use super::*;
    use crate::socket::{BACKLOG, bound};

    fn pending() -> PendingConnections {
        let socket = bound((Ipv4Addr::LOCALHOST, 0).into(), Type::STREAM).expect("loopback");
        socket.listen(BACKLOG as i32).expect("bound");
        socket.set_nonblocking(true).expect("settable");
        let listener = TcpListener::from(socket);
        let address = listener.local_addr().expect("bound");
        PendingConnections::new(listener, address, 7)
    }

    /// Purpose of the first connection that is of the trial.
    fn first(pending: &mut PendingConnections) -> u32 {
        let began = Instant::now();
        loop {
            if let Some((_, purpose)) = pending.next().expect("it listens") {
                return purpose;
            }
            assert!(began.elapsed() < Duration::from_secs(10), "nobody came");
        }
    }

    #[test]
    fn a_greeting_is_read_as_it_was_written() {
        for (token, purpose) in [(0, 0), (7, 9), (u32::MAX, 0xffff_0001)] {
            assert_eq!(decode(encode(token, purpose), token), Some(purpose));
            assert_eq!(decode(encode(token, purpose), token ^ 1), None);
        }
        assert_eq!(decode(*b"GET / HTTP/1", 7), None);
    }

    #[test]
    fn strangers_are_passed_over_however_many_they_are() {
        let mut pending = pending();
        let connect = || TcpStream::connect(pending.address()).expect("loopback");
        let mut silent: Vec<_> = (0..WAITING + 50).map(|_| connect()).collect();
        for (stream, said) in silent.iter_mut().zip([&b"wpgr\0\0"[..], b"GET / HTTP/1.0\r\n\r\n", &encode(8, 1)]) {
            stream.write_all(said).expect("sent");
        }
        drop(silent.pop());
        greet(&connect(), 7, 3).expect("sent");
        assert_eq!(first(&mut pending), 3);
        assert!(pending.waiting.len() <= WAITING);
    }

    #[test]
    fn a_greeting_may_come_in_parts() {
        let mut pending = pending();
        let mut stream = TcpStream::connect(pending.address()).expect("loopback");
        stream.set_nodelay(true).expect("settable");
        let greeting = encode(7, 5);
        for byte in &greeting[..LENGTH - 1] {
            stream.write_all(&[*byte]).expect("sent");
            assert!(pending.next().expect("it listens").is_none());
        }
        stream.write_all(&greeting[LENGTH - 1..]).expect("sent");
        assert_eq!(first(&mut pending), 5);
    }
}
