//! Threads for an agent's three streams.

use std::{
    fs::File,
    io::{self, Read, Write},
    process::{ChildStderr, ChildStdin},
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crate::{
    FromAgent, HEARTBEAT, SILENCE, ToAgent,
    framing::{FrameError, read_preamble, read_sized, write_message},
};

/// Standard error kept for quotation, in bytes.
const STDERR_KEPT: usize = 4_000;

/// Time for reading the last output of an ended program.
const LINGERS: Duration = Duration::from_secs(2);

/// Input of an agent, shared with the heartbeat; `None` once it is closed.
pub(crate) type Outbox = Arc<Mutex<Option<ChildStdin>>>;

/// Progress of copying a program.
pub(crate) enum Copying {
    /// A part was written.
    Goes,
    /// The end.
    Ended(Result<(), FrameError>),
}

/// Copies a file to an agent's machine, and reports each part written. Meanwhile nothing else can be written.
///
/// The stream is put back before the end is reported, and lost with a stalled copy.
pub(crate) fn copy_in_background(file: File, outbox: Outbox) -> Receiver<Copying> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let stdin = outbox.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut stdin) = stdin else { return };
        let copied = copy(file, &mut stdin, &sender);
        *outbox.lock().unwrap_or_else(PoisonError::into_inner) = Some(stdin);
        // The receiver may have ended.
        let _ = sender.send(Copying::Ended(copied.map_err(FrameError::from)));
    });
    receiver
}

fn copy(mut file: File, stdin: &mut ChildStdin, told: &Sender<Copying>) -> io::Result<()> {
    let mut chunk = [0; 16 * 1024];
    while let length @ 1.. = file.read(&mut chunk)? {
        stdin.write_all(&chunk[..length])?;
        let _ = told.send(Copying::Goes);
    }
    Ok(())
}

/// Sends one message.
pub(crate) fn post(outbox: &Outbox, message: &ToAgent) -> Result<(), FrameError> {
    let mut outbox = outbox.lock().unwrap_or_else(PoisonError::into_inner);
    write_message(outbox.as_mut().ok_or(FrameError::Ended)?, message)
}

/// Limits of waiting messages, in number and in bytes: an agent that sends more has to wait.
const INBOX: usize = 64;
const INBOX_BYTES: usize = 32 << 20;

/// Bytes of waiting messages.
#[derive(Default)]
struct Waiting {
    bytes: Mutex<usize>,
    less: Condvar,
}

impl Waiting {
    /// Adds a message, once there is room. One that is longer than all the room has it alone.
    fn add(&self, length: usize) {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |bytes: &mut usize| *bytes > 0 && *bytes + length > INBOX_BYTES;
        *self.less.wait_while(bytes, is_full).unwrap_or_else(PoisonError::into_inner) += length;
    }

    fn take(&self, length: usize) {
        *self.bytes.lock().unwrap_or_else(PoisonError::into_inner) -= length;
        self.less.notify_one();
    }

    fn empty(&self) {
        *self.bytes.lock().unwrap_or_else(PoisonError::into_inner) = 0;
        self.less.notify_one();
    }
}

/// Messages from an agent.
pub(crate) struct Inbox {
    messages: Receiver<(Result<FromAgent, FrameError>, usize)>,
    waiting: Arc<Waiting>,
    heard: Arc<Mutex<Instant>>,
}

impl Inbox {
    /// The next message; `Disconnected` once the reader has ended.
    pub(crate) fn next(&self, patience: Duration) -> Result<Result<FromAgent, FrameError>, RecvTimeoutError> {
        let (message, length) = self.messages.recv_timeout(patience)?;
        self.waiting.take(length);
        Ok(message)
    }

