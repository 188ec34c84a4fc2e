//! A measurement at this end, on its own thread.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use kernel::{clock, cpu};
use model::{EndCounters, Nanos, SoFar};
use probe::{Control, ProbeError, Window};
use protocol::{Failure, FromAgent, Outcome, Task};

use crate::{failure, outbox::Outbox, stand_in::StandIn, window::Counters};

/// Interval of interim results: long enough to cost next to nothing.
const SO_FAR: Duration = Duration::from_secs(2);

/// A running measurement.
pub(crate) struct Running {
    id: u64,
    control: Arc<Control>,
    start: Sender<Nanos>,
    thread: JoinHandle<()>,
    told: f64,
    asked: Instant,
}

impl Running {
    /// Begins a task at this machine, or at the one that is stood in for.
    pub(crate) fn begin(id: u64, task: Task, stand_in: Option<Arc<StandIn>>, outbox: Outbox) -> Self {
        let control = Arc::new(Control::default());
        let (start, started) = mpsc::channel();
        let watched = Arc::clone(&control);
        let at = At { stand_in, started };
        let thread = thread::spawn(move || perform(id, &task, &at, &watched, &outbox));
        Self { id, control, start, thread, told: 0.0, asked: Instant::now() }
    }

    pub(crate) fn start(&self, at: Nanos) {
        // A task that failed to prepare has reported it, and no longer listens.
        let _ = self.start.send(at);
    }

    pub(crate) fn stop(&self) {
        self.control.stop();
    }

    pub(crate) fn is_over(&self) -> bool {
        self.thread.is_finished()
    }

    pub(crate) fn tell_progress(&mut self, outbox: &Outbox) {
        let (told, so_far) = (self.told, self.so_far());
        self.told = told.max(self.control.fraction());
        outbox.send_if(|| progress(self.id, &self.control, told, so_far));
    }

    fn so_far(&mut self) -> Option<SoFar> {
        if self.asked.elapsed() < SO_FAR {
            return None;
        }
        self.asked = Instant::now();
        self.control.so_far()
    }
}

/// The news of a side since the fraction `told`; `None` without any.
fn progress(id: u64, control: &Control, told: f64, so_far: Option<SoFar>) -> Option<FromAgent> {
    let fraction = control.fraction();
    let (seconds, retransmits) = (control.take_seconds(), control.take_retransmits());
    let is_news = fraction > told || !seconds.is_empty() || !retransmits.is_empty() || so_far.is_some();
    is_news.then_some(FromAgent::Progress { id, fraction, seconds, retransmits, so_far })
}

/// Where a task is carried out, and its start.
struct At {
    stand_in: Option<Arc<StandIn>>,
    started: Receiver<Nanos>,
}

fn perform(id: u64, task: &Task, at: &At, control: &Control, outbox: &Outbox) {
    let work = AssertUnwindSafe(|| match &at.stand_in {
        None => measure(id, task, &at.started, control, outbox),
        Some(stand_in) => have_measured(id, task, stand_in, &at.started, control, outbox),
    });
    let done = catch_unwind(work);
    // The last second may have passed after the last progress message.
    outbox.send_if(|| progress(id, control, 1.0, None));
    match done {
        Ok(Ok(outcome)) => {
            outbox.send(&FromAgent::Result { id, outcome });
            outbox.send(&FromAgent::Done { id });
        }
        Ok(Err(failure)) => outbox.fail(id, failure),
        Err(_) => outbox.fail(id, failure::bug("the measuring thread panicked", "please report it")),
    }
}

