//! The side that sends datagrams.

use std::{
    io,
    net::{SocketAddr, UdpSocket},
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use kernel::{
    clock,
    datagram::{self, LARGEST, MOST_SEGMENTS, Outgoing},
    socket::wait_until_writable,
};
use model::{
    Batch, BitRate, GoodputSent, IpVersion, Nanos, PayloadSize, Protocol,
    frame_size::Headers,
    trial::{DatagramsSent, Pacing},
};
use stats::TimeHistogram;

use super::{
    Flow, granted,
    label::Label,
    schedule::{Schedule, burst},
};
use crate::{
    ProbeError,
    datagrams::Datagrams,
    error::socket_error,
    goodput::{
        DRAIN_IN_ALL,
        setting::Setting,
        threads::send_with,
        timeline::{Counted, sum},
    },
    socket::{STOP_CHECK, is_nothing_yet, is_refused},
};

/// Datagrams given in one call, each by itself in the kernel.
const MESSAGES: usize = 64;

/// A burst that is further away than this is slept for, but not to the end: waking up takes its time.
const SPIN: u64 = 100_000;

/// Layout of a call's datagrams.
#[derive(Clone, Copy)]
struct Shape {
    /// Payload of each datagram.
    size: usize,
    /// Datagrams in each message.
    segments: usize,
    /// Most datagrams in a call.
    most: usize,
}

/// Counts of one thread.
#[derive(Default)]
struct SentCounts {
    buffer_full: u64,
    gaps: TimeHistogram,
    behind: TimeHistogram,
}

/// One flow, as its thread sees it.
struct Stream<'a> {
    number: usize,
    socket: &'a Datagrams,
    counter: &'a AtomicU64,
    label: Label,
    /// Number of the next datagram.
    next: u64,
    /// When its last burst was sent.
    before: Option<Nanos>,
}

/// Sends for warm-up and counted time, then waits until all of it has arrived or is lost.
pub(in crate::goodput) fn send(flow: &Flow, setting: Setting<'_>) -> Result<GoodputSent, ProbeError> {
    let (spec, peer) = (setting.spec, flow.peer);
    let shape = Shape::new(spec.batch, flow.size);
    if shape.segments > 1 {
        flow.sockets.iter().try_for_each(|socket| cut_into(socket.socket(), flow.size))?;
    }
    let counters: Vec<AtomicU64> = flow.sockets.iter().map(|_| AtomicU64::new(0)).collect();
    let schedule = spec.rate.map(|rate| paced(rate, spec.streams, shape));
    let give = |share: &[usize], enough: &AtomicBool| {
        let streams = share.iter().map(|number| Stream::new(*number, flow, &counters[*number], shape));
        let mut giver = DatagramSender::new(streams.collect(), shape, enough, peer);
        match &schedule {
            Some((schedule, burst)) => giver.give_paced(schedule.clone(), *burst)?,
            None => giver.give_all()?,
        }
        Ok(giver.given)
    };
    let (counted, (), given) = send_with(setting, &counters, give, |_| Ok(()), || Ok(()))?;
    let sent: Vec<u64> = counters.iter().map(|counter| counter.load(Relaxed) / flow.size as u64).collect();
    flow.tell(&sent)?;
    // A receiver whose core others keep busy is late by seconds. Its connection ends with it.
    flow.hear(DRAIN_IN_ALL, setting.control)?;
    let Counted { bytes, seconds, .. } = counted;
    Ok(GoodputSent {
        counted_bytes: bytes,
        total_bytes: sum(&counters),
        counted_s: Some(seconds),
        tcp: Vec::new(),
        datagrams: Some(DatagramsSent {
            payload_size: PayloadSize(flow.size as u32),
            sent: sent.iter().sum(),
            through_kernel: flow.through_kernel(),
            zero_copy: flow.is_zero_copy(),
            intended_bps: spec.rate.map(|rate| rate.0 as f64),
            pacing: schedule.map(|(schedule, _)| pacing(&schedule, &given)),
        }),
        zero_copied: None,
        buffer_full: given.iter().map(|given| given.buffer_full).sum(),
        buffer: Some(granted(&flow.sockets, |socket| socket.send_buffer_size(), peer)?),
    })
}

