//! The sending half of a side.

use std::{
    net::SocketAddr,
    sync::{Arc, atomic::AtomicU64},
};

use model::{Engine, FrameSize, Mtu, PacketsSent, PacketsSpec, Seat, stream::Stream};

use super::{account::Account, sockets};
use crate::{Control, ProbeError};

/// Frames that are ready to be sent.
pub(super) struct Sending {
    sender: sockets::Sender,
    streams: Vec<PacketsSent>,
}

impl Sending {
    pub(super) fn prepare(spec: &PacketsSpec, seat: &Seat) -> Result<Self, ProbeError> {
        let sender = sockets::Sender::prepare(spec, seat)?;
        let streams = spec.streams.iter().map(|stream| part(stream, seat)).collect();
        Ok(Self { sender, streams })
    }

    /// Sends for the time asked for.
    pub(super) fn send(
        self,
        to: SocketAddr,
        account: &Account,
        control: &Control,
    ) -> Result<Vec<PacketsSent>, ProbeError> {
        let frames: Vec<Arc<AtomicU64>> = self.streams.iter().map(|_| Arc::default()).collect();
        account.sends(self.streams.clone(), frames.clone());
        self.sender.send(to, self.streams, &frames, account, control)
    }
}

/// What is known of a stream before it is sent.
fn part(stream: &Stream, seat: &Seat) -> PacketsSent {
    let mean = mean_size(stream, seat.mtu);
    PacketsSent {
        stream: stream.name.clone(),
        engine: Engine::Udp,
        engine_why: "needs no privilege".to_owned(),
        frame_size: FrameSize(mean.round() as u32),
        flows: stream.flow_count().unwrap_or(1),
        frames: 0,
        bytes: 0,
        seconds: 0.0,
        intended_pps: stream.load.rate.per_second(mean, None).ok().flatten(),
        refused: 0,
        pacing: None,
        cpus: seat.cpus.first().copied().into_iter().collect(),
    }
}

/// Of all its frames, with FCS.
pub(super) fn mean_size(stream: &Stream, mtu: Mtu) -> f64 {
    let sizes = sockets::sizes(stream, mtu);
    sizes.iter().map(|size| f64::from(size.0)).sum::<f64>() / sizes.len().max(1) as f64
}
