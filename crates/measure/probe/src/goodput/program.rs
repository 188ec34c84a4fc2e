//! Bulk data to or from a program of the far host, which counts nothing. One stream has one program.

use std::{
    net::{SocketAddr, TcpStream},
    panic::resume_unwind,
    slice,
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    thread,
    time::Duration,
};

use model::{GoodputReceived, GoodputSent, GoodputSide, GoodputSpec, SideFigures, SideSetup};

use super::{Untold, both, setting::Setting, stopping, tcp, threads::count};
use crate::{Control, Prepared, ProbeError, Window, far_address, greeting::peer_of};

/// Interval of looks at what was acknowledged: a whole second is counted to a thousandth.
const LOOK: Duration = Duration::from_millis(1);

/// A prepared near side: its streams are connected.
pub(super) struct BesideProgram {
    spec: GoodputSpec,
    cpus: Vec<usize>,
    streams: Vec<TcpStream>,
}

impl BesideProgram {
    pub(super) fn prepare(spec: &GoodputSpec, setup: &SideSetup) -> Result<Self, ProbeError> {
        let streams = tcp::connect_to_programs(spec, setup, far_address(setup)?)?;
        Ok(Self { spec: spec.clone(), cpus: setup.cpus.clone(), streams })
    }
}

impl Prepared for BesideProgram {
    fn address(&self) -> Option<SocketAddr> {
        None
    }

    fn run(self: Box<Self>, control: &Control, window: &dyn Window) -> Result<SideFigures, ProbeError> {
        let setting = Setting { spec: &self.spec, cpus: &self.cpus, control, window };
        let (sent, received) = match self.spec.sends_forward() {
            true => send(&self.streams, setting)?,
            false => receive(self.streams, setting)?,
        };
        Ok(SideFigures::Goodput(Box::new(GoodputSide { sent: Some(sent), received: Some(received) })))
    }
}

/// Sends, and counts second by second what the far kernel acknowledged. The program closes each stream behind its last byte, by which it has
/// read all of it.
fn send(streams: &[TcpStream], setting: Setting<'_>) -> Result<(GoodputSent, GoodputReceived), ProbeError> {
    let peer = peer_of(&streams[0])?;
    let (counters, is_over) = (zeros(streams), AtomicBool::new(false));
    let untold = Setting { window: &Untold, ..setting };
    let (sent, counted) = thread::scope(|scope| {
        let looking = scope.spawn(|| stopping(setting, follow_acknowledged(streams, &counters, &is_over)));
        let counting = scope.spawn(|| stopping(setting, count(setting, &counters, peer)));
        let sent = stopping(untold, tcp::send(streams, untold));
        let counted = counting.join().unwrap_or_else(|panic| resume_unwind(panic));
        is_over.store(true, Relaxed);
        let looked = looking.join().unwrap_or_else(|panic| resume_unwind(panic));
        (sent, both(looked, counted).map(|((), counted)| counted))
    });
    let (sent, counted) = both(sent, counted)?;
    let received = GoodputReceived { total_bytes: sent.total_bytes, ..counted.received(&counters, false) };
    Ok((sent, received))
}

/// Receives. What the program counted as sent is not known: no less than what came.
fn receive(streams: Vec<TcpStream>, setting: Setting<'_>) -> Result<(GoodputSent, GoodputReceived), ProbeError> {
    let received = tcp::receive_endless(streams, setting)?;
    let sent = GoodputSent { total_bytes: received.total_bytes, ..GoodputSent::default() };
    Ok((sent, received))
}

fn zeros(streams: &[TcpStream]) -> Vec<AtomicU64> {
    streams.iter().map(|_| AtomicU64::new(0)).collect()
}

/// Keeps the counters at what was acknowledged since now: the kernel counts the handshake as a byte.
fn follow_acknowledged(streams: &[TcpStream], counters: &[AtomicU64], is_over: &AtomicBool) -> Result<(), ProbeError> {
    let of_stream = |stream| tcp::acknowledged(slice::from_ref(stream));
    let before = streams.iter().map(of_stream).collect::<Result<Vec<_>, _>>()?;
    while !is_over.load(Relaxed) {
        for ((stream, counter), before) in streams.iter().zip(counters).zip(&before) {
            counter.store(of_stream(stream)?.saturating_sub(*before), Relaxed);
        }
        thread::sleep(LOOK);
    }
    Ok(())
}
