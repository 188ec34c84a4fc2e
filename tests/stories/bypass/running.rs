//! Programs that run while others exchange datagrams with them.

use std::{
    fs,
    process::{Child, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use super::{Lab, PATIENCE};
use crate::other_host::signal;
use crate::waiting::soon;

/// A program that runs until this is dropped.
pub(super) struct Running {
    child: Child,
    /// Output, standard output and error together.
    folder: TempDir,
}

impl Running {
    /// Starts it at an end of the lab, and waits for this output.
    pub(super) fn start(lab: &Lab<'_>, end: &str, words: &[&str], says: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let said = || fs::File::options().create(true).append(true).open(folder.path().join("said")).unwrap();
        let mut command = lab.desk.command(&Lab::words(end, words));
        let child = command.stdin(Stdio::null()).stdout(said()).stderr(said()).spawn().unwrap();
        let running = Self { child, folder };
        assert!(soon(|| running.said().contains(says)), "it does not say {says}: {}", running.said());
        running
    }

    /// Waits until a process at this end of the lab receives datagrams on a port.
    pub(super) fn hears(self, lab: &Lab<'_>, end: &str, port: u16) -> Self {
        self.waits(lab, end, port, |hears| !hears.is_empty())
    }

    /// The same, until only one process does.
    pub(super) fn hears_alone(self, lab: &Lab<'_>, end: &str, port: u16) -> Self {
        self.waits(lab, end, port, |hears| hears.matches("pid=").count() == 1)
    }

    fn waits(self, lab: &Lab<'_>, end: &str, port: u16, is_so: impl Fn(&str) -> bool) -> Self {
        let (until, filter) = (Instant::now() + PATIENCE, format!("sport = :{port}"));
        while !is_so(&lab.exec(end, &["ss", "-Huanp", &filter]).out) {
            assert!(Instant::now() < until, "it does not hear {port}: {}", self.said());
            sleep(Duration::from_millis(20));
        }
        self
    }

    /// Output so far.
    pub(super) fn said(&self) -> String {
        fs::read_to_string(self.folder.path().join("said")).unwrap()
    }

    /// Ends it, unless it does so by itself within a moment; returns its output.
    pub(super) fn ended(mut self) -> String {
        self.end();
        self.said()
    }

    fn end(&mut self) {
        if self.ends_within(Duration::from_millis(200)) {
            return;
        }
        signal(self.child.id(), "-TERM");
        if !self.ends_within(PATIENCE) {
            // It may have ended just now.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    fn ends_within(&mut self, time: Duration) -> bool {
        let until = Instant::now() + time;
        while Instant::now() < until {
            if self.child.try_wait().unwrap().is_some() {
                return true;
            }
            sleep(Duration::from_millis(10));
        }
        false
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            self.end();
        }
    }
}
