//! The commands that measure: from words to an order.

use std::path::Path;

use model::{Bed, Identity, Plan, Run, rfc2544::Rfc2544Test};
use report::Notice;
use run::{NewRun, Order};

use super::{
    beforehand::{bind_replays, check_machine, check_replays, fitting},
    dry_run::dry_run,
    path_to, plans, repeat,
    rfc2544::goals,
    run_output::RunOutput,
    series::series,
    tell,
    wanted::{obtain_privilege, wanted},
};
use crate::{
    cli::{self, Common, Identify, Measure, PacketsOptions, ProbeCommand, Rfc2544Options},
    exit::{Exit, Words},
    identity, paths,
    references::{self, References},
};

/// `wireproof verify`
pub(super) fn verify(plan: &Path, options: &Measure, identify: &Identify, common: &Common) -> anyhow::Result<Exit> {
    let identity = identity::read(identify)?;
    measure(read(plan, options)?, identity, options, common)
}

/// A plan for `verify`.
pub(super) fn read(plan: &Path, options: &Measure) -> anyhow::Result<Plan> {
    plans::read(plan, &options.set, &[], |plan| {
        let known = if plan.rfc2544.is_empty() { &cli::GOODPUT } else { &cli::RFC2544 };
        cli::apply(options, known, plan)
    })
}

/// The command of a probe.
pub(super) fn probe(command: &ProbeCommand, common: &Common) -> anyhow::Result<Exit> {
    if let ProbeCommand::Throughput { .. } = command {
        tell(Notice::ThroughputAlias, common);
    }
    if let ProbeCommand::Path { probe, options } = command
        && let Some(destination) = &probe.destination
    {
        return path_to::path_to(destination, probe, &options.reach, common);
    }
    let (probe, options) = command.options();
    let known = probe.known();
    let mut plan = plans::read(Path::new(known.name), &options.set, probe.stacks(), |plan| {
        probe.apply(plan)?;
        cli::apply(options, known, plan)
    })?;
    match command {
        ProbeCommand::Path { probe, .. } => plan.path.retain(|item| probe.ip.is_none_or(|ip| item.ip == ip)),
        ProbeCommand::Packets { probe, .. } => bring_streams(probe, &mut plan)?,
        _ => {}
    }
    measure(plan, None, options, common)
}

/// Stream files and captures that the options name.
fn bring_streams(probe: &PacketsOptions, plan: &mut Plan) -> anyhow::Result<()> {
    if let Some(file) = &probe.stream_file {
        plans::send_streams_of(file, plan)?;
    }
    if let Some(file) = &probe.replay {
        plans::replay(file, &probe.replay_loads(), plan)?;
    }
    Ok(())
}

/// `wireproof rfc2544`
pub(super) fn rfc2544(tests: &Rfc2544Options, options: &Measure, common: &Common) -> anyhow::Result<Exit> {
    let goals = tests.goals.as_deref().map(goals).transpose()?;
    let plan = plans::read(Path::new(cli::RFC2544.name), &options.set, &[], |plan| {
        tests.apply(plan)?;
        if let Some(goals) = &goals {
            plan.rfc2544.iter_mut().for_each(|item| item.goal.clone_from(goals));
        }
        cli::apply(options, &cli::RFC2544, plan)
    })?;
    let is_reset = plan.rfc2544.iter().any(|item| item.tests.contains(&Rfc2544Test::Reset));
    if tests.reset_by.is_some() && !is_reset {
        return Err(Words("--reset-by is the command of the reset test: write --tests reset, too".to_owned()).into());
    }
    measure_with(plan, None, options, tests.reset_by.clone(), common)
}

/// Says that tests of RFC 2544 are for isolated beds, and where there is no device to test.
fn tell_of_tests(plan: &Plan, bed: Option<&Bed>, common: &Common) {
    if plan.rfc2544.is_empty() {
        return;
    }
    tell(Notice::IsolatedOnly, common);
    if bed.is_some_and(|bed| bed.dut.is_none()) {
        tell(Notice::NoDevice, common);
    }
}

fn measure(plan: Plan, identity: Option<Identity>, options: &Measure, common: &Common) -> anyhow::Result<Exit> {
    measure_with(plan, identity, options, None, common)
}

/// Measures; a command resets the device under test.
fn measure_with(
    mut plan: Plan,
    identity: Option<Identity>,
    options: &Measure,
    reset_by: Option<String>,
    common: &Common,
) -> anyhow::Result<Exit> {
    let references = check(&mut plan, options, common)?;
    let runs = options.dut_cpus.len().max(1);
    let is_in_series = runs > 1;
    let one = |options: &Measure, left: usize| {
        let order = order(plan.clone(), identity.clone(), options);
        conduct(order, options, reset_by.clone(), is_in_series.then_some(left), common)
    };
    if is_in_series {
        return series(&plan, options, common, one);
    }
    if options.dry_run {
        return dry_run(&plan, &references.known, options, common);
    }
    Ok(one(options, 1)?.0)
}

/// Refuses what cannot be measured, and names captures by their content.
pub(super) fn check(plan: &mut Plan, options: &Measure, common: &Common) -> anyhow::Result<References> {
    let references = references::read(common)?;
    references.check_limits(plan)?;
    references.check_chosen(&options.files.chosen())?;
    check_machine(plan, options)?;
    bind_replays(plan)?;
    check_replays(plan, options.mtu)?;
    Ok(references)
}

/// Conducts a run; of a series, with the number of runs that are left. Returns the run where a trial of it is stored.
fn conduct(
    order: NewRun,
    options: &Measure,
    reset_by: Option<String>,
    left: Option<usize>,
    common: &Common,
) -> anyhow::Result<(Exit, Option<Run>)> {
    let plan = &order.plan;
    let run_output = RunOutput::open(paths::store(common.store.as_deref())?, &options.files, common)?;
    let run_output = run_output.reset_by(reset_by).in_series(left.is_some());
    run_output.check_room(&order.id, plan, options.bed.senders(), left.unwrap_or(1))?;
    let _lock = run_output.store().lock_run(&order.id)?;
    let privilege = obtain_privilege(&options.bed, !options.dut_cpus.is_empty(), common)?;
    let wanted = wanted(options, plan, privilege)?;
    // Another machine is looked over once it is reached.
    if wanted.bed.has_other_hosts() {
        tell_of_tests(plan, None, common);
    } else {
        tell_of_tests(plan, Some(&fitting(plan, &wanted)?.bed), common);
    }
    run_output.conduct(Order::New(Box::new(order)), &wanted)
}

/// The command line of one run of a series asks for its number of cores alone.
fn order(plan: Plan, identity: Option<Identity>, options: &Measure) -> NewRun {
    let cores = options.dut_cpus.first().map(|cores| ["--dut-cpus".to_owned(), cores.to_string()]);
    let typed = match cores {
        Some(cores) => repeat::with(&repeat::typed(), &["dut-cpus"], cores.into()),
        None => repeat::typed(),
    };
    NewRun { id: run::new_id(), plan, command: repeat::command(&typed), wireproof: agent::build(), identity }
}
