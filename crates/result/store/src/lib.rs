//! Runs and trials, kept as they finish (SQLite).
//!
//! One file holds all runs. Each trial is on the disk when [`Archive::keep_trial`] returns, so that a run that is killed
//! loses nothing that was finished.

mod baseline;
mod conclusion;
mod error;
mod run_lock;
mod schema;
mod version_1;

use std::{
    fmt::Display,
    fs, io, mem,
    path::{Path, PathBuf},
    process, thread,
    time::Duration,
};

use model::{Doubt, Json, Run, RunId, Trial, plain::one_line, plausible::Implausible};
use run::Archive;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use serde::Serialize;

pub use baseline::Baseline;
pub use conclusion::{Drawn, StoredConclusion};
pub use error::{StoreError, Trouble};
pub use run_lock::RunLock;

/// Time to wait for another wireproof that is writing. One write takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// Bytes of a run without its trials: many times those of photos and self-tests.
const LONGEST_BODY: i64 = 1 << 26;

/// Bytes of all trials of a run.
const LONGEST_TRIALS: i64 = 1 << 30;

/// An open store.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    connection: Connection,
}

/// One line in the list of runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunSummary {
    /// Name.
    pub id: RunId,
    /// When it began (RFC 3339).
    pub started: String,
    /// When it ended; `None` while it runs, or when it was killed.
    pub finished: Option<String>,
    /// Name of its plan.
    pub plan: String,
    /// Name of its bed.
    pub bed: String,
    /// Trials that are stored.
    pub trials: u32,
    /// Whether trials of the plan are missing.
    pub partial: bool,
}

