//! The threads at an agent's three streams.

use std::{
    fs::File,
    io::{self, Read, Write},
    process::{ChildStderr, ChildStdin, ChildStdout},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crate::{
    FromAgent, HEARTBEAT, ToAgent,
    framing::{FrameError, read_message, read_preamble, write_message},
};

/// How much of an agent's complaints is kept to be quoted.
const STDERR_KEPT: usize = 4_000;

/// What a program wrote before it ended is read in this time.
const LINGERS: Duration = Duration::from_secs(2);

/// Where messages for an agent go, shared with the heartbeat; `None` once it is told to go.
pub(crate) type Outbox = Arc<Mutex<Option<ChildStdin>>>;

/// How the copying of a program goes.
pub(crate) enum Copying {
    /// A part of it went through.
    Goes,
    /// It is over.
    Ended(Result<(), FrameError>),
}

/// Copies a file to an agent's machine, and tells of each part that went through. Nobody else can write meanwhile; the stream is put
/// back before the end is told, and lost with a copying that stands still.
pub(crate) fn copy_in_background(file: File, outbox: Outbox) -> Receiver<Copying> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let stdin = outbox.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut stdin) = stdin else { return };
        let copied = copy(file, &mut stdin, &sender);
        *outbox.lock().unwrap_or_else(PoisonError::into_inner) = Some(stdin);
        // Whoever does not listen any more has given up.
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

/// Reads messages until there are no more; what ends the stream comes last.
pub(crate) fn read_in_background(stdout: Option<ChildStdout>) -> Receiver<Result<FromAgent, FrameError>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let Some(mut stdout) = stdout else { return };
        if let Err(error) = read_preamble(&mut stdout) {
            let _ = sender.send(Err(error));
            return;
        }
        loop {
            let message = read_message(&mut stdout);
            let last = message.is_err();
            if sender.send(message).is_err() || last {
                return;
            }
        }
    });
    receiver
}

/// Keeps the end of what the agent writes to its standard error.
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

/// What a reader of a stream came to: it ends with the stream, which ends with the program, but where one that was started by that
/// (the ssh of a script, say) holds it open. That one is not waited for.
pub(crate) fn harvest<T: Default>(reader: JoinHandle<T>) -> T {
    let until = Instant::now() + LINGERS;
    while !reader.is_finished() && Instant::now() < until {
        thread::sleep(Duration::from_millis(5));
    }
    if reader.is_finished() { reader.join().unwrap_or_default() } else { T::default() }
}

/// Says again and again that we are there, until what is given back is dropped.
pub(crate) fn beat_in_background(outbox: Outbox) -> Sender<()> {
    let (stop, stopped) = mpsc::channel();
    thread::spawn(move || {
        while stopped.recv_timeout(HEARTBEAT) == Err(RecvTimeoutError::Timeout) {
            if post(&outbox, &ToAgent::Heartbeat).is_err() {
                return;
            }
        }
    });
    stop
}

#[cfg(test)]
mod tests {
    use super::*;

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
