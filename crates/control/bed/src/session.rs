//! A bed in use: the agents of its machines, and the port agents at its ends.

use std::{
    net::{Ipv4Addr, Ipv6Addr},
    sync::atomic::AtomicBool,
};

use model::{Bed, Change, ClockRelation, CoreUse, Endpoint, Environment, Plan, Profile, alike::distinct};
use protocol::{AgentLink, Reply, Request};

use crate::{
    changes::mtu_change,
    dut::DutReader,
    error::BedError,
    filters::{filters, trial_filters},
    forwarding, links,
    machine::{Machine, REQUEST, confused, endpoint_facts, give_all_back, random_id},
    make::{ConnectedBed, make},
    route_updates::updated_routes,
    through::DutUnreachable,
    wanted::Wanted,
};

/// A bed with agents at its ends. Dropping it ends the agents; the machine agents then undo the setup.
pub struct Session {
    /// The bed.
    pub bed: Bed,
    ports: Vec<AgentLink>,
    /// Each machine once, this one first.
    machines: Vec<Machine>,
    /// The device under test, if it is read.
    dut: Option<DutReader>,
    /// Closed paths through the device under test, which are left out.
    pub not_through: Vec<DutUnreachable>,
    /// Records of other versions that were passed over, the first of each machine in words.
    pub unknown: Vec<String>,
    /// Filters or routes that the device under test has for now, if nothing else is changed.
    modified: Option<Change>,
}

/// The agents that a trial needs.
pub struct Agents<'a> {
    /// Agents at the ends, in the bed's order.
    pub ports: &'a mut [AgentLink],
    /// The device under test's agent, if it is read.
    pub dut: Option<&'a mut DutReader>,
}

/// Load of the ends' cores on one machine.
#[derive(Clone, Debug)]
pub struct HostLoad {
    /// The machine's name in endpoints.
    pub machine: String,
    /// Cores of its ends.
    pub cores: Vec<CoreUse>,
}

/// Both sides at one end, to test the tester alone.
pub struct Alone {
    /// The near end twice, over its loopback, with the cores of both ends.
    pub bed: Bed,
    /// Agents of the two sides.
    pub ports: Vec<AgentLink>,
}

impl Session {
    /// Makes or takes the bed, and starts its agents. Waits for links and a device under test until they are ready or
    /// an interrupt.
    pub fn open(wanted: &Wanted, interrupt: &AtomicBool) -> Result<Self, BedError> {
        let mut here = Machine::here(&wanted.program)?;
        // Before anything is changed.
        let asked = wanted.bed.layout().through().and_then(|through| through.dut.as_ref());
        let dut = asked.map(|asked| DutReader::open(asked, &here.host_facts()?, wanted)).transpose()?;
        let ConnectedBed { bed, machines, unknown } = make(here, &random_id(), &wanted.bed.to_string(), wanted)?;
        let (ports, not_through) = (Vec::new(), Vec::new());
        let mut session = Self { bed, ports, machines, dut, not_through, unknown, modified: None };
        match session.start(wanted, interrupt) {
            Ok(()) => Ok(session),
            Err(error) => Err(error.and_then_of(session.close())),
        }
    }

    /// Starts the agents at the ends, and waits until the path between them is ready.
    fn start(&mut self, wanted: &Wanted, interrupt: &AtomicBool) -> Result<(), BedError> {
        let Self { bed, ports, machines, dut, not_through, .. } = self;
        if let Some(reader) = DutReader::of_lab(bed, &wanted.program)? {
            *dut = Some(reader);
        }
        bed.wrap.clone_from(&wanted.wrap);
        for end in &bed.endpoints {
            ports.push(machines[machine_of(machines, end)].agent_at(end, &bed.wrap)?);
        }
        let links = links::wait(ports, bed, interrupt)?;
        for (endpoint, link) in bed.endpoints.iter_mut().zip(&links) {
            // Its MTU may have been changed since the bed was made.
            endpoint.mtu = link.mtu;
        }
        if let (Some(reader), Some(device)) = (dut, &mut bed.dut) {
            device.machine = reader.name().to_owned();
            reader.settle(interrupt)?;
        }
        forwarding::check_wire(bed, ports, interrupt)?;
        *not_through = forwarding::check(bed, ports, interrupt)?;
        Ok(())
    }

