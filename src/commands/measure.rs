//! The commands that measure: make the bed, run the plan, give everything back, write the report.

use std::{
    iter,
    path::{Path, PathBuf},
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
use model::{Identity, Plan, Privilege, Run, RunId, plan::Step};
use report::{Lang, Notice};
use run::{Ending, Order, RunError, conduct};
use signal_hook::{
    consts::{SIGHUP, TERM_SIGNALS},
    flag,
};
use store::Store;

use super::{
    beforehand::{check_machine, check_replays, fitting},
    dry_run::dry_run,
    language, own_program, plans,
    report::{check_pdf, tell},
};
use crate::{
    cli::{
        Common, Format, GoodputOptions, Identify, LatencyOptions, Measure, PacketsOptions, PathOptions, ReportFiles,
    },
    exit::{Exit, Words, explain, say},
    identity, paths,
    progress::Progress,
    record::Record,
    references::{self, References},
    under_way::UnderWay,
};

/// `wireproof verify`
pub(super) fn verify(plan: &Path, options: &Measure, identify: &Identify, common: &Common) -> anyhow::Result<Exit> {
    let identity = identity::read(identify)?;
    measure(plans::read(plan, &options.sets("goodput"), options)?, identity, options, common)
}

/// `wireproof latency`
pub(super) fn latency(probe: &LatencyOptions, options: &Measure, common: &Common) -> anyhow::Result<Exit> {
    let sets = [probe.sets(), options.sets("latency")].concat();
    measure(plans::read(Path::new("latency"), &sets, options)?, None, options, common)
}

/// `wireproof goodput`
pub(super) fn goodput(probe: &GoodputOptions, options: &Measure, common: &Common) -> anyhow::Result<Exit> {
    let sets = [probe.sets(), options.sets("goodput")].concat();
    measure(plans::read(Path::new("goodput"), &sets, options)?, None, options, common)
}

/// `wireproof packets`
pub(super) fn packets(probe: &PacketsOptions, options: &Measure, common: &Common) -> anyhow::Result<Exit> {
    let sets = [probe.sets(), options.sets("packets")].concat();
    let mut plan = plans::read(Path::new("packets"), &sets, options)?;
    if let Some(file) = &probe.stream_file {
        plans::send_streams_of(file, &mut plan)?;
    }
    if let Some(file) = &probe.replay {
        plans::replay(file, &probe.replay_loads(), &mut plan)?;
    }
    measure(plan, None, options, common)
}

/// `wireproof path`
pub(super) fn path(probe: &PathOptions, options: &Measure, common: &Common) -> anyhow::Result<Exit> {
    let sets = [probe.sets(), options.sets("goodput")].concat();
    let mut plan = plans::read(Path::new("path"), &sets, options)?;
    plan.path.retain(|item| probe.ip.is_none_or(|ip| item.ip == ip));
    measure(plan, None, options, common)
}

/// For those who typed `throughput`.
pub(super) fn say_what_throughput_is(common: &Common) {
    if !common.quiet {
        say(&Notice::ThroughputAlias.text(language(common)));
    }
}

fn measure(mut plan: Plan, identity: Option<Identity>, options: &Measure, common: &Common) -> anyhow::Result<Exit> {
    let references = references::read(common)?;
    references.check_limits(&plan)?;
    references.check_chosen(&options.files.chosen())?;
    check_machine(&plan, options)?;
    check_replays(&mut plan, options.mtu)?;
    if options.dry_run {
        return dry_run(&plan, options, common);
    }
    let desk = Desk::open(paths::store(common.store.as_deref())?, &options.files, common)?;
    let id = run::new_id();
    let _under_way = desk.take(&id)?;
    let wanted = Wanted { stamps: stamps(&plan), ..wanted(options, obtain_privilege(&options.bed, common)?)? };
    // Another machine is looked over once it is reached.
    if !matches!(wanted.bed, BedRef::Hosts(_)) {
        fitting(&plan, &wanted)?;
    }
    let steps = plan.steps(wanted.bed.senders());
    desk.measure(&wanted, &steps, |session, record, interrupt| {
        conduct(order(id, plan, identity), session, record, interrupt)
    })
}

/// Whether some of its messages are stamped on their way.
pub(super) fn stamps(plan: &Plan) -> bool {
    plan.latency.iter().any(|item| item.stamps)
}

/// What these options ask for, but for stamps.
pub(super) fn wanted(options: &Measure, privilege: Privilege) -> anyhow::Result<Wanted> {
    Ok(Wanted {
        bed: options.bed.clone(),
        mtu: options.mtu,
        cpus: options.cpus.clone(),
        wrap: options.wrap_words(),
        taking: options.ports.taking(),
        stamps: false,
        privilege,
        program: own_program()?,
        reach: options.reach.of_bed(),
    })
}

/// Ports of the bed whose bus cannot carry them: said before anything is measured over it. What cannot be read is not said.
fn narrow_buses(session: &mut Session, lang: Lang) -> Vec<String> {
    let environment = session.environment(String::new()).unwrap_or_default();
    let ends = session.bed.endpoints.iter().zip(&environment.endpoints);
    let said = ends.filter_map(|(end, facts)| {
        let port = facts.interfaces.iter().find(|interface| interface.name == end.interface)?;
        Some(format!("{}: {}", port.name, report::narrow_bus(port.card.as_ref()?, lang)?))
    });
    said.collect()
}

/// What has to be configured on a device under test that routes; `None` where none does.
pub(super) fn dut_note(bed: &BedRef, lang: Lang) -> Option<String> {
    let commands = bed.commands_for_dut();
    (!commands.is_empty()).then(|| [vec![Notice::ConfigureDut.text(lang)], commands].concat().join("\n  "))
}

/// Where the trials and the report of a run go, and who is told of it.
pub(super) struct Desk<'a> {
    store: Store,
    store_path: PathBuf,
    files: &'a ReportFiles,
    references: References,
    common: &'a Common,
}

