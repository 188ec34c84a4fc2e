//! An agent for a machine on which nothing of ours runs. It runs on the controller's machine: it answers by that machine's own commands
//! over ssh, and has its programs take part in measurements. It changes nothing.

mod far_program;
mod linux;

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use freebsd::Said;
use kernel::clock;
use model::{
    Answer, CpuFacts, Mtu, Reading,
    environment::{EndpointFacts, HostFacts, InterfaceFacts},
};
use probe::{Prepared, ProbeError};
use protocol::{Agentless, Bounds, Cleaned, Failure, FailureKind, LabState, LinkReading, Reply, Request, Task};

use self::far_program::FarProgram;

/// Bounds of a session that reads: a little less than a request may take.
const SESSION: Bounds = Bounds { bytes: freebsd::LONGEST_SESSION, time: Duration::from_secs(18) };

/// Readings are taken again after this time: a login takes longer than a look at a link.
const FRESH: Duration = Duration::from_secs(2);

/// An agent that stands in for a machine.
pub(crate) struct StandIn {
    machine: Agentless,
    /// The latest readings.
    read: Mutex<Option<(Instant, Facts)>>,
}

/// Facts about the machine.
#[derive(Clone, Debug, Default, PartialEq)]
struct Facts {
    host: HostFacts,
    interfaces: Vec<InterfaceFacts>,
}

impl StandIn {
    pub(crate) fn new(machine: Agentless) -> Self {
        Self { machine, read: Mutex::default() }
    }

    /// Answers a request.
    pub(crate) fn answer(&self, request: Request) -> Result<Reply, Failure> {
        Ok(match request {
            Request::HostFacts => Reply::HostFacts(Box::new(self.facts()?.host)),
            Request::EndpointFacts { endpoint } => {
                let interfaces = self.facts()?.interfaces;
                Reply::EndpointFacts(Box::new(EndpointFacts { endpoint, interfaces, ..EndpointFacts::default() }))
            }
            Request::Link { interface } => Reply::Link(link(&self.facts()?.interfaces, &interface)),
            Request::Clock => Reply::Clock(clock::now()),
            Request::LabState { .. } => Reply::LabState(LabState { cpus: CpuFacts::default(), ipv6: true }),
            Request::Load => Reply::Load(Vec::new()),
            Request::Uplinks => Reply::Interfaces(Vec::new()),
            Request::SourceFor { .. } => Reply::Source(None),
            Request::Answers { .. } => Reply::Answer(Answer::Nothing),
            Request::RefusedCards => Reply::RefusedCards(Vec::new()),
            Request::Cables { .. } => Reply::Cables(Vec::new()),
            Request::Clean => Reply::Cleaned(Cleaned::default()),
            other => {
                let why = format!("nothing of wireproof runs there, and nothing is changed ({other:?})");
                return Err(Failure::new(FailureKind::Change, self.machine.ssh.destination.as_str(), why));
            }
        })
    }

    /// Starts the program there that takes part in a measurement.
    pub(crate) fn prepare(&self, task: &Task) -> Result<Box<dyn Prepared>, ProbeError> {
        Ok(Box::new(FarProgram::start(&self.machine, &task.spec.profile(), &task.setup)?))
    }

    fn facts(&self) -> Result<Facts, Failure> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        match &*read {
            Some((at, facts)) if at.elapsed() < FRESH => Ok(facts.clone()),
            _ => {
                let facts = self.ask()?;
                *read = Some((Instant::now(), facts.clone()));
                Ok(facts)
            }
        }
    }

    fn ask(&self) -> Result<Facts, Failure> {
        let Agentless { ssh, system, .. } = &self.machine;
        let failed = |what: String| Failure::new(FailureKind::Measurement, ssh.destination.as_str(), what);
        let is_linux = system == "Linux";
        let script = if is_linux { linux::SCRIPT } else { freebsd::script() };
        let ran = ssh.run(&["/bin/sh", "-c", script], SESSION).map_err(|error| failed(error.to_string()))?;
        let facts = if is_linux { linux::facts(&ran.out) } else { of_freebsd(&ran.out) };
        if facts.interfaces.is_empty() {
            let command = if is_linux { "ip -o address" } else { "ifconfig -vm" };
            let said = ran.err.trim();
            return Err(failed(format!("\"{command}\" at {} shows no interfaces; it said: {said}", ssh.destination)));
        }
        Ok(facts)
    }
}

/// Without settings: those of Linux are judged by rules of Linux.
fn of_freebsd(printed: &str) -> Facts {
    let readings = freebsd::host(&Said::of(printed));
    let interfaces = readings.ends.into_iter().flat_map(|end| end.interfaces);
    let interfaces = interfaces.map(|facts| InterfaceFacts { settings: None, ..facts }).collect();
    Facts { host: readings.host, interfaces }
}

fn link(interfaces: &[InterfaceFacts], name: &str) -> Option<LinkReading> {
    let facts = interfaces.iter().find(|facts| facts.name == name)?;
    let set_up = facts.state != "down";
    let mtu = Mtu(facts.mtu.copied().unwrap_or_default());
    Some(LinkReading { set_up, up: matches!(facts.state.as_str(), "up" | "unknown"), losses: 0, mtu })
}

/// The same of a text, where it is known.
fn known(text: &str) -> Reading<String> {
    Reading::Known(text.to_owned()).filled()
}

#[cfg(test)]
mod tests {
    use protocol::Ssh;

    use super::*;

    /// A machine whose shell runs the command, which is the last argument of ssh.
    fn stand_in(system: &str, before: &str) -> StandIn {
        let line = format!("{before}; for word; do :; done; eval \"exec $word\"");
        let program = ["sh", "-c", &line].map(str::to_owned).into();
        let ssh = Ssh { program, destination: "far".to_owned(), port: None, caller: None };
        StandIn::new(Agentless { ssh, system: system.to_owned(), port: 17_198 })
    }

    #[test]
    fn nothing_is_changed_and_what_nobody_can_tell_is_empty() {
        let stand_in = stand_in("Linux", "exit 1");
        let error = stand_in.answer(Request::UndoAll).expect_err("nothing is changed");
        assert!(error.what.contains("nothing of wireproof runs there"), "{error}");
        assert_eq!(stand_in.answer(Request::Load), Ok(Reply::Load(Vec::new())));
        assert_eq!(stand_in.answer(Request::Clean), Ok(Reply::Cleaned(Cleaned::default())));
    }

    #[test]
    fn a_machine_that_shows_no_interfaces_is_an_error_with_its_words() {
        let stand_in = stand_in("FreeBSD", "echo 'This account is closed.' >&2; exit 1");
        let error = stand_in.answer(Request::HostFacts).expect_err("nothing was read");
        assert!(error.what.contains("ifconfig -vm") && error.what.contains("This account is closed."), "{error}");
    }

    #[test]
    fn a_link_is_known_by_its_state() {
        let of = |state: &str| InterfaceFacts { name: "ix0".into(), state: state.into(), ..InterfaceFacts::default() };
        let reading = |state: &str| link(&[of(state)], "ix0").map(|link| (link.set_up, link.up));
        assert_eq!([reading("up"), reading("down")], [Some((true, true)), Some((false, false))]);
        assert_eq!(link(&[of("up")], "ix1"), None);
    }
}
