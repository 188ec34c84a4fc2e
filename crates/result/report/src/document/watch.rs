//! Live rates as JSON, one document a line.

use model::Nanos;
use rates::{DirectionCounts, DirectionRates, Key, Link, Moving, Peak, QueueRates, Watch};
use schemars::JsonSchema;
use serde::Serialize;

use crate::shape::{document, schema};

document! {
    /// JSON of each reading of `watch --json`, on a line of its own.
    WatchDocument of (watch: &Watch, time: String) {
        /// Name and version of this shape.
        schema: WatchSchemaName = WatchSchemaName::V1,
        /// Time of day of the reading (RFC 3339).
        time: String = time,
        /// Since the first reading, by a clock that is never set.
        elapsed_s: f64 = seconds(watch.elapsed()),
        /// Each interface, those that are gone too.
        interfaces: Vec<WatchedEntry> = watch.links().map(|(key, link)| WatchedEntry::of(key, link)).collect(),
    }
}

schema!("wireproof-watch/1": WatchSchemaName, watch_schema of WatchDocument);

document! {
    /// One interface.
    WatchedEntry of (key: &Key, link: &Link);
    let (state, driver) = (link.state(), link.driver());
    {
        /// Its network namespace; null for the program's own.
        namespace: Option<String> = Some(key.namespace.clone()).filter(|name| !name.is_empty()),
        /// Its name.
        interface: String = key.name.clone(),
        /// Its kind as iproute2 has it, like veth; empty for a plain card.
        kind: String = state.kind.clone(),
        /// Whether it was there at this reading. If not, all else is as it was last seen.
        present: bool = !link.is_gone(),
        /// Whether it is set up.
        up: bool = state.up,
        /// Operational state (RFC 2863).
        operstate: String = state.operstate.clone(),
        /// Its MTU in bytes.
        mtu: u32 = state.mtu,
        /// Speed of its line; null where it has none or where that is not known.
        line_bps: Option<u64> = state.line_bps,
        /// For how long its counters are known: what totals and means are over.
        known_s: f64 = seconds(link.known()),
        /// Since the reading before; null where that is not known: at first, when it is gone, when its counters were reset.
        now: Option<WaysEntry<RatesEntry>> = link.now().map(|ways| WaysEntry::of(ways, RatesEntry::of)),
        /// Over the known time; null while there is none.
        mean: Option<WaysEntry<RatesEntry>> = link.mean().map(|ways| WaysEntry::of(&ways, RatesEntry::of)),
        /// The highest rates of one interval, each for itself.
        peak: WaysEntry<PeakEntry> = WaysEntry::of(link.peaks(), PeakEntry::of),
        /// Traffic in the known time.
        total: WaysEntry<TotalEntry> = WaysEntry::of(link.totals(), TotalEntry::of),
        /// Each queue that the driver tells of.
        queues: Vec<QueueEntry> = driver.queues().iter().map(QueueEntry::of).collect(),
        /// Actions of XDP programs over all queues; only those that changed.
        xdp: Vec<MovingEntry> = driver.xdp().into_iter().map(MovingEntry::of).collect(),
        /// The driver's other counters that have moved, by its names.
        driver: Vec<MovingEntry> = driver.others().into_iter().map(MovingEntry::of).collect(),
    }
}

/// Both ways.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WaysEntry<T> {
    /// Received.
    pub rx: T,
    /// Sent.
    pub tx: T,
}

document! {
    /// Rates of one way.
    RatesEntry of (rates: &DirectionRates) {
        /// bit/s of frames, without FCS.
        bps: f64 = fine(rates.bps),
        /// packets/s.
        pps: f64 = fine(rates.pps),
        /// Packets dropped in a second.
        dropped_per_s: f64 = fine(rates.dropped),
        /// Bad packets in a second.
        errors_per_s: f64 = fine(rates.errors),
        /// Percent of the line, with FCS, preamble and gaps (layer 1); null where the line is not known.
        line_percent: Option<f64> = rates.line_percent.map(fine),
    }
}

document! {
    /// The highest rates of one way.
    PeakEntry of (peak: &Peak) {
        /// bit/s.
        bps: f64 = fine(peak.bps),
        /// packets/s.
        pps: f64 = fine(peak.pps),
        /// Percent of the line; null where that is not known.
        line_percent: Option<f64> = peak.line_percent.map(fine),
    }
}

document! {
    /// Traffic one way.
    TotalEntry of (way: &DirectionCounts) {
        /// Bytes of frames, without FCS.
        bytes: u64 = way.bytes,
        /// Packets.
        packets: u64 = way.packets,
        /// Packets dropped.
        dropped: u64 = way.dropped,
        /// Bad packets.
        errors: u64 = way.errors,
    }
}

document! {
    /// One queue.
    QueueEntry of (queue: &QueueRates) {
        /// Its number.
        queue: u32 = queue.queue,
        /// Received traffic.
        rx: QueueWayEntry = QueueWayEntry::of(queue, 0),
        /// Sent traffic.
        tx: QueueWayEntry = QueueWayEntry::of(queue, 1),
    }
}

document! {
    /// One direction of a queue; null if the driver does not tell.
    QueueWayEntry of (queue: &QueueRates, way: usize) {
        /// bit/s.
        bps: Option<f64> = queue.bps[way].map(fine),
        /// packets/s.
        pps: Option<f64> = queue.pps[way].map(fine),
        /// Packets dropped since it is watched.
        dropped: Option<u64> = queue.dropped[way],
    }
}

document! {
    /// A counter that has moved.
    MovingEntry of (moving: Moving) {
        /// Its name.
        name: String = moving.name,
        /// By how much it grew in a second.
        per_s: f64 = fine(moving.per_second),
        /// By how much since it is watched.
        total: u64 = moving.total,
    }
}

impl<T> WaysEntry<T> {
    fn of<A>([received, sent]: &[A; 2], entry: impl Fn(&A) -> T) -> Self {
        Self { rx: entry(received), tx: entry(sent) }
    }
}

/// Rounded to the microsecond; the rest is noise.
fn seconds(time: Nanos) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e6
}

/// To a thousandth, which is finer than any counter.
fn fine(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}