impl<'a> Desk<'a> {
    /// To be called before we may become root of a user namespace: files are those of the user who called.
    pub(super) fn open(store_path: PathBuf, files: &'a ReportFiles, common: &'a Common) -> anyhow::Result<Self> {
        let store = Store::open(&store_path)?;
        files.out.as_deref().map_or(Ok(()), paths::make_folder)?;
        let references = references::read_and_say(common)?;
        references.check_chosen(&files.chosen())?;
        check_pdf(files.formats.contains(&Format::Pdf))?;
        Ok(Self { store, store_path, files, references, common })
    }

    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    /// Takes this run for this program alone; for the same moment as [`Desk::open`].
    pub(super) fn take(&self, run: &RunId) -> anyhow::Result<UnderWay> {
        UnderWay::take(&self.store_path, run)
    }

    /// Makes the bed, has these steps measured on it, gives everything back, and writes the report.
    pub(super) fn measure(
        mut self,
        wanted: &Wanted,
        steps: &[Step],
        conducting: impl FnOnce(&mut Session, &mut Record<'_>, &AtomicBool) -> Result<(Run, Ending), RunError>,
    ) -> anyhow::Result<Exit> {
        let lang = language(self.common);
        let interrupt = watch_signals(lang)?;
        let mut progress = Progress::new(self.common, lang, steps);
        progress.say(&Notice::Preparing);
        dut_note(&wanted.bed, lang).iter().for_each(|note| progress.note(note));
        let mut session = match Session::open(wanted, &interrupt) {
            Err(BedError::Interrupted) => return Ok(Exit::Interrupted),
            opened => opened.map_err(words_or_bed)?,
        };
        narrow_buses(&mut session, lang).iter().for_each(|said| progress.note(said));
        for closed in &session.not_through {
            progress.note(&Notice::NotThrough { ip: closed.ip(), why: &closed.to_string() }.text(lang));
        }
        let unchangeable = session.unchangeable();
        unchangeable.iter().for_each(|machine| progress.note(&Notice::NoRoot { machine }.text(lang)));
        let mut record = Record::new(&mut self.store, &mut progress);
        let conducted = conducting(&mut session, &mut record, &interrupt);
        let not_stored = record.into_failure();
        progress.say(&Notice::Undoing);
        let closed = session.close();
        progress.end();

        // Whatever went wrong is said, each thing for itself; the first sets the exit status.
        let mut failures: Vec<anyhow::Error> = Vec::new();
        let mut exit = Exit::Done;
        let mut left = "its report is the only copy";
        match conducted {
            Err(error) => failures.push(words_or_run(error)),
            Ok((run, ending)) => {
                // A run of nothing but its failure has no report.
                let told = (!ending.left_nothing(&run))
                    .then(|| tell(&run, self.files, &self.references, &self.store_path, self.common));
                match told {
                    None => {}
                    Some(Ok(verdict)) => exit = verdict,
                    Some(Err(error)) => {
                        left = "and its report is not whole either: keep what was printed of it";
                        failures.push(error);
                    }
                }
                match ending {
                    Ending::Complete => {}
                    Ending::Interrupted => exit = Exit::Interrupted,
                    Ending::Failed(errors) => failures.extend(errors.into_iter().map(Into::into)),
                }
            }
        }
        let lost = |error| anyhow::Error::new(error).context(format!("the run could not be stored, {left}"));
        failures.extend(not_stored.map(lost));
        failures.extend(closed.err().map(Into::into));
        Ok(failures.iter().map(explain).collect::<Vec<_>>().first().copied().unwrap_or(exit))
    }
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
        BedError::Mtu(_) | BedError::NoSuchCore { .. } | BedError::OtherMtu { .. } | BedError::Port(_) => {
            Words(error.to_string()).into()
        }
        other => other.into(),
    }
}

