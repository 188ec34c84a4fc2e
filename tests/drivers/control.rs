//! Commands run inside a machine, through a port that its first process (`init`) serves.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    os::unix::net::UnixStream,
    time::Duration,
};

use serde_json::Value;

/// Longer than anything takes that a test asks for, on a machine that is busy with other things too.
const LONGEST: Duration = Duration::from_secs(180);

/// The port.
pub(crate) struct Control {
    stream: BufReader<UnixStream>,
}

/// What a command did.
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

    /// Runs a command of the shell, of one line.
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
    /// What it printed, as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}\n{}", self.out, self.err))
    }

    /// It worked.
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.status, 0, "{}\n{}", self.out, self.err);
        self
    }

    /// Checks exit status and that the error says all of this.
    pub(crate) fn fails(&self, status: i32, says: &[&str]) {
        assert_eq!(self.status, status, "stdout: {}\nstderr: {}", self.out, self.err);
        for words in says {
            assert!(self.err.contains(words), "{words:?} is not said in: {}", self.err);
        }
        assert!(!self.err.contains("panicked"), "{}", self.err);
    }
}
