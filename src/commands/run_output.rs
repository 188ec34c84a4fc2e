//! Has an order conducted for the command line: progress, signals, the report and the exit status.

use std::{
    path::PathBuf,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use bed::{BedError, Wanted};
use model::{Plan, Reference, Run, RunId};
use report::{Lang, Notice};
use run::{Ending, Order, OrderOutcome, RunError, RunOutcome, conduct};
use signal_hook::{
    consts::{SIGHUP, TERM_SIGNALS},
    flag,
};
use store::{Store, StoreError};

use super::{
    language, repeat,
    report::{check_pdf, tell},
    room,
    wanted::{Privileged, dut_note, words_or_bed},
};
use crate::{
    cli::{Common, Format, ReportFiles},
    exit::{Exit, Words, explain},
    output::say,
    paths,
    progress::Progress,
    references::{self, References},
};

/// Destination of the trials and the report of a run, and its observers.
pub(super) struct RunOutput<'a> {
    store: Store,
    store_path: PathBuf,
    files: &'a ReportFiles,
    references: References,
    common: &'a Common,
    /// The command that resets the device under test.
    reset_by: Option<String>,
    /// Whether the run is one of a series, which prints one JSON document for all of them.
    is_in_series: bool,
}

impl<'a> RunOutput<'a> {
    /// To be called before we may become root of a user namespace: files are those of the user who called.
    pub(super) fn open(store_path: PathBuf, files: &'a ReportFiles, common: &'a Common) -> anyhow::Result<Self> {
        let store = Store::open(&store_path)?;
        files.out.as_deref().map_or(Ok(()), paths::make_folder)?;
        let references = references::read_and_say(common)?;
        references.check_chosen(&files.chosen())?;
        check_pdf(files.formats.contains(&Format::Pdf))?;
        Ok(Self { store, store_path, files, references, common, reset_by: None, is_in_series: false })
    }

    /// The same with a command that resets the device under test.
    pub(super) fn reset_by(self, reset_by: Option<String>) -> Self {
        Self { reset_by, ..self }
    }

    /// The same for a run of a series.
    pub(super) fn in_series(self, is_in_series: bool) -> Self {
        Self { is_in_series, ..self }
    }

    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    /// Conducts the order, gives everything back, and writes the report. Returns the run where a trial of it is stored.
    pub(super) fn conduct(mut self, order: Order, wanted: &Wanted) -> anyhow::Result<(Exit, Option<Run>)> {
        let interrupt = watch_signals(language(self.common))?;
        match self.measure(order, wanted, &interrupt)? {
            Some(conducted) => self.tell(conducted, wanted),
            None => Ok((Exit::Interrupted, None)),
        }
    }

    /// Conducts the order and gives everything back; `None` where it was interrupted before anything was measured.
    pub(super) fn measure(
        &mut self,
        order: Order,
        wanted: &Wanted,
        interrupt: &AtomicBool,
    ) -> anyhow::Result<Option<OrderOutcome<StoreError>>> {
        let lang = language(self.common);
        let mut progress = Progress::new(order.plan(), self.common, lang).reset_by(self.reset_by.take());
        progress.say(&Notice::Preparing);
        dut_note(&wanted.bed, wanted.networks, lang).iter().for_each(|note| progress.note(note));
        let conducted = match conduct(order, wanted, &mut self.store, &mut progress, interrupt) {
            Err(BedError::Interrupted) => return Ok(None),
            conducted => conducted.map_err(words_or_bed)?,
        };
        progress.end();
        Ok(Some(conducted))
    }

    /// Folder of the report of a run.
    pub(super) fn folder(&self, id: &RunId) -> PathBuf {
        paths::report(self.files.out.as_deref(), &self.store_path, &id.0)
    }

    /// References that limits may name.
    pub(super) fn references(&self) -> &[Reference] {
        &self.references.known
    }

    /// Refuses a plan whose store or report may have no room, measured so many times.
    pub(super) fn check_room(&self, id: &RunId, plan: &Plan, senders: usize, runs: usize) -> anyhow::Result<()> {
        room::check(plan, senders, runs, &self.store_path, &self.folder(id))
    }

