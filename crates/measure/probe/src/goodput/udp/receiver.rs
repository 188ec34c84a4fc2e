//! The side that takes datagrams and counts them.

use std::{
    net::{SocketAddr, UdpSocket},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use engine::tracker::{Tracker, WINDOW};
use kernel::datagram::{self, Incoming, Message};
use model::{Batch, Bytes, GoodputReceived, SoFar, trial::DatagramsReceived};

use super::{
    Flow, granted,
    label::{self, Datagram, Label},
};
use crate::{
    Control, ProbeError,
    control::InterimSource,
    datagrams::Datagrams,
    error::socket_error,
    goodput::{DRAIN, setting::Setting, threads::receive_with},
    socket::{is_nothing_yet, is_refused},
};

/// Datagrams taken in one call.
const MESSAGES: usize = 64;

/// Large datagrams taken in one call: few, because their memory shall stay in the core's cache.
const LARGE_MESSAGES: usize = 4;

/// Size of a large datagram that the kernel put together.
const LARGE: usize = 65_536;

/// Datagrams missing for this long after all others count as lost.
const LOST: Duration = Duration::from_millis(200);

/// Copies of the last datagrams may come this long after all else.
const COPIES: Duration = Duration::from_millis(10);

/// A receiver that has emptied its socket sleeps this long, and then takes all that came meanwhile. Asleep in the call, it would be
/// woken by each packet, at the cost of the sender's core.
const NAP: Duration = Duration::from_micros(50);

/// The smallest buffer for naps: a smaller one fills before the receiver wakes.
const NAP_BUFFER: Bytes = Bytes(4 << 20);

/// After this long without a datagram it sleeps in the call.
const QUIET: Duration = Duration::from_millis(10);

/// The receiver does not know yet how many were sent.
const UNKNOWN: u64 = u64::MAX;

/// Takes all flows to their end and counts.
pub(in crate::goodput) fn receive(flow: Flow, setting: Setting<'_>) -> Result<GoodputReceived, ProbeError> {
    let peer = flow.peer;
    let buffer = granted(&flow.sockets, |socket| socket.recv_buffer_size(), peer)?;
    if setting.spec.batch == Batch::Gso {
        flow.sockets.iter().try_for_each(|datagrams| put_together(datagrams.socket()))?;
    }
    let counters: Vec<AtomicU64> = flow.sockets.iter().map(|_| AtomicU64::new(0)).collect();
    let counts = FlowCounts::new(&flow, buffer)?;
    setting.control.set_interim_source(Some(Arc::new(Mutex::new(Arc::clone(&counts)))));
    let sent: Vec<AtomicU64> = flow.sockets.iter().map(|_| AtomicU64::new(UNKNOWN)).collect();
    let taking = |socket: &Datagrams, number: usize| {
        let progress = Progress {
            counter: &counters[number],
            tally: &counts.flows[number].1,
            sent: &sent[number],
            control: setting.control,
        };
        let mut taker = DatagramReceiver::new(flow.token, number as u16, flow.size);
        taker.take_all(
            socket,
            setting.spec.batch,
            buffer >= NAP_BUFFER && !socket.is_past_the_kernel(),
            &progress,
            peer,
        )?;
        Ok((taker.result(socket)?, taker.tracker.received))
    };
    let finish = || {
        let ended_early = has_ended(&flow, peer)?;
        for (total, known) in flow.hear(DRAIN, setting.control)?.into_iter().zip(&sent) {
            known.store(total, Relaxed);
        }
        Ok(ended_early)
    };
    let sockets = flow.sockets.iter().collect();
    let (counted, ended_early, taken) = receive_with(setting, sockets, &counters, peer, taking, finish)?;
    setting.control.set_interim_source(None);
    let (totals, arrived): (Vec<_>, Vec<_>) = taken.into_iter().unzip();
    flow.tell(&arrived)?;
    let datagrams = Some(total(&totals));
    Ok(GoodputReceived { datagrams, buffer: Some(buffer), ..counted.received(&counters, ended_early) })
}

fn put_together(socket: &UdpSocket) -> Result<(), ProbeError> {
    datagram::put_together(socket).map_err(|error| ProbeError::Unable {
        what: "batch = \"gso\"".to_owned(),
        why: format!("{error}; it needs Linux 5.0, write batch = \"mmsg\" instead"),
    })
}

/// Whether the sender has told already how much it sent.
fn has_ended(flow: &Flow, peer: SocketAddr) -> Result<bool, ProbeError> {
    let control = &flow.control;
    control.set_nonblocking(true).map_err(socket_error("set O_NONBLOCK for", peer))?;
    let ended = control.peek(&mut [0]).is_ok();
    control.set_nonblocking(false).map_err(socket_error("clear O_NONBLOCK for", peer))?;
    Ok(ended)
}

fn total(totals: &[DatagramsReceived]) -> DatagramsReceived {
    let sum = |part: fn(&DatagramsReceived) -> u64| totals.iter().map(part).sum();
    DatagramsReceived {
        received: sum(|result| result.received),
        duplicated: sum(|result| result.duplicated),
        reordered: sum(|result| result.reordered),
        window: WINDOW,
        corrupt: sum(|result| result.corrupt),
        compared: totals.iter().map(|result| result.compared).sum(),
        overflowed: sum(|result| result.overflowed),
        through_kernel: totals.iter().map(|result| result.through_kernel).sum(),
        zero_copy: totals.first().and_then(|result| result.zero_copy),
    }
}

/// Counts of one flow so far.
#[derive(Default)]
struct Tally {
    received: AtomicU64,
    duplicated: AtomicU64,
    reordered: AtomicU64,
    corrupt: AtomicU64,
    compared: AtomicU64,
}

/// Reads the counts of all flows.
struct FlowCounts {
    /// Each socket, which knows its own drops, with its counts.
    flows: Vec<(UdpSocket, Tally)>,
    /// Payload of each datagram.
    size: usize,
    buffer: Bytes,
}

impl FlowCounts {
    fn new(flow: &Flow, buffer: Bytes) -> Result<Arc<Self>, ProbeError> {
        let of_flow = |flow: &Datagrams| Ok((flow.socket().try_clone()?, Tally::default()));
        let flows: std::io::Result<_> = flow.sockets.iter().map(of_flow).collect();
        let flows = flows.map_err(socket_error("duplicate the socket to", flow.peer))?;
        Ok(Arc::new(Self { flows, size: flow.size, buffer }))
    }

    fn totals(&self) -> Vec<DatagramsReceived> {
        let result = |(socket, tally): &(UdpSocket, Tally)| DatagramsReceived {
            received: tally.received.load(Relaxed),
            duplicated: tally.duplicated.load(Relaxed),
            reordered: tally.reordered.load(Relaxed),
            window: WINDOW,
            corrupt: tally.corrupt.load(Relaxed),
            compared: Some(tally.compared.load(Relaxed)),
            overflowed: kernel::socket::drops(socket).unwrap_or_default(),
            through_kernel: None,
            zero_copy: None,
        };
        self.flows.iter().map(result).collect()
    }
}

impl InterimSource for Arc<FlowCounts> {
    fn so_far(&mut self) -> Option<SoFar> {
        let datagrams = total(&self.totals());
        let received = GoodputReceived {
            total_bytes: datagrams.received * self.size as u64,
            datagrams: Some(datagrams),
            buffer: Some(self.buffer),
            ..GoodputReceived::default()
        };
        Some(SoFar::Goodput(Box::new(received)))
    }
}

/// State that the thread of a flow shares with the watching thread.
struct Progress<'a> {
    /// Payload bytes of different datagrams.
    counter: &'a AtomicU64,
    /// All else that is counted.
    tally: &'a Tally,
    /// Number of datagrams sent, as soon as that is known.
    sent: &'a AtomicU64,
    control: &'a Control,
}

