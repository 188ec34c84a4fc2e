//! The side that takes the data and counts it.

use std::{
    io::{self, Read},
    net::TcpStream,
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use kernel::socket::set_receive_low_water;
use model::{Bytes, GoodputReceived, ReceiveMethod};

use super::granted;
use crate::{
    ProbeError,
    error::socket_error,
    goodput::{setting::Setting, threads::receive_with},
    greeting::peer_of,
    socket::is_nothing_yet,
};

/// Bytes of one receive call at most. Fits a core's second-level cache together with the kernel's copy.
const CHUNK: usize = 256 * 1024;

/// A receive call sleeps until so many bytes are there. Woken by each packet, it would cost the sender's core time; asleep by the
/// clock instead, it would hold back acknowledgements, by which BBR sets its rate.
const BATCH: u32 = 128 * 1024;

/// A window below this has no batches: too little of it would be left for the sender.
const BATCH_WINDOW: Bytes = Bytes(4 << 20);

/// A slow stream is read this often, so that its seconds are counted to half a percent.
const PATIENCE: Duration = Duration::from_millis(5);

/// Takes all streams to their end and counts.
pub(in crate::goodput) fn receive(
    streams: Vec<TcpStream>,
    setting: Setting<'_>,
) -> Result<GoodputReceived, ProbeError> {
    receive_until(streams, setting, || false)
}

/// The same from senders that go on until their connection breaks: it breaks behind the counted time.
pub(in crate::goodput) fn receive_endless(
    streams: Vec<TcpStream>,
    setting: Setting<'_>,
) -> Result<GoodputReceived, ProbeError> {
    receive_until(streams, setting, || true)
}

/// `breaks_off` tells, behind the counted time, whether the streams are left before their end.
fn receive_until(
    streams: Vec<TcpStream>,
    setting: Setting<'_>,
    breaks_off: impl Fn() -> bool,
) -> Result<GoodputReceived, ProbeError> {
    let is_over = AtomicBool::new(false);
    let peer = peer_of(&streams[0])?;
    let buffer = granted(setting.spec, &streams[0], |socket| socket.recv_buffer_size())
        .map_err(socket_error("ask SO_RCVBUF for", peer))?;
    let counters: Vec<AtomicU64> = streams.iter().map(|_| AtomicU64::new(0)).collect();
    let taking = |stream: TcpStream, number: usize| {
        if setting.spec.window.is_none_or(|window| window >= BATCH_WINDOW) {
            set_receive_low_water(&stream, BATCH)?;
            stream.set_read_timeout(Some(PATIENCE)).map_err(socket_error("set SO_RCVTIMEO for", peer))?;
        }
        take(stream, setting.spec.receive, &counters[number], || setting.control.stopped() || is_over.load(Relaxed))
            .map_err(socket_error("receive from", peer))
    };
    let (counted, ended_early, _) = receive_with(setting, streams, &counters, peer, taking, || {
        is_over.store(breaks_off(), Relaxed);
        Ok(false)
    })?;
    Ok(GoodputReceived { buffer, ..counted.received(&counters, ended_early) })
}

/// Reads one stream to its end, or until it is over, and closes it.
fn take(mut stream: TcpStream, way: ReceiveMethod, counter: &AtomicU64, is_over: impl Fn() -> bool) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    while !is_over() {
        let taken = match way {
            ReceiveMethod::Read => stream.read(&mut chunk),
            ReceiveMethod::Truncate => kernel::stream::discard(&stream, &mut chunk),
        };
        match taken {
            Ok(0) => return Ok(()),
            Ok(length) => drop(counter.fetch_add(length as u64, Relaxed)),
            Err(error) if is_nothing_yet(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
