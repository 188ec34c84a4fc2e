//! Packets through UDP sockets, sent and received without privilege.

use std::{
    net::{SocketAddr, UdpSocket},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
};

use frame::tag::{SHORT, Tag, WHOLE};
use kernel::{
    clock, cpu,
    datagram::{Incoming, Outgoing},
};
use model::{
    Engine, FrameSize, Mtu, Nanos, PacketsReceived, PacketsSent, PacketsSpec, PayloadSize, Protocol, Seat,
    frame_size::{ETHERNET_HEADER, FCS, Headers},
    stream::{self, Rate, Stream},
    trial::{Pacing, ReceivedOn},
};
use socket2::Type;
use stats::TimeHistogram;

use super::{account::Account, receiving::Counts};
use crate::{
    Control, ProbeError,
    error::socket_error,
    goodput::tracker::{Tracker, WINDOW},
    socket::{STOP_CHECK, bound, is_nothing_yet, is_refused},
};

/// Packets in a call at the most.
const BATCH: usize = 64;
/// What is due within this time is not slept for.
const SPIN: u64 = 100_000;
/// No buffer space available (errno(3)).
const ENOBUFS: i32 = 105;
/// How often a sender looks whether it should stop, in calls.
const LOOK: u64 = 64;
/// What a receive buffer is asked to hold.
const BUFFER: usize = 16 << 20;

/// Sizes of a stream's frames in turn, each large enough for the number.
pub(super) fn sizes(stream: &Stream, mtu: Mtu) -> Vec<FrameSize> {
    let largest = FrameSize(mtu.0 + ETHERNET_HEADER + FCS);
    let least = headers(stream).frame_with(PayloadSize(SHORT as u32));
    stream.sizes.cycle(largest).into_iter().map(|size| size.max(least)).collect()
}

fn headers(stream: &Stream) -> Headers {
    Headers { ip: stream.ip, protocol: Protocol::Udp, tcp_timestamps: false }
}

/// Sends a stream of one flow from one socket.
pub(super) struct Sender {
    socket: UdpSocket,
    local: SocketAddr,
    stream: Stream,
    duration: Nanos,
    /// The engine that was asked for.
    asked: Option<Engine>,
    seat: Seat,
}

impl Sender {
    pub(super) fn prepare(spec: &PacketsSpec, seat: &Seat) -> Result<Self, ProbeError> {
        let unable = |why: &str| {
            let why = format!("{why}; choose another engine (--engine), as root");
            Err(ProbeError::Unable { what: "engine udp".to_owned(), why })
        };
        let [stream] = spec.streams.as_slice() else { return unable("one socket is one stream") };
        // The kernel writes the headers, and so one flow.
        let Stream { name, sizes, load, ip, .. } = stream.clone();
        if (Stream { name, sizes, load, ip, ..Stream::default() }) != *stream {
            return unable("sockets have their headers from the kernel, and one socket is one flow");
        }
        if !matches!(stream.load.rate, Rate::FlatOut | Rate::Packets(_) | Rate::L1(_) | Rate::L2(_))
            || stream.load.pacing != stream::Pacing::Constant
        {
            return unable("sockets send flat out, or at a constant rate in pps or bit/s");
        }
        let local = SocketAddr::new(seat.local, 0);
        let socket: UdpSocket = bound(local, Type::DGRAM)?.into();
        Ok(Self {
            socket,
            local,
            stream: stream.clone(),
            duration: spec.duration,
            asked: spec.engine,
            seat: seat.clone(),
        })
    }

    pub(super) fn send(
        self,
        to: SocketAddr,
        account: &Account,
        control: &Control,
    ) -> Result<Vec<PacketsSent>, ProbeError> {
        self.socket.connect(to).map_err(socket_error("connect to", to))?;
        let (part, counted) = (self.part(), Arc::new(AtomicU64::new(0)));
        account.sends(vec![part.clone()], &counted);
        Ok(vec![self.send_one(part, &counted, account, control)?])
    }