    /// Duration of the agent's silence.
    pub(crate) fn silence(&self) -> Duration {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    /// Starts the measurement of silence: nothing was expected before.
    pub(crate) fn begin_to_expect(&self) {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Discards waiting messages, so that a writing agent can end.
    pub(crate) fn drain(&self) {
        while let Ok((_, length)) = self.messages.try_recv() {
            self.waiting.take(length);
        }
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        // A reader that waits for room finds that nobody listens.
        self.waiting.empty();
    }
}

/// Reads messages to the end of the stream, whose error comes last. Heartbeats are noted, but not queued.
pub(crate) fn read_in_background(stream: Option<impl Read + Send + 'static>) -> Inbox {
    let (sender, messages) = mpsc::sync_channel(INBOX);
    let inbox = Inbox { messages, waiting: Arc::default(), heard: Arc::new(Mutex::new(Instant::now())) };
    let (waiting, heard) = (Arc::clone(&inbox.waiting), Arc::clone(&inbox.heard));
    thread::spawn(move || {
        let Some(mut stream) = stream else { return };
        if let Err(error) = read_preamble(&mut stream) {
            let _ = sender.send((Err(error), 0));
            return;
        }
        loop {
            let (message, length) = match read_sized(&mut stream) {
                Ok((message, length)) => (Ok(message), length),
                Err(error) => (Err(error), 0),
            };
            let last = message.is_err();
            if !matches!(message, Ok(FromAgent::Heartbeat)) {
                waiting.add(length);
                if sender.send((message, length)).is_err() || last {
                    return;
                }
            }
            // After queueing it: an agent that had to wait for that was not silent.
            *heard.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        }
    });
    inbox
}

/// Keeps the end of the agent's standard error.
pub(crate) fn collect_in_background(stderr: Option<ChildStderr>) -> JoinHandle<String> {
    thread::spawn(move || {
        let Some(mut stderr) = stderr else { return String::new() };
        let (mut kept, mut chunk) = (Vec::new(), [0; 1024]);
        while let Ok(length @ 1..) = stderr.read(&mut chunk) {
            kept.extend_from_slice(&chunk[..length]);
            kept.drain(..kept.len().saturating_sub(STDERR_KEPT));
        }
        String::from_utf8_lossy(&kept).into_owned()
    })
}

/// Result of a stream's reader, which ends with the stream and so with the program.
///
/// If a process that it started (the ssh of a script, say) holds the stream open, that process is not awaited.
pub(crate) fn harvest<T: Default>(reader: JoinHandle<T>) -> T {
    let until = Instant::now() + LINGERS;
    while !reader.is_finished() && Instant::now() < until {
        thread::sleep(Duration::from_millis(5));
    }
    if reader.is_finished() { reader.join().unwrap_or_default() } else { T::default() }
}

/// Heartbeats in the background, until this is dropped.
pub(crate) struct Heartbeats {
    _stop: Sender<()>,
    pauses: Arc<Mutex<Pauses>>,
}

/// Times between heartbeats, which show whether this program was stopped meanwhile.
struct Pauses {
    /// When the present one began; `None` while a heartbeat is sent, and after the last one.
    since: Option<Instant>,
    longest: Duration,
}

impl Heartbeats {
    /// Time for which this program was stopped, if an agent had to take it for dead.
    pub(crate) fn stopped(&self) -> Option<Duration> {
        self.pauses.lock().unwrap_or_else(PoisonError::into_inner).stopped()
    }
}

impl Pauses {
    fn begin(&mut self) {
        self.since = Some(Instant::now());
    }

    fn end(&mut self) {
        self.longest = self.longest();
        self.since = None;
    }

    fn longest(&self) -> Duration {
        self.longest.max(self.since.map_or(Duration::ZERO, |since| since.elapsed()))
    }

    fn stopped(&self) -> Option<Duration> {
        Some(self.longest()).filter(|pause| *pause > SILENCE)
    }
}

/// Sends heartbeats until the returned value is dropped.
pub(crate) fn beat_in_background(outbox: Outbox) -> Heartbeats {
    let (stop, stopped) = mpsc::channel();
    let pauses = Arc::new(Mutex::new(Pauses { since: None, longest: Duration::ZERO }));
    let beats = Heartbeats { _stop: stop, pauses: Arc::clone(&pauses) };
    thread::spawn(move || {
        let pauses = || pauses.lock().unwrap_or_else(PoisonError::into_inner);
        pauses().begin();
        while stopped.recv_timeout(HEARTBEAT) == Err(RecvTimeoutError::Timeout) {
            pauses().end();
            if post(&outbox, &ToAgent::Heartbeat).is_err() {
                return;
            }
            pauses().begin();
        }
    });
    beats
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;
    use crate::{Failure, FailureKind, framing::PREAMBLE};

    /// Produces the same bytes repeatedly, and counts the bytes read.
    struct Endless {
        message: Vec<u8>,
        taken: Arc<AtomicUsize>,
    }

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let at = self.taken.load(Relaxed);
            let begin = PREAMBLE.len();
            let rest = if at < begin { &PREAMBLE[at..] } else { &self.message[(at - begin) % self.message.len()..] };
            let length = rest.len().min(buffer.len());
            buffer[..length].copy_from_slice(&rest[..length]);
            self.taken.fetch_add(length, Relaxed);
            Ok(length)
        }
    }

