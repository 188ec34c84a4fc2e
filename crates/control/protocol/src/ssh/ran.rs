//! A command that runs there, with bounds of its time and its output.

use std::{
    io::Read,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::{Ssh, SshError};
use crate::pipes::harvest;

/// Bounds of a command.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Longest output in bytes; a command that prints more is ended.
    pub bytes: usize,
    /// Time limit, the login included.
    pub time: Duration,
}

/// Output and end of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// Standard output; its beginning if there was more.
    pub out: String,
    /// Standard error, likewise.
    pub err: String,
    /// Exit status, of ssh itself where the command did not run. `None` after a signal.
    pub status: Option<i32>,
    /// Whether it printed more than its bound.
    pub is_long: bool,
    /// Whether it took longer than its bound, and was ended.
    pub is_slow: bool,
}

impl Ssh {
    /// Runs these words there, each quoted, without input.
    ///
    /// # Errors
    /// ssh cannot be started here.
    pub fn run(&self, words: &[&str], bounds: Bounds) -> Result<Ran, SshError> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let mut command = self.command(&words);
        let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = spawned.map_err(|error| SshError::start(self, error))?;
        let (out, err) = (collect(child.stdout.take(), bounds.bytes), collect(child.stderr.take(), bounds.bytes));
        let status = wait(&mut child, bounds.time);
        let (out, err) = (harvest(out), harvest(err));
        let text = |kept: &[u8]| String::from_utf8_lossy(&kept[..kept.len().min(bounds.bytes)]).into_owned();
        Ok(Ran {
            is_long: out.len() > bounds.bytes,
            is_slow: status.is_none(),
            out: text(&out),
            err: text(&err),
            status: status.flatten(),
        })
    }
}

/// Reads up to a byte more than this. The writer then finds nobody who reads, and ends.
fn collect(stream: Option<impl Read + Send + 'static>, most: usize) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut kept = Vec::new();
        // After an error, the bytes read so far are used.
        let _ = stream.map(|stream| stream.take(most as u64 + 1).read_to_end(&mut kept));
        kept
    })
}

/// The exit status; the outer `None` means that it took too long and was ended.
fn wait(child: &mut Child, time: Duration) -> Option<Option<i32>> {
    let until = Instant::now() + time;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.code()),
            Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(10)),
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result of a far shell, whose command is the last argument.
    fn ran(line: &str, bounds: Bounds) -> Ran {
        let program = ["sh", "-c", "for word; do :; done; eval \"exec $word\""].map(str::to_owned).into();
        let ssh = Ssh { program, destination: "far".to_owned(), port: None, caller: None };
        ssh.run(&["sh", "-c", line], bounds).expect("a shell")
    }

    #[test]
    fn output_and_time_of_a_command_have_bounds() {
        let bounds = Bounds { bytes: 1000, time: Duration::from_secs(20) };
        let short = ran("echo a; echo b >&2; exit 3", bounds);
        assert_eq!((short.out.as_str(), short.err.as_str(), short.status), ("a\n", "b\n", Some(3)));
        assert!(!short.is_long && !short.is_slow);
        let begun = Instant::now();
        let long = ran("while echo 12345678; do :; done", bounds);
        assert!(long.is_long && long.out.len() == 1000, "{}", long.out.len());
        let slow = ran("echo a; exec sleep 60", Bounds { time: Duration::from_millis(300), ..bounds });
        assert!(slow.is_slow && slow.out == "a\n", "{slow:?}");
        assert!(begun.elapsed() < Duration::from_secs(20));
    }
}