    /// Starts agents for both sides at the near end.
    pub fn alone(&self) -> Result<Alone, BedError> {
        let ends = [&self.bed.endpoints[0], &self.bed.endpoints[self.bed.endpoints.len() - 1]];
        let [near, _] = ends;
        let at_loopback = |(end, cpus): (&Endpoint, Vec<usize>)| Endpoint {
            name: end.name.clone(),
            interface: "lo".to_owned(),
            addresses: vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()],
            cpus,
            ..near.clone()
        };
        let endpoints: Vec<_> = ends.into_iter().zip(cores_alone(ends)).map(at_loopback).collect();
        let bed = Bed { endpoints, clocks: ClockRelation::Same, ..self.bed.clone() };
        let machine = &self.machines[machine_of(&self.machines, near)];
        let start = |end: &Endpoint| machine.agent_at(end, &bed.wrap);
        let ports = bed.endpoints.iter().map(start).collect::<Result<_, _>>()?;
        Ok(Alone { bed, ports })
    }

    /// Sets MTU, filters and routes as a probe needs them, or restores the bed's own, and waits for its links or an interrupt. A bed
    /// without a device, as of the tester alone, gets no filters and no routes.
    pub fn adapt(&mut self, profile: Option<&Profile>, interrupt: &AtomicBool) -> Result<(), BedError> {
        let mtu = profile.and_then(|profile| profile.mtu);
        let filters = profile.and_then(|profile| filters(&self.bed, profile)).map(Change::from);
        let routes = profile.and_then(|profile| updated_routes(&self.bed, profile));
        let modified = filters.or_else(|| routes.clone().map(Change::from));
        if mtu.is_none() && modified.is_some() && modified == self.modified {
            return Ok(());
        }
        self.modified = None;
        let mut changed = false;
        for machine in &mut self.machines {
            changed |= machine.undo_passing()?;
        }
        if let Some(mtu) = mtu {
            for end in &self.bed.endpoints {
                let machine = machine_of(&self.machines, end);
                self.machines[machine].change_for_now(&end.interface, mtu_change(end, mtu))?;
            }
            changed = true;
        }
        if let Some(change) = modified {
            self.machines[0].change_for_now("", change.clone())?;
            // Its agent stops before it undoes the change.
            if let Some(route) = routes {
                self.machines[0].ask(Request::AlternateRoutes { route })?;
            }
            self.modified = mtu.is_none().then_some(change);
        }
        // Many drivers reset their card.
        if changed { links::wait(&mut self.ports, &self.bed, interrupt).map(drop) } else { Ok(()) }
    }

    /// Sets the filters that a plan needs for a moment, so that what is missing for them is found before anything is measured. A bed
    /// without a device gets them at its first end.
    pub fn prove_filters(&mut self, plan: &Plan) -> Result<(), BedError> {
        let specs = plan.specs();
        for filters in distinct(specs.iter().filter_map(|spec| trial_filters(&self.bed, &spec.profile()))) {
            self.machines[0].change_for_now("", filters.into())?;
            self.machines[0].undo_passing()?;
        }
        Ok(())
    }

    /// Names of the machines that cannot be changed without root.
    pub fn unchangeable(&self) -> Vec<&str> {
        let machines = self.machines.iter().filter(|machine| !machine.allowed.root);
        machines.map(Machine::name).collect()
    }

    /// The agents for a trial.
    pub fn agents(&mut self) -> Agents<'_> {
        Agents { ports: &mut self.ports, dut: self.dut.as_mut() }
    }

    /// Reads the present facts of machines and endpoints.
    pub fn environment(&mut self, read_at: String) -> Result<Environment, BedError> {
        let mut hosts: Vec<_> = self.machines.iter_mut().map(Machine::host_facts).collect::<Result<_, _>>()?;
        let ends = self.ports.iter_mut().zip(&self.bed.endpoints);
        let mut endpoints: Vec<_> =
            ends.map(|(port, end)| endpoint_facts(port, &end.name)).collect::<Result<_, _>>()?;
        if let Some(dut) = &mut self.dut {
            let (host, facts) = dut.facts()?;
            hosts.extend(host);
            endpoints.push(facts);
        }
        Ok(Environment { read_at, hosts, endpoints })
    }

    /// An error about a port that is missing or lost its link; `None` if all are well, or nothing can be determined.
    pub fn lost_port(&mut self) -> Option<BedError> {
        links::lost(&mut self.ports, &self.bed.endpoints)
    }

    /// Load of the ends' cores outside measurements.
    pub fn load(&mut self) -> Result<Vec<HostLoad>, BedError> {
        let mut loads: Vec<HostLoad> = Vec::new();
        let ends = &self.bed.endpoints;
        for (port, end) in self.ports.iter_mut().zip(ends) {
            if loads.iter().any(|load| load.machine == end.machine) {
                continue;
            }
            let all = match port.ask(Request::Load, REQUEST)? {
                Reply::Load(cores) => cores,
                other => return Err(confused(port, &other)),
            };
            let is_ours =
                |core: &CoreUse| ends.iter().any(|it| it.machine == end.machine && it.cpus.contains(&core.cpu));
            loads.push(HostLoad { machine: end.machine.clone(), cores: all.into_iter().filter(is_ours).collect() });
        }
        Ok(loads)
    }

    /// Ends the port agents, then undoes the setup on all machines; continues after a failure.
    pub fn close(mut self) -> Result<(), BedError> {
        self.ports.clear();
        give_all_back(self.machines)
    }
}

