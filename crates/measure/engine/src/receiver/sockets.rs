//! Counts packets by a UDP socket, without privilege.

use std::{
    collections::BTreeMap,
    io,
    net::{IpAddr, SocketAddr, UdpSocket},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use frame::{
    Compiled,
    tag::{SHORT, Tag, WHOLE},
};
use kernel::{clock, cpu, datagram::Incoming, socket};
use model::Nanos;

use super::{Counter, Received, ReceivedStream, ReceiverOptions, Times};
use crate::{
    EngineError,
    tracker::{Tracker, WINDOW},
};

/// Packets per call.
const MESSAGES: usize = 64;
/// A receive buffer for times when the thread is not scheduled.
const BUFFER: usize = 16 << 20;
/// Interval of stop checks.
const LOOK_UP: Duration = Duration::from_millis(100);
/// Bits of a time that fit in a tag.
const TIME: u64 = (1 << 48) - 1;

/// A receiving thread, until this is dropped.
pub struct SocketReceiver {
    port: u16,
    stop: Arc<AtomicBool>,
    arrivals: Arc<Mutex<Arrivals>>,
    thread: Option<JoinHandle<()>>,
}

impl SocketReceiver {
    /// Opens a socket on a free port of this address; receives on this core, or on any.
    pub fn open(local: IpAddr, what: &ReceiverOptions, core: Option<usize>) -> Result<Self, EngineError> {
        let failed = |what: &'static str| move |io: io::Error| EngineError::Io { what: format!("{what} {local}"), io };
        let socket = UdpSocket::bind(SocketAddr::new(local, 0)).map_err(failed("bind a UDP socket to"))?;
        socket::set_ample_buffers(&socket, MESSAGES, BUFFER)?;
        socket.set_read_timeout(Some(LOOK_UP)).map_err(failed("set SO_RCVTIMEO of a UDP socket at"))?;
        let port = socket.local_addr().map_err(failed("ask the port of a UDP socket at"))?.port();
        let (arrivals, stop) = (Arc::new(Mutex::new(Arrivals::new(what))), Arc::new(AtomicBool::new(false)));
        let (shared, stopped) = (Arc::clone(&arrivals), Arc::clone(&stop));
        let longest = what.sequences.iter().map(|stream| stream.longest() - stream.offsets.tag).max().unwrap_or(WHOLE);
        let thread = thread::spawn(move || {
            // If pinning fails, the kernel's choice is as good.
            let _ = core.map(cpu::pin_current_thread);
            receive(&socket, longest, &shared, &stopped);
        });
        Ok(Self { port, stop, arrivals, thread: Some(thread) })
    }

    /// Port.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Counter for SocketReceiver {
    fn read(&self) -> Result<Received, EngineError> {
        Ok(self.arrivals.lock().unwrap_or_else(PoisonError::into_inner).received())
    }
}

impl Drop for SocketReceiver {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            // It ends within the timeout of a receive call.
            let _ = thread.join();
        }
    }
}

fn receive(socket: &UdpSocket, longest: usize, arrivals: &Mutex<Arrivals>, stop: &AtomicBool) {
    let mut incoming = Incoming::new(MESSAGES, longest);
    while !stop.load(Relaxed) {
        // A timeout or a signal.
        let Ok(count) = incoming.receive(socket, true) else { continue };
        let now = clock::now();
        let mut arrivals = arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        for index in 0..count {
            arrivals.take(incoming.message(index).bytes, now);
        }
    }
}

/// Counters of arrivals.
struct Arrivals {
    token: u32,
    sequences: Vec<Sequence>,
    others: u64,
    span: Option<(Nanos, Nanos)>,
}

struct Sequence {
    tracker: Tracker,
    /// The longest payload that is sent, of which each other one is the beginning; behind the tag it is the same in all.
    payload: Vec<u8>,
    /// Whether packets without room for a whole tag are sent.
    has_short: bool,
    corrupt: u64,
    compared: u64,
    bytes: u64,
    /// Length of the headers before the payload.
    headers: u64,
    times: BTreeMap<u64, u64>,
    least: u64,
    longest: u64,
    sum: u64,
}

impl Arrivals {
    fn new(what: &ReceiverOptions) -> Self {
        let sequences = what.sequences.iter().map(Sequence::new).collect();
        Self { token: what.token, sequences, others: 0, span: None }
    }

    fn take(&mut self, payload: &[u8], now: Nanos) {
        let ours = Tag::read(payload, payload.len()).and_then(|tag| {
            let sequence = self.sequences.get_mut(usize::from(tag.number(self.token)))?;
            // A short tag has half of the token, so that it is ours only where short ones are sent.
            let is_ours = if payload.len() < WHOLE { sequence.has_short } else { tag.token == self.token as u16 };
            is_ours.then_some((tag, sequence))
        });
        let Some((tag, sequence)) = ours else {
            self.others += 1;
            return;
        };
        sequence.take(tag, payload, now);
        self.span = Some((self.span.map_or(now, |(first, _)| first), now));
    }

    fn received(&self) -> Received {
        let numbered = self.sequences.iter().map(Sequence::received).collect();
        Received { numbered, others: self.others, window: WINDOW, span: self.span }
    }
}

impl Sequence {
    fn new(stream: &Compiled) -> Self {
        let (tracker, times) = (Tracker::new(), BTreeMap::new());
        let (headers, payload) = (stream.offsets.tag as u64, stream.bytes[stream.offsets.tag..].to_vec());
        Self {
            tracker,
            payload,
            has_short: stream.sizes.iter().any(|size| size.tag < WHOLE),
            corrupt: 0,
            compared: 0,
            bytes: 0,
            headers,
            times,
            least: u64::MAX,
            longest: 0,
            sum: 0,
        }
    }

