//! Runs that later ones are compared with.

use model::{Run, RunId};
use rusqlite::{OptionalExtension, params};
use serde::Serialize;

use crate::{Store, StoreError};

/// The run that later runs of a plan on a bed are compared with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Baseline {
    /// Name of the bed.
    pub bed: String,
    /// Name of the plan.
    pub plan: String,
    /// Name, for users with several baselines; empty for none.
    pub name: String,
    /// The run.
    pub run: RunId,
    /// When that began (RFC 3339).
    pub started: String,
}

impl Store {
    /// Makes a stored run the baseline of its plan on its bed, in the place of the one that had this name (empty for none).
    pub fn set_baseline(&mut self, run: &Run, name: &str) -> Result<Baseline, StoreError> {
        let insert = "INSERT OR REPLACE INTO baseline (bed, plan, name, run) VALUES (?1, ?2, ?3, ?4)";
        let row = params![run.bed.name, run.plan.name, name, run.id.0];
        self.connection.execute(insert, row).map_err(|e| self.error("store the baseline", e))?;
        Ok(Baseline {
            bed: run.bed.name.clone(),
            plan: run.plan.name.clone(),
            name: name.to_owned(),
            run: run.id.clone(),
            started: run.started.clone(),
        })
    }

    /// The baseline of this name (empty for none) for runs of the same plan on the same bed as `run`.
    pub fn baseline_for(&self, run: &Run, name: &str) -> Result<Run, StoreError> {
        let query = "SELECT run FROM baseline WHERE bed = ?1 AND plan = ?2 AND name = ?3";
        let key = params![run.bed.name, run.plan.name, name];
        let found = self.connection.query_row(query, key, |row| row.get(0)).optional();
        match found.map_err(|e| self.error("find the baseline", e))? {
            Some(id) => self.load(&RunId(id)),
            None => Err(StoreError::NoBaseline {
                path: self.path.clone(),
                bed: run.bed.name.clone(),
                plan: run.plan.name.clone(),
                name: name.to_owned(),
            }),
        }
    }

    /// All baselines, by bed, plan and name.
    pub fn baselines(&self) -> Result<Vec<Baseline>, StoreError> {
        let query = "SELECT baseline.bed, baseline.plan, name, run, started \
                     FROM baseline JOIN run ON run.id = baseline.run ORDER BY 1, 2, 3";
        let baseline = |row: &rusqlite::Row<'_>| {
            Ok(Baseline {
                bed: row.get(0)?,
                plan: row.get(1)?,
                name: row.get(2)?,
                run: RunId(row.get(3)?),
                started: row.get(4)?,
            })
        };
        self.rows(query, [], baseline).map_err(|e| self.error("list the baselines", e))
    }
}