    /// What is known of the stream before it is sent.
    fn part(&self) -> PacketsSent {
        let sizes = sizes(&self.stream, self.seat.mtu);
        let mean = sizes.iter().map(|size| f64::from(size.0)).sum::<f64>() / sizes.len().max(1) as f64;
        let why = if self.asked.is_some() { "asked for" } else { "the others need root" };
        PacketsSent {
            stream: self.stream.name.clone(),
            engine: Engine::Udp,
            engine_why: why.to_owned(),
            frame_size: FrameSize(mean.round() as u32),
            flows: 1,
            frames: 0,
            bytes: 0,
            seconds: 0.0,
            intended_pps: self.stream.load.rate.per_second(mean, None).ok().flatten(),
            refused: 0,
            pacing: None,
            cpus: self.seat.cpus.first().copied().into_iter().collect(),
        }
    }

    fn send_one(
        &self,
        mut sent: PacketsSent,
        counted: &AtomicU64,
        account: &Account,
        control: &Control,
    ) -> Result<PacketsSent, ProbeError> {
        let sizes = sizes(&self.stream, self.seat.mtu);
        let overhead = (ETHERNET_HEADER + headers(&self.stream).bytes() + FCS) as usize;
        let largest = sizes.iter().map(|size| size.0 as usize).max().unwrap_or_default() - overhead;
        let mut outgoing = Outgoing::new(BATCH, largest);
        let (mut gaps, mut behind) = (TimeHistogram::new(), TimeHistogram::new());
        let began = clock::now();
        let end = began.0 + self.duration.0;
        let (mut number, mut calls, mut last) = (0_u64, 0_u64, began);
        let due = |number: u64| sent.intended_pps.map_or(began.0, |pps| began.0 + (number as f64 * 1e9 / pps) as u64);
        loop {
            calls += 1;
            if calls % LOOK == 0 {
                account.passed(control);
                if control.stopped() {
                    return Err(ProbeError::Cancelled);
                }
            }
            let now = clock::now();
            if now.0 >= end || due(number) >= end {
                break;
            }
            let mut batch = 0;
            while batch < BATCH && due(number + batch as u64) <= now.0 {
                let size = sizes[((number + batch as u64) % sizes.len() as u64) as usize];
                let payload = size.0 as usize - overhead;
                let tag = Tag {
                    stream: 0,
                    sequence: number + batch as u64,
                    token: self.seat.token as u16,
                    time: if payload >= WHOLE { now.0 } else { 0 },
                };
                let length = payload.min(WHOLE);
                outgoing.message(batch)[..length].copy_from_slice(&tag.to_bytes()[..length]);
                outgoing.cut(batch, payload);
                batch += 1;
            }
            if batch == 0 {
                wait_until(due(number), now.0);
                continue;
            }
            let taken = match outgoing.send(&self.socket, 0..batch) {
                Ok(taken) => taken,
                Err(error) if is_nothing_yet(&error) || is_refused(&error) => 0,
                // The queue behind the socket is full.
                Err(error) if error.raw_os_error() == Some(ENOBUFS) => 0,
                Err(error) => return Err(socket_error("send from", self.local)(error)),
            };
            if sent.intended_pps.is_some() {
                behind.record(now.0.saturating_sub(due(number)));
                if number > 0 {
                    gaps.record(now.0 - last.0);
                }
            }
            for index in 0..taken as u64 {
                sent.bytes += u64::from(sizes[((number + index) % sizes.len() as u64) as usize].0);
            }
            number += taken as u64;
            counted.store(number, Relaxed);
            last = now;
        }
        sent.frames = number;
        // Where a rate was asked for, its time is that of the schedule: the last packet leaves one gap before its end.
        let passed = (clock::now().0 - began.0) as f64 / 1e9;
        sent.seconds = if sent.intended_pps.is_some() { passed.max(self.duration.as_secs_f64()) } else { passed };
        sent.pacing = sent.intended_pps.map(|pps| Pacing {
            intended_gap_ns: 1e9 / pps,
            gap_ns: gaps.summary(),
            behind_ns: behind.summary(),
        });
        Ok(sent)
    }
}