    fn take(&mut self, tag: Tag, payload: &[u8], now: Nanos) {
        self.compared += 1;
        if !self.is_as_sent(payload) {
            self.corrupt += 1;
            return;
        }
        let before = self.tracker.received;
        self.tracker.take(tag.sequence);
        self.bytes += if self.tracker.received > before { self.headers + payload.len() as u64 } else { 0 };
        if tag.time > 0 {
            let took = now.0.wrapping_sub(tag.time) & TIME;
            *self.times.entry(rounded(took)).or_default() += 1;
            (self.least, self.longest) = (self.least.min(took), self.longest.max(took));
            self.sum += took;
        }
    }

    /// A checksum misses changes that cancel each other, and a veth verifies none.
    fn is_as_sent(&self, payload: &[u8]) -> bool {
        let tag = if payload.len() < WHOLE { SHORT } else { WHOLE };
        self.payload.get(tag..payload.len()) == payload.get(tag..)
    }

    fn received(&self) -> ReceivedStream {
        let Self { tracker, corrupt, compared, bytes, times, least, longest, sum, .. } = self;
        let counts: Vec<(u64, u64)> = times.iter().map(|(time, count)| (*time, *count)).collect();
        let latency = match counts.is_empty() {
            true => Times::default(),
            false => Times { least: *least, longest: *longest, sum: *sum, counts },
        };
        ReceivedStream {
            frames: tracker.received,
            expected: tracker.expected(),
            after_gap: Some(tracker.after_gap()),
            bytes: *bytes,
            duplicated: tracker.duplicated,
            reordered: tracker.reordered,
            late: 0,
            corrupt: corrupt + tracker.damaged,
            compared: *compared,
            latency,
            // Several packets arrive in one call, at the same time.
            gaps: Times::default(),
            cpus: Vec::new(),
        }
    }
}

/// Rounded down to eleven bits, to limit the number of different times.
fn rounded(nanos: u64) -> u64 {
    let dropped = nanos.checked_ilog2().unwrap_or_default().saturating_sub(10);
    nanos >> dropped << dropped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn tagged(sequence: u64, token: u32, time: u64) -> Vec<u8> {
        let mut payload = Tag::of(token, 0, sequence, time).to_bytes().to_vec();
        payload.resize(40, 0);
        payload
    }

    const TOKEN: u32 = 0xdead_0007;

    /// Counts of packets with a payload of 40 bytes.
    fn arrivals() -> Arrivals {
        let sequences = fixture::job_of("[[stream]]\nname = \"0\"\nsizes = \"86\"\n").sequences();
        Arrivals::new(&ReceiverOptions {
            token: TOKEN,
            sequences,
            verify: true,
            per_flow: false,
            pktgen: false,
            gaps: false,
            compare: true,
        })
    }

    #[test]
    fn a_payload_that_is_not_as_sent_is_corrupt_and_no_arrival() {
        let mut arrivals = arrivals();
        let mut changed = tagged(1, TOKEN, 0);
        changed[39] ^= 4;
        let (short, stranger) = (&tagged(4, TOKEN, 0)[..SHORT], &tagged(5, TOKEN ^ 1, 0)[..]);
        for payload in
            [short, stranger, &tagged(0, TOKEN, 0)[..], &changed, &tagged(2, TOKEN, 0)[..30], &tagged(3, TOKEN, 0)]
        {
            arrivals.take(payload, Nanos(1));
        }
        let stream = &arrivals.received().numbered[0];
        assert_eq!(
            (stream.frames, stream.corrupt, stream.compared),
            (3, 1, 4),
            "a shorter one is the beginning of the longest"
        );
    }

    #[test]
    fn packets_of_this_trial_are_counted_by_number_and_others_apart() {
        let mut arrivals = arrivals();
        for (sequence, now) in [(0, 1_000_100), (1, 1_000_200), (3, 1_000_300), (3, 1_000_400), (2, 1_000_500)] {
            arrivals.take(&tagged(sequence, TOKEN, 1_000_000), Nanos(now));
        }
        // Half of the token is not enough, whichever half it is.
        arrivals.take(&tagged(4, TOKEN ^ 1, 0), Nanos(1_000_600));
        arrivals.take(&tagged(4, TOKEN ^ 1 << 16, 0), Nanos(1_000_600));
        arrivals.take(b"stranger", Nanos(1_000_700));
        let received = arrivals.received();
        let stream = &received.numbered[0];
        assert_eq!((stream.frames, stream.duplicated, stream.reordered, stream.corrupt), (4, 1, 1, 0));
        assert_eq!((stream.bytes, received.others), (4 * (14 + 20 + 8 + 40), 3));
        assert_eq!(received.span, Some((Nanos(1_000_100), Nanos(1_000_500))));
        assert_eq!((stream.latency.least, stream.latency.longest, stream.latency.sum), (100, 500, 1500));
    }

    #[test]
    fn times_are_told_apart_to_a_thousandth() {
        assert_eq!([0, 1, 2047, 2048, 2049, 4099].map(rounded), [0, 1, 2047, 2048, 2048, 4096]);
        assert!((1..64).map(|bit| (1_u64 << bit) + 12_345).all(|time| (time - rounded(time)) * 1024 <= time));
    }
}