/// Index of an end's machine.
fn machine_of(machines: &[Machine], end: &Endpoint) -> usize {
    machines.iter().position(|machine| machine.name() == end.machine).unwrap_or_default()
}

/// Cores of the near end's machine for both sides. If the far end is on another machine, the near end has all of them.
fn cores_alone([near, far]: [&Endpoint; 2]) -> [Vec<usize>; 2] {
    match near.cpus.as_slice() {
        _ if near.machine == far.machine => [near.cpus.clone(), far.cpus.clone()],
        [_, _, ..] => [0, 1].map(|side| near.cpus.iter().skip(side).step_by(2).copied().collect()),
        _ => [near.cpus.clone(), near.cpus.clone()],
    }
}

#[cfg(test)]
mod tests {
    use model::{Dut, Mtu, fixture};

    use super::*;
    use crate::machine::fake::Fake;

    #[test]
    fn the_mtu_of_a_trial_does_not_stay_for_the_next_one_with_the_same_filters() {
        let agent = Fake::new(|_| None);
        let device = Dut { machine: "bridge".to_owned(), ..Dut::default() };
        let bed = Bed { layout: "lab-bridge".to_owned(), dut: Some(device), ..fixture::lab() };
        let (machines, not_through, unknown) = (vec![agent.machine("")], vec![], vec![]);
        let mut session = Session { bed, ports: vec![], machines, dut: None, not_through, unknown, modified: None };
        let plan = "name = \"t\"\n[[rfc2544]]\nrate = \"1 Mpps\"\nframe_sizes = [64]\nmodifiers = [\"25-filters\"]";
        let specs = Plan::parse(plan, &[]).expect("a plan").specs();
        let filtered = specs.iter().map(|spec| spec.profile()).find(|it| it.filters.is_some()).expect("with filters");
        // No agent at an end tells of a link, so the wait for one is interrupted.
        let mut adapt = |mtu| {
            let profile = Profile { mtu, ..filtered.clone() };
            assert!(matches!(session.adapt(Some(&profile), &true.into()), Err(BedError::Interrupted)));
        };
        adapt(Some(Mtu(9000)));
        adapt(None);
        let asked = agent.asked();
        let undone = asked.iter().position(|it| it == "undo last 3").expect("both MTUs and the filters");
        assert!(asked[..undone].iter().any(|it| it.contains("MTU 9000")), "{asked:?}");
        assert!(asked[undone + 1..].iter().all(|it| it.contains("25 filters")), "{asked:?}");
    }
}
