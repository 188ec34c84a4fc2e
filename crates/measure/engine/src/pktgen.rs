//! Frames sent by the kernel's generator (Documentation/networking/pktgen.rst), driven by the files below
//! /proc/net/pktgen: a device on the kernel's thread of each core.
//!
//! Each frame has pktgen's header in place of our tag: a magic, a number from 1, and the time of day. A receiver counts
//! frames by that number; devices number separately, and differ by their source ports.

mod state;
mod words;

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    thread,
    time::Duration,
};

use kernel::clock;
use model::Nanos;

use self::state::{State, devices};
use crate::{EngineError, Job, Sender, Sent, SentStream};

/// Devices of the calling thread's network namespace: each has its own.
const FOLDER: &str = "/proc/thread-self/net/pktgen";

/// Suffix of our devices.
const OURS: &str = "@wp";

/// Interval of progress updates and stop checks.
const LOOK: Duration = Duration::from_millis(10);

/// Threads check every 100 ms whether to start.
const START: u64 = 500_000_000;

/// The reason why it cannot send this job; `None` if it can.
pub(crate) fn cannot_send(job: &Job) -> Option<String> {
    if !Path::new(FOLDER).exists() {
        return Some("this kernel has no /proc/net/pktgen (\"modprobe pktgen\")".to_owned());
    }
    words::of(job).err()
}

/// Sends a job by pktgen. Dropping it removes its devices.
pub struct Pktgen {
    job: Job,
    devices: Vec<Device>,
}

/// The device of one core.
struct Device {
    name: String,
    thread: PathBuf,
}

impl Pktgen {
    /// Sets up its devices on an interface of the caller's namespace. It has to be dropped in the same namespace.
    pub fn open(job: Job) -> Result<Self, EngineError> {
        let words = words::of(&job).map_err(unable)?;
        refuse_others()?;
        let mut opened = Self { job, devices: Vec::new() };
        for (core, (cpu, words)) in opened.job.cpus.iter().zip(words).enumerate() {
            let device = Device {
                name: format!("{}{OURS}{core}", opened.job.interface),
                thread: Path::new(FOLDER).join(format!("kpktgend_{cpu}")),
            };
            // Devices of an earlier killed run.
            tell(&device.thread, "rem_device_all")?;
            tell(&device.thread, &format!("add_device {}", device.name))?;
            let file = device.file();
            opened.devices.push(device);
            words.iter().try_for_each(|word| tell(&file, word))?;
        }
        Ok(opened)
    }

    fn states(&self) -> Result<Vec<State>, EngineError> {
        self.devices.iter().map(Device::state).collect()
    }

    /// Returns when all is sent, the time is over, or `stop` is set.
    fn watch(&self, stop: &AtomicBool, progress: &AtomicU64, is_over: impl Fn() -> bool) -> Result<(), EngineError> {
        let duration = self.job.duration.0;
        let latest = clock::now().0.saturating_add(duration).saturating_add(START);
        while !is_over() {
            thread::sleep(LOOK);
            let states = self.states()?;
            progress.store(states.iter().map(|state| state.frames).sum(), Relaxed);
            let now = clock::now().0;
            let all_sent = |state: &State| state.frames > 0 && now >= state.started.0.saturating_add(duration);
            if stop.load(Relaxed) || now > latest || states.iter().all(all_sent) {
                return Ok(());
            }
        }
        Ok(())
    }

    fn sent(&self) -> Result<Sent, EngineError> {
        let mut sent = SentStream::default();
        for (core, state) in self.states()?.into_iter().enumerate() {
            sent.merge(SentStream {
                frames: state.frames,
                bytes: state.frames * u64::from(self.job.streams[0].size(0).frame.0),
                span: (state.frames > 0).then_some((state.started, state.stopped)),
                refused: state.errors,
                given_up: Nanos(0),
                numbered: vec![(self.job.number(0, core), state.frames)],
                pacing: None,
            });
        }
        Ok(Sent { streams: vec![sent] })
    }
}

impl Sender for Pktgen {
    fn send(&mut self, stop: &AtomicBool, progress: &AtomicU64) -> Result<Sent, EngineError> {
        let control = Path::new(FOLDER).join("pgctrl");
        thread::scope(|scope| {
            // This call returns when all devices have stopped.
            let running = scope.spawn(|| tell(&control, "start"));
            let watched = self.watch(stop, progress, || running.is_finished());
            let stopped = tell(&control, "stop");
            running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            watched.and(stopped)
        })?;
        let sent = self.sent()?;
        progress.store(sent.streams[0].frames, Relaxed);
        Ok(sent)
    }
}

impl Drop for Pktgen {
    fn drop(&mut self) {
        for device in &self.devices {
            // Fails only if its interface no longer exists.
            let _ = tell(&device.thread, "rem_device_all");
        }
    }
}

impl Device {
    fn file(&self) -> PathBuf {
        Path::new(FOLDER).join(&self.name)
    }

    fn state(&self) -> Result<State, EngineError> {
        let file = self.file();
        let text = fs::read_to_string(&file).map_err(|io| failed("read", &file, io))?;
        State::read(&text).ok_or_else(|| unable(format!("{} does not say how far it is", file.display())))
    }
}

/// All devices of a network namespace start together, including those of other programs.
fn refuse_others() -> Result<(), EngineError> {
    let entries = fs::read_dir(FOLDER).map_err(|io| failed("read", Path::new(FOLDER), io))?;
    let is_thread = |path: &PathBuf| path.to_string_lossy().contains("/kpktgend_");
    for thread in entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_thread) {
        let text = fs::read_to_string(&thread).map_err(|io| failed("read", &thread, io))?;
        let (running, stopped) = devices(&text);
        if let Some(other) = running.iter().chain(stopped.iter().filter(|name| !name.contains(OURS))).next() {
            let file = thread.display();
            return Err(unable(format!(
                "somebody else has set it up on {other}; wait for that to end, or \"echo rem_device_all > {file}\""
            )));
        }
    }
    Ok(())
}

/// Writes a command to a file of pktgen.
fn tell(file: &Path, command: &str) -> Result<(), EngineError> {
    // The newline is required: pgctrl removes the last byte, whatever it is.
    fs::write(file, format!("{command}\n")).map_err(|io| failed(&format!("write \"{command}\" to"), file, io))
}

fn failed(what: &str, file: &Path, io: io::Error) -> EngineError {
    EngineError::Io { what: format!("{what} {}", file.display()), io }
}

fn unable(why: String) -> EngineError {
    EngineError::Unable { what: "engine pktgen".to_owned(), why }
}
