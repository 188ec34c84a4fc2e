//! A bed in use: its machine agent and the port agents at its ends.

use std::{
    hash::{BuildHasher, RandomState},
    net::{Ipv4Addr, Ipv6Addr},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use model::{
    Bed, Cards, Change, CoreUse, Endpoint, Environment, Mtu, Privilege,
    environment::{EndpointFacts, HostFacts, InterfaceFacts},
    units::ETHERNET_MTUS,
};
use protocol::{AgentLink, Fault, LabState, Launch, Reply, Request};

use crate::{
    BedError, BedRef,
    cores::{self, Chosen},
    kept,
    lab::Lab,
};

/// Any single request to an agent is done in this time.
pub(crate) const REQUEST: Duration = Duration::from_secs(20);

/// A link comes up in this time.
const LINK: Duration = Duration::from_secs(5);

/// MTU of a lab when none is asked for.
const ETHERNET_MTU: Mtu = Mtu(1500);

/// What the user asked for.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Which bed.
    pub bed: BedRef,
    /// MTU of both ends; 1500 where not given, or that of the standing bed.
    pub mtu: Option<Mtu>,
    /// Cores of the two ends; chosen where not given.
    pub cpus: Option<[Vec<usize>; 2]>,
    /// Program with arguments that port agents are started through; empty for none.
    pub wrap: Vec<String>,
    /// What the program may do.
    pub privilege: Privilege,
    /// The program that agents run.
    pub program: PathBuf,
}

/// A bed with agents at both ends. Dropping it ends the agents, and the machine agent then undoes what it set up.
pub struct Session {
    /// The bed.
    pub bed: Bed,
    ports: Vec<AgentLink>,
    machine: AgentLink,
    /// Whether this session's ledger is open: always for a temporary bed, for a standing one once something is changed.
    ledger_open: bool,
    /// How many ends have another MTU than their own just now.
    mtu_changes: usize,
    program: PathBuf,
}

/// Both sides at one end: the tester alone.
pub struct Alone {
    /// The end twice, over its loopback, with the cores of both ends.
    pub bed: Bed,
    /// Agents of the two sides.
    pub ports: Vec<AgentLink>,
}

impl Session {
    /// Makes or takes the bed, and starts its agents.
    pub fn open(wanted: &Wanted) -> Result<Self, BedError> {
        let mut machine = machine_agent(&wanted.program)?;
        let (mut bed, temporary) = match &wanted.bed {
            BedRef::Lab => (make_lab(&mut machine, &random_id(), "lab", wanted)?, true),
            BedRef::Named(name) => (take_standing(&mut machine, name, wanted)?, false),
        };
        bed.wrap.clone_from(&wanted.wrap);
        let mut ports = bed
            .endpoints
            .iter()
            .map(|end| port_agent(end, &wanted.program, &wanted.wrap))
            .collect::<Result<Vec<_>, _>>()?;
        for (port, endpoint) in ports.iter_mut().zip(&mut bed.endpoints) {
            // Somebody may have given it another MTU since the bed was made.
            endpoint.mtu = wait_for_link(port, endpoint)?;
        }
        let program = wanted.program.clone();
        Ok(Self { bed, ports, machine, ledger_open: temporary, mtu_changes: 0, program })
    }