/// Takes the datagrams of one flow.
struct DatagramReceiver {
    size: usize,
    label: Label,
    tracker: Tracker,
    corrupt: u64,
    compared: u64,
}

impl DatagramReceiver {
    fn new(token: u32, flow: u16, size: usize) -> Self {
        Self { size, label: Label::new(token, flow, size), tracker: Tracker::new(), corrupt: 0, compared: 0 }
    }

    /// Takes datagrams until all that were sent have come, or the rest is lost.
    fn take_all(
        &mut self,
        socket: &Datagrams,
        batch: Batch,
        naps: bool,
        progress: &Progress<'_>,
        peer: SocketAddr,
    ) -> Result<(), ProbeError> {
        let mut incoming = match batch {
            Batch::Mmsg => Incoming::new(MESSAGES, self.size),
            Batch::Gso => Incoming::new(LARGE_MESSAGES, LARGE),
        };
        let mut quiet_since = None;
        while !progress.control.stopped() {
            let quiet = quiet_since.map_or(Duration::ZERO, |since: Instant| since.elapsed());
            match socket.receive_batch(&mut incoming, !naps || quiet > QUIET) {
                Ok(messages) => {
                    (0..messages).for_each(|index| self.take(&incoming.message(index)));
                    self.tell(progress);
                    quiet_since = None;
                }
                Err(error) if is_nothing_yet(&error) => {
                    let since = *quiet_since.get_or_insert_with(Instant::now);
                    let sent = progress.sent.load(Relaxed);
                    if self.is_over(sent, since.elapsed()) {
                        self.tracker.end(sent);
                        self.tell(progress);
                        return Ok(());
                    }
                    if naps {
                        thread::sleep(NAP);
                    }
                }
                Err(error) if is_refused(&error) => {}
                Err(error) => return Err(socket_error("receive from", peer)(error)),
            }
        }
        Ok(())
    }

