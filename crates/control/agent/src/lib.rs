//! The agent process: dispatches requests to the rooms that measure and change.
//!
//! One thread dispatches, one reads, one sends heartbeats, and each measurement has its own.
//!
//! When the input ends, or is silent for [`protocol::SILENCE`], the agent stops its measurements, undoes its changes
//! and ends.

pub mod bypass;
mod events;
mod failure;
mod machine;
mod outbox;
mod route_updates;
pub mod router;
mod stand_in;
mod task;
pub mod tuning;
mod window;

use std::{
    collections::HashMap,
    env, fs, io,
    path::{Path, PathBuf},
    process,
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

/// One side of numbered packets in the caller's own process: it changes nothing on the machine, and its load ends by
/// itself.
pub mod alone {
    pub use probe::{
        Control, ProbeError,
        alone::{Listener, Outgoing, PreparedSender, prepare_sender},
    };

    /// Whether this interface has a default route or the caller's session.
    pub fn is_uplink(interface: &str) -> Result<bool, kernel::Error> {
        Ok(host::nics::uplinks()?.iter().any(|uplink| uplink == interface))
    }
}

/// Whether a probe could be measured from a future end: checked in the caller's own process, because it changes nothing.
pub use probe::foresee;

/// The path to a host that runs nothing of ours, searched in the caller's own process.
pub use probe::{Control as PathControl, ProbeError as PathError, Toward, toward};

/// Reads live counters in the caller's own process, because that changes nothing.
pub use host::counters::Live;
pub use protocol::{Agentless, Ssh};
use protocol::{
    Failure, FrameError, FromAgent, HEARTBEAT, Hello, Reply, Request, SILENCE, ToAgent, build_id, read_message,
    read_preamble,
};

use crate::{machine::Machine, outbox::Outbox, stand_in::StandIn, task::Running};

/// Interval of progress messages during a measurement.
const PROGRESS: Duration = Duration::from_millis(250);

/// A fatal error of an agent.
#[derive(Debug, thiserror::Error)]
pub enum AgentFailure {
    /// Standard output could not be reserved for messages.
    #[error(transparent)]
    Output(#[from] kernel::Error),
    /// The controller's stream is unusable.
    #[error("the controller's stream: {0}")]
    Stream(FrameError),
    /// Changes could not be undone.
    #[error("{0}; \"wireproof clean\" tries again")]
    Undo(Failure),
    /// The copy of the program could not be removed.
    #[error("cannot remove {}, a copy that was made for this run: {error}", path.display())]
    Copy {
        /// The copy.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
}

/// Version and build of this program, for greetings of agents.
pub fn build() -> String {
    build_id()
}

/// Removes this agent's executable and its folder, a copy for this run only. It must be gone even if the connection is
/// cut. The program itself runs on.
pub fn remove_own_copy() -> Result<(), AgentFailure> {
    let path = env::current_exe().unwrap_or_default();
    let folder = path.parent().unwrap_or(Path::new("/"));
    // An installed program is never taken for a copy.
    let is_ours = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("wireproof."));
    let removed = match is_ours {
        true => fs::remove_file(&path).and_then(|()| fs::remove_dir(folder)),
        false => Err(io::Error::other("it is in no folder that was made for a copy")),
    };
    removed.map_err(|error| AgentFailure::Copy { path, error })
}

/// Serves the controller at standard input and output until it closes them: for this machine, or in place of an agent on another one.
pub fn serve_stdio(stands_for: Option<Agentless>) -> Result<(), AgentFailure> {
    kernel::privilege::give_up_unused()?;
    // Other output goes to standard error from now on, not between the messages.
    let outbox = Outbox::new(kernel::fd::take_stdout()?);
    outbox.greet(&Hello { build: build_id(), pid: process::id() });
    beat_in_background(outbox.clone());
    let inbox = read_in_background();
    let stand_in = stands_for.map(|machine| Arc::new(StandIn::new(machine)));
    let mut agent = Agent { outbox, machine: Machine::default(), stand_in, tasks: HashMap::new() };
    let ended = agent.dispatch(&inbox);
    agent.leave()?;
    ended
}

struct Agent {
    outbox: Outbox,
    machine: Machine,
    /// In place of the machine, for one on which nothing of ours runs.
    stand_in: Option<Arc<StandIn>>,
    tasks: HashMap<u64, Running>,
}

impl Agent {
    fn dispatch(&mut self, inbox: &Receiver<Result<ToAgent, FrameError>>) -> Result<(), AgentFailure> {
        let mut heard = Instant::now();
        while heard.elapsed() < SILENCE {
            let patience = if self.tasks.is_empty() { HEARTBEAT } else { PROGRESS };
            match inbox.recv_timeout(patience) {
                Ok(Ok(message)) => {
                    self.handle(message);
                    // Only now: a request such as undoing may take longer than the permitted silence.
                    heard = Instant::now();
                }
                Ok(Err(FrameError::Ended)) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Ok(Err(error)) => return Err(AgentFailure::Stream(error)),
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.tasks.retain(|_, task| !task.is_over());
            self.tasks.values_mut().for_each(|task| task.tell_progress(&self.outbox));
        }
        Ok(())
    }

    fn handle(&mut self, message: ToAgent) {
        match message {
            ToAgent::Ask { id, request } => match self.answer(request) {
                Ok(reply) => self.outbox.send(&FromAgent::Answer { id, reply }),
                Err(failure) => self.outbox.fail(id, failure),
            },
            ToAgent::Prepare { id, task } => {
                let task = Running::begin(id, task, self.stand_in.clone(), self.outbox.clone());
                self.tasks.insert(id, task);
            }
            ToAgent::Start { id, at } => self.with_task(id, |task| task.start(at)),
            ToAgent::Finish { id } | ToAgent::Cancel { id } => self.with_task(id, Running::stop),
            ToAgent::Hello(_) | ToAgent::Heartbeat => {}
        }
    }

    fn answer(&mut self, request: Request) -> Result<Reply, Failure> {
        match &self.stand_in {
            Some(stand_in) => stand_in.answer(request),
            None => self.machine.answer(request),
        }
    }

    /// A task may have ended just before the message about it arrived.
    fn with_task(&mut self, id: u64, act: impl FnOnce(&Running)) {
        if let Some(task) = self.tasks.get(&id) {
            act(task);
        }
    }

    /// Stops the load first, then undoes.
    fn leave(&mut self) -> Result<(), AgentFailure> {
        self.tasks.values().for_each(Running::stop);
        let until = Instant::now() + protocol::CANCEL;
        while self.tasks.values().any(|task| !task.is_over()) && Instant::now() < until {
            thread::sleep(Duration::from_millis(10));
        }
        self.machine.leave().map_err(AgentFailure::Undo)
    }
}

/// On its own thread, because a request such as undoing may take a while.
fn beat_in_background(outbox: Outbox) {
    thread::spawn(move || {
        loop {
            thread::sleep(HEARTBEAT);
            outbox.send(&FromAgent::Heartbeat);
        }
    });
}

fn read_in_background() -> Receiver<Result<ToAgent, FrameError>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut stdin = io::stdin().lock();
        let mut next = read_preamble(&mut stdin).and_then(|()| read_message(&mut stdin));
        loop {
            let last = next.is_err();
            if sender.send(next).is_err() || last {
                return;
            }
            next = read_message(&mut stdin);
        }
    });
    receiver
}