fn wait_until(due: u64, now: u64) {
    if due > now + SPIN {
        clock::sleep_until(Nanos(due - SPIN));
    } else {
        std::hint::spin_loop();
    }
}

/// A thread that receives.
pub(super) struct Receiver {
    port: u16,
    stop: Arc<AtomicBool>,
    seen: Arc<Mutex<Seen>>,
    thread: Option<JoinHandle<()>>,
}

/// What came.
struct Seen {
    tracker: Tracker,
    bytes: u64,
    first: u64,
    last: u64,
    latency: TimeHistogram,
}

impl Receiver {
    pub(super) fn attach(spec: &PacketsSpec, seat: &Seat) -> Result<Self, ProbeError> {
        let local = SocketAddr::new(seat.local, 0);
        let socket = bound(local, Type::DGRAM)?;
        socket.set_recv_buffer_size(BUFFER).map_err(socket_error("set SO_RCVBUF for", local))?;
        let socket: UdpSocket = socket.into();
        socket.set_read_timeout(Some(STOP_CHECK)).map_err(socket_error("set SO_RCVTIMEO for", local))?;
        let port = socket.local_addr().map_err(socket_error("ask the port of", local))?.port();
        let seen = Seen { tracker: Tracker::new(), bytes: 0, first: 0, last: 0, latency: TimeHistogram::new() };
        let (seen, stop) = (Arc::new(Mutex::new(seen)), Arc::new(AtomicBool::new(false)));
        let overhead = (ETHERNET_HEADER + headers(&spec.streams[0]).bytes() + FCS) as u64;
        let core = if spec.sends_forward() && spec.sends_back() { seat.cpus.get(1) } else { seat.cpus.first() };
        let (shared, stopped, core) = (Arc::clone(&seen), Arc::clone(&stop), core.copied());
        let (token, same_clock, mtu) = (seat.token as u16, seat.same_clock, seat.mtu);
        let thread = thread::spawn(move || {
            core.map(cpu::pin_current_thread);
            let mut incoming = Incoming::new(BATCH, mtu.0 as usize);
            while !stopped.load(Relaxed) {
                let Ok(count) = incoming.receive(&socket, true) else { continue };
                let now = clock::now();
                let mut seen = shared.lock().unwrap_or_else(PoisonError::into_inner);
                for index in 0..count {
                    let bytes = incoming.message(index).bytes;
                    if let Some(tag) =
                        Tag::read(bytes, bytes.len()).filter(|tag| bytes.len() < WHOLE || tag.token == token)
                    {
                        seen.take(tag, bytes.len() as u64 + overhead, now, same_clock);
                    }
                }
            }
        });
        Ok(Self { port, stop, seen, thread: Some(thread) })
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }
}

impl Seen {
    fn take(&mut self, tag: Tag, size: u64, now: Nanos, same_clock: bool) {
        let before = self.tracker.received;
        self.tracker.take(tag.sequence);
        self.bytes += if self.tracker.received > before { size } else { 0 };
        if self.first == 0 {
            self.first = now.0;
        }
        self.last = now.0;
        if same_clock && tag.time > 0 {
            const MASK: u64 = (1 << 48) - 1;
            self.latency.record((now.0 & MASK).wrapping_sub(tag.time) & MASK);
        }
    }
}

impl Counts for Receiver {
    fn read(&mut self) -> Result<Vec<PacketsReceived>, ProbeError> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(vec![PacketsReceived {
            frames: seen.tracker.received,
            bytes: seen.bytes,
            seconds: (seen.last - seen.first) as f64 / 1e9,
            duplicated: seen.tracker.duplicated,
            reordered: seen.tracker.reordered,
            window: WINDOW,
            corrupt: seen.tracker.damaged,
            late: 0,
            latency_ns: (!seen.latency.is_empty()).then(|| seen.latency.summary()),
            inter_arrival_ns: None,
            cpus: Vec::<ReceivedOn>::new(),
        }])
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            // It ends within the time that a receive call waits.
            let _ = thread.join();
        }
    }
}
