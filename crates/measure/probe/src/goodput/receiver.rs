//! The side that takes the data and counts it.

use std::{
    io::{self, Read},
    net::{IpAddr, SocketAddr, TcpListener, TcpStream},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use kernel::clock;
use model::{GoodputReceived, GoodputSpec};
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

/// How long all streams may take to connect, and the first byte to come.
const ARRIVAL: Duration = Duration::from_secs(10);

/// A prepared receiver.
pub struct Receiver {
    spec: GoodputSpec,
    listener: TcpListener,
    address: SocketAddr,
}

impl Receiver {
    /// Listens on a free port of this address.
    pub fn prepare(spec: &GoodputSpec, local: IpAddr) -> Result<Self, ProbeError> {
        let any_port = SocketAddr::new(local, 0);
        let socket = bound(any_port, Type::STREAM)?;
        socket.listen(i32::from(spec.streams)).map_err(socket_error("listen on", any_port))?;
        socket.set_nonblocking(true).map_err(socket_error("set O_NONBLOCK for", any_port))?;
        let listener = TcpListener::from(socket);
        let address = listener.local_addr().map_err(socket_error("ask the port of", any_port))?;
        Ok(Self { spec: spec.clone(), listener, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes all streams to their end and counts.
    pub fn serve(self, control: &Control, window: &dyn Window) -> Result<GoodputReceived, ProbeError> {
        let streams = self.accept_all(control)?;
        let counters: Vec<AtomicU64> = streams.iter().map(|_| AtomicU64::new(0)).collect();
        thread::scope(|scope| {
            let takers: Vec<_> = streams
                .into_iter()
                .zip(&counters)
                .map(|(stream, counter)| scope.spawn(|| take(stream, counter, control)))
                .collect();
            let counted = self.count(&counters, control, window);
            let ended_early = takers.iter().all(thread::ScopedJoinHandle::is_finished);
            if counted.is_err() {
                control.stop();
            }
            for taker in takers {
                taker.join().map_err(|_| ProbeError::Cancelled)?.map_err(socket_error("receive on", self.address))?;
            }
            let Counted { bytes, seconds, intervals_bps, warmup } = counted?;
            Ok(GoodputReceived {
                counted_bytes: bytes,
                total_bytes: sum(&counters),
                counted_s: seconds,
                intervals_bps,
                warmup_s: warmup,
                ended_early,
            })
        })
    }

    fn count(&self, counters: &[AtomicU64], control: &Control, window: &dyn Window) -> Result<Counted, ProbeError> {
        let waiting = Instant::now();
        while sum(counters) == 0 {
            self.check(waiting, control, || ProbeError::NoAnswer { peer: self.address, waited: ARRIVAL })?;
        }
        follow(&self.spec, clock::now(), counters, control, window)
    }

    fn accept_all(&self, control: &Control) -> Result<Vec<TcpStream>, ProbeError> {
        let (waiting, mut streams) = (Instant::now(), Vec::new());
        while streams.len() < usize::from(self.spec.streams) {
            match self.listener.accept() {
                Ok((stream, peer)) => {
                    let ready = stream.set_nonblocking(false).and_then(|()| stream.set_read_timeout(Some(STOP_CHECK)));
                    ready.map_err(socket_error("set SO_RCVTIMEO for", peer))?;
                    streams.push(stream);
                }
                Err(error) if is_nothing_yet(&error) => {
                    self.check(waiting, control, || ProbeError::StreamsMissing {
                        connected: streams.len(),
                        expected: self.spec.streams,
                        local: self.address,
                        waited: ARRIVAL,
                    })?
                }
                Err(error) => return Err(socket_error("accept on", self.address)(error)),
            }
        }
        Ok(streams)
    }

    /// One short wait, or the reason to wait no longer.
    fn check(&self, since: Instant, control: &Control, late: impl Fn() -> ProbeError) -> Result<(), ProbeError> {
        if control.stopped() {
            return Err(ProbeError::Cancelled);
        }
        if since.elapsed() > ARRIVAL {
            return Err(late());
        }
        thread::sleep(Duration::from_millis(1));
        Ok(())
    }
}

/// Reads one stream to its end.
fn take(mut stream: TcpStream, counter: &AtomicU64, control: &Control) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    while !control.stopped() {
        match stream.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(length) => {
                counter.fetch_add(length as u64, Relaxed);
            }
            Err(error) if is_nothing_yet(&error) => {}
            Err(error) => {
                // Nothing more can be counted; the others need not go on to the end.
                control.stop();
                return Err(error);
            }
        }
    }
    Ok(())
}