fn cut_into(socket: &UdpSocket, size: usize) -> Result<(), ProbeError> {
    datagram::cut_into(socket, size as u16).map_err(|error| no_segmentation(&error.to_string()))
}

fn no_segmentation(error: &str) -> ProbeError {
    ProbeError::Unable {
        what: "batch = \"gso\"".to_owned(),
        why: format!(
            "{error}; it needs Linux 4.18 and a device that computes checksums, write batch = \"mmsg\" instead"
        ),
    }
}

/// Why the kernel did not take datagrams.
fn refused(socket: &UdpSocket, error: io::Error, shape: Shape, peer: SocketAddr) -> ProbeError {
    // A device without checksum offload refuses segmentation (EIO).
    const NO_CHECKSUMS: i32 = 5;
    // The kernel refuses segments larger than the path MTU: EINVAL, newer ones EMSGSIZE.
    const TOO_LARGE: [i32; 2] = [22, 90];
    match error.raw_os_error() {
        Some(NO_CHECKSUMS) if shape.segments > 1 => no_segmentation(&error.to_string()),
        Some(error_number) if shape.segments > 1 && TOO_LARGE.contains(&error_number) => {
            too_large(socket, shape.size as u32, peer).unwrap_or_else(|| socket_error("send to", peer)(error))
        }
        _ => socket_error("send to", peer)(error),
    }
}

/// That the path takes less than when the sender began to fill it; `None` where it takes these datagrams.
fn too_large(socket: &UdpSocket, size: u32, peer: SocketAddr) -> Option<ProbeError> {
    let headers = Headers { ip: IpVersion::of(peer.ip()), protocol: Protocol::Udp, tcp_timestamps: false };
    let mtu = datagram::path_mtu(socket, headers.ip).ok()?.0;
    (size + headers.bytes() > mtu).then(|| ProbeError::Unable {
        what: format!("batch = \"gso\" with datagrams of {size} bytes to {peer}"),
        why: format!(
            "the path MTU is {mtu} now, smaller than the interface's, and segmentation makes no packet larger than it; ask \
             for --datagram {} or less, or batch = \"mmsg\"; \"wireproof path\" finds what makes the path narrow",
            mtu.saturating_sub(headers.bytes())
        ),
    })
}

/// The schedule, and the datagrams of each burst.
fn paced(rate: BitRate, streams: u16, shape: Shape) -> (Schedule, usize) {
    let burst = burst(rate, streams, shape.size, shape.most);
    (Schedule::new(clock::now(), rate, streams, burst * shape.size), burst)
}

fn pacing(schedule: &Schedule, given: &[SentCounts]) -> Pacing {
    let (mut gaps, mut behind) = (TimeHistogram::new(), TimeHistogram::new());
    for given in given {
        gaps.merge(&given.gaps);
        behind.merge(&given.behind);
    }
    Pacing { intended_gap_ns: schedule.gap_ns(), gap_ns: gaps.summary(), behind_ns: behind.summary() }
}

impl Shape {
    fn new(batch: Batch, size: usize) -> Self {
        match batch {
            Batch::Mmsg => Self { size, segments: 1, most: MESSAGES },
            Batch::Gso => {
                let segments = (LARGEST / size).clamp(1, MOST_SEGMENTS);
                // Small datagrams fill a large one only by number: several of those then.
                let messages = (LARGEST / (segments * size)).clamp(1, MESSAGES);
                Self { size, segments, most: segments * messages }
            }
        }
    }

    /// The datagrams in the first so many messages of a call.
    fn datagrams_in(self, messages: usize, burst: usize) -> usize {
        (messages * self.segments).min(burst)
    }
}

impl<'a> Stream<'a> {
    fn new(number: usize, flow: &'a Flow, counter: &'a AtomicU64, shape: Shape) -> Self {
        let label = Label::new(flow.token, number as u16, shape.size);
        Self { number, socket: &flow.sockets[number], counter, label, next: 0, before: None }
    }
}

