//! One machine of a bed: its agent performs and records every change there.

use std::{
    hash::{BuildHasher, RandomState},
    mem,
    net::IpAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use model::{
    Bed, Cards, Change, Endpoint, NicsState,
    card::Cable,
    environment::{EndpointFacts, HostFacts},
};
use protocol::{AgentError, AgentLink, ClockReading, Fault, LabState, Launch, Place, Reply, Request, Ssh};

use crate::{
    changes::are_made_together,
    error::{BedError, Refusal},
};

/// Any single request to an agent is done in this time.
pub(crate) const REQUEST: Duration = Duration::from_secs(20);

/// Undoing is: links have to come again before all is as it was, and programs that configure interfaces are waited for.
const UNDOING: Duration = Duration::from_secs(120);

/// Asks a machine, and takes this kind of reply.
macro_rules! answer {
    ($machine:expr, $request:expr, $reply:ident) => {
        match $machine.ask($request)? {
            Reply::$reply(answer) => Ok(answer),
            other => Err($machine.confused(&other)),
        }
    };
}

/// What a machine is asked through: its agent, or in tests a fake of one.
pub(crate) trait Agent: Send {
    /// Asks, and waits for so long.
    fn ask(&mut self, request: Request, within: Duration) -> Result<Reply, AgentError>;
    /// The clock of its machine, as we see it.
    fn read_clock(&mut self) -> Result<ClockReading, AgentError>;
    /// An error that names it.
    fn error(&self, fault: Fault) -> AgentError;
    /// Whether it is on this machine.
    fn is_here(&self) -> bool;
    /// A new agent in its place.
    fn again(&self) -> Result<Box<dyn Agent>, AgentError>;
    /// Starts an agent on the same machine that measures at an end. `on` says where to people.
    fn at_end(&self, end: &Endpoint, on: &str, wrap: &[String]) -> Result<AgentLink, AgentError>;
}

/// An agent with how it was started.
struct Launched {
    link: AgentLink,
    launch: Launch,
    /// How further agents are started there.
    place: Place,
    program: PathBuf,
}

/// A machine with its agent. Dropping it undoes what was not kept, and ends the agent.
pub(crate) struct Machine {
    /// What may be changed there.
    pub(crate) allowed: Allowed,
    /// The address there that ssh goes by.
    pub(crate) ssh: Option<IpAddr>,
    agent: Box<dyn Agent>,
    ledger_open: bool,
    /// How many of the last changes hold for a while only.
    passing: usize,
}

/// Settings that may be changed on a machine.
#[derive(Clone, Debug)]
pub(crate) struct Allowed {
    /// Name of the machine as endpoints have it; empty for the one machine that there is.
    pub(crate) host: String,
    /// Interfaces that are not to be changed: others would be cut off, or we.
    pub(crate) protected: Vec<String>,
    /// Whether anything may be changed at all.
    pub(crate) root: bool,
}

impl Allowed {
    /// Refuses changes to this interface that must not be made.
    pub(crate) fn check(&self, interface: &str, changes: &[Change]) -> Result<(), Refusal> {
        let what = || changes.iter().map(ToString::to_string).collect();
        let (host, is_protected) = (self.host.clone(), self.protected.iter().any(|it| it == interface));
        match changes {
            [] => Ok(()),
            _ if is_protected => Err(Refusal::Uplink { host, interface: interface.to_owned(), what: what() }),
            _ if !self.root => Err(Refusal::NotRoot { host, what: what() }),
            _ => Ok(()),
        }
    }
}

impl Launched {
    fn start(name: &str, launch: Launch) -> Result<Self, AgentError> {
        let link = AgentLink::launch(name, &launch)?;
        let (place, program) = match launch.place.clone() {
            // The agent has removed its copy by now; what it runs is there for as long as it is.
            Place::There { ssh, sudo, copied: true } => {
                (Place::There { ssh, sudo, copied: false }, format!("/proc/{}/exe", link.pid()).into())
            }
            place => (place, launch.program.clone()),
        };
        Ok(Self { link, launch, place, program })
    }
}

impl Agent for Launched {
    fn ask(&mut self, request: Request, within: Duration) -> Result<Reply, AgentError> {
        self.link.ask(request, within)
    }

    fn read_clock(&mut self) -> Result<ClockReading, AgentError> {
        self.link.read_clock()
    }

    fn error(&self, fault: Fault) -> AgentError {
        self.link.error(fault)
    }

    fn is_here(&self) -> bool {
        self.place == Place::Here
    }

    fn again(&self) -> Result<Box<dyn Agent>, AgentError> {
        Ok(Box::new(Self::start("machine agent", self.launch.clone())?))
    }

    fn at_end(&self, end: &Endpoint, on: &str, wrap: &[String]) -> Result<AgentLink, AgentError> {
        let namespace = Some(end.namespace.clone()).filter(|name| !name.is_empty());
        let (place, program) = (self.place.clone(), self.program.clone());
        let launch = Launch { place, program, namespace, wrap: wrap.to_vec() };
        AgentLink::launch(&format!("agent at endpoint {}{on}", end.name), &launch)
    }
}

impl Machine {
    /// This machine.
    pub(crate) fn here(program: &Path) -> Result<Self, BedError> {
        Self::launch("machine agent", Launch::here(program.to_owned()))
    }

    /// A namespace of this machine, to be looked at.
    pub(crate) fn within(namespace: &str, program: &Path) -> Result<Self, BedError> {
        let launch = Launch { namespace: Some(namespace.to_owned()), ..Launch::here(program.to_owned()) };
        Self::launch(&format!("agent in namespace {namespace}"), launch)
    }

    /// Another machine: by the program of this name there, or by a copy of the one that has it here.
    pub(crate) fn there(ssh: Ssh, sudo: bool, copied: bool, program: PathBuf) -> Result<Self, BedError> {
        let name = format!("machine agent at {}", ssh.destination);
        Self::launch(&name, Launch { place: Place::There { ssh, sudo, copied }, ..Launch::here(program) })
    }

    fn launch(name: &str, launch: Launch) -> Result<Self, BedError> {
        Ok(Self::of(Box::new(Launched::start(name, launch)?)))
    }

    /// The machine of this agent.
    pub(crate) fn of(agent: Box<dyn Agent>) -> Self {
        let allowed = Allowed { host: String::new(), protected: Vec::new(), root: true };
        Self { allowed, ssh: None, agent, ledger_open: false, passing: 0 }
    }

    /// Its name as endpoints have it.
    pub(crate) fn name(&self) -> &str {
        &self.allowed.host
    }

    /// Starts an agent at an end that is on it.
    pub(crate) fn agent_at(&self, end: &Endpoint, wrap: &[String]) -> Result<AgentLink, BedError> {
        let on = if self.agent.is_here() { String::new() } else { format!(" on {}", self.name()) };
        Ok(self.agent.at_end(end, &on, wrap)?)
    }

    /// Asks its agent.
    pub(crate) fn ask(&mut self, request: Request) -> Result<Reply, AgentError> {
        let within = patience(&request);
        self.agent.ask(request, within)
    }

    /// Makes these changes under the name of this owner; when one fails, those before it are undone.
    pub(crate) fn set_up(&mut self, owner: &str, changes: Vec<Change>) -> Result<(), BedError> {
        if changes.is_empty() {
            return Ok(());
        }
        self.open_ledger(owner)?;
        for changes in changes.chunk_by(are_made_together) {
            match self.ask(Request::Apply { changes: changes.to_vec() }) {
                Ok(_) => {}
                Err(error) if matches!(error.fault, Fault::Failed(_)) => {
                    self.ledger_open = false;
                    self.ask(Request::UndoAll)?;
                    return Err(BedError::SetUp(error));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Makes a change to this interface that holds until [`Machine::undo_passing`].
    pub(crate) fn change_for_now(&mut self, interface: &str, change: Change) -> Result<(), BedError> {
        self.allowed.check(interface, std::slice::from_ref(&change))?;
        if !self.ledger_open {
            self.open_ledger(&random_id())?;
        }
        self.ask(Request::Apply { changes: vec![change] })?;
        self.passing += 1;
        Ok(())
    }

    /// Undoes what was made for a while only. Says whether there was anything.
    pub(crate) fn undo_passing(&mut self) -> Result<bool, BedError> {
        // Taken first: what could not be undone now stays in the ledger, and is undone with all the rest.
        let changes = mem::take(&mut self.passing);
        if changes > 0 {
            self.ask(Request::UndoLast { changes })?;
        }
        Ok(changes > 0)
    }

    /// Undoes all that was set up for this session.
    pub(crate) fn give_back(mut self) -> Result<(), BedError> {
        if !mem::take(&mut self.ledger_open) {
            return Ok(());
        }
        let is_here = self.agent.is_here();
        match self.ask(Request::UndoAll) {
            Ok(_) => Ok(()),
            Err(error) if matches!(error.fault, Fault::Failed(_)) => Err(error.into()),
            // The agent is gone, its record is not: another one undoes by it.
            Err(error) if is_here || error.fault.is_of_agent_alone() => match self.clean_by_another() {
                // Nothing to do for it: there is an agent still that undoes.
                Ok(undone) if undone.is_empty() && !is_here => Err(self.lost(error)),
                Ok(_) => Err(BedError::Orphaned(error)),
                Err(undoing) if is_here => Err(undoing),
                Err(_) => Err(self.lost(error)),
            },
            Err(error) => Err(self.lost(error)),
        }
    }

    /// Leaves what was set up standing, as this bed.
    pub(crate) fn keep(&mut self, bed: &Bed) -> Result<(), BedError> {
        self.ask(Request::Keep { bed: bed.clone() })?;
        self.ledger_open = false;
        Ok(())
    }

    /// Takes a standing bed down; says what was undone.
    pub(crate) fn take_down(&mut self, name: &str) -> Result<Vec<String>, BedError> {
        self.ask(Request::Reopen { owner: name.to_owned() })?;
        self.undone(Request::UndoAll)
    }

    /// Undoes what a crash left behind; says what.
    pub(crate) fn clean(&mut self) -> Result<Vec<String>, BedError> {
        self.undone(Request::Clean)
    }

    fn undone(&mut self, request: Request) -> Result<Vec<String>, BedError> {
        answer!(self, request, Undone)
    }

    /// Beds that stand there.
    pub(crate) fn beds(&mut self) -> Result<Vec<Bed>, BedError> {
        answer!(self, Request::ListBeds, Beds)
    }

    /// The bed of this name that stands there.
    pub(crate) fn bed(&mut self, name: &str) -> Result<Bed, BedError> {
        let beds = self.beds()?;
        let names = beds.iter().map(|bed| bed.name.clone()).collect();
        let found = beds.into_iter().find(|bed| bed.name == name);
        found.ok_or(BedError::NoSuchBed { name: name.to_owned(), beds: names })
    }

    fn clean_by_another(&self) -> Result<Vec<String>, BedError> {
        Self::of(self.agent.again()?).clean()
    }

    fn lost(&self, error: AgentError) -> BedError {
        BedError::Lost { host: self.name().to_owned(), error }
    }

    /// Facts about it.
    pub(crate) fn host_facts(&mut self) -> Result<HostFacts, BedError> {
        answer!(self, Request::HostFacts, HostFacts).map(|facts| *facts)
    }

    /// Facts about its own network namespace, under this name.
    pub(crate) fn endpoint_facts(&mut self, endpoint: &str) -> Result<EndpointFacts, BedError> {
        answer!(self, Request::EndpointFacts { endpoint: endpoint.to_owned() }, EndpointFacts).map(|facts| *facts)
    }

    /// What a bed can be made with there, or an end on this interface.
    pub(crate) fn lab_state(&mut self, interface: Option<&str>) -> Result<LabState, BedError> {
        answer!(self, Request::LabState { interface: interface.map(str::to_owned) }, LabState)
    }

    /// The address that it would send from to reach this one; `None` where no route leads there.
    pub(crate) fn source_for(&mut self, address: IpAddr) -> Result<Option<IpAddr>, BedError> {
        answer!(self, Request::SourceFor { address }, Source)
    }

    /// Interfaces that a default route goes through, or the session of the caller.
    pub(crate) fn uplinks(&mut self) -> Result<Vec<String>, BedError> {
        answer!(self, Request::Uplinks, Interfaces)
    }

    /// What stands for or against taking each of its ports.
    pub(crate) fn nics_state(&mut self) -> Result<NicsState, BedError> {
        answer!(self, Request::NicsState, NicsState).map(|state| *state)
    }

    /// Who hears whom of these interfaces.
    pub(crate) fn cables(&mut self, interfaces: Vec<String>) -> Result<Vec<Cable>, BedError> {
        answer!(self, Request::Cables { interfaces }, Cables)
    }

    /// Its network cards.
    pub(crate) fn cards(&mut self) -> Result<Cards, BedError> {
        answer!(self, Request::Cards, Cards).map(|cards| *cards)
    }

    /// Its clock, as we see it.
    pub(crate) fn read_clock(&mut self) -> Result<ClockReading, BedError> {
        Ok(self.agent.read_clock()?)
    }

    /// An error of its agent.
    pub(crate) fn error(&self, fault: Fault) -> AgentError {
        self.agent.error(fault)
    }

    /// The error for an answer to another question.
    pub(crate) fn confused(&self, reply: &Reply) -> BedError {
        self.error(Fault::Confused(format!("{reply:?}"))).into()
    }

    fn open_ledger(&mut self, owner: &str) -> Result<(), BedError> {
        self.ask(Request::OpenLedger { owner: owner.to_owned() })?;
        self.ledger_open = true;
        Ok(())
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if self.ledger_open {
            // Whoever is to be told of what cannot be undone gives it back. An agent that is dropped has less time for it.
            let _ = self.ask(Request::UndoAll);
        }
    }
}

/// Gives back the machines of a bed, the last one first, also where one fails.
pub(crate) fn give_all_back(machines: Vec<Machine>) -> Result<(), BedError> {
    let given_back: Vec<_> = machines.into_iter().rev().map(Machine::give_back).collect();
    given_back.into_iter().collect()
}

fn patience(request: &Request) -> Duration {
    match request {
        Request::Apply { changes } => REQUEST * changes.len() as u32,
        Request::OpenLedger { .. } | Request::UndoLast { .. } | Request::UndoAll | Request::Clean => UNDOING,
        _ => REQUEST,
    }
}

/// Facts about where an agent is, under this name.
pub(crate) fn endpoint_facts(agent: &mut AgentLink, endpoint: &str) -> Result<EndpointFacts, BedError> {
    match agent.ask(Request::EndpointFacts { endpoint: endpoint.to_owned() }, REQUEST)? {
        Reply::EndpointFacts(facts) => Ok(*facts),
        other => Err(confused(agent, &other)),
    }
}

pub(crate) fn confused(agent: &AgentLink, reply: &Reply) -> BedError {
    agent.error(Fault::Confused(format!("{reply:?}"))).into()
}

/// Six hex digits; two beds at the same time would have to meet by chance, and the second would then be refused.
pub(crate) fn random_id() -> String {
    format!("{:06x}", RandomState::new().hash_one(()) & 0xff_ffff)
}

#[cfg(test)]
pub(crate) mod fake;
#[cfg(test)]
mod tests;
