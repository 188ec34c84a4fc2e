//! A run for each number of cores of the device under test, and one table of their throughputs.

use model::{Plan, Run};
use report::Notice;

use super::{
    beforehand::fitting,
    device_table, language, repeat,
    several::{Ended, Several},
    tell,
    wanted::{obtain_privilege, wanted},
};
use crate::{
    cli::{Common, Measure},
    exit::{Exit, Words},
    output::say,
};

/// Measures each number of cores, until something stops it. What was measured is shown, and how to go on.
pub(super) fn series(
    plan: &Plan,
    options: &Measure,
    common: &Common,
    measure: impl Fn(&Measure, usize) -> anyhow::Result<(Exit, Option<Run>)>,
) -> anyhow::Result<Exit> {
    check(plan, options, common)?;
    let counts = &options.dut_cpus;
    let (mut exit, mut runs) = (Exit::Done, Vec::new());
    let mut several = Several::shown_by("wireproof rfc2544 table RUN…", common);
    for (place, cores) in counts.iter().enumerate() {
        tell(Notice::SeriesRun { cores: *cores, run: place + 1, runs: counts.len() }, common);
        let measured = measure(&with_cores(options, *cores), counts.len() - place);
        let (ended, stored) = measured.unwrap_or_else(|error| (Ended::from(error).0, None));
        exit = exit.and(ended);
        // A run of which something is stored is resumed.
        let next = place + usize::from(stored.is_some());
        stored.iter().for_each(|run| several.keep(run, Some(&format!("--dut-cpus {cores}"))));
        runs.extend(stored);
        if matches!(ended, Exit::Words | Exit::Interrupted | Exit::CouldNot) {
            several.tell();
            say_rest(&counts[next..], common);
            break;
        }
    }
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
        return words("only tests of RFC 2544 are made with one after the other; write one number");
    }
    if options.dry_run {
        return words("--dry-run shows one run; write one number");
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

/// Says the command line for the rest.
fn say_rest(rest: &[usize], common: &Common) {
    if !rest.is_empty() {
        let counts: Vec<String> = rest.iter().map(ToString::to_string).collect();
        let words = repeat::with(&repeat::typed(), &["dut-cpus"], vec!["--dut-cpus".to_owned(), counts.join(",")]);
        say(&Notice::SeriesRest { command: &report::command(&words) }.text(language(common)));
    }
}
