//! Conclusions from runs, kept so that a list of many runs need not draw each anew.
//!
//! Triggers of the database count each change of a run or its trials, by any program, and empty the conclusion.

use std::collections::HashMap;

use model::RunId;
use rusqlite::{Connection, params};

use crate::{Store, StoreError, read_only, schema};

/// Bytes of a conclusion: a thousand configurations.
const LONGEST: u32 = 1 << 20;

/// Knowledge of a run beside its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredConclusion {
    /// Number of changes of its rows.
    pub changes: i64,
    /// The conclusion from the rows as they are. Like them, it may be anything: a store is a user's file.
    pub conclusion: Option<String>,
}

/// A conclusion from a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// The run.
    pub run: RunId,
    /// Number of changes of its rows before they were read.
    pub changes: i64,
    /// The conclusion.
    pub conclusion: String,
}

impl Store {
    /// Conclusion from each run. `judge` names all that a conclusion depends on beside the rows. An older store has no place for
    /// conclusions and keeps none.
    pub fn conclusions(&self, judge: &str) -> HashMap<RunId, StoredConclusion> {
        let query =
            "SELECT run, changes, CASE WHEN judge = ?1 AND octet_length(body) <= ?2 THEN body END FROM conclusion";
        let kept = |row: &rusqlite::Row<'_>| {
            Ok((RunId(row.get(0)?), StoredConclusion { changes: row.get(1)?, conclusion: row.get(2)? }))
        };
        self.rows(query, params![judge, LONGEST], kept).unwrap_or_default().into_iter().collect()
    }

    /// Keeps conclusions that this judge drew, except from runs that have changed since they were read.
    pub fn keep_conclusions(&mut self, judge: &str, drawn: &[Drawn]) -> Result<(), StoreError> {
        if drawn.is_empty() {
            return Ok(());
        }
        let update = "UPDATE conclusion SET judge = ?3, body = ?4 WHERE run = ?1 AND changes = ?2";
        let keep = |connection: &mut Connection| {
            let transaction = schema::write(connection)?;
            for Drawn { run, changes, conclusion } in drawn {
                transaction.execute(update, params![run.0, changes, judge, conclusion])?;
            }
            transaction.commit()
        };
        let keep = |connection: &mut Connection| {
            let is_read_only = connection.pragma_query_value(None, "query_only", |row| row.get(0))?;
            read_only(connection, false)?;
            let kept = keep(connection);
            read_only(connection, is_read_only)?;
            kept
        };
        keep(&mut self.connection).map_err(|e| self.error("keep conclusions", e))
    }
}
