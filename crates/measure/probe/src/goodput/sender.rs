//! The side that sends.

use std::{
    io::{Read, Write},
    net::{IpAddr, Shutdown, SocketAddr, TcpStream},
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use kernel::clock;
use model::{GoodputSent, GoodputSpec};
use socket2::Type;

use super::{
    CHUNK, STOP_CHECK,
    timeline::{Counted, follow, sum},
};
use crate::{
    Control, ProbeError, Window,
    error::socket_error,
    socket::{bound, is_nothing_yet},
};

const CONNECT: Duration = Duration::from_secs(10);

/// The sender goes on this long after its counted time, so that the receiver's, which begins a little later, is full.
const OVERRUN: Duration = Duration::from_millis(300);

/// How long the receiver may take to drain what is on the way.
const DRAIN: Duration = Duration::from_secs(10);

/// A prepared sender: all streams connected.
pub struct Sender {
    spec: GoodputSpec,
    peer: SocketAddr,
    streams: Vec<TcpStream>,
}

impl Sender {
    /// Connects all streams to the receiver.
    pub fn prepare(spec: &GoodputSpec, local: IpAddr, peer: SocketAddr) -> Result<Self, ProbeError> {
        let streams = (0..spec.streams).map(|_| connect(local, peer)).collect::<Result<_, _>>()?;
        Ok(Self { spec: spec.clone(), peer, streams })
    }

    /// Sends for warm-up and counted time, then waits until all of it has arrived.
    pub fn run(self, control: &Control, window: &dyn Window) -> Result<GoodputSent, ProbeError> {
        let counters: Vec<AtomicU64> = self.streams.iter().map(|_| AtomicU64::new(0)).collect();
        let enough = AtomicBool::new(false);
        let counted = thread::scope(|scope| {
            let giver = scope.spawn(|| {
                let given = self.give(&counters, &enough);
                if given.is_err() {
                    // Nothing more can be counted.
                    control.stop();
                }
                given
            });
            let counted = follow(&self.spec, clock::now(), &counters, control, window);
            if counted.is_ok() {
                thread::sleep(OVERRUN);
            }
            enough.store(true, Relaxed);
            giver.join().map_err(|_| ProbeError::Cancelled)??;
            counted
        })?;
        self.drain(control)?;
        let Counted { bytes, seconds, .. } = counted;
        let retransmits = self.retransmits()?;
        Ok(GoodputSent { counted_bytes: bytes, total_bytes: sum(&counters), counted_s: seconds, retransmits })
    }

    /// Writes into all streams in turn until it is enough. One thread for all: where the streams share a core, a thread
    /// each would only take turns.
    fn give(&self, counters: &[AtomicU64], enough: &AtomicBool) -> Result<(), ProbeError> {
        let chunk = vec![0; CHUNK];
        while !enough.load(Relaxed) {
            let mut taken = false;
            for (mut stream, counter) in self.streams.iter().zip(counters) {
                match stream.write(&chunk) {
                    Ok(length) => {
                        counter.fetch_add(length as u64, Relaxed);
                        taken = true;
                    }
                    Err(error) if is_nothing_yet(&error) => {}
                    Err(error) => return Err(socket_error("send to", self.peer)(error)),
                }
            }
            if !taken {
                kernel::socket::wait_until_writable(&self.streams, STOP_CHECK)?;
            }
        }
        Ok(())
    }

    /// Ends each stream and waits for the receiver to do the same, which it does after the last byte.
    fn drain(&self, control: &Control) -> Result<(), ProbeError> {
        for stream in &self.streams {
            stream.set_nonblocking(false).map_err(socket_error("clear O_NONBLOCK for", self.peer))?;
            stream.shutdown(Shutdown::Write).map_err(socket_error("shut down the stream to", self.peer))?;
        }
        let waiting = Instant::now();
        for mut stream in &self.streams {
            loop {
                match stream.read(&mut [0]) {
                    Ok(0) => break,
                    Ok(_) => {}
                    Err(error) if !is_nothing_yet(&error) => return Err(socket_error("drain to", self.peer)(error)),
                    Err(_) if control.stopped() => return Err(ProbeError::Cancelled),
                    Err(_) if waiting.elapsed() > DRAIN => {
                        return Err(ProbeError::NoAnswer { peer: self.peer, waited: DRAIN });
                    }
                    Err(_) => {}
                }
            }
        }
        Ok(())
    }

    fn retransmits(&self) -> Result<u64, ProbeError> {
        self.streams.iter().map(|stream| Ok(u64::from(kernel::socket::tcp_info(stream)?.retransmits))).sum()
    }
}

fn connect(local: IpAddr, peer: SocketAddr) -> Result<TcpStream, ProbeError> {
    let socket = bound(SocketAddr::new(local, 0), Type::STREAM)?;
    socket.connect_timeout(&peer.into(), CONNECT).map_err(socket_error("connect to", peer))?;
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(STOP_CHECK)).map_err(socket_error("set SO_RCVTIMEO for", peer))?;
    stream.set_nonblocking(true).map_err(socket_error("set O_NONBLOCK for", peer))?;
    Ok(stream)
}
