//! One machine of a bed: its agent performs and records every change there.

use std::{
    hash::{BuildHasher, RandomState},
    mem,
    net::IpAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use model::{
    Bed, Change, Endpoint, NicsState,
    card::{Cable, Refused},
    environment::{EndpointFacts, HostFacts},
};
use protocol::{
    AgentError, AgentLink, Agentless, Cleaned, ClockReading, Fault, LabState, Launch, Place, Reply, Request, Ssh,
};

use crate::{
    changes::are_made_together,
    error::{BedError, Refusal},
};

/// Time limit of a single request to an agent.
pub(crate) const REQUEST: Duration = Duration::from_secs(20);

/// Time limit of undoing, which waits for links and network managers.
const UNDOING: Duration = Duration::from_secs(120);

/// Asks a machine for this kind of reply.
macro_rules! answer {
    ($machine:expr, $request:expr, $reply:ident) => {
        match $machine.ask($request)? {
            Reply::$reply(answer) => Ok(answer),
            other => Err($machine.confused(&other)),
        }
    };
}

/// A machine's agent, or a fake in tests.
pub(crate) trait Agent: Send {
    /// Asks, and waits at most this long.
    fn ask(&mut self, request: Request, within: Duration) -> Result<Reply, AgentError>;
    /// Reads the clock of its machine, relative to ours.
    fn read_clock(&mut self) -> Result<ClockReading, AgentError>;
    /// An error with its name.
    fn error(&self, fault: Fault) -> AgentError;
    /// Whether it is on this machine.
    fn is_here(&self) -> bool;
    /// A new agent in its place.
    fn again(&self) -> Result<Box<dyn Agent>, AgentError>;
    /// Starts a measuring agent at an end on the same machine. `on` names the place for people.
    fn at_end(&self, end: &Endpoint, on: &str, wrap: &[String]) -> Result<AgentLink, AgentError>;
}

/// An agent with its launch options.
struct Launched {
    link: AgentLink,
    launch: Launch,
    /// Place for further agents.
    place: Place,
    program: PathBuf,
}

/// A machine with its agent. Dropping it undoes changes that were not kept, and ends the agent.
pub(crate) struct Machine {
    /// Permitted changes there.
    pub(crate) allowed: Allowed,
    /// The address of the ssh connection there.
    pub(crate) ssh: Option<IpAddr>,
    agent: Box<dyn Agent>,
    ledger_open: bool,
    /// Number of the last changes that are temporary.
    passing: usize,
}

/// Permitted changes of a machine.
#[derive(Clone, Debug)]
pub(crate) struct Allowed {
    /// Name of the machine in endpoints; empty if there is only one.
    pub(crate) host: String,
    /// Interfaces that must not be changed: others or we would lose the connection.
    pub(crate) protected: Vec<String>,
    /// Whether any change is permitted.
    pub(crate) root: bool,
    /// Whether nothing of ours runs there.
    pub(crate) agentless: bool,
}

impl Allowed {
    /// Refuses forbidden changes to this interface.
    pub(crate) fn check(&self, interface: &str, changes: &[Change]) -> Result<(), Refusal> {
        let what = || changes.iter().map(ToString::to_string).collect();
        let (host, is_protected) = (self.host.clone(), self.protected.iter().any(|it| it == interface));
        match changes {
            [] => Ok(()),
            _ if self.agentless => Err(Refusal::Agentless { host, what: what() }),
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
            // The agent has removed its copy by now; its own executable exists as long as it runs.
            Place::Remote { ssh, sudo, copied: true } => {
                (Place::Remote { ssh, sudo, copied: false }, format!("/proc/{}/exe", link.pid()).into())
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
        matches!(self.place, Place::Local) && self.launch.stands_for.is_none()
    }

    fn again(&self) -> Result<Box<dyn Agent>, AgentError> {
        Ok(Box::new(Self::start("machine agent", self.launch.clone())?))
    }

    fn at_end(&self, end: &Endpoint, on: &str, wrap: &[String]) -> Result<AgentLink, AgentError> {
        let namespace = Some(end.namespace.clone()).filter(|name| !name.is_empty());
        let (place, program) = (self.place.clone(), self.program.clone());
        let stands_for = self.launch.stands_for.clone();
        // A wrapper of our programs does nothing for those of another machine.
        let wrap = if stands_for.is_some() { Vec::new() } else { wrap.to_vec() };
        let launch = Launch { place, program, namespace, wrap, stands_for };
        AgentLink::launch(&format!("agent at endpoint {}{on}", end.name), &launch)
    }
}

impl Machine {
    /// This machine.
    pub(crate) fn here(program: &Path) -> Result<Self, BedError> {
        Self::launch("machine agent", Launch::here(program.to_owned()))
    }

    /// A namespace of this machine, for reading only.
    pub(crate) fn within(namespace: &str, program: &Path) -> Result<Self, BedError> {
        let launch = Launch { namespace: Some(namespace.to_owned()), ..Launch::here(program.to_owned()) };
        Self::launch(&format!("agent in namespace {namespace}"), launch)
    }

    /// Another machine: by the program of this name there, or by a copy of the one here.
    pub(crate) fn there(ssh: Ssh, sudo: bool, copied: bool, program: PathBuf) -> Result<Self, BedError> {
        let name = format!("machine agent at {}", ssh.destination);
        Self::launch(&name, Launch { place: Place::Remote { ssh, sudo, copied }, ..Launch::here(program) })
    }

    /// Another machine on which nothing of ours runs, by an agent here that stands in for it.
    pub(crate) fn agentless(machine: Agentless, program: &Path) -> Result<Self, BedError> {
        let name = format!("agent here for {}", machine.ssh.destination);
        let mut machine =
            Self::launch(&name, Launch { stands_for: Some(machine), ..Launch::here(program.to_owned()) })?;
        (machine.allowed.root, machine.allowed.agentless) = (false, true);
        Ok(machine)
    }

    fn launch(name: &str, launch: Launch) -> Result<Self, BedError> {
        Ok(Self::of(Box::new(Launched::start(name, launch)?)))
    }

    /// The machine of an existing agent.
    pub(crate) fn of(agent: Box<dyn Agent>) -> Self {
        let allowed = Allowed { host: String::new(), protected: Vec::new(), root: true, agentless: false };
        Self { allowed, ssh: None, agent, ledger_open: false, passing: 0 }
    }

    /// Name in endpoints.
    pub(crate) fn name(&self) -> &str {
        &self.allowed.host
    }

    /// Starts an agent at one of its ends.
    pub(crate) fn agent_at(&self, end: &Endpoint, wrap: &[String]) -> Result<AgentLink, BedError> {
        let on = if self.agent.is_here() { String::new() } else { format!(" on {}", self.name()) };
        Ok(self.agent.at_end(end, &on, wrap)?)
    }

    /// Asks its agent.
    pub(crate) fn ask(&mut self, request: Request) -> Result<Reply, AgentError> {
        let within = patience(&request);
        self.agent.ask(request, within)
    }

    /// Makes these changes for this owner; on a failure, earlier ones are undone.
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

    /// Makes a change to this interface that lasts until [`Machine::undo_passing`].
    pub(crate) fn change_for_now(&mut self, interface: &str, change: Change) -> Result<(), BedError> {
        self.allowed.check(interface, std::slice::from_ref(&change))?;
        if !self.ledger_open {
            self.open_ledger(&random_id())?;
        }
        self.ask(Request::Apply { changes: vec![change] })?;
        self.passing += 1;
        Ok(())
    }

    /// Undoes temporary changes; returns whether there were any.
    pub(crate) fn undo_passing(&mut self) -> Result<bool, BedError> {
        // Reset first: a change that cannot be undone now stays in the ledger, and is undone with the rest.
        let changes = mem::take(&mut self.passing);
        if changes > 0 {
            self.ask(Request::UndoLast { changes })?;
        }
        Ok(changes > 0)
    }

    /// Undoes all changes of this session.
    pub(crate) fn give_back(mut self) -> Result<(), BedError> {
        if !mem::take(&mut self.ledger_open) {
            return Ok(());
        }
        let is_here = self.agent.is_here();
        match self.ask(Request::UndoAll) {
            Ok(_) => Ok(()),
            Err(error) if matches!(error.fault, Fault::Failed(_)) => Err(error.into()),
            // The agent has ended, but its record remains: another agent undoes it.
            Err(error) if is_here || error.fault.is_of_agent_alone() => match self.clean_by_another() {
                // Nothing was left to do: the lost agent is still undoing.
                Ok(cleaned) if cleaned.undone.is_empty() && !is_here => Err(self.lost(error)),
                Ok(_) => Err(BedError::Orphaned(error)),
                Err(undoing) if is_here => Err(undoing),
                Err(_) => Err(self.lost(error)),
            },
            Err(error) => Err(self.lost(error)),
        }
    }

    /// Keeps the changes as this bed.
    pub(crate) fn keep(&mut self, bed: &Bed) -> Result<(), BedError> {
        self.ask(Request::Keep { bed: bed.clone() })?;
        self.ledger_open = false;
        Ok(())
    }

    /// Takes a kept bed down; returns what was undone.
    pub(crate) fn take_down(&mut self, name: &str) -> Result<Vec<String>, BedError> {
        self.ask(Request::Reopen { owner: name.to_owned() })?;
        answer!(self, Request::UndoAll, Undone)
    }

    /// Undoes the changes of crashed runs.
    pub(crate) fn clean(&mut self) -> Result<Cleaned, BedError> {
        answer!(self, Request::Clean, Cleaned)
    }

    /// Kept beds there.
    pub(crate) fn beds(&mut self) -> Result<Vec<Bed>, BedError> {
        answer!(self, Request::ListBeds, Beds)
    }

    /// The kept bed of this name there.
    pub(crate) fn bed(&mut self, name: &str) -> Result<Bed, BedError> {
        let beds = self.beds()?;
        let names = beds.iter().map(|bed| bed.name.clone()).collect();
        let found = beds.into_iter().find(|bed| bed.name == name);
        found.ok_or(BedError::NoSuchBed { name: name.to_owned(), beds: names })
    }

    fn clean_by_another(&self) -> Result<Cleaned, BedError> {
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

    /// The state for making a bed there, or an end on this interface.
    pub(crate) fn lab_state(&mut self, interface: Option<&str>) -> Result<LabState, BedError> {
        answer!(self, Request::LabState { interface: interface.map(str::to_owned) }, LabState)
    }

    /// Source address for packets to this one; `None` without a route.
    pub(crate) fn source_for(&mut self, address: IpAddr) -> Result<Option<IpAddr>, BedError> {
        answer!(self, Request::SourceFor { address }, Source)
    }

    /// Interfaces of default routes, or of the caller's session.
    pub(crate) fn uplinks(&mut self) -> Result<Vec<String>, BedError> {
        answer!(self, Request::Uplinks, Interfaces)
    }

    /// The state of each of its ports, for or against taking it.
    pub(crate) fn nics_state(&mut self) -> Result<NicsState, BedError> {
        answer!(self, Request::NicsState, NicsState).map(|state| *state)
    }

    /// Cables between these interfaces.
    pub(crate) fn cables(&mut self, interfaces: Vec<String>) -> Result<Vec<Cable>, BedError> {
        answer!(self, Request::Cables { interfaces }, Cables)
    }

    /// Network cards without an interface.
    pub(crate) fn refused(&mut self) -> Result<Vec<Refused>, BedError> {
        answer!(self, Request::RefusedCards, RefusedCards)
    }

    /// Reads its clock, relative to ours.
    pub(crate) fn read_clock(&mut self) -> Result<ClockReading, BedError> {
        Ok(self.agent.read_clock()?)
    }

    /// An error of its agent.
    pub(crate) fn error(&self, fault: Fault) -> AgentError {
        self.agent.error(fault)
    }

    /// The error for an answer of the wrong kind.
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
            // Callers that report failures give it back explicitly. A dropped agent has less time.
            let _ = self.ask(Request::UndoAll);
        }
    }
}

/// Gives back the machines of a bed, the last one first; continues after a failure.
pub(crate) fn give_all_back(machines: Vec<Machine>) -> Result<(), BedError> {
    let given_back: Vec<_> = machines.into_iter().rev().map(Machine::give_back).collect();
    given_back.into_iter().collect()
}

fn patience(request: &Request) -> Duration {
    match request {
        Request::Apply { changes } => REQUEST * changes.len() as u32,
        Request::ClaimTuning | Request::Tune { .. } | Request::UndoTuning { .. } => UNDOING,
        Request::OpenLedger { .. } | Request::UndoLast { .. } | Request::UndoAll | Request::Clean => UNDOING,
        _ => REQUEST,
    }
}

/// Facts about an agent's place, under this name.
pub(crate) fn endpoint_facts(agent: &mut AgentLink, endpoint: &str) -> Result<EndpointFacts, BedError> {
    match agent.ask(Request::EndpointFacts { endpoint: endpoint.to_owned() }, REQUEST)? {
        Reply::EndpointFacts(facts) => Ok(*facts),
        other => Err(confused(agent, &other)),
    }
}

pub(crate) fn confused(agent: &AgentLink, reply: &Reply) -> BedError {
    agent.error(Fault::Confused(format!("{reply:?}"))).into()
}

/// Six hex digits; in a collision, the second bed would be refused.
pub(crate) fn random_id() -> String {
    format!("{:06x}", RandomState::new().hash_one(()) & 0xff_ffff)
}

#[cfg(test)]
pub(crate) mod fake;
#[cfg(test)]
mod tests;
