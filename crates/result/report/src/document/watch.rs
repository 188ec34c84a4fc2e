//! Live rates as JSON, one document a line.

use model::Nanos;
use rates::{Key, Link, Moving, Peak, QueueRates, Watch, Way, WayRates};
use schemars::JsonSchema;
use serde::Serialize;

/// What `watch --json` prints for each reading, on a line of its own.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WatchDocument {
    /// Name and version of this shape.
    pub schema: WatchSchemaName,
    /// Time of day of the reading (RFC 3339).
    pub time: String,
    /// Since the first reading, by a clock that is never set.
    pub elapsed_s: f64,
    /// Each interface, those that are gone too.
    pub interfaces: Vec<WatchedEntry>,
}

/// Name and version of the shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub enum WatchSchemaName {
    /// The first version.
    #[serde(rename = "wireproof-watch/1")]
    V1,
}

/// One interface.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WatchedEntry {
    /// Its network namespace; null for the program's own.
    pub namespace: Option<String>,
    /// Its name.
    pub interface: String,
    /// Its kind as iproute2 has it, like veth; empty for a plain card.
    pub kind: String,
    /// Whether it was there at this reading. If not, all else is as it was last seen.
    pub present: bool,
    /// Whether it is set up.
    pub up: bool,
    /// Operational state (RFC 2863).
    pub operstate: String,
    /// Its MTU in bytes.
    pub mtu: u32,
    /// Speed of its line; null where it has none or where that is not known.
    pub line_bps: Option<u64>,
    /// For how long its counters are known: what totals and means are over.
    pub known_s: f64,
    /// Since the reading before; null where that is not known: at first, when it is gone, when its counters were reset.
    pub now: Option<WaysEntry<RatesEntry>>,
    /// Over the known time; null while there is none.
    pub mean: Option<WaysEntry<RatesEntry>>,
    /// The highest rates of one interval, each for itself.
    pub peak: WaysEntry<PeakEntry>,
    /// What passed in the known time.
    pub total: WaysEntry<TotalEntry>,
    /// Each queue that the driver tells of.
    pub queues: Vec<QueueEntry>,
    /// What XDP programs did, over all queues; only what has moved.
    pub xdp: Vec<MovingEntry>,
    /// The driver's other counters that have moved, by its names.
    pub driver: Vec<MovingEntry>,
}

/// Both ways.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WaysEntry<T> {
    /// Received.
    pub rx: T,
    /// Sent.
    pub tx: T,
}

/// Rates of one way.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RatesEntry {
    /// bit/s of frames, without FCS.
    pub bps: f64,
    /// packets/s.
    pub pps: f64,
    /// Packets dropped in a second.
    pub dropped_per_s: f64,
    /// Bad packets in a second.
    pub errors_per_s: f64,
    /// Percent of the line, with FCS, preamble and gaps (layer 1); null where the line is not known.
    pub line_percent: Option<f64>,
}

/// The highest rates of one way.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PeakEntry {
    /// bit/s.
    pub bps: f64,
    /// packets/s.
    pub pps: f64,
    /// Percent of the line; null where that is not known.
    pub line_percent: Option<f64>,
}

/// What passed one way.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TotalEntry {
    /// Bytes of frames, without FCS.
    pub bytes: u64,
    /// Packets.
    pub packets: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Bad packets.
    pub errors: u64,
}

/// One queue.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct QueueEntry {
    /// Its number.
    pub queue: u32,
    /// What it received.
    pub rx: QueueWayEntry,
    /// What it sent.
    pub tx: QueueWayEntry,
}

/// One way of a queue; null is what the driver does not tell.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct QueueWayEntry {
    /// bit/s.
    pub bps: Option<f64>,
    /// packets/s.
    pub pps: Option<f64>,
    /// Packets dropped since it is watched.
    pub dropped: Option<u64>,
}

/// A counter that has moved.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MovingEntry {
    /// Its name.
    pub name: String,
    /// By how much it grew in a second.
    pub per_s: f64,
    /// By how much since it is watched.
    pub total: u64,
}

impl WatchDocument {
    /// The document of a reading that was taken at this time of day.
    pub fn of(watch: &Watch, time: String) -> Self {
        let interfaces = watch.links().map(|(key, link)| WatchedEntry::of(key, link)).collect();
        Self { schema: WatchSchemaName::V1, time, elapsed_s: seconds(watch.elapsed()), interfaces }
    }
}

impl WatchedEntry {
    fn of(key: &Key, link: &Link) -> Self {
        let (state, driver) = (link.state(), link.driver());
        Self {
            namespace: Some(key.namespace.clone()).filter(|name| !name.is_empty()),
            interface: key.name.clone(),
            kind: state.kind.clone(),
            present: !link.is_gone(),
            up: state.up,
            operstate: state.operstate.clone(),
            mtu: state.mtu,
            line_bps: state.line_bps,
            known_s: seconds(link.known()),
            now: link.now().map(both),
            mean: link.mean().map(|ways| both(&ways)),
            peak: both(link.peaks()),
            total: both(link.totals()),
            queues: driver.queues().iter().map(QueueEntry::from).collect(),
            xdp: driver.xdp().into_iter().map(MovingEntry::from).collect(),
            driver: driver.others().into_iter().map(MovingEntry::from).collect(),
        }
    }
}

fn both<'a, A, B: From<&'a A>>([received, sent]: &'a [A; 2]) -> WaysEntry<B> {
    WaysEntry { rx: received.into(), tx: sent.into() }
}

/// To the microsecond: what is finer says nothing.
fn seconds(time: Nanos) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e6
}

/// To a thousandth, which is finer than any counter.
fn fine(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

impl From<&WayRates> for RatesEntry {
    fn from(rates: &WayRates) -> Self {
        Self {
            bps: fine(rates.bps),
            pps: fine(rates.pps),
            dropped_per_s: fine(rates.dropped),
            errors_per_s: fine(rates.errors),
            line_percent: rates.line_percent.map(fine),
        }
    }
}

impl From<&Peak> for PeakEntry {
    fn from(peak: &Peak) -> Self {
        Self { bps: fine(peak.bps), pps: fine(peak.pps), line_percent: peak.line_percent.map(fine) }
    }
}

impl From<&Way> for TotalEntry {
    fn from(way: &Way) -> Self {
        Self { bytes: way.bytes, packets: way.packets, dropped: way.dropped, errors: way.errors }
    }
}

impl From<&QueueRates> for QueueEntry {
    fn from(queue: &QueueRates) -> Self {
        let way = |way: usize| QueueWayEntry {
            bps: queue.bps[way].map(fine),
            pps: queue.pps[way].map(fine),
            dropped: queue.dropped[way],
        };
        Self { queue: queue.queue, rx: way(0), tx: way(1) }
    }
}

impl From<Moving> for MovingEntry {
    fn from(moving: Moving) -> Self {
        Self { name: moving.name, per_s: fine(moving.per_second), total: moving.total }
    }
}

/// The JSON Schema of [`WatchDocument`].
pub fn watch_schema() -> serde_json::Value {
    schemars::schema_for!(WatchDocument).to_value()
}
