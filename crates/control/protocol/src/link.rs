//! The controller's end of one agent: launches it, exchanges messages, detects its loss, and ends it.

use std::{
    fs::File,
    os::unix::process::{CommandExt, ExitStatusExt},
    process::{Child, ChildStdin, ExitStatus, Stdio},
    slice,
    sync::{Arc, Mutex, PoisonError, mpsc::RecvTimeoutError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use model::plausible;

use crate::{
    AgentError, ClockReading, Fault, FromAgent, HEARTBEAT, Hello, Launch, Place, Reply, Request, SILENCE, ToAgent,
    build_id,
    fault::quoted,
    framing::{FrameError, write_message, write_preamble},
    memory,
    pipes::{
        Copying, Heartbeats, Inbox, Outbox, beat_in_background, collect_in_background, copy_in_background, harvest,
        post, read_in_background,
    },
    ssh::{READ_BY_OTHERS, advice, advised, tells_of_a_cut},
};

/// Time for an agent to undo its changes and end once its input has ended.
const FAREWELL: Duration = Duration::from_secs(8);

/// Time for an agent to start, on this machine and on another one.
const GREETING: Duration = Duration::from_secs(10);
const GREETING_THERE: Duration = Duration::from_secs(40);

/// Number of clock requests: most of the delays between request and answer do not recur.
const CLOCK_QUESTIONS: usize = 8;

/// A running agent. Dropping it ends the agent: by closing its input, then by a signal if needed.
pub struct AgentLink {
    name: String,
    place: Place,
    pid: u32,
    child: Child,
    outbox: Outbox,
    inbox: Inbox,
    complaints: Option<JoinHandle<String>>,
    /// Processes that the kernel had ended for want of memory before.
    killed_before: Option<u64>,
    next_id: u64,
    /// Starts after the greetings.
    beats: Option<Heartbeats>,
}

impl AgentLink {
    /// Starts an agent and exchanges greetings; `name` is for messages to people.
    pub fn launch(name: &str, launch: &Launch) -> Result<Self, AgentError> {
        let failed = |error| AgentError {
            agent: name.to_owned(),
            fault: Fault::Launch { program: launch.program.display().to_string(), error },
        };
        let file = launch.copied().map(File::open).transpose().map_err(failed)?;
        let length = file.as_ref().map_or(Ok(0), |file| file.metadata().map(|about| about.len())).map_err(failed)?;
        let mut command = launch.command(length);
        let mut child = command
            // Its own process group: Ctrl-C only reaches the controller, which then ends the run in order.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let outbox = Arc::new(Mutex::new(stdin));
        let mut link = Self {
            name: name.to_owned(),
            place: launch.place.clone(),
            pid: 0,
            child,
            inbox: read_in_background(stdout),
            complaints: Some(collect_in_background(stderr)),
            killed_before: memory::ended_for_want(),
            next_id: 0,
            beats: None,
            outbox,
        };
        link.greet(file)?;
        link.beats = Some(beat_in_background(Arc::clone(&link.outbox)));
        Ok(link)
    }

    /// A number unused by other requests and tasks of this agent.
    pub fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    /// Process ID, on its machine.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Reads its clock: the best of several requests.
    pub fn read_clock(&mut self) -> Result<ClockReading, AgentError> {
        let mut best: Option<ClockReading> = None;
        for _ in 0..CLOCK_QUESTIONS {
            let asked = Instant::now();
            match self.ask(Request::Clock, 2 * SILENCE)? {
                Reply::Clock(shown) => {
                    best = ClockReading::better(best, ClockReading::new(shown, asked, Instant::now()))
                }
                other => return Err(self.error(Fault::Confused(format!("{other:?}")))),
            }
        }
        best.ok_or_else(|| self.error(Fault::Confused("no clock".to_owned())))
    }

    /// Sends one message.
    pub fn send(&mut self, message: &ToAgent) -> Result<(), AgentError> {
        post(&self.outbox, message).map_err(|error| self.broken(error))
    }

    /// The next message other than a heartbeat; `None` after `patience`.
    pub fn next(&mut self, patience: Duration) -> Result<Option<FromAgent>, AgentError> {
        match self.inbox.next(patience) {
            Ok(Ok(message)) => Ok(Some(message)),
            Ok(Err(error)) => Err(self.broken(error)),
            Err(RecvTimeoutError::Disconnected) => Err(self.broken(FrameError::Ended)),
            Err(RecvTimeoutError::Timeout) if self.inbox.silence() > SILENCE => {
                // The agent may have ended meanwhile, and its end may not be read yet.
                if self.stopped().is_some() {
                    return Err(self.broken(FrameError::Ended));
                }
                self.kill();
                Err(self.error(Fault::Silent(SILENCE)))
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
        }
    }

    /// Sends a request and waits for the answer, at most `within`.
    pub fn ask(&mut self, request: Request, within: Duration) -> Result<Reply, AgentError> {
        let id = self.new_id();
        let what = format!("answer {request:?}");
        self.send(&ToAgent::Ask { id, request })?;
        let until = Instant::now() + within;
        while Instant::now() < until {
            match self.next(until.saturating_duration_since(Instant::now()).min(HEARTBEAT))? {
                Some(FromAgent::Answer { id: answered, reply }) if answered == id => {
                    let checked = plausible::list("answer", slice::from_ref(&reply));
                    return checked.map(|()| reply).map_err(|error| self.error(Fault::Confused(error.to_string())));
                }
                Some(FromAgent::Failed { id: failed, failure }) if failed == id => {
                    return Err(self.error(Fault::Failed(Box::new(failure))));
                }
                // Late messages of a cancelled task.
                Some(_) | None => {}
            }
        }
        self.kill();
        Err(self.error(Fault::Deadline { what, within }))
    }

    /// An error of this agent.
    pub fn error(&self, fault: Fault) -> AgentError {
        AgentError { agent: self.name.clone(), fault }
    }

    /// Exchanges greetings; copies the program first if requested.
    fn greet(&mut self, file: Option<File>) -> Result<(), AgentError> {
        let Some(file) = file else {
            self.introduce()?;
            return self.hear_hello();
        };
        self.hand_over(file)?;
        // The reader of the copy, by its length, may read on beyond it (BusyBox does): we send nothing until it has
        // finished.
        self.hear_hello()?;
        self.introduce()
    }

    /// Copies the program. Without progress for [`crate::SILENCE`], the connection is lost.
    fn hand_over(&mut self, file: File) -> Result<(), AgentError> {
        let copying = copy_in_background(file, Arc::clone(&self.outbox));
        loop {
            match copying.recv_timeout(SILENCE) {
                Ok(Copying::Goes) => {}
                Ok(Copying::Ended(Ok(()) | Err(FrameError::Ended))) => return Ok(()),
                Ok(Copying::Ended(Err(error))) => return Err(self.broken(error)),
                Err(RecvTimeoutError::Disconnected) => return Err(self.broken(FrameError::Ended)),
                Err(RecvTimeoutError::Timeout) => {
                    self.kill();
                    return Err(self.error(Fault::Silent(SILENCE)));
                }
            }
        }
    }

    fn introduce(&mut self) -> Result<(), AgentError> {
        let hello = ToAgent::Hello(Hello { build: build_id(), pid: std::process::id() });
        self.pass_on(|stdin| write_preamble(stdin).and_then(|()| write_message(stdin, &hello)))
    }

    /// Writes to the agent. A program that never reads is identified later, by its output or exit status.
    fn pass_on(&mut self, write: impl FnOnce(&mut ChildStdin) -> Result<(), FrameError>) -> Result<(), AgentError> {
        let written = {
            let mut outbox = self.outbox.lock().unwrap_or_else(PoisonError::into_inner);
            outbox.as_mut().ok_or(FrameError::Ended).and_then(write)
        };
        match written {
            Ok(()) | Err(FrameError::Ended) => Ok(()),
            Err(error) => Err(self.broken(error)),
        }
    }

    fn hear_hello(&mut self) -> Result<(), AgentError> {
        let (ours, within) = (build_id(), if matches!(self.place, Place::Local) { GREETING } else { GREETING_THERE });
        self.inbox.begin_to_expect();
        match self.next(within)? {
            Some(FromAgent::Hello(Hello { build: theirs, pid })) if theirs == ours => {
                self.pid = pid;
                Ok(())
            }
            Some(FromAgent::Hello(Hello { build: theirs, .. })) => Err(self.error(Fault::OtherBuild { ours, theirs })),
            Some(other) => Err(self.error(Fault::Confused(format!("{other:?} instead of Hello")))),
            None => {
                self.kill();
                Err(self.error(Fault::Deadline { what: "say hello".to_owned(), within }))
            }
        }
    }

    /// The stream is unusable: whether the process died or is no agent.
    fn broken(&mut self, error: FrameError) -> AgentError {
        let fault = match error {
            FrameError::Ended => {
                let status = self.wait(FAREWELL);
                self.died(status)
            }
            FrameError::Noise(noise) => match self.wait(FAREWELL) {
                // Output of a login script does not explain a missing agent.
                Some(status) if !status.success() => self.died(Some(status)),
                _ => Fault::Protocol(FrameError::Noise(noise)),
            },
            other => {
                self.kill();
                Fault::Protocol(other)
            }
        };
        self.error(fault)
    }

    fn died(&mut self, status: Option<ExitStatus>) -> Fault {
        let stderr = self.complaints();
        let is_silent_end = self.pid == 0 && stderr.is_empty() && status.is_some_and(|status| status.success());
        let advice = match &self.place {
            Place::Local => None,
            Place::Remote { .. } if is_silent_end => Some(READ_BY_OTHERS.to_owned()),
            Place::Remote { ssh, .. } => advice(&stderr, ssh),
        };
        let here = matches!(self.place, Place::Local).then_some(status).flatten();
        let signal = here.and_then(|status| status.signal());
        let memory = memory::note(signal, self.killed_before, memory::ended_for_want());
        let stopped = self.stopped().map(told_of_a_stop).unwrap_or_default();
        let told = stopped + memory + &advised(&advice) + &quoted(&stderr);
        // If ssh itself ends by a signal, or loses its connection, the agent's fate is unknown.
        let alone = matches!(self.place, Place::Local)
            || status.is_some_and(|status| status.code().is_some()) && !tells_of_a_cut(&stderr);
        Fault::Died { status: status.map_or("still running".to_owned(), describe), told, alone }
    }

    fn stopped(&self) -> Option<Duration> {
        self.beats.as_ref().and_then(Heartbeats::stopped)
    }

    fn complaints(&mut self) -> String {
        self.complaints.take().map(harvest).unwrap_or_default()
    }

    fn wait(&mut self, patience: Duration) -> Option<ExitStatus> {
        self.hang_up();
        let until = Instant::now() + patience;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < until => {
                    self.inbox.drain();
                    thread::sleep(Duration::from_millis(5));
                }
                Ok(None) | Err(_) => break,
            }
        }
        self.kill();
        None
    }

    /// Closes the agent's input, so that it undoes its changes and ends.
    fn hang_up(&self) {
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn kill(&mut self) {
        // Fails only if the process has already ended, as intended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for AgentLink {
    fn drop(&mut self) {
        self.wait(FAREWELL);
    }
}

fn told_of_a_stop(stopped: Duration) -> String {
    format!(
        "; wireproof itself was stopped for {} s (Ctrl-Z, SIGSTOP), and an agent undoes its changes and ends after {} s without it",
        stopped.as_secs(),
        SILENCE.as_secs()
    )
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (_, Some(signal)) => format!("killed by signal {signal}"),
        (Some(code), _) => format!("exit status {code}"),
        (None, None) => "for unknown reasons".to_owned(),
    }
}
