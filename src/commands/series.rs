//! A run for each number of cores of the device under test, and one table of their throughputs.

use model::{Plan, Run, RunId};
use report::Notice;
use store::Store;

use super::{
    beforehand::fitting,
    device_table, repeat, tell,
    wanted::{obtain_privilege, wanted},
};
use crate::{
    cli::{Common, Measure},
    exit::{Exit, Words, explain},
    output::say,
    paths,
};

/// Measures each number of cores, until something stops it. What was measured is shown, and how to go on.
pub(super) fn series(
    plan: &Plan,
    options: &Measure,
    common: &Common,
    measure: impl Fn(RunId, &Measure, usize) -> anyhow::Result<Exit>,
) -> anyhow::Result<Exit> {
    check(plan, options, common)?;
    let counts = &options.dut_cpus;
    let (mut exit, mut measured): (Exit, Vec<(usize, Run)>) = (Exit::Done, Vec::new());
    for (place, cores) in counts.iter().enumerate() {
        tell(Notice::SeriesRun { cores: *cores, run: place + 1, runs: counts.len() }, common);
        let id = run::new_id();
        let ended = measure(id.clone(), &with_cores(options, *cores), counts.len() - place)
            .unwrap_or_else(|error| explain(&error));
        exit = exit.and(ended);
        let kept = kept(&id, common)?;
        // A run of which something is kept is resumed.
        let next = place + usize::from(kept.is_some());
        measured.extend(kept.map(|run| (*cores, run)));
        if matches!(ended, Exit::Words | Exit::Interrupted | Exit::CouldNot) {
            say_how_to_go_on(&measured, &counts[next..], common);
            break;
        }
    }
    let runs: Vec<Run> = measured.into_iter().map(|(_, run)| run).collect();
    if !runs.is_empty() {
        device_table::show(&runs, None, common)?;
    }
    Ok(exit)
}

/// Refuses what no run of the series could do, before the first one.
fn check(plan: &Plan, options: &Measure, common: &Common) -> anyhow::Result<()> {
    let counts = &options.dut_cpus;
    let words = |why: &str| Err(Words(format!("--dut-cpus has several numbers: {why}")).into());
    if plan.rfc2544.is_empty() {
        return words("only tests of RFC 2544 are made with one after the other; write one");
    }
    if options.dry_run {
        return words("--dry-run shows one run; write one");
    }
    if (1..counts.len()).any(|place| counts[..place].contains(&counts[place])) {
        return words("write each of them once");
    }
    let privilege = obtain_privilege(&options.bed, true, common)?;
    for cores in counts {
        let wanted = wanted(&with_cores(options, *cores), plan, privilege)?;
        if !wanted.bed.has_other_hosts() {
            fitting(plan, &wanted)?;
        }
    }
    Ok(())
}

/// Options of one run. Each has a folder of its own in the one that was asked for.
fn with_cores(options: &Measure, cores: usize) -> Measure {
    let mut options = options.clone();
    options.dut_cpus = vec![cores];
    options.files.out = options.files.out.map(|out| out.join(format!("cores-{cores}")));
    options
}

/// The stored run, if any trial of it is kept.
fn kept(id: &RunId, common: &Common) -> anyhow::Result<Option<Run>> {
    let run = Store::open_to_read(&paths::store(common.store.as_deref())?)?.load(id);
    Ok(run.ok().filter(|run| !run.trials.is_empty()))
}

/// Names what was measured, and the command line for the rest.
fn say_how_to_go_on(measured: &[(usize, Run)], rest: &[usize], common: &Common) {
    let lang = super::language(common);
    let runs: Vec<String> = measured.iter().map(|(cores, run)| format!("--dut-cpus {cores}: {}", run.id)).collect();
    if !runs.is_empty() {
        say(&Notice::SeriesMeasured { runs: &runs.join(", ") }.text(lang));
    }
    if !rest.is_empty() {
        let counts: Vec<String> = rest.iter().map(ToString::to_string).collect();
        let words = repeat::with(&repeat::typed(), &["dut-cpus"], vec!["--dut-cpus".to_owned(), counts.join(",")]);
        say(&Notice::SeriesRest { command: &report::command(&words) }.text(lang));
    }
}