    #[test]
    fn an_agent_that_says_more_than_is_taken_has_to_wait() {
        let mut message = Vec::new();
        write_message(&mut message, &FromAgent::Done { id: 7 }).expect("writes");
        let (length, taken) = (message.len(), Arc::new(AtomicUsize::new(0)));
        let inbox = read_in_background(Some(Endless { message, taken: Arc::clone(&taken) }));
        for received in 1..=20 * INBOX {
            assert!(matches!(inbox.next(Duration::from_secs(10)), Ok(Ok(FromAgent::Done { id: 7 }))));
            thread::yield_now();
            let ahead = taken.load(Relaxed) / length - received;
            assert!(ahead <= INBOX + 2, "{ahead} messages wait");
        }
    }

    #[test]
    fn long_messages_wait_in_bounded_memory() {
        let failure = Failure::new(FailureKind::Bug, "", "x".repeat(1 << 20));
        let mut message = Vec::new();
        write_message(&mut message, &FromAgent::Failed { id: 7, failure }).expect("writes");
        let (length, taken) = (message.len(), Arc::new(AtomicUsize::new(0)));
        let inbox = read_in_background(Some(Endless { message, taken: Arc::clone(&taken) }));
        for received in 1..=INBOX {
            assert!(matches!(inbox.next(Duration::from_secs(10)), Ok(Ok(FromAgent::Failed { id: 7, .. }))));
            thread::yield_now();
            let ahead = taken.load(Relaxed) - received * length;
            assert!(ahead <= INBOX_BYTES + 2 * length, "{ahead} bytes wait");
        }
    }

    #[test]
    fn heartbeats_wait_nowhere_and_hide_nothing() {
        let mut message = Vec::new();
        (0..999).for_each(|_| write_message(&mut message, &FromAgent::Heartbeat).expect("writes"));
        write_message(&mut message, &FromAgent::Done { id: 7 }).expect("writes");
        let inbox = read_in_background(Some(Endless { message, taken: Arc::default() }));
        assert!(matches!(inbox.next(Duration::from_secs(10)), Ok(Ok(FromAgent::Done { id: 7 }))));
        assert!(inbox.silence() < Duration::from_secs(10));
        inbox.begin_to_expect();
    }

    #[test]
    fn a_pause_that_agents_take_for_the_end_is_remembered() {
        let ago = |time: Duration| Instant::now().checked_sub(time);
        let mut pauses = Pauses { since: ago(HEARTBEAT * 2), longest: Duration::ZERO };
        assert_eq!(pauses.stopped(), None);
        pauses.since = ago(SILENCE * 2);
        assert!(pauses.stopped() >= Some(SILENCE * 2), "before the next heartbeat");
        pauses.end();
        pauses.begin();
        assert!(pauses.stopped() >= Some(SILENCE * 2), "and after it");
    }

    #[test]
    fn a_reader_whose_stream_stays_open_is_not_waited_for() {
        let begun = Instant::now();
        let (open, stays_open) = mpsc::channel::<()>();
        let reader = thread::spawn(move || stays_open.recv().map_or("read".to_owned(), |()| "more".to_owned()));
        assert_eq!(harvest(reader), "");
        assert!(begun.elapsed() < LINGERS * 2);
        drop(open);
        assert_eq!(harvest(thread::spawn(|| "read".to_owned())), "read");
    }
}