/// The command line that repeats a run: where its report went is no part of that, and a report must not be written over.
fn without_out(mut words: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        if word == "--out" {
            words.next();
        } else if !word.starts_with("--out=") {
            kept.push(word);
        }
    }
    kept
}

fn order(id: RunId, plan: Plan, identity: Option<Identity>) -> Order {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let words = without_out(words);
    Order {
        id,
        plan,
        command: iter::once("wireproof".to_owned()).chain(words).collect(),
        wireproof: agent::build(),
        identity,
    }
}

/// Root, or root in a user namespace of our own: enough for a lab bed. Real interfaces are not in there: what does not have to
/// be changed is measured as the user that we are.
pub(super) fn obtain_privilege(bed: &BedRef, common: &Common) -> anyhow::Result<Privilege> {
    let privilege = privilege::current();
    if matches!(bed, BedRef::Ports(_)) && privilege != Privilege::Root {
        anyhow::bail!("taking ports of this machine needs root; run the same command with sudo");
    }
    if privilege != Privilege::User || matches!(bed, BedRef::Hosts(_)) {
        return Ok(privilege);
    }
    if !matches!(bed, BedRef::Lab | BedRef::Senders(_)) {
        anyhow::bail!("bed \"{bed}\" belongs to root; run the same command with sudo");
    }
    user_namespace::become_root().context(
        "not root, and no user namespace can be made here; run the same command with sudo, or let an administrator \
         allow user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, \
         kernel.apparmor_restrict_unprivileged_userns)",
    )?;
    if !common.quiet {
        say(&Notice::Unprivileged.text(language(common)));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_repeats_a_run_does_not_say_where_its_report_went() {
        let words = ["verify", "--out", "there", "--out=here", "--set", "repeats=6"].map(str::to_owned);
        assert_eq!(without_out(words.into_iter()), ["verify", "--set", "repeats=6"]);
    }
}
