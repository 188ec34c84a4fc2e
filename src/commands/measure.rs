//! The commands that measure: make the bed, run the plan, give everything back, write the report.

use std::{
    iter,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use anyhow::Context;
use bed::{BedError, BedRef, Session, Wanted};
use kernel::{privilege, user_namespace};
use model::{Plan, Privilege};
use report::{Lang, Notice};
use run::{Ending, Order, RunError, conduct, estimate};
use signal_hook::{
    consts::{SIGHUP, TERM_SIGNALS},
    flag,
};
use store::Store;

use super::{language, own_program, plans, print, print_json, report::tell};
use crate::{
    cli::{Common, GoodputOptions, LatencyOptions, Measure, PathOptions},
    exit::{Exit, Words, explain, say},
    paths,
    progress::Progress,
    record::Record,
};

/// `wireproof verify`
pub(super) fn verify(plan: &Path, options: &Measure, common: &Common) -> anyhow::Result<Exit> {
    measure(plans::read(plan, &options.sets("goodput"), options)?, options, common)
}

/// `wireproof latency`
pub(super) fn latency(probe: &LatencyOptions, options: &Measure, common: &Common) -> anyhow::Result<Exit> {
    let sets = [probe.sets(), options.sets("latency")].concat();
    measure(plans::read(Path::new("latency"), &sets, options)?, options, common)
}

/// `wireproof goodput`
pub(super) fn goodput(probe: &GoodputOptions, options: &Measure, common: &Common) -> anyhow::Result<Exit> {
    let sets = [probe.sets(), options.sets("goodput")].concat();
    measure(plans::read(Path::new("goodput"), &sets, options)?, options, common)
}

/// `wireproof path`
pub(super) fn path(probe: &PathOptions, options: &Measure, common: &Common) -> anyhow::Result<Exit> {
    let sets = [probe.sets(), options.sets("goodput")].concat();
    let mut plan = plans::read(Path::new("path"), &sets, options)?;
    plan.path.retain(|item| probe.ip.is_none_or(|ip| item.ip == ip));
    measure(plan, options, common)
}

/// For those who typed `throughput`.
pub(super) fn say_what_throughput_is(common: &Common) {
    if !common.quiet {
        say(&Notice::ThroughputAlias.text(language(common)));
    }
}

fn measure(plan: Plan, options: &Measure, common: &Common) -> anyhow::Result<Exit> {
    if options.dry_run {
        return dry_run(&plan, options, common);
    }
    let lang = language(common);
    // Before we may become root of a user namespace: files are those of the user who called.
    let store_path = paths::store(common.store.as_deref())?;
    let mut store = Store::open(&store_path)?;
    options.files.out.as_deref().map_or(Ok(()), paths::make_folder)?;
    let privilege = obtain_privilege(&options.bed, common, lang)?;
    let interrupt = watch_signals(lang)?;

    let mut progress = Progress::new(common, lang, &plan);
    progress.say(&Notice::Preparing);
    let wanted = Wanted {
        bed: options.bed.clone(),
        mtu: options.mtu,
        cpus: options.cpus.clone(),
        wrap: options.wrap_words(),
        privilege,
        program: own_program()?,
    };
    let mut session = Session::open(&wanted).map_err(words_or_bed)?;
    let mut record = Record::new(&mut store, &mut progress);
    let conducted = conduct(order(plan), &mut session, &mut record, &interrupt);
    let not_stored = record.into_failure();
    progress.say(&Notice::Undoing);
    let closed = session.close();
    progress.end();

    // Whatever went wrong is said, each thing for itself; the first sets the exit status.
    let mut failures: Vec<anyhow::Error> = Vec::new();
    let mut exit = Exit::Done;
    match conducted {
        Err(error) => failures.push(words_or_run(error)),
        Ok((run, ending)) => {
            match tell(&run, &options.files, &store_path, common) {
                Ok(verdict) => exit = verdict,
                Err(error) => failures.push(error),
            }
            match ending {
                Ending::Complete => {}
                Ending::Interrupted => exit = Exit::Interrupted,
                Ending::Failed(error) => failures.push(error.into()),
            }
        }
    }
    failures
        .extend(not_stored.map(|error| {
            anyhow::Error::new(error).context("the run could not be stored, its report is the only copy")
        }));
    failures.extend(closed.err().map(Into::into));
    Ok(failures.iter().map(explain).collect::<Vec<_>>().first().copied().unwrap_or(exit))
}

/// A plan that does not fit the bed is wrong words; everything else is the machine.
fn words_or_run(error: RunError) -> anyhow::Error {
    match error {
        RunError::Misfit(misfit) => Words(misfit.to_string()).into(),
        other => other.into(),
    }
}

/// What no bed can have is wrong words; everything else is the machine.
pub(super) fn words_or_bed(error: BedError) -> anyhow::Error {
    match error {
        BedError::Mtu(_) | BedError::NoSuchCore { .. } | BedError::OtherMtu { .. } => Words(error.to_string()).into(),
        other => other.into(),
    }
}

fn order(plan: Plan) -> Order {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    Order {
        plan,
        command: iter::once("wireproof".to_owned()).chain(words).collect(),
        wireproof: agent::build(),
        identity: None,
    }
}

/// Root, or root in a user namespace of our own: enough for a lab bed.
fn obtain_privilege(bed: &BedRef, common: &Common, lang: Lang) -> anyhow::Result<Privilege> {
    let privilege = privilege::current();
    if privilege != Privilege::User {
        return Ok(privilege);
    }
    if *bed != BedRef::Lab {
        anyhow::bail!("bed \"{bed}\" belongs to root; run the same command with sudo");
    }
    user_namespace::become_root().context(
        "not root, and no user namespace can be made here; run the same command with sudo, or let an administrator \
         allow user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, \
         kernel.apparmor_restrict_unprivileged_userns)",
    )?;
    if !common.quiet {
        say(&Notice::Unprivileged.text(lang));
    }
    Ok(Privilege::UserNamespace)
}

/// Between the first signal and the first that may end the program at once: people press twice.
const PRESSED_TWICE: Duration = Duration::from_secs(1);

/// The first signal ends the run in order, and is answered at once; one more, a moment later, ends the program at once, and
/// the agents then undo by themselves.
fn watch_signals(lang: Lang) -> anyhow::Result<Arc<AtomicBool>> {
    let (interrupt, impatient) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    // A terminal that is closed, or an ssh session that is cut, is an interrupt too.
    for signal in TERM_SIGNALS.iter().copied().chain([SIGHUP]) {
        flag::register_conditional_shutdown(signal, 130, Arc::clone(&impatient))?;
        flag::register(signal, Arc::clone(&interrupt))?;
    }
    let watched = Arc::clone(&interrupt);
    thread::spawn(move || {
        while !watched.load(Relaxed) {
            thread::sleep(Duration::from_millis(50));
        }
        say(&Notice::Interrupted.text(lang));
        thread::sleep(PRESSED_TWICE);
        impatient.store(true, Relaxed);
    });
    Ok(interrupt)
}

/// Says what would be done.
fn dry_run(plan: &Plan, options: &Measure, common: &Common) -> anyhow::Result<Exit> {
    let steps = plan.steps();
    let seconds: f64 = steps.iter().map(|step| estimate(&step.spec)).sum();
    let planned = bed::planned(&options.bed, options.mtu).map_err(words_or_bed)?;
    let changes = planned.as_ref().map(|planned| planned.changes.clone()).unwrap_or_default();
    if let Some(planned) = &planned {
        run::check(plan, &planned.bed).map_err(|misfit| Words(misfit.to_string()))?;
    }
    if common.json {
        let steps: Vec<_> = steps.iter().map(|step| &step.spec).collect();
        print_json(&serde_json::json!({ "plan": plan, "steps": steps, "changes": changes, "seconds": seconds }))?;
        return Ok(Exit::Done);
    }
    let set_up = match changes.as_slice() {
        [] => format!("Nothing is set up: bed \"{}\" has to stand already.\n", options.bed),
        changes => {
            let changes: String = changes.iter().map(|change| format!("  {change}\n")).collect();
            format!("Set up on this machine, and undone at the end:\n{changes}")
        }
    };
    let lines = |lines: &mut dyn Iterator<Item = String>| lines.map(|line| format!("  {line}\n")).collect::<String>();
    print(&format!(
        "{}Steps:\n{}About {seconds:.0} s.\n",
        set_up,
        lines(&mut steps.iter().map(|step| format!("repeat {}: {}", step.repeat, step.spec))),
    ))?;
    Ok(Exit::Done)
}
