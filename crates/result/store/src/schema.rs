//! Tables of a store, and how an older store becomes a current one.

use std::{path::Path, time::Duration};

use rusqlite::{Connection, Transaction, TransactionBehavior, backup::Backup, params};
use serde_json::Value;

use crate::{StoreError, version_1};

/// Marks our databases among those of other programs: "wprf" (<https://www.sqlite.org/fileformat2.html#application_id>).
const APPLICATION_ID: u32 = 0x7770_7266;

/// Each step brings a store from the version of its index to the next; never change one that was released.
const MIGRATIONS: [Migration; 4] = [
    Migration::Tables(TABLES),
    Migration::Bodies(version_1::run, version_1::trial),
    Migration::Tables(BASELINES),
    Migration::Tables(CONCLUSIONS),
];

/// From this version on, a store is read as it is: what it lacks saves time only.
pub(crate) const READABLE: u32 = 3;

/// One step.
enum Migration {
    /// Makes tables.
    Tables(&'static str),
    /// Brings the JSON of each run and each trial into a newer shape.
    Bodies(fn(&mut Value), fn(&mut Value)),
}

const TABLES: &str =
    // Lists need the columns. The rest is JSON in the shape of `model`.
    "CREATE TABLE run (
        id TEXT PRIMARY KEY,
        started TEXT NOT NULL,
        finished TEXT,
        plan TEXT NOT NULL,
        bed TEXT NOT NULL,
        partial INTEGER NOT NULL DEFAULT TRUE,
        body TEXT NOT NULL
    ) STRICT;
    CREATE TABLE trial (
        run TEXT NOT NULL REFERENCES run (id),
        number INTEGER NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (run, number)
    ) STRICT;";

const BASELINES: &str =
    // One for each bed, plan and name; the name is empty where the user gave none.
    "CREATE TABLE baseline (
        bed TEXT NOT NULL,
        plan TEXT NOT NULL,
        name TEXT NOT NULL,
        run TEXT NOT NULL REFERENCES run (id),
        PRIMARY KEY (bed, plan, name)
    ) STRICT;";

const CONCLUSIONS: &str =
    // Empty until something was concluded from the rows of the run as they are.
    "CREATE TABLE conclusion (
        run TEXT PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE ON UPDATE CASCADE,
        changes INTEGER NOT NULL DEFAULT 0,
        judge TEXT,
        body TEXT
    ) STRICT, WITHOUT ROWID;
    INSERT INTO conclusion (run) SELECT id FROM run;
    CREATE TRIGGER run_begun AFTER INSERT ON run BEGIN
        INSERT OR REPLACE INTO conclusion (run) VALUES (NEW.id);
    END;
    CREATE TRIGGER run_changed AFTER UPDATE ON run BEGIN
        UPDATE conclusion SET changes = changes + 1, judge = NULL, body = NULL WHERE run = NEW.id;
    END;
    CREATE TRIGGER trial_kept AFTER INSERT ON trial BEGIN
        UPDATE conclusion SET changes = changes + 1, judge = NULL, body = NULL WHERE run = NEW.run;
    END;
    CREATE TRIGGER trial_changed AFTER UPDATE ON trial BEGIN
        UPDATE conclusion SET changes = changes + 1, judge = NULL, body = NULL WHERE run IN (OLD.run, NEW.run);
    END;
    CREATE TRIGGER trial_removed AFTER DELETE ON trial BEGIN
        UPDATE conclusion SET changes = changes + 1, judge = NULL, body = NULL WHERE run = OLD.run;
    END;";

/// Pages that are copied at a time.
const PAGES: i32 = 1000;

/// The version that this program writes.
const CURRENT: u32 = MIGRATIONS.len() as u32;

/// Creates all tables in an empty file.
pub(crate) fn create(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let transaction = write(connection).map_err(|e| StoreError::sqlite(path, "make the store", e))?;
    migrate_from(0, transaction).map_err(|e| StoreError::sqlite(path, "make the store", e))
}

/// Creates what is missing in an older store. Writes nothing if nothing is, or if the file is no store.
pub(crate) fn bring_up_to_date(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let error = |e| StoreError::sqlite(path, "open the store", e);
    if version(connection, path)? == CURRENT {
        return Ok(());
    }
    let transaction = write(connection).map_err(error)?;
    // Asked again under the lock: another wireproof may have been quicker.
    let version = version(&transaction, path)?;
    migrate_from(version, transaction).map_err(error)
}

/// A copy of an older store in memory, with all that it lacks.
pub(crate) fn copy_up_to_date(older: &Connection, path: &Path) -> Result<Connection, StoreError> {
    let copied = || {
        let mut copy = Connection::open_in_memory()?;
        Backup::new(older, &mut copy)?.run_to_completion(PAGES, Duration::ZERO, None)?;
        Ok(copy)
    };
    let mut copy = copied().map_err(|e| StoreError::sqlite(path, "read the older store", e))?;
    bring_up_to_date(&mut copy, path)?;
    Ok(copy)
}

fn migrate_from(version: u32, transaction: Transaction<'_>) -> rusqlite::Result<()> {
    MIGRATIONS[version as usize..].iter().try_for_each(|migration| migrate(&transaction, migration))?;
    stamp(&transaction)?;
    transaction.commit()
}

fn migrate(transaction: &Transaction<'_>, migration: &Migration) -> rusqlite::Result<()> {
    match migration {
        Migration::Tables(tables) => transaction.execute_batch(tables),
        Migration::Bodies(run, trial) => {
            rewrite(transaction, "run", *run)?;
            rewrite(transaction, "trial", *trial)
        }
    }
}

fn rewrite(transaction: &Transaction<'_>, table: &str, change: fn(&mut Value)) -> rusqlite::Result<()> {
    let mut select = transaction.prepare(&format!("SELECT rowid, body FROM {table}"))?;
    let rows = select.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get_ref(1)?.as_bytes()?.to_vec())))?;
    for row in rows.collect::<rusqlite::Result<Vec<_>>>()? {
        let (rowid, body) = row;
        // Text that is no JSON stays as it is, and is named when its run is read.
        let Ok(mut body) = serde_json::from_slice::<Value>(&body) else { continue };
        change(&mut body);
        let update = format!("UPDATE {table} SET body = ?2 WHERE rowid = ?1");
        transaction.execute(&update, params![rowid, body.to_string()])?;
    }
    Ok(())
}

/// Begins a transaction that writes: it waits for others now, and cannot fail to later.
pub(crate) fn write(connection: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    connection.transaction_with_behavior(TransactionBehavior::Immediate)
}

/// Writes application and version into the head of the database.
pub(crate) fn stamp(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", CURRENT)
}

/// The version of a store; refuses a file that is no store, an empty one too, and a store newer than this program.
pub(crate) fn version(connection: &Connection, path: &Path) -> Result<u32, StoreError> {
    let number = |pragma: &str| {
        let read = connection.pragma_query_value(None, pragma, |row| row.get::<_, u32>(0));
        read.map_err(|e| StoreError::sqlite(path, "open the store", e))
    };
    let refuse = |is| Err(StoreError::NotAStore { path: path.to_owned(), tried: "open the store", is });
    // SQLite counts each change of the tables; 0 means that there never were any.
    if number("schema_version")? == 0 {
        return refuse("an empty file");
    }
    if number("application_id")? != APPLICATION_ID {
        return refuse("an SQLite database of another program");
    }
    match number("user_version")? {
        theirs if theirs > CURRENT => Err(StoreError::Newer { path: path.to_owned(), theirs, ours: CURRENT }),
        known => Ok(known),
    }
}
