//! The receiving half of a side: in the driver of the port (XDP), or, without privilege, by a socket.

use std::{
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use engine::{Attached, Counter, Place, Receive, Received, ReceivedStream};
use kernel::privilege;
use model::{Engine, PacketsReceived, PacketsSpec, Privilege, Seat, frame_size::FCS, trial::ReceivedOn};
use stats::TimeHistogram;

use super::{engine_error, sending};
use crate::ProbeError;

/// An attached receiver.
pub(super) struct Receiving {
    port: u16,
    counts: Arc<Mutex<Counting>>,
}

/// What counts packets by number.
pub(super) struct Counting {
    counter: Box<dyn Counter>,
    /// Cores that each stream is sent from: a numbered sequence each.
    cores: usize,
    same_clock: bool,
}

/// How often it looks whether packets still come.
const GLANCE: Duration = Duration::from_millis(20);

/// Where packets are counted: by a socket where UDP sockets send, or where this user may do nothing else.
pub(super) fn place(spec: &PacketsSpec, seat: &Seat) -> Place {
    // Where this side sends too, its first core does that.
    let core = seat.cpus.get(usize::from(spec.sends_forward() && spec.sends_back())).copied();
    match spec.engine {
        Some(Engine::Udp) => Place::Socket(core),
        Some(_) => Place::Driver,
        None if privilege::current() != Privilege::Root => Place::Socket(core),
        None if spec.streams.iter().all(sending::is_plain) => Place::Any(core),
        None => Place::Driver,
    }
}

impl Receiving {
    /// Attaches a receiver: from now on it counts.
    pub(super) fn attach(spec: &PacketsSpec, seat: &Seat) -> Result<Self, ProbeError> {
        let cores = seat.peer_cpus.max(1);
        let streams = sending::compiled(spec, &sending::nowhere(seat))?;
        let sequences = streams.into_iter().flat_map(|stream| std::iter::repeat_n(stream, cores)).collect();
        let pktgen = spec.engine == Some(Engine::Pktgen);
        let what = Receive { token: seat.token as u16, sequences, verify: true, per_flow: false, pktgen };
        let attached = engine::attach(&seat.interface, seat.local, &what, place(spec, seat));
        let Attached { counter, port } = attached.map_err(engine_error)?;
        let counting = Counting { counter, cores, same_clock: seat.same_clock };
        Ok(Self { port: port.unwrap_or_default(), counts: Arc::new(Mutex::new(counting)) })
    }

    /// The UDP port that it counts at; 0 in the driver, which counts at all of them.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn counts(&self) -> Arc<Mutex<Counting>> {
        Arc::clone(&self.counts)
    }

    /// Frames so far, of all streams, copies among them.
    pub(super) fn frames(&self) -> u64 {
        let read = self.read().unwrap_or_default();
        read.iter().map(|stream| stream.frames + stream.duplicated).sum()
    }

    fn read(&self) -> Result<Vec<PacketsReceived>, ProbeError> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).read()
    }

    /// What there is when nothing came for this long.
    pub(super) fn end(self, quiet: Duration) -> Result<Vec<PacketsReceived>, ProbeError> {
        let (mut counted, mut last_came) = (self.frames(), Instant::now());
        while last_came.elapsed() < quiet {
            thread::sleep(GLANCE);
            let frames = self.frames();
            if frames != counted {
                (counted, last_came) = (frames, Instant::now());
            }
        }
        self.read()
    }
}

impl Counting {
    /// What each stream has so far.
    pub(super) fn read(&self) -> Result<Vec<PacketsReceived>, ProbeError> {
        let received = self.counter.read().map_err(engine_error)?;
        let streams = received.numbered.chunks(self.cores);
        Ok(streams.map(|cores| together(cores, &received, self.same_clock)).collect())
    }
}

/// A stream that was sent from several cores, a numbered sequence each.
fn together(cores: &[ReceivedStream], received: &Received, same_clock: bool) -> PacketsReceived {
    let sum = |count: fn(&ReceivedStream) -> u64| cores.iter().map(count).sum::<u64>();
    let frames = sum(|core| core.frames);
    PacketsReceived {
        frames,
        bytes: sum(|core| core.bytes) + frames * u64::from(FCS),
        seconds: received.span.map_or(0.0, |(first, last)| (last.0 - first.0) as f64 / 1e9),
        duplicated: sum(|core| core.duplicated),
        reordered: sum(|core| core.reordered),
        window: received.window,
        corrupt: sum(|core| core.corrupt),
        late: sum(|core| core.late),
        latency_ns: same_clock.then(|| times(cores)).filter(|times| !times.is_empty()).map(|times| times.summary()),
        inter_arrival_ns: None,
        cpus: received_on(cores),
    }
}

fn times(cores: &[ReceivedStream]) -> TimeHistogram {
    let mut all = TimeHistogram::new();
    for (nanos, count) in cores.iter().flat_map(|core| &core.latency.counts) {
        all.record_many(*nanos, *count);
    }
    all
}

fn received_on(cores: &[ReceivedStream]) -> Vec<ReceivedOn> {
    let mut all: Vec<ReceivedOn> = Vec::new();
    for &(cpu, frames) in cores.iter().flat_map(|core| &core.cpus) {
        match all.iter_mut().find(|on| on.cpu == cpu) {
            Some(on) => on.frames += frames,
            None => all.push(ReceivedOn { cpu, frames }),
        }
    }
    all.sort_by_key(|on| on.cpu);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_of_several_cores_are_one_stream() {
        let core = |frames, cpus: &[(usize, u64)]| ReceivedStream {
            frames,
            bytes: 60 * frames,
            reordered: 1,
            cpus: cpus.to_vec(),
            ..ReceivedStream::default()
        };
        let cores = [core(10, &[(1, 10)]), core(20, &[(0, 5), (1, 15)])];
        let both = together(&cores, &Received::default(), false);
        assert_eq!((both.frames, both.bytes, both.reordered, both.latency_ns), (30, 30 * 64, 2, None));
        assert_eq!(both.cpus, [ReceivedOn { cpu: 0, frames: 5 }, ReceivedOn { cpu: 1, frames: 25 }]);
    }
}
