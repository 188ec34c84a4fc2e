//! One measurement at this end, on a thread of its own.

use std::{
    net::SocketAddr,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use kernel::{clock, cpu};
use model::Nanos;
use probe::{Control, ProbeError, goodput, latency};
use protocol::{Figures, FromAgent, Outcome, Task};

use crate::{outbox::Outbox, window::Counters};

/// A measurement under way.
pub(crate) struct Running {
    id: u64,
    control: Arc<Control>,
    start: Sender<Nanos>,
    thread: JoinHandle<()>,
    told: f64,
}

impl Running {
    pub(crate) fn begin(id: u64, task: Task, outbox: Outbox) -> Self {
        let control = Arc::new(Control::default());
        let (start, started) = mpsc::channel();
        let watched = Arc::clone(&control);
        let thread = thread::spawn(move || perform(id, &task, &started, &watched, &outbox));
        Self { id, control, start, thread, told: 0.0 }
    }

    pub(crate) fn start(&self, at: Nanos) {
        // A task that failed to prepare no longer listens, and has said so.
        let _ = self.start.send(at);
    }

    pub(crate) fn stop(&self) {
        self.control.stop();
    }

    pub(crate) fn is_over(&self) -> bool {
        self.thread.is_finished()
    }

    pub(crate) fn tell_progress(&mut self, outbox: &Outbox) {
        let fraction = self.control.fraction();
        if fraction > self.told {
            self.told = fraction;
            outbox.send(&FromAgent::Progress { id: self.id, fraction });
        }
    }
}

fn perform(id: u64, task: &Task, started: &Receiver<Nanos>, control: &Control, outbox: &Outbox) {
    let work = AssertUnwindSafe(|| measure(id, task, started, control, outbox));
    match catch_unwind(work) {
        Ok(Ok(outcome)) => {
            outbox.send(&FromAgent::Result { id, outcome });
            outbox.send(&FromAgent::Done { id });
        }
        Ok(Err(error)) => outbox.fail(id, error.to_string(), matches!(error, ProbeError::Cancelled)),
        Err(_) => outbox.fail(id, "the measuring thread panicked; please report it".to_owned(), false),
    }
}

/// A side that is ready to run.
enum Prepared {
    LatencyServer(latency::Server),
    LatencyClient(latency::Client),
    GoodputReceiver(goodput::Receiver),
    GoodputSender(goodput::Sender),
}

fn measure(
    id: u64,
    task: &Task,
    started: &Receiver<Nanos>,
    control: &Control,
    outbox: &Outbox,
) -> Result<Outcome, ProbeError> {
    let pinned = core_of(task).is_some_and(|core| cpu::pin_current_thread(core).is_ok());
    let prepared = prepare(task)?;
    outbox.send(&FromAgent::Ready { id, address: prepared.address(), now: clock::now() });
    clock::sleep_until(wait_for_start(started, control)?);
    let counters = Counters::default();
    let figures = prepared.run(control, &counters)?;
    let (cpu, cpu_s) = counters.difference();
    Ok(Outcome { pinned, cpu, cpu_s, figures })
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

fn core_of(task: &Task) -> Option<usize> {
    match task {
        Task::LatencyServer { cpu, .. }
        | Task::LatencyClient { cpu, .. }
        | Task::GoodputReceiver { cpu, .. }
        | Task::GoodputSender { cpu, .. } => *cpu,
    }
}

fn prepare(task: &Task) -> Result<Prepared, ProbeError> {
    Ok(match task {
        Task::LatencyServer { spec, local, mtu, .. } => {
            Prepared::LatencyServer(latency::Server::prepare(spec, *local, *mtu)?)
        }
        Task::LatencyClient { spec, local, peer, mtu, .. } => {
            Prepared::LatencyClient(latency::Client::prepare(spec, *local, *peer, *mtu)?)
        }
        Task::GoodputReceiver { spec, local, .. } => {
            Prepared::GoodputReceiver(goodput::Receiver::prepare(spec, *local)?)
        }
        Task::GoodputSender { spec, local, peer, .. } => {
            Prepared::GoodputSender(goodput::Sender::prepare(spec, *local, *peer)?)
        }
    })
}

impl Prepared {
    /// Where the serving side listens.
    fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::LatencyServer(server) => Some(server.address()),
            Self::GoodputReceiver(receiver) => Some(receiver.address()),
            Self::LatencyClient(_) | Self::GoodputSender(_) => None,
        }
    }

    fn run(self, control: &Control, counters: &Counters) -> Result<Figures, ProbeError> {
        Ok(match self {
            Self::LatencyServer(server) => Figures::LatencyServer { answered: server.serve(control)? },
            Self::LatencyClient(client) => Figures::LatencyClient(Box::new(client.run(control, counters)?)),
            Self::GoodputReceiver(receiver) => Figures::GoodputReceiver(receiver.serve(control, counters)?),
            Self::GoodputSender(sender) => Figures::GoodputSender(sender.run(control, counters)?),
        })
    }
}