impl Store {
    /// Opens a store to write to, and makes it (and the folders above it) when there is none. Fails now rather than
    /// after the first trial when the place cannot be written.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        create_if_absent(path)?;
        let mut connection = connect(path)?;
        schema::bring_up_to_date(&mut connection, path)?;
        let mut store = Self { path: path.to_owned(), connection };
        store.check_writable()?;
        Ok(store)
    }

    /// Opens an existing store to write to.
    pub fn open_existing(path: &Path) -> Result<Self, StoreError> {
        exists(path)?;
        Self::open(path)
    }

    /// Whether an existing store can be written to; nothing is changed, and an older one stays as it is.
    pub fn check(path: &Path) -> Result<(), StoreError> {
        exists(path)?;
        let connection = connect(path)?;
        schema::version(&connection, path)?;
        Self { path: path.to_owned(), connection }.check_writable()
    }

    /// Opens an existing store for reading: works on a full or read-only disk too, and writes nothing but conclusions. An older store is
    /// read as it is, or as a copy in memory.
    pub fn open_to_read(path: &Path) -> Result<Self, StoreError> {
        exists(path)?;
        let mut connection = connect(path)?;
        if schema::version(&connection, path)? < schema::READABLE {
            connection = schema::copy_up_to_date(&connection, path)?;
        }
        // Not opened read-only: SQLite could not undo what a program left half done when it was killed.
        read_only(&connection, true).map_err(|e| StoreError::sqlite(path, "open the store", e))?;
        Ok(Self { path: path.to_owned(), connection })
    }

    fn update(&mut self, run: &Run, tried: &'static str) -> Result<(), StoreError> {
        let update = "UPDATE run SET finished = ?2, partial = ?3, body = ?4 WHERE id = ?1";
        let row = params![run.id.0, run.finished, is_partial(run), body(run)];
        let changed = self.connection.execute(update, row).map_err(|e| self.error(tried, e))?;
        if changed == 0 { Err(self.no_such_run(&run.id)) } else { Ok(()) }
    }

    /// All runs, the one that was begun last first, whatever the clock showed then.
    pub fn runs(&self) -> Result<Vec<RunSummary>, StoreError> {
        let query = "SELECT substr(id, 1, 1000), substr(started, 1, 1000), substr(finished, 1, 1000), substr(plan, 1, 1000), \
                     substr(bed, 1, 1000), partial, \
                     (SELECT count(*) FROM trial WHERE trial.run = run.id) \
                     FROM run ORDER BY rowid DESC";
        let summary = |row: &rusqlite::Row<'_>| {
            Ok(RunSummary {
                id: RunId(row.get(0)?),
                started: row.get(1)?,
                finished: row.get(2)?,
                plan: row.get(3)?,
                bed: row.get(4)?,
                partial: row.get(5)?,
                trials: row.get(6)?,
            })
        };
        self.rows(query, [], summary).map_err(|e| self.error("list the runs", e))
    }

    /// The run with this name, or the only one whose name begins with it. A run without an end is partial.
    pub fn load(&self, id: &RunId) -> Result<Run, StoreError> {
        let id = self.whole_id(id)?;
        let query = "SELECT CASE WHEN octet_length(body) <= ?2 THEN body END FROM run WHERE id = ?1";
        let body: Option<String> = self
            .connection
            .query_row(query, params![id.0, LONGEST_BODY], |row| row.get(0))
            .map_err(|e| self.error("read the run", e))?;
        let impossible = |source| StoreError::Impossible { path: self.path.clone(), run: id.clone(), source };
        let body = body.ok_or_else(|| impossible(too_long("its text", LONGEST_BODY)))?;
        let unreadable = |source| StoreError::Unreadable { path: self.path.clone(), run: id.clone(), source };
        let mut run = Run::from_json(&body).map_err(unreadable)?;
        if run.id != id || !id.is_well_formed() {
            return Err(StoreError::OtherName { path: self.path.clone(), row: id.0, body: run.id.0 });
        }
        run.check().map_err(impossible)?;
        run.partial = is_partial(&run);
        if run.finished.is_none() {
            // Its program was killed before it could say so itself.
            run.doubts.push(Doubt::Interrupted);
        }
        if self.length_of_trials(&id)? > LONGEST_TRIALS {
            return Err(impossible(too_long("its trials", LONGEST_TRIALS)));
        }
        let (rows, self_tests) = (self.trials(&id)?, mem::take(&mut run.self_tests));
        let stored = rows.len();
        run.trials = rows.into_iter().filter_map(|row| row.trial(&mut run.doubts)).collect();
        run.partial |= run.trials.len() < stored;
        run.self_tests =
            self_tests.into_iter().filter_map(|test| possible(test, "self-test", &mut run.doubts)).collect();
        let tester = mem::take(&mut run.tester);
        run.tester = tester.into_iter().filter_map(|trial| possible(trial, "tester", &mut run.doubts)).collect();
        Ok(run)
    }

    /// The run that was begun last, whatever the clock showed then.
    pub fn last(&self) -> Result<Run, StoreError> {
        let query = "SELECT id FROM run ORDER BY rowid DESC LIMIT 1";
        let latest = self.connection.query_row(query, [], |row| row.get(0)).optional();
        match latest.map_err(|e| self.error("find the latest run", e))? {
            Some(id) => self.load(&RunId(id)),
            None => Err(StoreError::NoRuns { path: self.path.clone() }),
        }
    }

    fn trials(&self, id: &RunId) -> Result<Vec<TrialRow>, StoreError> {
        let query =
            "SELECT number, CASE WHEN octet_length(body) <= ?2 THEN body END FROM trial WHERE run = ?1 ORDER BY number";
        let row = |row: &rusqlite::Row<'_>| {
            Ok(TrialRow { number: row.get(0)?, body: row.get_ref(1)?.as_bytes_or_null()?.map(<[u8]>::to_vec) })
        };
        self.rows(query, params![id.0, LONGEST_BODY], row).map_err(|e| self.error("read the run's trials", e))
    }

    /// Bytes of all trials of a run, each with some for its row.
    fn length_of_trials(&self, id: &RunId) -> Result<i64, StoreError> {
        let query = "SELECT coalesce(sum(coalesce(octet_length(body), 0) + 64), 0) FROM trial WHERE run = ?1";
        self.connection.query_row(query, [&id.0], |row| row.get(0)).map_err(|e| self.error("read the run's trials", e))
    }

    /// The name in full: itself, or the only one that begins so.
    fn whole_id(&self, id: &RunId) -> Result<RunId, StoreError> {
        let query = "SELECT id FROM run WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id";
        let found: Vec<String> =
            self.rows(query, [&id.0], |row| row.get(0)).map_err(|e| self.error("find the run", e))?;
        match found.as_slice() {
            [] => Err(self.no_such_run(id)),
            // The name itself sorts before all that it begins.
            [only] => Ok(RunId(only.clone())),
            [first, ..] if *first == id.0 => Ok(id.clone()),
            several => Err(StoreError::SeveralRuns { path: self.path.clone(), run: id.clone(), fit: several.len() }),
        }
    }

    fn rows<T>(
        &self,
        query: &str,
        params: impl rusqlite::Params,
        row: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        self.connection.prepare(query)?.query_map(params, row)?.collect()
    }

    /// Begins a write as the first trial would, and takes it back.
    fn check_writable(&mut self) -> Result<(), StoreError> {
        let write = |connection: &mut Connection| {
            let transaction = schema::write(connection)?;
            schema::stamp(&transaction)?;
            transaction.rollback()
        };
        write(&mut self.connection).map_err(|e| self.error("write to the store", e))
    }

    fn error(&self, tried: &'static str, source: rusqlite::Error) -> StoreError {
        StoreError::sqlite(&self.path, tried, source)
    }

    fn no_such_run(&self, id: &RunId) -> StoreError {
        StoreError::NoSuchRun { path: self.path.clone(), run: id.clone() }
    }
}

