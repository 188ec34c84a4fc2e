//! Turns a layout into a bed: reads the machines' state, selects cores, and makes the changes in order.

use std::time::Duration;

use model::{Bed, ClockRelation, CpuFacts, Privilege};

use crate::{
    changes::changes,
    cores::{self, Chosen},
    error::BedError,
    login::log_in,
    machine::{Machine, give_all_back, random_id},
    topology::Topology,
    wanted::{LaidOut, Wanted},
};

/// A bed with the agents of its machines, this one first.
pub(crate) struct ConnectedBed {
    pub(crate) bed: Bed,
    pub(crate) machines: Vec<Machine>,
    /// Records of other versions that were passed over, the first of each machine in words.
    pub(crate) unknown: Vec<String>,
}

/// Makes the requested bed, or takes a kept one. After a failure, changes are undone.
pub(crate) fn make(here: Machine, id: &str, name: &str, wanted: &Wanted) -> Result<ConnectedBed, BedError> {
    let (mut machines, mut unknown) = (log_in(here, wanted)?, Vec::new());
    if !wanted.bed.layout().stands() {
        // A crashed run's changes would pass for the user's own settings.
        for machine in machines.iter_mut().filter(|machine| machine.allowed.root) {
            let at = if machine.name().is_empty() { String::new() } else { format!("{}: ", machine.name()) };
            unknown.extend(machine.clean()?.unknown.first().map(|record| format!("{at}{record}")));
        }
    }
    let (mut bed, mut topology) = lay_out(id, name, wanted, wanted.privilege, &mut machines)?;
    choose_cores(&mut bed, wanted, topology.as_mut(), &mut machines)?;
    bed.clocks = clocks(&mut machines)?;
    match topology.iter().try_for_each(|topology| set_up(topology, id, &mut machines)) {
        Ok(()) => Ok(ConnectedBed { bed, machines, unknown }),
        Err(error) => Err(error.and_then_of(give_all_back(machines))),
    }
}

/// The bed without cores, and its topology. Changes nothing.
pub(crate) fn lay_out(
    id: &str,
    name: &str,
    wanted: &Wanted,
    privilege: Privilege,
    machines: &mut [Machine],
) -> Result<(Bed, Option<Topology>), BedError> {
    match wanted.bed.layout().lay_out(id, wanted, machines)? {
        LaidOut::New(topology) => {
            let mut bed = topology.bed(name, privilege);
            for end in &mut bed.endpoints {
                end.agentless = machines.iter().any(|it| it.name() == end.machine && it.allowed.agentless);
            }
            Ok((bed, Some(topology)))
        }
        LaidOut::Standing(bed) => Ok((*bed, None)),
    }
}

fn set_up(topology: &Topology, id: &str, machines: &mut [Machine]) -> Result<(), BedError> {
    let is_alone = machines.len() == 1;
    machines.iter_mut().try_for_each(|machine| {
        let changes = changes(topology, machine.name());
        if is_alone { machine.set_up(id, changes) } else { machine.set_up(&random_id(), changes) }
    })
}

/// Assigns each end its cores: the requested ones, or the best. The device under test of a new bed gets as many as requested.
pub(crate) fn choose_cores(
    bed: &mut Bed,
    wanted: &Wanted,
    topology: Option<&mut Topology>,
    machines: &mut [Machine],
) -> Result<(), BedError> {
    let is_new = topology.is_some();
    if wanted.dut_cpus.is_some() && !(is_new && bed.makes_its_links() && bed.dut.is_some()) {
        return Err(BedError::NoDut(bed.name.clone()));
    }
    let mut facts = CpuFacts::default();
    let chosen = if machines.len() > 1 {
        cores_of_machines(bed, wanted, machines)?
    } else {
        // A lab's interface does not exist yet, and a kept bed's is in its own namespace.
        let card = bed.endpoints.first().filter(|_| is_new && !bed.makes_its_links());
        facts = machines[0].lab_state(card.map(|end| end.interface.as_str()))?.cpus;
        let ([senders, receiver], device) = chosen_here(&facts, wanted)?;
        bed.dut.iter_mut().for_each(|dut| dut.cpus.clone_from(&device));
        cores::dealt(&senders, bed.senders().len()).into_iter().chain([receiver]).collect()
    };
    for (end, cores) in bed.endpoints.iter_mut().zip(chosen) {
        (end.cpus, end.cpus_why) = (cores.cpus, cores.why);
    }
    if let Some(topology) = topology {
        topology.pin_dut(bed, |cpu| cores::may_interrupt(&facts, cpu));
    }
    Ok(())
}