/// Gives datagrams to the flows of one thread, all from the same memory.
struct DatagramSender<'a> {
    streams: Vec<Stream<'a>>,
    shape: Shape,
    outgoing: Outgoing,
    enough: &'a AtomicBool,
    peer: SocketAddr,
    given: SentCounts,
}

impl<'a> DatagramSender<'a> {
    fn new(streams: Vec<Stream<'a>>, shape: Shape, enough: &'a AtomicBool, peer: SocketAddr) -> Self {
        let mut outgoing = Outgoing::new(shape.most / shape.segments, shape.segments * shape.size);
        for index in 0..outgoing.len() {
            for datagram in outgoing.message(index).chunks_exact_mut(shape.size) {
                // The pattern is the same in each flow.
                streams[0].label.write_pattern(datagram);
            }
        }
        Self { streams, shape, outgoing, enough, peer, given: SentCounts::default() }
    }

    /// As much as goes, to all flows in turn.
    fn give_all(&mut self) -> Result<(), ProbeError> {
        while !self.enough.load(Relaxed) {
            let mut taken = false;
            for index in 0..self.streams.len() {
                taken |= self.burst(index, self.shape.most)? > 0;
            }
            if !taken {
                self.wait_for_room()?;
            }
        }
        Ok(())
    }

    /// A burst to each flow when it is due.
    fn give_paced(&mut self, mut schedule: Schedule, burst: usize) -> Result<(), ProbeError> {
        for turn in 0.. {
            for index in 0..self.streams.len() {
                let due = schedule.due(turn, self.streams[index].number);
                let Some(now) = self.wait_until(due) else { return Ok(()) };
                self.given.behind.record(schedule.sent(due, now));
                if let Some(before) = self.streams[index].before.replace(now) {
                    self.given.gaps.record(now.0 - before.0);
                }
                let mut left = burst;
                while left > 0 && !self.enough.load(Relaxed) {
                    match self.burst(index, left)? {
                        0 => self.wait_for_room()?,
                        taken => left -= taken,
                    }
                }
            }
        }
        Ok(())
    }

    /// Sends up to so many datagrams to one flow, and returns how many the kernel took.
    fn burst(&mut self, index: usize, burst: usize) -> Result<usize, ProbeError> {
        let Self { shape, outgoing, .. } = self;
        let (stream, messages) = (&mut self.streams[index], burst.div_ceil(shape.segments));
        for message in 0..messages {
            let first = message * shape.segments;
            let here = shape.segments.min(burst - first);
            let datagrams = outgoing.message(message).chunks_exact_mut(shape.size).take(here);
            for (number, datagram) in (stream.next + first as u64..).zip(datagrams) {
                stream.label.write(number, datagram);
            }
            outgoing.cut(message, here * shape.size);
        }
        let taken = loop {
            match stream.socket.send_batch(outgoing, messages) {
                Ok(messages) => break shape.datagrams_in(messages, burst),
                Err(error) if is_nothing_yet(&error) => break 0,
                // It is about an earlier datagram, and is said once.
                Err(error) if is_refused(&error) => {}
                Err(error) => return Err(refused(stream.socket.socket(), error, *shape, self.peer)),
            }
        };
        stream.next += taken as u64;
        stream.counter.store(stream.next * shape.size as u64, Relaxed);
        Ok(taken)
    }

    fn wait_for_room(&mut self) -> Result<(), ProbeError> {
        self.given.buffer_full += 1;
        wait_until_writable(self.streams.iter().map(|stream| stream.socket), STOP_CHECK)?;
        Ok(())
    }

    /// Waits until a burst is due, and returns the time then; `None` if it is enough before that.
    fn wait_until(&self, due: Nanos) -> Option<Nanos> {
        let piece = Duration::as_nanos(&STOP_CHECK) as u64;
        while !self.enough.load(Relaxed) {
            let now = clock::now();
            if now >= due {
                return Some(now);
            }
            if due.0 - now.0 > SPIN {
                clock::sleep_until(Nanos((due.0 - SPIN).min(now.0 + piece)));
            } else {
                std::hint::spin_loop();
            }
        }
        None
    }
}