    /// Starts agents for both sides at the near end.
    pub fn alone(&self) -> Result<Alone, BedError> {
        let near = &self.bed.endpoints[0];
        let at_loopback = |end: &Endpoint| Endpoint {
            namespace: near.namespace.clone(),
            interface: "lo".to_owned(),
            addresses: vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()],
            ..end.clone()
        };
        let bed = Bed { endpoints: self.bed.endpoints.iter().map(at_loopback).collect(), ..self.bed.clone() };
        let ports =
            bed.endpoints.iter().map(|end| port_agent(end, &self.program, &bed.wrap)).collect::<Result<_, _>>()?;
        Ok(Alone { bed, ports })
    }

    /// Sets both ends to this MTU, or puts their own back.
    pub fn set_mtu(&mut self, mtu: Option<Mtu>) -> Result<(), BedError> {
        // Taken first: what could not be undone now stays in the ledger, and is undone with all the rest.
        let changes = std::mem::take(&mut self.mtu_changes);
        if changes > 0 {
            self.machine.ask(Request::UndoLast { changes }, REQUEST)?;
        }
        let Some(mtu) = mtu else { return Ok(()) };
        if !self.ledger_open {
            self.machine.ask(Request::OpenLedger { owner: random_id() }, REQUEST)?;
            self.ledger_open = true;
        }
        for change in mtu_changes(&self.bed, mtu) {
            self.machine.ask(Request::Apply { change }, REQUEST)?;
            self.mtu_changes += 1;
        }
        Ok(())
    }

    /// The agents at the two ends, the sending one first.
    pub fn ports(&mut self) -> &mut [AgentLink] {
        &mut self.ports
    }

    /// Reads what the machine and the endpoints are now.
    pub fn environment(&mut self, read_at: String) -> Result<Environment, BedError> {
        let mut environment = Environment { read_at, ..Environment::default() };
        environment.hosts.push(host_facts(&mut self.machine)?);
        for (port, endpoint) in self.ports.iter_mut().zip(&self.bed.endpoints) {
            environment.endpoints.push(endpoint_facts(port, &endpoint.name)?);
        }
        Ok(environment)
    }

    /// How busy the cores of the two ends are while nothing is measured.
    pub fn load(&mut self) -> Result<Vec<CoreUse>, BedError> {
        let cores = match self.ports[0].ask(Request::Load, REQUEST)? {
            Reply::Load(cores) => cores,
            other => return Err(confused(&self.ports[0], &other)),
        };
        let is_ours = |core: &CoreUse| self.bed.endpoints.iter().any(|end| end.cpus.contains(&core.cpu));
        Ok(cores.into_iter().filter(is_ours).collect())
    }

    /// Ends the port agents, then undoes what was set up for this session.
    pub fn close(mut self) -> Result<(), BedError> {
        self.ports.clear();
        if !self.ledger_open {
            return Ok(());
        }
        match self.machine.ask(Request::UndoAll, REQUEST) {
            Ok(_) => Ok(()),
            Err(error) if matches!(error.fault, Fault::Failed(_)) => Err(error.into()),
            // The agent is gone, its record is not: another one undoes by it.
            Err(error) => {
                kept::clean(&self.program)?;
                Err(BedError::Orphaned(error))
            }
        }
    }
}

/// What a machine has.
pub struct Survey {
    /// Facts about it.
    pub host: HostFacts,
    /// Its interfaces.
    pub interfaces: Vec<InterfaceFacts>,
    /// What a lab could be made with.
    pub lab: LabState,
}

/// Looks this machine over.
pub fn survey(program: &Path) -> Result<Survey, BedError> {
    let mut machine = machine_agent(program)?;
    let interfaces = endpoint_facts(&mut machine, "this machine")?.interfaces;
    Ok(Survey { host: host_facts(&mut machine)?, interfaces, lab: lab_state(&mut machine)? })
}

/// The network cards of this machine.
pub fn cards(program: &Path) -> Result<Cards, BedError> {
    let mut machine = machine_agent(program)?;
    match machine.ask(Request::Cards, REQUEST)? {
        Reply::Cards(cards) => Ok(*cards),
        other => Err(confused(&machine, &other)),
    }
}

/// A bed as it would be.
pub struct Planned {
    /// Its ends, not pinned yet.
    pub bed: Bed,
    /// What would be set up, in words; empty for a bed that stands.
    pub set_up: Vec<String>,
}

/// What would be set up for this bed. Nothing is: a bed that stands is only looked up.
pub fn planned(bed: &BedRef, mtu: Option<Mtu>, program: &Path) -> Result<Planned, BedError> {
    match bed {
        BedRef::Lab => {
            let lab = Lab { id: "<id>".to_owned(), mtu: lab_mtu(mtu)?, ipv6: true, cores: Default::default() };
            let set_up = lab.changes().iter().map(ToString::to_string).collect();
            Ok(Planned { bed: lab.bed("lab", Privilege::Root), set_up })
        }
        BedRef::Named(name) => {
            let bed = kept::find(&mut machine_agent(program)?, name)?;
            check_mtu(&bed, mtu)?;
            Ok(Planned { bed, set_up: Vec::new() })
        }
    }
}

/// What sets both ends of a bed to this MTU.
fn mtu_changes(bed: &Bed, mtu: Mtu) -> impl Iterator<Item = Change> {
    bed.endpoints.iter().map(move |end| Change::Mtu {
        namespace: end.namespace.clone(),
        interface: end.interface.clone(),
        mtu,
    })
}

impl Planned {
    /// What would be changed for trials that have these MTUs, in words.
    pub fn for_mtus(&self, mtus: &[Mtu]) -> Vec<String> {
        mtus.iter().flat_map(|mtu| mtu_changes(&self.bed, *mtu)).map(|change| change.to_string()).collect()
    }
}

pub(crate) fn machine_agent(program: &Path) -> Result<AgentLink, BedError> {
    let launch = Launch { program: program.to_owned(), namespace: None, wrap: Vec::new() };
    Ok(AgentLink::launch("machine agent", &launch)?)
}

fn port_agent(endpoint: &Endpoint, program: &Path, wrap: &[String]) -> Result<AgentLink, BedError> {
    let namespace = Some(endpoint.namespace.clone());
    let launch = Launch { program: program.to_owned(), namespace, wrap: wrap.to_vec() };
    Ok(AgentLink::launch(&format!("agent at endpoint {}", endpoint.name), &launch)?)
}

