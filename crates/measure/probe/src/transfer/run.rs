//! A program of a transfer while it runs.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    os::unix::process::ExitStatusExt,
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use kernel::process::tie;
use model::SideSetup;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, Signal, pidfd_open},
};

use super::{
    methods::{Call, Run},
    place::Place,
    unable,
};
use crate::{
    Control, ProbeError,
    programs::{Processes, listeners},
    socket::STOP_CHECK,
};

/// Time that a server has to begin to listen.
const PATIENCE: Duration = Duration::from_secs(10);

/// Interval of checks whether it listens.
const LOOK: Duration = Duration::from_millis(5);

/// A program that ends with this value.
pub(super) struct Running<'a> {
    name: &'static str,
    place: &'a Place,
    /// As a shell would be told it.
    pub(super) command: String,
    processes: Processes,
    _helper: Option<Processes>,
    /// Whether another program reads its output.
    is_read: bool,
}

impl<'a> Running<'a> {
    pub(super) fn start(name: &'static str, call: &Call<'a>, run: Run, setup: &SideSetup) -> Result<Self, ProbeError> {
        let Run { command, redirected, stdin, stdout, helper, before, after } = run;
        let log = || call.place.folder().log().map_err(|error| unable(name, error));
        let (first, last) = (before.is_some(), after.is_some());
        let commands: Vec<Command> = before.into_iter().chain([command]).chain(after).collect();
        let line = commands.iter().map(shown).collect::<Vec<_>>().join(" | ") + redirected;
        let helper = helper.map(|(mut command, address)| -> Result<Processes, ProbeError> {
            tie(&mut command, setup.cpus.first().copied()).stdin(Stdio::null()).stdout(log()?).stderr(log()?);
            let child = Processes(vec![command.spawn().map_err(|error| unable(name, error))?]);
            let began = Instant::now();
            while !listens(address) && began.elapsed() < PATIENCE {
                thread::sleep(LOOK);
            }
            Ok(child)
        });
        let helper = helper.transpose()?;
        let (mut processes, mut input) = (Processes::default(), stdin.map(Stdio::from));
        let end = commands.len() - 1;
        for (at, mut command) in commands.into_iter().enumerate() {
            tie(&mut command, setup.cpus.first().copied());
            command.current_dir(call.place.room()).stdin(input.take().unwrap_or_else(Stdio::null));
            command.stdout(match &stdout {
                _ if at < end => Stdio::piped(),
                Some(file) => file.try_clone().map_err(|error| unable(name, error))?.into(),
                None => log()?,
            });
            let mut child = command.stderr(log()?).spawn().map_err(|error| unable(name, error))?;
            input = child.stdout.take().map(Stdio::from);
            processes.0.push(child);
        }
        // The program itself comes first, and the others of its pipe after it.
        processes.0.swap(0, usize::from(first));
        Ok(Self { name, place: call.place, command: line, processes, _helper: helper, is_read: last })
    }

    /// Waits for the program that reads what a server wrote, where there is one.
    pub(super) fn finish(&mut self, control: &Control) -> Result<(), ProbeError> {
        if self.is_read {
            self.wait(control, || {})?;
            self.processes.0.swap(0, 1);
            self.wait(control, || {})?;
        }
        Ok(())
    }

    /// Waits until a server listens.
    pub(super) fn wait_until_it_listens(&mut self, address: SocketAddr, control: &Control) -> Result<(), ProbeError> {
        let began = Instant::now();
        while !listens(address) {
            if control.stopped() {
                return Err(ProbeError::Cancelled);
            }
            if let Some(status) = self.ended()? {
                return Err(self.failed(&format!("it ended by itself ({status})")));
            }
            if began.elapsed() > PATIENCE {
                return Err(self.failed(&format!("it does not listen on {address} after {PATIENCE:?}")));
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }

    /// An error where a server has ended, other than well: one that serves a single client ends with it, smbd by SIGTERM to its group.
    pub(super) fn check(&mut self) -> Result<(), ProbeError> {
        match self.ended()? {
            Some(status) if !status.success() && status.signal() != Some(Signal::TERM.as_raw()) => {
                Err(self.failed(&format!("it ended by itself ({status})")))
            }
            _ => Ok(()),
        }
    }

    /// Waits for the end of a client, at the moment it comes.
    pub(super) fn wait(&mut self, control: &Control, mut tell: impl FnMut()) -> Result<(), ProbeError> {
        let watched = self.processes.0.first().map(Child::id).and_then(|id| Pid::from_raw(id.cast_signed()));
        let watched = watched.ok_or_else(|| unable(self.name, "it has no process"))?;
        let watched = pidfd_open(watched, PidfdFlags::empty()).map_err(|error| unable(self.name, error))?;
        let timeout = Timespec { tv_sec: 0, tv_nsec: STOP_CHECK.subsec_nanos().into() };
        loop {
            // An interrupted call looks again.
            let _ = poll(&mut [PollFd::new(&watched, PollFlags::IN)], Some(&timeout));
            if let Some(status) = self.ended()? {
                return if status.success() { Ok(()) } else { Err(self.failed(&format!("it failed ({status})"))) };
            }
            if control.stopped() {
                return Err(ProbeError::Cancelled);
            }
            tell();
        }
    }

    fn ended(&mut self) -> Result<Option<ExitStatus>, ProbeError> {
        let Some(child) = self.processes.0.first_mut() else { return Ok(None) };
        child.try_wait().map_err(|error| unable(self.name, error))
    }

    fn failed(&self, what: &str) -> ProbeError {
        unable(self.name, format!("{what}: {}", self.place.folder().words()))
    }
}

/// Whether somebody listens on this address, or on its port of all addresses.
fn listens(address: SocketAddr) -> bool {
    let any: [IpAddr; 2] = [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()];
    any.iter().chain([&address.ip()]).any(|ip| listeners(SocketAddr::new(*ip, address.port())) > 0)
}

/// A command as a shell would be told it.
fn shown(command: &Command) -> String {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    let quoted = |word: std::borrow::Cow<'_, str>| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:=@,[]+".contains(c);
        if !word.is_empty() && word.chars().all(is_plain) { word.into_owned() } else { format!("'{word}'") }
    };
    words.map(|word| quoted(word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_given_to_a_shell() {
        let mut command = Command::new("/usr/bin/curl");
        command.args(["-q", "--noproxy", "*", "http://[2001:2::2]:80/contents", ""]);
        assert_eq!(shown(&command), "/usr/bin/curl -q --noproxy '*' http://[2001:2::2]:80/contents ''");
    }
}