/// Cores of the two sides on this machine, and those of the device under test.
fn chosen_here(facts: &CpuFacts, wanted: &Wanted) -> Result<([Chosen; 2], Vec<usize>), BedError> {
    let count = wanted.dut_cpus.unwrap_or_default();
    let (ends, device) = match &wanted.cpus {
        Some(asked) => {
            let ends = [cores::as_asked(&asked[0], facts)?, cores::as_asked(&asked[1], facts)?];
            (ends, cores::beside(facts, &asked.concat(), count))
        }
        None => cores::choose_beside(facts, count),
    };
    match device.len() < count {
        true => Err(BedError::TooManyCores { asked: count, there: device.len() }),
        false => Ok((ends, device)),
    }
}

/// The cores of ends on machines of their own.
fn cores_of_machines(bed: &Bed, wanted: &Wanted, machines: &mut [Machine]) -> Result<Vec<Chosen>, BedError> {
    let last = bed.senders().len();
    let of_end = |(place, end): (usize, &model::Endpoint)| {
        let machine = machines.iter_mut().find(|machine| machine.name() == end.machine);
        let Some(machine) = machine.filter(|machine| !machine.allowed.agentless) else { return Ok(Chosen::default()) };
        let state = machine.lab_state(Some(&end.interface))?;
        match &wanted.cpus {
            Some(asked) => cores::as_asked(&asked[usize::from(place == last)], &state.cpus),
            None => Ok(cores::choose_for_one(&state.cpus)),
        }
    };
    bed.endpoints.iter().enumerate().map(of_end).collect()
}

/// Relates the clocks of several machines by messages; the two least accurate readings determine the error.
fn clocks(machines: &mut [Machine]) -> Result<ClockRelation, BedError> {
    if machines.len() == 1 {
        return Ok(ClockRelation::Same);
    }
    let mut errors: Vec<Duration> = Vec::new();
    for machine in machines {
        errors.push(machine.read_clock()?.error);
    }
    errors.sort_unstable();
    let error: Duration = errors.iter().rev().take(2).sum();
    Ok(ClockRelation::Estimated { error_ns: error.as_nanos() as u64 })
}

#[cfg(test)]
mod tests {
    use model::CoreFacts;
    use protocol::{Cleaned, Failure, FailureKind, LabState, Reply, Request};

    use super::*;
    use crate::{
        machine::fake::{Fake, failed},
        wanted::BedRef,
    };

    fn lab() -> Wanted {
        Wanted::plain(BedRef::lab(), Privilege::Root, "wireproof".into())
    }

    /// A machine without IPv6, on which changes that contain this text fail.
    fn machine_without(missing: &'static str) -> Fake {
        Fake::new(move |request| match request {
            Request::LabState { .. } => Some(Ok(Reply::LabState(LabState { cpus: CpuFacts::default(), ipv6: false }))),
            Request::Apply { changes } if changes.iter().any(|change| change.to_string().contains(missing)) => {
                Some(Err(failed()))
            }
            _ => None,
        })
    }

    #[test]
    fn a_lab_is_made_in_order_and_undone_with_its_machine() {
        let agent = machine_without("nothing");
        let made = make(agent.machine(""), "1f", "lab", &lab()).unwrap_or_else(|error| panic!("{error}"));
        let applied = |asked: Vec<String>| -> Vec<String> {
            asked.iter().filter_map(|it| it.strip_prefix("apply ").map(str::to_owned)).collect()
        };
        let made_changes = applied(agent.asked());
        assert_eq!((made_changes.len(), made_changes[0].as_str()), (13, "namespace wp1f-a"));
        assert_eq!(made_changes[12], "address 198.18.0.2/24 on wp1f-b/lab-b");
        assert!(made.bed.endpoints.iter().all(|end| end.addresses.len() == 1), "it has no IPv6");
        give_all_back(made.machines).expect("undone");
        assert_eq!(agent.asked().last().map(String::as_str), Some("undo all"));
    }

