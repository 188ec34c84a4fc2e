//! The agent that reads the counters of a device under test. It changes nothing there, and needs no root.

use std::{
    path::Path,
    sync::atomic::AtomicBool,
    thread,
    time::{Duration, Instant},
};

use model::{
    Bed, DUT, EndCounters,
    environment::{EndpointFacts, HostFacts, InterfaceFacts},
};
use protocol::{AgentError, Fault, Reply, Request, remote_facts};

use crate::{
    error::BedError,
    layouts,
    links::check,
    login::{ssh, start_agent},
    machine::Machine,
    reference::Remote,
    topology::{dut_namespace, facing},
    wanted::Wanted,
};

/// Time to wait for the interfaces of a lab's node, and between looks. The kernel looks at links once a second.
const SETTLED: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(50);

/// A device under test whose counters are read.
pub struct DutReader {
    machine: Machine,
    /// Interfaces that may forward packets: all except the ssh connection's.
    interfaces: Vec<String>,
    /// Whether it is a machine other than the ends'.
    is_machine: bool,
}

impl DutReader {
    /// Logs in and reads the interfaces.
    pub(crate) fn open(asked: &Remote, here: &HostFacts, wanted: &Wanted) -> Result<Self, BedError> {
        let ssh = ssh(asked, &wanted.reach);
        let remote = remote_facts(&ssh)?;
        let mut machine = start_agent(&ssh, &remote, false, &here.architecture, &wanted.reach, &wanted.program)?;
        machine.allowed.host = machine.host_facts()?.hostname;
        let is_ssh = |interface: &InterfaceFacts| {
            let own = interface.addresses.iter().filter_map(|text| text.split_once('/')?.0.parse().ok());
            remote.far.is_some_and(|ssh| own.clone().any(|own: std::net::IpAddr| own == ssh))
        };
        let interfaces = machine.endpoint_facts(DUT)?.interfaces;
        let interfaces =
            interfaces.iter().filter(|interface| !is_ssh(interface)).map(|interface| interface.name.clone()).collect();
        Ok(Self { machine, interfaces, is_machine: true })
    }

    /// Reads the device under test of a lab; `None` where the bed has none in a namespace of this machine. Its agent may be the
    /// router itself.
    pub(crate) fn of_lab(bed: &Bed, program: &Path) -> Result<Option<Self>, BedError> {
        let (Some(device), Some(namespace)) = (&bed.dut, dut_namespace(bed)) else { return Ok(None) };
        let mut machine = Machine::within(&namespace, program)?;
        machine.allowed.host.clone_from(&device.machine);
        let needs = layouts::device(bed.layout());
        if let Some(request) = needs.request {
            machine.ask(request(facing_ends(bed)))?;
        }
        let interfaces = match needs.counts_all {
            true => machine.endpoint_facts(DUT)?.interfaces.into_iter().map(|interface| interface.name).collect(),
            false => facing_ends(bed),
        };
        Ok(Some(Self { machine, interfaces, is_machine: false }))
    }

    /// Waits until all interfaces of a lab's node are up, which is later than those of the ends.
    pub(crate) fn settle(&mut self, interrupt: &AtomicBool) -> Result<(), BedError> {
        let until = Instant::now() + SETTLED;
        while !self.is_machine && Instant::now() < until {
            let facts = self.machine.endpoint_facts(DUT)?;
            // A switch may have interfaces of its own, which stay down.
            let mut counted = facts.interfaces.iter().filter(|interface| self.interfaces.contains(&interface.name));
            if counted.all(|interface| interface.state == "up") {
                break;
            }
            check(interrupt)?;
            thread::sleep(LOOK);
        }
        Ok(())
    }

    /// Name.
    pub(crate) fn name(&self) -> &str {
        self.machine.name()
    }

    /// Present facts; without the machine's if it is one of the ends'.
    pub(crate) fn facts(&mut self) -> Result<(Option<HostFacts>, EndpointFacts), BedError> {
        let host = self.is_machine.then(|| self.machine.host_facts()).transpose()?;
        Ok((host, self.machine.endpoint_facts(DUT)?))
    }

    /// Starts counting.
    pub fn begin(&mut self) -> Result<(), AgentError> {
        self.machine.ask(Request::CountFrom { interfaces: self.interfaces.clone() }).map(drop)
    }

    /// Counters since then.
    pub fn counted(&mut self) -> Result<EndCounters, AgentError> {
        match self.machine.ask(Request::CountUntil)? {
            Reply::Counted(counters) => Ok(*counters),
            other => Err(self.machine.error(Fault::Confused(format!("{other:?}")))),
        }
    }
}

/// Interfaces of a lab's device under test that face the ends.
fn facing_ends(bed: &Bed) -> Vec<String> {
    bed.endpoints.iter().map(|end| facing(&end.name)).collect()
}
