//! One machine of a bed: its agent, which performs and records every change there.

use std::{
    hash::{BuildHasher, RandomState},
    mem,
    net::IpAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use model::{
    Bed, Change, Endpoint, PortsState,
    card::Cable,
    environment::{EndpointFacts, HostFacts},
};
use protocol::{AgentError, AgentLink, ClockReading, Fault, LabState, Launch, Place, Reply, Request, Ssh};

use crate::{BedError, hosts::HostsError};

/// Any single request to an agent is done in this time.
pub(crate) const REQUEST: Duration = Duration::from_secs(20);

/// Undoing is: links have to come again before all is as it was, and programs that configure interfaces are waited for.
const UNDOING: Duration = Duration::from_secs(120);

/// A machine with its agent. Dropping it undoes what was not kept, and ends the agent.
pub(crate) struct Machine {
    /// Its name as endpoints have it; empty for the one machine that there is.
    pub(crate) name: String,
    /// Interfaces that are not to be changed.
    pub(crate) protected: Vec<String>,
    /// Whether we may change it at all.
    pub(crate) may_change: bool,
    agent: AgentLink,
    place: Place,
    /// What further agents run there.
    program: PathBuf,
    /// How its agent was started.
    launch: Launch,
    ledger_open: bool,
    /// How many of the last changes hold for a while only.
    passing: usize,
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
        let agent = AgentLink::launch(name, &launch)?;
        let (place, program) = match launch.place.clone() {
            // The agent has removed its copy by now; what it runs is there for as long as it is.
            Place::There { ssh, sudo, copied: true } => {
                (Place::There { ssh, sudo, copied: false }, format!("/proc/{}/exe", agent.pid()).into())
            }
            place => (place, launch.program.clone()),
        };
        let (name, protected, may_change) = (String::new(), Vec::new(), true);
        Ok(Self { name, protected, may_change, agent, place, program, launch, ledger_open: false, passing: 0 })
    }

    /// Starts an agent at an end that is on it.
    pub(crate) fn port_agent(&self, endpoint: &Endpoint, wrap: &[String]) -> Result<AgentLink, BedError> {
        let namespace = Some(endpoint.namespace.clone()).filter(|name| !name.is_empty());
        let (place, program) = (self.place.clone(), self.program.clone());
        let on = if place == Place::Here { String::new() } else { format!(" on {}", self.name) };
        let launch = Launch { place, program, namespace, wrap: wrap.to_vec() };
        Ok(AgentLink::launch(&format!("agent at endpoint {}{on}", endpoint.name), &launch)?)
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
        if self.protected.iter().any(|protected| protected == interface) {
            let (host, interface) = (self.name.clone(), interface.to_owned());
            return Err(HostsError::Uplink { host, interface, what: vec![change.to_string()] }.into());
        }
        if !self.may_change {
            return Err(HostsError::NotRoot { host: self.name.clone(), what: vec![change.to_string()] }.into());
        }
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
        let changes = std::mem::take(&mut self.passing);
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
        let is_here = self.place == Place::Here;
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

    /// Undoes what a crash left behind; says what.
    pub(crate) fn clean(&mut self) -> Result<Vec<String>, BedError> {
        match self.ask(Request::Clean)? {
            Reply::Undone(changes) => Ok(changes),
            other => Err(self.confused(&other)),
        }
    }

    fn clean_by_another(&self) -> Result<Vec<String>, BedError> {
        Self::launch("machine agent", self.launch.clone())?.clean()
    }

    fn lost(&self, error: AgentError) -> BedError {
        BedError::Lost { host: self.name.clone(), error }
    }

    /// Facts about it.
    pub(crate) fn host_facts(&mut self) -> Result<HostFacts, BedError> {
        match self.ask(Request::HostFacts)? {
            Reply::HostFacts(facts) => Ok(*facts),
            other => Err(self.confused(&other)),
        }
    }

    /// Facts about its own network namespace, under this name.
    pub(crate) fn endpoint_facts(&mut self, endpoint: &str) -> Result<EndpointFacts, BedError> {
        endpoint_facts(&mut self.agent, endpoint)
    }

    /// What a bed can be made with there, or an end on this interface.
    pub(crate) fn lab_state(&mut self, interface: Option<&str>) -> Result<LabState, BedError> {
        match self.ask(Request::LabState { interface: interface.map(str::to_owned) })? {
            Reply::LabState(state) => Ok(state),
            other => Err(self.confused(&other)),
        }
    }

    /// The address that it would send from to reach this one; `None` where no route leads there.
    pub(crate) fn source_for(&mut self, address: IpAddr) -> Result<Option<IpAddr>, BedError> {
        match self.ask(Request::SourceFor { address })? {
            Reply::Source(source) => Ok(source),
            other => Err(self.confused(&other)),
        }
    }

    /// Interfaces that a default route goes through, or the session of the caller.
    pub(crate) fn uplinks(&mut self) -> Result<Vec<String>, BedError> {
        match self.ask(Request::Uplinks)? {
            Reply::Interfaces(names) => Ok(names),
            other => Err(self.confused(&other)),
        }
    }

    /// What stands for or against taking each of its ports.
    pub(crate) fn ports_state(&mut self) -> Result<PortsState, BedError> {
        match self.ask(Request::PortsState)? {
            Reply::PortsState(state) => Ok(*state),
            other => Err(self.confused(&other)),
        }
    }

    /// Who hears whom of these interfaces.
    pub(crate) fn cables(&mut self, interfaces: Vec<String>) -> Result<Vec<Cable>, BedError> {
        match self.ask(Request::Cables { interfaces })? {
            Reply::Cables(cables) => Ok(cables),
            other => Err(self.confused(&other)),
        }
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
        confused(&self.agent, reply)
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

/// The bed that was made with these machines. Where it was not, they are given back.
pub(crate) fn given_back_if_not(
    made: Result<Bed, BedError>,
    machines: Vec<Machine>,
) -> Result<(Bed, Vec<Machine>), BedError> {
    match made {
        Ok(bed) => Ok((bed, machines)),
        Err(error) => Err(error.and_then_of(give_all_back(machines))),
    }
}

fn patience(request: &Request) -> Duration {
    match request {
        Request::Apply { changes } => REQUEST * changes.len() as u32,
        Request::OpenLedger { .. } | Request::UndoLast { .. } | Request::UndoAll | Request::Clean => UNDOING,
        _ => REQUEST,
    }
}

/// What concerns ports is recorded for all of them before any is touched: one that goes takes the link from another that it is
/// cabled to, and with the link what the kernel keeps only as long as there is one, like nexthop objects.
fn are_made_together(one: &Change, next: &Change) -> bool {
    let both_move = matches!((one, next), (Change::Port { .. }, Change::Port { .. }));
    both_move || matches!((one, next), (Change::LeftAlone { .. }, Change::LeftAlone { .. }))
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
mod tests {
    use super::*;

    #[test]
    fn all_ports_are_recorded_before_one_is_moved() {
        let namespace = |name: &str| Change::Namespace { name: name.into() };
        let moved = |port: &str| Change::Port { interface: port.into(), namespace: "wp1-a".into() };
        let up = |port: &str| Change::LinkUp { namespace: "wp1-a".into(), interface: port.into() };
        let changes = [namespace("wp1-a"), namespace("wp1-b"), moved("p1"), moved("p2"), up("p1"), up("p2")];
        let sizes: Vec<_> = changes.chunk_by(are_made_together).map(<[_]>::len).collect();
        assert_eq!(sizes, [1, 1, 2, 1, 1]);
    }
}
