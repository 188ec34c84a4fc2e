//! Streams as sent and expected: compiled, with the engines that can send them.

use std::sync::Arc;

use frame::{Compiled, Place};
use model::{
    PacketsSpec, SideSetup,
    stream::{Mac, Stream},
};

use super::{replay, unable};
use crate::ProbeError;

/// Whether sockets could send it, whose headers the kernel writes.
pub(super) fn is_plain(stream: &Stream) -> bool {
    let Stream { name, sizes, ip, flows, payload, load, .. } = stream.clone();
    stream.flow_count() == Ok(1) && Stream { name, sizes, ip, flows, payload, load, ..Stream::default() } == *stream
}

/// A place with the setup's own addresses only: enough to find the fields of a frame, and the possible engines.
pub(super) fn nowhere(setup: &SideSetup) -> Place {
    let anybody = Mac([2, 0, 0, 0, 0, 1]);
    Place { source_mac: anybody, next_hop_mac: anybody, source: setup.local, destination: setup.local, mtu: setup.mtu }
}

pub(super) fn compiled(spec: &PacketsSpec, place: &Place) -> Result<Vec<Compiled>, ProbeError> {
    let compiled = |stream: &Stream| match &stream.replay {
        Some(file) => Ok(Compiled::of_replay(&stream.name, Arc::new(replay::read(stream, file, place.mtu)?))),
        None => Compiled::new(stream, place).map_err(|error| unable("packets", &error.to_string())),
    };
    spec.streams.iter().map(compiled).collect()
}
