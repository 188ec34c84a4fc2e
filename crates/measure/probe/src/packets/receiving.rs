//! The receiving half of a side: in the driver of the port (XDP), or, without privilege, by a socket.

use std::{
    ops::Range,
    sync::{Arc, Mutex, PoisonError, Weak},
    thread,
    time::{Duration, Instant},
};

use engine::{Attached, Counter, Place, Received, ReceivedStream, ReceiverOptions, Times};
use kernel::privilege;
use model::{
    Engine, PacketsReceived, PacketsSpec, Privilege, SideSetup, Stream, TimeSummary,
    frame_size::FCS,
    stream::Rate,
    trial::{Numbers, ReceivedOn},
};
use stats::TimeHistogram;

use super::{
    LATEST, engine_error,
    replay::{self, Recognised},
    streams::{compiled, is_plain, nowhere},
};
use crate::ProbeError;

/// An attached receiver.
pub(super) struct Receiving {
    port: u16,
    counts: Arc<Mutex<Counting>>,
}

/// A counter of packets by number.
pub(super) struct Counting {
    counter: Shared,
    /// The sequences of the sender that this side is for.
    own: Range<usize>,
    /// Replays, which are known by their bytes, and their places among the streams.
    recognised: Option<(Recognised, Vec<usize>)>,
    /// Cores that each stream is sent from: a numbered sequence each.
    cores: usize,
    same_clock: bool,
}

/// Interval of checks whether packets still come.
const GLANCE: Duration = Duration::from_millis(20);

/// Way of counting packets: by a socket where UDP sockets send, or where this user may do nothing else.
pub(super) fn place(spec: &PacketsSpec, setup: &SideSetup) -> Place {
    // Where this side sends too, its first core does that.
    let core = setup.cpus.get(usize::from(spec.sends_forward() && spec.sends_back())).copied();
    match spec.engine {
        Some(Engine::Udp) => Place::Socket(core),
        Some(_) => Place::Driver,
        None if privilege::current() != Privilege::Root => Place::Socket(core),
        None if spec.streams.iter().all(is_plain) => Place::Any(core),
        None => Place::Driver,
    }
}