    /// Writes the report, and says whatever went wrong, each thing for itself; the gravest sets the exit status. Returns the run where a
    /// trial of it is stored.
    pub(super) fn tell(
        &self,
        conducted: OrderOutcome<StoreError>,
        wanted: &Wanted,
    ) -> anyhow::Result<(Exit, Option<Run>)> {
        let mut failures: Vec<anyhow::Error> = Vec::new();
        let mut exit = Exit::Done;
        let (mut resumable, mut stored) = (None, None);
        match conducted.made {
            Err(error) => failures.push(words_or_run(error)),
            Ok(RunOutcome { run, ending, kept }) => {
                let mut left = "its report is the only copy";
                // A run of nothing but its failure has no report.
                if !ending.left_nothing(&run) {
                    match tell(&run, self.files, &self.references, &self.store_path, self.is_in_series, self.common) {
                        Ok(verdict) => exit = verdict,
                        Err(error) => {
                            left = "and its report is not whole either: keep what was printed of it";
                            failures.push(error);
                        }
                    }
                }
                resumable = (kept.is_ok() && can_go_on(&run, &ending)).then(|| self.resume(&run.id, wanted));
                match ending {
                    Ending::Complete => {}
                    Ending::Interrupted => exit = exit.and(Exit::Interrupted),
                    Ending::Failed(errors) => failures.extend(errors.into_iter().map(Into::into)),
                }
                stored = (kept.is_ok() && !run.trials.is_empty()).then_some(run);
                let lost = |error| anyhow::Error::new(error).context(format!("the run could not be stored, {left}"));
                failures.extend(kept.err().map(lost));
            }
        }
        failures.extend(conducted.given_back.err().map(Into::into));
        let exit = failures.iter().map(explain).fold(exit, Exit::and);
        if let Some(command) = resumable {
            say(&Notice::Resumable { command: &command }.text(language(self.common)));
        }
        Ok((exit, stored))
    }

    /// The command line that continues a run on this bed.
    fn resume(&self, id: &RunId, wanted: &Wanted) -> String {
        let store = self.common.store.iter().flat_map(|store| ["--store".to_owned(), store.display().to_string()]);
        let Wanted { bed, taking, wrap, reach, .. } = wanted;
        let privileged = Privileged { bed: bed.clone(), taking: *taking, wrap: wrap.clone() }.words();
        let ssh = (reach.ssh != ["ssh"]).then(|| ["--ssh".to_owned(), reach.ssh.join(" ")]).into_iter().flatten();
        let push = reach.push.then(|| "--push".to_owned());
        let out = self.files.out.iter().flat_map(|out| ["--out".to_owned(), out.display().to_string()]);
        let words = ["wireproof", "resume", &id.0].map(str::to_owned).into_iter().chain(store).chain(out);
        ::report::command(&words.chain(privileged).chain(ssh).chain(push).collect::<Vec<_>>())
    }
}

/// Whether more than its end is missing of a run.
fn can_go_on(run: &Run, ending: &Ending) -> bool {
    !matches!(ending, Ending::Complete) && !ending.left_nothing(run) && !repeat::is_of_tuning(&run.command)
}

/// A plan that does not fit the bed is wrong words; everything else is the machine.
fn words_or_run(error: RunError) -> anyhow::Error {
    match error {
        RunError::Misfit(misfit) => Words(misfit.to_string()).into(),
        other => other.into(),
    }
}

/// Between the first signal and the first that may end the program at once: people press twice.
const PRESSED_TWICE: Duration = Duration::from_secs(1);

/// The first signal ends the run in order, and is answered at once; one more, a moment later, ends the program at once, and
/// the agents then undo by themselves.
pub(super) fn watch_signals(lang: Lang) -> anyhow::Result<Arc<AtomicBool>> {
    // Later runs of a series are interrupted by the same signal.
    static WATCHED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    if let Some(interrupt) = WATCHED.get() {
        return Ok(Arc::clone(interrupt));
    }
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
    Ok(Arc::clone(WATCHED.get_or_init(|| interrupt)))
}
