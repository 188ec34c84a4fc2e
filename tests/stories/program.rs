//! Runs wireproof and reads its output.

use std::{
    ffi::OsStr,
    io::{BufRead, BufReader, Read},
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    process::{Child, ChildStderr, Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::machine::{self, Turn, turn, turn_alone};

/// The program under test.
pub(crate) const WIREPROOF: &str = env!("CARGO_BIN_EXE_wireproof");

/// A small plan: both probes, both protocols, about two seconds.
pub(crate) const SMALL: &str = r#"
name = "small"
repeats = 2
[[latency]]
protocol = "udp"
frame_sizes = [64, 1518]
count = 2000
warmup = 100
[[latency]]
protocol = "tcp"
mode = "block"
frame_sizes = [128]
count = 500
warmup = 50
[[goodput]]
protocol = "tcp"
duration = "1 s"
warmup = "100 ms"
"#;

/// Many short trials, so that a kill meets every state of a run.
pub(crate) const MANY: &str = r#"
name = "many"
repeats = 40
[[latency]]
protocol = "udp"
frame_sizes = [64]
count = 1000
warmup = 10
[[latency]]
protocol = "tcp"
frame_sizes = [128]
count = 1000
warmup = 10
"#;

/// A folder for one story: its store, plan and reports; and its [`Turn`].
pub(crate) struct Desk {
    folder: TempDir,
    turn: Turn,
}

/// A bed that is kept until the story ends, even on a failure.
pub(crate) struct KeptBed<'a> {
    desk: &'a Desk,
    name: &'a str,
}

impl Drop for KeptBed<'_> {
    fn drop(&mut self) {
        self.desk.run(&["bed", "down", self.name]);
    }
}

/// Result of a command.
pub(crate) struct Done {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A running command that has reported to be ready.
pub(crate) struct Speaking {
    child: Child,
    /// Output so far, and the rest of the stream.
    said: String,
    err: BufReader<ChildStderr>,
}

impl Speaking {
    /// Waits for this output.
    pub(crate) fn once(mut child: Child, words: &str) -> Self {
        let (mut said, mut err) = (String::new(), BufReader::new(child.stderr.take().unwrap()));
        while !said.contains(words) {
            assert!(err.read_line(&mut said).unwrap() > 0, "it ended: {said}");
        }
        Self { child, said, err }
    }

    /// Interrupts it, as Ctrl-C does, and waits for its end.
    pub(crate) fn interrupted(self) -> Done {
        crate::other_host::signal(self.child.id(), "-INT");
        self.ended()
    }

    /// Waits for its end.
    pub(crate) fn ended(mut self) -> Done {
        self.err.read_to_string(&mut self.said).unwrap();
        let done = done(self.child.wait_with_output().unwrap());
        Done { err: self.said, ..done }
    }
}

impl Desk {
    /// For a story that may run beside others.
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().unwrap(), turn: turn() }
    }

    /// For a story that needs all cores: see [`turn_alone`]. It measures by [`undisturbed`](Self::undisturbed).
    pub(crate) fn alone() -> Self {
        Self { folder: TempDir::new().unwrap(), turn: turn_alone() }
    }

    /// Runs such a story, and once more if it fails: no counter shows a machine that stalls for some milliseconds.
    pub(crate) fn tell_alone(story: impl Fn(&Self)) {
        let tell = || story(&Self::alone());
        if catch_unwind(AssertUnwindSafe(tell)).is_err() {
            machine::say_again("it failed");
            tell();
        }
    }

    /// See [`Turn::undisturbed`].
    pub(crate) fn undisturbed<T>(&self, measure: impl FnMut() -> T) -> T {
        self.turn.undisturbed(measure)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a plan file.
    pub(crate) fn plan(&self, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path("plan.toml");
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A command with this desk's store.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = without_caller(WIREPROOF.as_ref());
        command.args(["--store".as_ref(), self.path("runs.db").as_os_str()]).args(args);
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Done {
        done(self.command(args).stdin(Stdio::null()).output().unwrap())
    }

    /// Makes a bed and keeps it.
    pub(crate) fn bed<'a>(&'a self, name: &'a str, more: &[&str]) -> KeptBed<'a> {
        let up = self.run(&[&["bed", "up", name], more].concat());
        assert_eq!(up.status, 0, "{}", up.err);
        KeptBed { desk: self, name }
    }

    /// Starts a command whose output is read later.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs of this desk's store.
    pub(crate) fn runs(&self) -> Vec<Value> {
        let listed = self.run(&["runs", "--json"]);
        assert_eq!(listed.status, 0, "{}", listed.err);
        listed.json()["runs"].as_array().unwrap().clone()
    }
}

impl Done {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}\n{}", self.out, self.err))
    }

    /// Checks the exit status, and that the error contains all of these words.
    pub(crate) fn fails(&self, status: i32, says: &[&str]) {
        assert_eq!(self.status, status, "stdout: {}\nstderr: {}", self.out, self.err);
        for words in says {
            assert!(self.err.contains(words), "{words:?} is not said in: {}", self.err);
        }
        assert!(!self.err.contains("panicked"), "{}", self.err);
    }
}

/// A program without the environment of the tests' user: language, time zone and sudo.
pub(crate) fn without_caller(program: &OsStr) -> Command {
    let mut command = Command::new(program);
    for name in ["LC_ALL", "LC_MESSAGES", "SUDO_UID", "SUDO_GID", "SUDO_USER", "XDG_DATA_HOME"] {
        command.env_remove(name);
    }
    command.envs([("LANG", "C.UTF-8"), ("TZ", "UTC")]);
    command
}

pub(crate) fn done(output: Output) -> Done {
    Done {
        status: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
