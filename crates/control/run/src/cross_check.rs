//! Comparison of a program's counts with its interface's. Pure.

use model::{
    Doubt, EndCounters, Source,
    frame_size::{ETHERNET_HEADER, Headers},
};

/// By how much the two may differ: some cards count the FCS (4 bytes of a frame) and some do not, and TCP options come
/// and go.
pub(crate) const SHARE: f64 = 0.02;

/// Packets that neither side of the comparison has to explain: connections begin and end, neighbours ask for each other.
pub(crate) const STRAY_PACKETS: f64 = 100.0;

/// Packets that the interface counted one way, and the bytes behind their headers.
///
/// However many segments the kernel or the card made one packet of, it is counted with its headers once. An acknowledgement
/// is nothing but headers, so those of data that goes the other way do no harm.
pub(crate) fn passed(counters: &EndCounters, way: &str, headers: Headers) -> Option<(u64, u64)> {
    counters.deltas.iter().find(|delta| delta.source == Source::Link)?;
    let packets = counters.sum(Source::Link, &format!("{way}_packets"));
    let bytes = counters.sum(Source::Link, &format!("{way}_bytes"));
    Some((packets, bytes.saturating_sub(packets * u64::from(ETHERNET_HEADER + headers.bytes()))))
}

/// An endpoint with the counts of its program and of its interface.
pub(crate) fn packets_disagree((endpoint, program, interface): (String, u64, u64)) -> Doubt {
    Doubt::PacketsDisagree { endpoint, program, interface }
}

#[cfg(test)]
pub(crate) mod fixture {
    use model::{Delta, EndCounters, Source};

    /// Counts of an interface one way.
    pub(crate) fn counted(way: &str, packets: u64, bytes: u64) -> EndCounters {
        let delta =
            |name: &str, delta| Delta { source: Source::Link, of: "eth0".into(), name: format!("{way}_{name}"), delta };
        EndCounters { deltas: vec![delta("packets", packets), delta("bytes", bytes)], ..EndCounters::default() }
    }
}