fn measure(
    id: u64,
    task: &Task,
    started: &Receiver<Nanos>,
    control: &Control,
    outbox: &Outbox,
) -> Result<Outcome, Failure> {
    let is_pinned = task.setup.cpus.first().is_some_and(|core| cpu::pin_current_thread(*core).is_ok());
    let failed = |error| failure::measurement_at(&task.setup.interface, &error);
    let prepared = probe::prepare(&task.spec, task.side, &task.setup).map_err(failed)?;
    // Nothing is sent before this side is ready.
    let counters = Counters::begin(&task.setup.interface);
    outbox.send(&FromAgent::Ready { id, address: prepared.address() });
    let start = wait_for_start(started, control).map_err(|error| failure::measurement(&error))?;
    clock::sleep_until(start);
    counters.started();
    let figures = match prepared.run(control, &counters) {
        Ok(figures) => figures,
        Err(error) => return Err(Failure { events: counters.cut_off(), ..failed(error) }),
    };
    let pinned = if is_pinned { task.setup.cpus.clone() } else { Vec::new() };
    Ok(Outcome { pinned, counters: counters.end(), figures })
}

/// The same by a program of another machine. Nobody reads counters there.
fn have_measured(
    id: u64,
    task: &Task,
    stand_in: &StandIn,
    started: &Receiver<Nanos>,
    control: &Control,
    outbox: &Outbox,
) -> Result<Outcome, Failure> {
    let failed = |error| failure::measurement(&error);
    let prepared = stand_in.prepare(task).map_err(failed)?;
    outbox.send(&FromAgent::Ready { id, address: prepared.address() });
    wait_for_start(started, control).map_err(failed)?;
    let figures = prepared.run(control, &NoWindow).map_err(failed)?;
    Ok(Outcome { pinned: Vec::new(), counters: EndCounters::default(), figures })
}

/// Nobody is told when the counted time begins and ends.
struct NoWindow;

impl Window for NoWindow {
    fn opened(&self) {}
    fn closed(&self) {}
}

fn wait_for_start(started: &Receiver<Nanos>, control: &Control) -> Result<Nanos, ProbeError> {
    while !control.stopped() {
        match started.recv_timeout(Duration::from_millis(50)) {
            Ok(at) => return Ok(at),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    Err(ProbeError::Cancelled)
}

#[cfg(test)]
mod tests {
    use std::{
        fs::File,
        io::{self, PipeReader},
        net::SocketAddr,
        os::fd::OwnedFd,
    };

    use model::{GoodputSpec, IpVersion, Protocol, Side, SideSetup, fixture};
    use protocol::read_message;

    use super::*;

    /// One side of a second of TCP over loopback, and its messages.
    fn side(side: Side, peer: Option<SocketAddr>) -> (Running, PipeReader) {
        let (duration, warmup) = (Nanos::from_secs(1), Nanos::from_millis(50));
        // No interface of another test, with which its counters would be shared.
        let setup = SideSetup { interface: "none0".to_owned(), ..fixture::setup(IpVersion::V4, peer) };
        let spec = GoodputSpec { duration, warmup, ..fixture::goodput(Protocol::Tcp) }.into();
        let (messages, output) = io::pipe().expect("a pipe");
        let outbox = Outbox::new(File::from(OwnedFd::from(output)));
        (Running::begin(1, Task { spec, side, setup }, None, outbox), messages)
    }

    fn next(messages: &mut PipeReader) -> FromAgent {
        read_message(messages).expect("a message")
    }

    #[test]
    fn seconds_that_no_progress_message_told_are_told_before_the_result() {
        let (far, mut from_far) = side(Side::Far, None);
        let FromAgent::Ready { address, .. } = next(&mut from_far) else { panic!("the far side is not ready") };
        let (near, mut from_near) = side(Side::Near, address);
        assert!(matches!(next(&mut from_near), FromAgent::Ready { .. }));
        [&far, &near].into_iter().for_each(|side| side.start(clock::now()));
        for (mut messages, lengths) in [(from_far, [1, 0]), (from_near, [0, 1])] {
            let FromAgent::Progress { seconds, retransmits, .. } = next(&mut messages) else { panic!("no seconds") };
            assert_eq!([seconds.len(), retransmits.len()], lengths);
            assert!(matches!(next(&mut messages), FromAgent::Result { .. }));
        }
    }
}
