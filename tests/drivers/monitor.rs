//! QEMU's monitor (QMP): manual actions on a machine.

use std::{
    io::{self, BufRead, BufReader, Write},
    os::unix::net::UnixStream,
    time::Duration,
};

use serde_json::{Value, json};

/// QEMU answers at once; a driver may take time to release a card.
const LONGEST: Duration = Duration::from_secs(60);

/// The monitor of one machine.
pub(crate) struct Monitor {
    stream: BufReader<UnixStream>,
}

impl Monitor {
    /// Exchanges greetings.
    pub(crate) fn open(stream: UnixStream) -> io::Result<Self> {
        stream.set_read_timeout(Some(LONGEST))?;
        let mut monitor = Self { stream: BufReader::new(stream) };
        monitor.next(|message| message.get("QMP").is_some())?;
        monitor.ask("qmp_capabilities", &json!({}))?;
        Ok(monitor)
    }

    /// Plugs or pulls the cable of a card.
    pub(crate) fn set_link(&mut self, card: &str, up: bool) -> io::Result<()> {
        self.ask("set_link", &json!({ "name": card, "up": up }))
    }

    /// Removes a card from the running machine, and waits until the machine has released it.
    pub(crate) fn unplug(&mut self, card: &str) -> io::Result<()> {
        self.ask("device_del", &json!({ "id": card }))?;
        self.next(|message| message["event"] == "DEVICE_DELETED" && message["data"]["device"] == card).map(drop)
    }

    fn ask(&mut self, command: &str, arguments: &Value) -> io::Result<()> {
        let message = json!({ "execute": command, "arguments": arguments });
        self.stream.get_mut().write_all(message.to_string().as_bytes())?;
        let answer = self.next(|message| message.get("return").is_some() || message.get("error").is_some())?;
        match answer.get("error") {
            None => Ok(()),
            Some(error) => Err(io::Error::other(format!("{command}: {error}"))),
        }
    }

    /// The next wanted message; others (events) are skipped.
    fn next(&mut self, wanted: impl Fn(&Value) -> bool) -> io::Result<Value> {
        loop {
            let mut line = String::new();
            if self.stream.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let message: Value = serde_json::from_str(&line)?;
            if wanted(&message) {
                return Ok(message);
            }
        }
    }
}