/// A store keeps runs in progress.
impl Archive for Store {
    type Error = StoreError;

    /// Keeps a run that begins, without trials.
    fn begin(&mut self, run: &Run) -> Result<(), StoreError> {
        let tried = "store the beginning of the run";
        let insert = "INSERT INTO run (id, started, plan, bed, body) VALUES (?1, ?2, ?3, ?4, ?5)";
        let row = params![run.id.0, run.started, run.plan.name, run.bed.name, body(run)];
        self.connection.execute(insert, row).map_err(|e| self.error(tried, e))?;
        Ok(())
    }

    /// Keeps that a run is continued: it has no end again, and is partial until all is there.
    fn resume(&mut self, run: &Run) -> Result<(), StoreError> {
        self.update(run, "store that the run goes on")
    }

    /// Keeps a trial, finished or as far as it is, in the place of what was kept of it before. It is on the disk when this
    /// returns.
    fn keep_trial(&mut self, run: &RunId, trial: &Trial) -> Result<(), StoreError> {
        let insert = "INSERT OR REPLACE INTO trial (run, number, body) VALUES (?1, ?2, ?3)";
        let row = params![run.0, trial.number, trial.to_json()];
        self.connection.execute(insert, row).map_err(|e| self.error("store a trial", e))?;
        Ok(())
    }

    /// Keeps what is known at the end of a run: when that was, what the machine was then, doubts, what is missing. Its
    /// trials are stored already.
    fn finish(&mut self, run: &Run) -> Result<(), StoreError> {
        self.update(run, "store the end of the run")
    }

    /// Forgets a run of which nothing was measured.
    fn forget(&mut self, run: &RunId) -> Result<(), StoreError> {
        let delete = "DELETE FROM run WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM trial WHERE run = ?1)";
        self.connection.execute(delete, params![run.0]).map_err(|e| self.error("forget an empty run", e))?;
        Ok(())
    }
}

fn exists(path: &Path) -> Result<(), StoreError> {
    if path.exists() { Ok(()) } else { Err(StoreError::Absent { path: path.to_owned() }) }
}

/// Whether statements that write are refused.
fn read_only(connection: &Connection, is_so: bool) -> rusqlite::Result<()> {
    connection.pragma_update(None, "query_only", is_so)
}

fn connect(path: &Path) -> Result<Connection, StoreError> {
    // Opening a FIFO waits for somebody who writes.
    if path.metadata().is_ok_and(|file| !file.is_file() && !file.is_dir()) {
        return Err(StoreError::NotAStore { path: path.to_owned(), tried: "open the store", is: "no regular file" });
    }
    connection(path).map_err(|e| StoreError::sqlite(path, "open the store", e))
}

