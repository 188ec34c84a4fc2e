//! A program at the near end, past the kernel and through it, and its counterpart at the far end.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process, set_child_subreaper};
use stack::launch::{Claim, Event};

use crate::{common::library, wire::Wire};

/// Both ends.
pub(crate) struct Ends(Wire);

/// How programs at the near end are started.
pub(crate) struct Near<'a> {
    ends: &'a Ends,
    launcher: Option<String>,
}

/// A program that runs until this is dropped.
pub(crate) struct Running {
    child: Child,
    said: PathBuf,
}

impl Ends {
    pub(crate) fn new(test: &str) -> Self {
        // Daemons stay among those that the launcher started.
        set_child_subreaper(Some(rustix::process::getpid())).expect("any process may");
        Self(Wire::up(test.split('-').next().unwrap_or(test)))
    }

    /// What comes of `run` has to be the same past the kernel, with at least so many datagrams past it and none to speak of through it.
    #[track_caller]
    pub(crate) fn same(&self, name: &str, least: u64, run: impl Fn(&Near<'_>) -> String) {
        let through = run(&Near { ends: self, launcher: None });
        let (launcher, events) = self.0.launcher();
        let before = self.0.counted();
        let past = run(&Near { ends: self, launcher: Some(launcher.name().to_owned()) });
        let kernel: [u64; 2] = std::array::from_fn(|way| self.0.counted()[way] - before[way]);
        let counters = launcher.end().expect("it ends");
        let claims: Vec<Claim> = events
            .iter()
            .filter_map(|event| if let Event::Ended(claim) = event { Some(claim) } else { None })
            .collect();
        let went: u64 =
            claims.iter().flat_map(|claim| &claim.sockets).map(|socket| socket.past.received + socket.past.sent).sum();
        assert_eq!(through, past, "{name}: through the kernel, and past it; {claims:#?}");
        assert!(went >= least, "{name}: {went} datagrams went past the kernel, {counters:?}, {claims:#?}");
        assert!(
            kernel.iter().all(|count| count * 10 <= went.max(100)),
            "{name}: the kernel had {kernel:?} beside {went}; {claims:#?}"
        );
        println!(
            "{name}: {went} datagrams past the kernel, {kernel:?} through it; {}",
            past.lines().last().unwrap_or_default()
        );
    }

    /// Starts a program at the far end, and waits until it says something.
    pub(crate) fn far(&self, words: &[&str], says: &str) -> Running {
        let mut command = self.0.command(1, words[0]);
        command.args(&words[1..]);
        Running::start(command, says)
    }

    /// What a program at the far end says, and how it ends.
    pub(crate) fn far_told(&self, words: &[&str]) -> String {
        crate::common::told(self.0.command(1, words[0]).args(&words[1..]))
    }
}

impl Near<'_> {
    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.ends.0.command(0, "env");
        if let Some(launcher) = &self.launcher {
            command.args([format!("LD_PRELOAD={}", library().display()), format!("WIREPROOF_BYPASS={launcher}")]);
        }
        command.args(words);
        command
    }

    /// What a program says, and how it ends.
    pub(crate) fn told(&self, words: &[&str]) -> String {
        crate::common::told(&mut self.command(words))
    }

    /// Starts a program, and waits until it says something.
    pub(crate) fn start(&self, words: &[&str], says: &str) -> Running {
        Running::start(self.command(words), says)
    }
}

impl Running {
    fn start(mut command: Command, says: &str) -> Self {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let said = folder().join(format!("said-{number}"));
        let file = || fs::File::options().append(true).open(&said).expect("it was just made");
        fs::write(&said, "").expect("writable");
        let child = command.stdin(Stdio::null()).stdout(file()).stderr(file()).spawn().expect("it is executable");
        let running = Self { child, said };
        let until = Instant::now() + Duration::from_secs(10);
        while !running.said().contains(says) {
            assert!(Instant::now() < until, "it does not say {says}: {}", running.said());
            sleep(Duration::from_millis(20));
        }
        running
    }

    /// Gives one that says nothing so many milliseconds.
    pub(crate) fn after(self, milliseconds: u64) -> Self {
        sleep(Duration::from_millis(milliseconds));
        self
    }

    /// All that it said until now.
    pub(crate) fn said(&self) -> String {
        fs::read_to_string(&self.said).expect("readable")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Gently at first: sockperf and others then say what they have to say.
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let until = Instant::now() + Duration::from_millis(1500);
        while Instant::now() < until && !matches!(self.child.try_wait(), Ok(Some(_))) {
            sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Ends the daemon whose number is in this file.
pub(crate) fn end_by_file(file: &str) {
    let number = fs::read_to_string(file).ok().and_then(|text| Pid::from_raw(text.trim().parse().ok()?));
    let ended = number.is_some_and(|number| kill_process(number, Signal::TERM).is_ok());
    assert!(ended, "{file} names no daemon");
}

/// A place for files of this test.
pub(crate) fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("programs-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("writable");
    folder
}

/// A script beside this test.
pub(crate) fn script(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts").join(name).display().to_string()
}
