//! The receiving half of a side: in the driver of the port (XDP), or, without privilege, by a socket.

use std::{
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use engine::{Receive, ReceivedStream, Receiver, WINDOW};
use frame::{Compiled, Place};
use model::{
    PacketsReceived, PacketsSpec, Seat,
    frame_size::FCS,
    stream::{DESTINATION_PORT, Mac, Stream},
    trial::ReceivedOn,
};
use stats::TimeHistogram;

use super::{engine_error, sending, sockets};
use crate::ProbeError;

/// Counts packets by number.
pub(super) trait Counts: Send {
    /// What each stream has so far.
    fn read(&mut self) -> Result<Vec<PacketsReceived>, ProbeError>;
}

/// An attached receiver.
pub(super) struct Receiving {
    port: u16,
    counts: Arc<Mutex<dyn Counts>>,
}

/// How often it looks whether packets still come.
const GLANCE: Duration = Duration::from_millis(20);

impl Receiving {
    /// Attaches a receiver: from now on it counts.
    pub(super) fn attach(spec: &PacketsSpec, seat: &Seat) -> Result<Self, ProbeError> {
        if sending::by_sockets(spec) {
            let receiver = sockets::Receiver::attach(spec, seat)?;
            return Ok(Self { port: receiver.port(), counts: Arc::new(Mutex::new(receiver)) });
        }
        let receiver = InDriver::attach(spec, seat)?;
        Ok(Self { port: DESTINATION_PORT, counts: Arc::new(Mutex::new(receiver)) })
    }

    /// The UDP port that it counts at; in the driver it counts at all of them.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn counts(&self) -> Arc<Mutex<dyn Counts>> {
        Arc::clone(&self.counts) as _
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

/// Counts in the driver.
struct InDriver {
    receiver: Receiver,
    /// Cores that each stream is sent from: a numbered sequence each.
    cores: usize,
    same_clock: bool,
}

impl InDriver {
    fn attach(spec: &PacketsSpec, seat: &Seat) -> Result<Self, ProbeError> {
        let cores = seat.peer_cpus.max(1);
        let streams = spec.streams.iter().map(|stream| seen(stream, seat)).collect::<Result<Vec<_>, _>>()?;
        let sequences = streams.into_iter().flat_map(|stream| std::iter::repeat_n(stream, cores)).collect();
        let what = Receive { token: seat.token as u16, sequences, verify: true, per_flow: false };
        let receiver = Receiver::attach(&seat.interface, &what).map_err(engine_error)?;
        Ok(Self { receiver, cores, same_clock: seat.same_clock })
    }
}

/// The stream as a receiver has to know it: where in its frames to look. Whose addresses they have does not matter to that.
fn seen(stream: &Stream, seat: &Seat) -> Result<Compiled, ProbeError> {
    let anybody = Mac([2, 0, 0, 0, 0, 1]);
    let place = Place {
        source_mac: anybody,
        next_hop_mac: anybody,
        source: seat.local,
        destination: seat.local,
        mtu: seat.mtu,
    };
    Compiled::new(stream, &place).map_err(sending::not_to_be_sent)
}

impl Counts for InDriver {
    fn read(&mut self) -> Result<Vec<PacketsReceived>, ProbeError> {
        let received = self.receiver.read().map_err(engine_error)?;
        Ok(received.numbered.chunks(self.cores).map(|cores| together(cores, self.same_clock)).collect())
    }
}

/// A stream that was sent from several cores, a numbered sequence each.
fn together(cores: &[ReceivedStream], same_clock: bool) -> PacketsReceived {
    let sum = |count: fn(&ReceivedStream) -> u64| cores.iter().map(count).sum::<u64>();
    let frames = sum(|core| core.frames);
    PacketsReceived {
        frames,
        bytes: sum(|core| core.bytes) + frames * u64::from(FCS),
        seconds: 0.0,
        duplicated: sum(|core| core.duplicated),
        reordered: sum(|core| core.reordered),
        window: WINDOW,
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
        let both = together(&[core(10, &[(1, 10)]), core(20, &[(0, 5), (1, 15)])], false);
        assert_eq!((both.frames, both.bytes, both.reordered, both.latency_ns), (30, 30 * 64, 2, None));
        assert_eq!(both.cpus, [ReceivedOn { cpu: 0, frames: 5 }, ReceivedOn { cpu: 1, frames: 25 }]);
    }
}
