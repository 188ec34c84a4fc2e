//! Round trips between two spinning ends, each on a core of its own.

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use stats::TimeHistogram;

use crate::wire::Wire;

/// Round trips that are not counted.
const WARM_UP: u64 = 20_000;
/// Longer than any round trip; a datagram that takes longer is lost.
const PATIENCE: Duration = Duration::from_millis(100);

/// One end of the path.
pub(crate) trait End: Send {
    /// Sends a datagram with this payload.
    fn send(&mut self, payload: &[u8]);
    /// Length of the payload of a received datagram; returns at once, also without one.
    fn receive(&mut self, payload: &mut [u8]) -> Option<usize>;
}

/// Makes `count` round trips with each end in its namespace. The payload is at least 8 bytes long and holds its number.
pub(crate) fn round_trips(
    wire: &Wire,
    mut near: impl End,
    mut far: impl End,
    payload: usize,
    count: u64,
) -> TimeHistogram {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            wire.at_b(|| {
                kernel::cpu::pin_current_thread(1).unwrap();
                echo(&mut far, &over);
            })
        });
        wire.at_a(|| {
            kernel::cpu::pin_current_thread(0).unwrap();
            let times = ask(&mut near, payload, count);
            over.store(true, Relaxed);
            times
        })
    })
}

fn echo(end: &mut impl End, over: &AtomicBool) {
    let mut buffer = [0; 2048];
    while !over.load(Relaxed) {
        if let Some(length) = end.receive(&mut buffer) {
            end.send(&buffer[..length]);
        }
    }
}

fn ask(end: &mut impl End, payload: usize, count: u64) -> TimeHistogram {
    let mut times = TimeHistogram::new();
    let (mut out, mut back) = (vec![7; payload], [0; 2048]);
    for number in 0..WARM_UP + count {
        out[..8].copy_from_slice(&number.to_ne_bytes());
        let begun = Instant::now();
        end.send(&out);
        let took = loop {
            let came = end.receive(&mut back).is_some_and(|length| length == payload && back[..8] == out[..8]);
            match begun.elapsed() {
                took if came => break Some(took),
                took if took > PATIENCE => break None,
                _ => {}
            }
        };
        match took {
            _ if number < WARM_UP => {}
            Some(took) => times.record(took.as_nanos() as u64),
            None => times.record_missing(),
        }
    }
    times
}
