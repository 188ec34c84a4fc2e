//! The side that takes the data and counts it.

use std::{
    io::{self, Read},
    net::TcpStream,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    thread,
    time::Instant,
};

use kernel::socket::wait_until_readable;
use model::{GoodputReceived, ReceiveWay};

use super::{CHUNK, granted};
use crate::{
    Control, ProbeError,
    error::socket_error,
    goodput::{
        NAP, NAP_BUFFER, QUIET,
        hello::peer_of,
        threads::receive_with,
        timeline::{Counted, sum},
        transfer::Setting,
    },
    socket::{STOP_CHECK, is_nothing_yet},
};

/// Takes all streams to their end and counts.
pub(in crate::goodput) fn receive(
    streams: Vec<TcpStream>,
    setting: Setting<'_>,
) -> Result<GoodputReceived, ProbeError> {
    let peer = peer_of(&streams[0])?;
    let buffer = granted(setting.spec, &streams[0], |socket| socket.recv_buffer_size())
        .map_err(socket_error("ask SO_RCVBUF for", peer))?;
    let counters: Vec<AtomicU64> = streams.iter().map(|_| AtomicU64::new(0)).collect();
    let taking = |stream, number: usize| {
        let naps = setting.spec.window.is_none_or(|window| window >= NAP_BUFFER);
        take(stream, setting.spec.receive, naps, &counters[number], setting.control)
            .map_err(socket_error("receive from", peer))
    };
    let (counted, ended_early, _) = receive_with(setting, streams, &counters, peer, taking, || Ok(false))?;
    let Counted { bytes, seconds, intervals_bps, warmup } = counted;
    Ok(GoodputReceived {
        counted_bytes: bytes,
        total_bytes: sum(&counters),
        counted_s: seconds,
        intervals_bps,
        warmup_s: warmup,
        ended_early,
        datagrams: None,
        buffer,
    })
}

/// Reads one stream to its end, and closes it.
fn take(mut stream: TcpStream, way: ReceiveWay, naps: bool, counter: &AtomicU64, control: &Control) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    // Without naps it sleeps in the call, which looks up often by itself.
    stream.set_nonblocking(naps)?;
    let mut quiet_since = None;
    while !control.stopped() {
        let taken = match way {
            ReceiveWay::Read => stream.read(&mut chunk),
            ReceiveWay::Truncate => kernel::stream::discard(&stream, &mut chunk),
        };
        match taken {
            Ok(0) => return Ok(()),
            Ok(length) => {
                counter.fetch_add(length as u64, Relaxed);
                quiet_since = None;
                if naps && length < CHUNK {
                    thread::sleep(NAP);
                }
            }
            Err(error) if is_nothing_yet(&error) && !naps => {}
            Err(error) if is_nothing_yet(&error) => {
                if quiet_since.get_or_insert_with(Instant::now).elapsed() < QUIET {
                    thread::sleep(NAP);
                } else {
                    wait_until_readable(&stream, STOP_CHECK).map_err(io::Error::other)?;
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