impl Receiving {
    /// Attaches a receiver: from now on it counts.
    pub(super) fn attach(spec: &PacketsSpec, setup: &SideSetup) -> Result<Self, ProbeError> {
        let (cores, senders) = (setup.peer_cpus.max(1), setup.senders.max(1));
        let streams = compiled(&numbered(spec), &nowhere(setup))?;
        let of_one: Vec<_> = streams.into_iter().flat_map(|stream| std::iter::repeat_n(stream, cores)).collect();
        let first = setup.sender * of_one.len();
        let own = first..first + of_one.len();
        let sequences = std::iter::repeat_n(of_one, senders).flatten().collect();
        let pktgen = spec.engine == Some(Engine::Pktgen);
        let what = ReceiverOptions {
            token: setup.token,
            sequences,
            verify: true,
            per_flow: false,
            pktgen,
            gaps: is_paced(spec),
            compare: !pktgen,
        };
        let (counter, port) = shared(setup, &what, place(spec, setup))?;
        let recognised = replays(spec, setup)?;
        let counting = Counting { counter, own, recognised, cores, same_clock: setup.same_clock };
        Ok(Self { port, counts: Arc::new(Mutex::new(counting)) })
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

    /// Counts after a time without any arrival, or after the latest that packets are waited for.
    pub(super) fn end(self, quiet: Duration) -> Result<Vec<PacketsReceived>, ProbeError> {
        let (mut counted, began) = (self.frames(), Instant::now());
        let mut last_came = began;
        while last_came.elapsed() < quiet && began.elapsed() < LATEST {
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
    /// Counts of each stream so far.
    pub(super) fn read(&self) -> Result<Vec<PacketsReceived>, ProbeError> {
        let received = self.counter.lock().unwrap_or_else(PoisonError::into_inner).read().map_err(engine_error)?;
        let own = received.numbered[self.own.clone()].chunks(self.cores);
        let mut streams: Vec<_> = own.map(|cores| together(cores, &received, self.same_clock)).collect();
        if let Some((recognised, places)) = &self.recognised {
            places.iter().zip(recognised.read()?).for_each(|(place, seen)| streams[*place] = seen);
        }
        Ok(streams)
    }
}

/// A counter for the sides of several senders.
type Shared = Arc<Mutex<Box<dyn Counter>>>;

/// A counter in a driver for one trial of this process.
struct InDriver {
    interface: String,
    token: u32,
    counter: Weak<Mutex<Box<dyn Counter>>>,
}

static IN_DRIVERS: Mutex<Vec<InDriver>> = Mutex::new(Vec::new());

/// The counter, and the port of its socket. A driver has one place for a program, so that the first side attaches it for all senders of the
/// trial; sockets are each side's own.
fn shared(setup: &SideSetup, what: &ReceiverOptions, place: Place) -> Result<(Shared, u16), ProbeError> {
    let mut all = IN_DRIVERS.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|known| known.counter.strong_count() > 0);
    let is_same = |known: &&InDriver| (&known.interface, known.token) == (&setup.interface, setup.token);
    if let Some(counter) = all.iter().find(is_same).and_then(|known| known.counter.upgrade()) {
        return Ok((counter, 0));
    }
    let attached = engine::attach(&setup.interface, setup.local, what, place);
    let Attached { counter, port } = attached.map_err(engine_error)?;
    let counter = Arc::new(Mutex::new(counter));
    if port.is_none() {
        let (interface, token) = (setup.interface.clone(), setup.token);
        all.push(InDriver { interface, token, counter: Arc::downgrade(&counter) });
    }
    Ok((counter, port.unwrap_or_default()))
}

/// The same streams, with a stream that nobody sends at the place of each replay: its frames carry no number.
fn numbered(spec: &PacketsSpec) -> PacketsSpec {
    let silent = Stream { ip: spec.ip(), ..Stream::default() };
    let stream = |stream: &Stream| if stream.replay.is_some() { silent.clone() } else { stream.clone() };
    PacketsSpec { streams: spec.streams.iter().map(stream).collect(), ..spec.clone() }
}

fn replays(spec: &PacketsSpec, setup: &SideSetup) -> Result<Option<(Recognised, Vec<usize>)>, ProbeError> {
    let named =
        spec.streams.iter().enumerate().filter_map(|(place, stream)| Some((place, (stream, stream.replay.as_ref()?))));
    let (places, files): (Vec<_>, Vec<_>) = named.unzip();
    let read = |(stream, file): (&Stream, &String)| replay::read(stream, file, setup.mtu);
    let captures: Vec<_> = files.into_iter().map(read).collect::<Result<_, _>>()?;
    Ok(if captures.is_empty() { None } else { Some((Recognised::attach(&captures, setup)?, places)) })
}

/// A stream that was sent from several cores, a numbered sequence each.
fn together(cores: &[ReceivedStream], received: &Received, same_clock: bool) -> PacketsReceived {
    let sum = |count: fn(&ReceivedStream) -> u64| cores.iter().map(count).sum::<u64>();
    let frames = sum(|core| core.frames);
    PacketsReceived {
        frames,
        bytes: sum(|core| core.bytes) + frames * u64::from(FCS),
        seconds: received.span.map(|(first, last)| (last.0 - first.0) as f64 / 1e9),
        duplicated: sum(|core| core.duplicated),
        reordered: sum(|core| core.reordered),
        window: received.window,
        corrupt: sum(|core| core.corrupt),
        compared: Some(sum(|core| core.compared)),
        late: sum(|core| core.late),
        numbers: numbers(cores),
        latency_ns: latency(cores, same_clock),
        inter_arrival_ns: inter_arrival(cores),
        cpus: received_on(cores),
    }
}

/// Numbers of a stream whose sending cores take turns.
fn numbers(cores: &[ReceivedStream]) -> Option<Numbers> {
    let after_gap = cores.iter().map(|core| core.after_gap).collect::<Option<Vec<_>>>()?;
    let last = after_gap.into_iter().max()?;
    Some(Numbers { next: cores.iter().map(|core| core.expected).sum(), after_gap: last * cores.len() as u64 })
}

/// The times that frames took; `None` where clocks differ, or no frame carried a time.
pub(super) fn latency(cores: &[ReceivedStream], same_clock: bool) -> Option<TimeSummary> {
    same_clock
        .then(|| times(cores.iter().map(|core| &core.latency)))
        .filter(|times| !times.is_empty())
        .map(|times| times.summary())
}

fn times<'a>(times: impl Iterator<Item = &'a Times>) -> TimeHistogram {
    let mut all = TimeHistogram::new();
    for (nanos, count) in times.flat_map(|times| &times.counts) {
        all.record_many(*nanos, *count);
    }
    all
}

/// The times between frames; `None` where they were not taken, and where several cores sent: then nobody knows whose frame came
/// before whose.
fn inter_arrival(cores: &[ReceivedStream]) -> Option<TimeSummary> {
    let [core] = cores else { return None };
    let gaps = Some(times(std::iter::once(&core.gaps))).filter(|gaps| !gaps.is_empty())?;
    // The longest one is known exactly.
    Some(TimeSummary { max: Some(core.gaps.longest), ..gaps.summary() })
}

/// Whether any stream has a rate. Flat out, the clock would be what limits it.
fn is_paced(spec: &PacketsSpec) -> bool {
    spec.streams.iter().any(|stream| stream.load.rate != Rate::FlatOut)
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
        let core = |expected, after_gap| ReceivedStream { expected, after_gap, ..ReceivedStream::default() };
        let known = numbers(&[core(10, Some(7)), core(11, Some(0))]);
        assert_eq!(known, Some(Numbers { next: 21, after_gap: 14 }));
        assert_eq!(numbers(&[core(10, Some(7)), core(11, None)]), None);
    }
}
