//! Commands that run inside a machine, through a port served by its first process (`init`).

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    os::unix::net::UnixStream,
    time::Duration,
};

use serde_json::Value;

/// Longer than any request of a test takes, even on a busy machine.
const LONGEST: Duration = Duration::from_secs(180);

/// The port.
pub(crate) struct Control {
    stream: BufReader<UnixStream>,
}

/// Result of a command.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Control {
    /// Waits for the machine to be up.
    pub(crate) fn wait(stream: UnixStream) -> io::Result<Self> {
        stream.set_read_timeout(Some(LONGEST))?;
        let mut control = Self { stream: BufReader::new(stream) };
        match control.line()?.as_str() {
            "ready" => Ok(control),
            other => Err(io::Error::other(format!("the machine said \"{other}\""))),
        }
    }

    /// Runs a one-line shell command.
    pub(crate) fn run(&mut self, command: &str) -> io::Result<Done> {
        assert!(!command.contains('\n'), "one line: {command}");
        self.stream.get_mut().write_all(format!("{command}\n").as_bytes())?;
        let head = self.line()?;
        let numbers: Vec<usize> = head.split(' ').filter_map(|number| number.parse().ok()).collect();
        let [status, out, err] = numbers[..] else {
            return Err(io::Error::other(format!("the answer was \"{head}\"")));
        };
        Ok(Done { status: status as i32, out: self.text(out)?, err: self.text(err)? })
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }

    fn text(&mut self, length: usize) -> io::Result<String> {
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Done {
    /// Output, as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}\n{}", self.out, self.err))
    }

    /// Checks that it succeeded.
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.status, 0, "{}\n{}", self.out, self.err);
        self
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