    #[test]
    fn a_record_of_another_version_stops_no_bed_and_is_told_in_one_line() {
        let record = |file: &str| Failure::new(FailureKind::Change, file, format!("cannot read line 1\nof {file}"));
        let agent = Fake::new(move |request| match request {
            Request::Clean => {
                let unknown = ["later.jsonl", "another.jsonl"].map(record).to_vec();
                Some(Ok(Reply::Cleaned(Cleaned { undone: Vec::new(), unknown })))
            }
            Request::LabState { .. } => Some(Ok(Reply::LabState(LabState { cpus: CpuFacts::default(), ipv6: false }))),
            _ => None,
        });
        let made = make(agent.machine(""), "1f", "lab", &lab()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(made.unknown, ["cannot read line 1; of later.jsonl"]);
        give_all_back(made.machines).expect("undone");
    }

    #[test]
    fn a_lab_that_fails_half_way_is_undone() {
        let agent = machine_without("veth");
        let error = make(agent.machine(""), "1f", "lab", &lab()).err().expect("no veth");
        assert!(error.to_string().ends_with("what was set up before it has been undone"), "{error}");
        let asked = agent.asked();
        assert!(asked[asked.len() - 2].contains("veth pair") && asked[asked.len() - 1] == "undo all", "{asked:?}");
    }

    #[test]
    fn a_device_under_test_receives_in_threads_on_its_cores() {
        let cores = [0, 1].map(|cpu| CoreFacts { cpu, siblings: vec![cpu].into(), ..CoreFacts::default() });
        let cpus = CpuFacts { allowed: vec![0, 1], cores: cores.to_vec(), ..CpuFacts::default() };
        let agent = Fake::new(move |request| match request {
            Request::LabState { .. } => Some(Ok(Reply::LabState(LabState { cpus: cpus.clone(), ipv6: false }))),
            _ => None,
        });
        let on = |bed: &str, dut_cpus| Wanted { bed: bed.parse().expect("a bed"), dut_cpus, ..lab() };
        let make = |wanted: &Wanted| make(agent.machine(""), "1f", &wanted.bed.to_string(), wanted);
        let made = make(&on("lab:vswitch", Some(1))).unwrap_or_else(|error| panic!("{error}"));
        let dut = made.bed.dut.as_ref().map(|dut| dut.cpus.clone());
        assert_eq!((dut, made.bed.core_shared_with_dut()), (Some(vec![1]), Some(1)));
        let asked = agent.asked();
        let place = |change: &str| asked.iter().position(|asked| asked == &format!("apply {change}"));
        for change in [
            "wp1f-vswitch/to-a receives in kernel threads on core 1",
            "wp1f-vswitch/to-b receives in kernel threads on core 1",
            "wp1f-a/lab-a tx-checksums off",
            "wp1f-a/lab-a queues/rx-0/rps_cpus = 1",
            "wp1f-b/lab-b queues/rx-0/rps_cpus = 2",
        ] {
            assert!(place(change).is_some(), "{change}: {asked:#?}");
        }
        for change in ["to-a receives in kernel threads on core 1", "to-b receives in kernel threads on core 1"] {
            let made = place(&format!("wp1f-vswitch/{change}"));
            assert!(made > place("wp1f-vswitch/to-b up"), "only then it has a queue: {asked:#?}");
        }
        assert!(!asked.iter().any(|asked| asked.contains("router-a receives")), "it does not poll: {asked:#?}");
        let error = make(&on("lab", Some(1))).err().expect("no device").to_string();
        assert!(error.contains("bed \"lab\" is not made with a device under test"), "{error}");
        let error = make(&on("lab:router", Some(3))).err().expect("two cores").to_string();
        assert_eq!(error, "--dut-cpus 3: this machine has 2 cores that can be used");
    }

    #[test]
    fn cores_that_are_not_there_are_refused_before_anything_is_made() {
        let agent = machine_without("nothing");
        let wanted = Wanted { cpus: Some([vec![0], vec![7]]), ..lab() };
        let error = make(agent.machine(""), "1f", "lab", &wanted).err().expect("no such core");
        assert!(matches!(error, BedError::NoSuchCore { cpu: 0, .. }), "{error}");
        assert!(!agent.asked().contains(&"open".to_owned()));
    }
}