fn host_facts(machine: &mut AgentLink) -> Result<HostFacts, BedError> {
    match machine.ask(Request::HostFacts, REQUEST)? {
        Reply::HostFacts(facts) => Ok(*facts),
        other => Err(confused(machine, &other)),
    }
}

fn endpoint_facts(port: &mut AgentLink, endpoint: &str) -> Result<EndpointFacts, BedError> {
    match port.ask(Request::EndpointFacts { endpoint: endpoint.to_owned() }, REQUEST)? {
        Reply::EndpointFacts(facts) => Ok(*facts),
        other => Err(confused(port, &other)),
    }
}

/// The kernel declares a link up a moment after it was set up. Gives the link's MTU.
fn wait_for_link(port: &mut AgentLink, endpoint: &Endpoint) -> Result<Mtu, BedError> {
    let until = Instant::now() + LINK;
    loop {
        let facts = endpoint_facts(port, &endpoint.name)?;
        if let Some(link) = facts.interfaces.iter().find(|link| link.name == endpoint.interface && link.state == "up") {
            return Ok(Mtu(link.mtu));
        }
        if Instant::now() > until {
            return Err(BedError::NoLink { interface: endpoint.interface.clone(), waited: LINK });
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Sets up a lab; whatever was made before a failure is undone.
pub(crate) fn make_lab(machine: &mut AgentLink, id: &str, name: &str, wanted: &Wanted) -> Result<Bed, BedError> {
    let mtu = lab_mtu(wanted.mtu)?;
    let state = lab_state(machine)?;
    let lab = Lab { id: id.to_owned(), mtu, ipv6: state.ipv6, cores: choose_cores(wanted, &state)? };
    machine.ask(Request::OpenLedger { owner: id.to_owned() }, REQUEST)?;
    for change in lab.changes() {
        apply(machine, change)?;
    }
    Ok(lab.bed(name, wanted.privilege))
}

fn lab_mtu(asked: Option<Mtu>) -> Result<Mtu, BedError> {
    let mtu = asked.unwrap_or(ETHERNET_MTU);
    if ETHERNET_MTUS.contains(&mtu.0) { Ok(mtu) } else { Err(BedError::Mtu(mtu.0)) }
}

fn apply(machine: &mut AgentLink, change: Change) -> Result<(), BedError> {
    match machine.ask(Request::Apply { change }, REQUEST) {
        Ok(_) => Ok(()),
        Err(error) if matches!(error.fault, Fault::Failed(_)) => {
            machine.ask(Request::UndoAll, REQUEST)?;
            Err(BedError::SetUp(error))
        }
        Err(error) => Err(error.into()),
    }
}

fn take_standing(machine: &mut AgentLink, name: &str, wanted: &Wanted) -> Result<Bed, BedError> {
    let mut bed = kept::find(machine, name)?;
    check_mtu(&bed, wanted.mtu)?;
    let cores = choose_cores(wanted, &lab_state(machine)?)?;
    for (endpoint, cores) in bed.endpoints.iter_mut().zip(cores) {
        (endpoint.cpus, endpoint.cpus_why) = (cores.cpus, cores.why);
    }
    Ok(bed)
}

fn check_mtu(bed: &Bed, asked: Option<Mtu>) -> Result<(), BedError> {
    match (asked, bed.endpoints.first()) {
        (Some(asked), Some(end)) if end.mtu != asked => {
            Err(BedError::OtherMtu { bed: bed.name.clone(), has: end.mtu.0, asked: asked.0 })
        }
        _ => Ok(()),
    }
}

fn choose_cores(wanted: &Wanted, state: &LabState) -> Result<[Chosen; 2], BedError> {
    let Some(asked) = &wanted.cpus else { return Ok(cores::choose(&state.cpus)) };
    let usable = cores::usable(&state.cpus);
    match asked.iter().flatten().find(|cpu| !usable.contains(cpu)) {
        Some(cpu) => Err(BedError::NoSuchCore { cpu: *cpu, allowed: usable }),
        None => Ok(asked.clone().map(|cpus| Chosen { cpus, why: "as asked for".to_owned() })),
    }
}

fn lab_state(machine: &mut AgentLink) -> Result<LabState, BedError> {
    match machine.ask(Request::LabState, REQUEST)? {
        Reply::LabState(state) => Ok(state),
        other => Err(confused(machine, &other)),
    }
}

pub(crate) fn confused(agent: &AgentLink, reply: &Reply) -> BedError {
    agent.error(Fault::Confused(format!("{reply:?}"))).into()
}

/// Six hex digits; two beds at the same time would have to meet by chance, and the second would then be refused.
fn random_id() -> String {
    format!("{:06x}", RandomState::new().hash_one(()) & 0xff_ffff)
}