    fn take(&mut self, message: &Message<'_>) {
        if message.truncated {
            self.corrupt += u64::from(self.label.read(message.bytes) != Datagram::Foreign);
            return;
        }
        for datagram in message.bytes.chunks(message.segment) {
            let read = self.label.read(datagram);
            match read {
                Datagram::Whole(number) => self.tracker.take(number),
                Datagram::Changed(number) => {
                    if !self.tracker.is_far_ahead(number) {
                        self.tracker.take(number);
                    }
                    self.corrupt += 1;
                }
                Datagram::Strange => self.corrupt += 1,
                Datagram::Foreign => {}
            }
            if let Datagram::Whole(number) | Datagram::Changed(number) = read {
                self.compared += u64::from(label::is_compared(number));
            }
        }
    }

    fn tell(&self, progress: &Progress<'_>) {
        let tally = progress.tally;
        progress.counter.store(self.tracker.received * self.size as u64, Relaxed);
        tally.received.store(self.tracker.received, Relaxed);
        tally.duplicated.store(self.tracker.duplicated, Relaxed);
        tally.reordered.store(self.tracker.reordered, Relaxed);
        tally.corrupt.store(self.corrupt + self.tracker.damaged, Relaxed);
        tally.compared.store(self.compared, Relaxed);
    }

    fn is_over(&self, sent: u64, quiet: Duration) -> bool {
        sent != UNKNOWN && quiet > if self.tracker.received >= sent { COPIES } else { LOST }
    }

    fn result(&self, socket: &Datagrams) -> Result<DatagramsReceived, ProbeError> {
        Ok(DatagramsReceived {
            received: self.tracker.received,
            duplicated: self.tracker.duplicated,
            reordered: self.tracker.reordered,
            window: WINDOW,
            corrupt: self.corrupt + self.tracker.damaged,
            compared: Some(self.compared),
            overflowed: socket.overflowed()?,
            through_kernel: socket.through_kernel(),
            zero_copy: socket.is_zero_copy(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_the_last_datagram_are_waited_for() {
        let mut taker = DatagramReceiver::new(7, 0, 100);
        (0..10).for_each(|number| taker.tracker.take(number));
        let just_after = Duration::from_millis(1);
        assert!(!taker.is_over(10, Duration::ZERO) && !taker.is_over(10, just_after), "a copy may be on its way");
        assert!(taker.is_over(10, COPIES + just_after));
        assert!(!taker.is_over(11, COPIES + just_after) && taker.is_over(11, LOST + just_after));
        assert!(!taker.is_over(UNKNOWN, Duration::from_secs(9)));
    }
}