fn connection(path: &Path) -> rusqlite::Result<Connection> {
    // SQLite falls back to reading where it may not write.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    // A rollback journal keeps all in one file that can be copied. EXTRA also syncs the folder when the journal is
    // gone, without which a power cut can undo the last trial (https://www.sqlite.org/pragma.html#pragma_synchronous).
    connection.execute_batch("PRAGMA synchronous = EXTRA; PRAGMA foreign_keys = ON")?;
    Ok(connection)
}

/// Makes a store beside its place, and puts it there once it is whole: a file that was there before is never written into.
fn create_if_absent(path: &Path) -> Result<(), StoreError> {
    if path.exists() {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|source| StoreError::Folder { path: folder.to_owned(), source })?;
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    // Threads of one process may make a store at the same time.
    name.push(format!(".{}-{:?}.new", process::id(), thread::current().id()));
    let new = path.with_file_name(name);
    let made = create(path, &new);
    // Its name in that place stays.
    let _ = fs::remove_file(&new);
    made
}

/// Makes the store under the new name, then gives it its place, unless another wireproof was quicker.
fn create(path: &Path, new: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::Create { path: path.to_owned(), source };
    // One that a crash left has no readers.
    let _ = fs::remove_file(new);
    // Made here and not by SQLite, which does not tell why it could not.
    fs::File::create_new(new).map_err(failed)?;
    let mut connection = connection(new).map_err(|e| StoreError::sqlite(path, "make the store", e))?;
    schema::create(&mut connection, path)?;
    drop(connection);
    match fs::hard_link(new, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        // A file system without a second name for a file.
        Err(_) => fs::rename(new, path).map_err(failed),
        Ok(()) => Ok(()),
    }
}

fn too_long(field: &str, most: i64) -> Implausible {
    Implausible { field: field.to_owned(), why: format!("it has more than {most} bytes") }
}

/// A trial as it is stored.
struct TrialRow {
    number: i64,
    /// JSON, if nobody changed it.
    body: Option<Vec<u8>>,
}

impl TrialRow {
    /// The trial, if it can be read and its figures are possible.
    fn trial(self, doubts: &mut Vec<Doubt>) -> Option<Trial> {
        let Some(body) = self.body else {
            return left_out("trial", self.number, &format!("it has more than {LONGEST_BODY} bytes"), doubts);
        };
        match read(&body) {
            Ok(trial) if i64::from(trial.number) == self.number => possible(trial, "trial", doubts),
            Ok(trial) => left_out("trial", self.number, &format!("it calls itself trial {}", trial.number), doubts),
            Err(error) => left_out("trial", self.number, &format!("it cannot be read: {error}"), doubts),
        }
    }
}

fn read(body: &[u8]) -> Result<Trial, String> {
    let text = str::from_utf8(body).map_err(|error| error.to_string())?;
    Trial::from_json(text).map_err(|error| one_line(&error.to_string()))
}

/// A trial whose figures are possible.
fn possible(trial: Trial, what: &str, doubts: &mut Vec<Doubt>) -> Option<Trial> {
    match stats::check(&trial) {
        Ok(()) => Some(trial),
        Err(error) => left_out(what, trial.number, &error.to_string(), doubts),
    }
}

/// Letters of a reason: the stored text that it quotes may have any length.
const LONGEST_REASON: usize = 300;

/// A doubt says why a trial is left out.
fn left_out(what: &str, number: impl Display, why: &str, doubts: &mut Vec<Doubt>) -> Option<Trial> {
    let why: String = why.chars().take(LONGEST_REASON).collect();
    doubts.push(Doubt::Failed { what: format!("{what} {number} of the store is left out, because {why}") });
    None
}

fn is_partial(run: &Run) -> bool {
    run.partial || run.finished.is_none()
}

/// The run as JSON without its trials, which have rows of their own.
fn body(run: &Run) -> String {
    let mut value = run.to_value();
    value["trials"] = serde_json::Value::Array(vec![]);
    value.to_string()
}
