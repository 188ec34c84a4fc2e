//! Runs stored by older versions of the program are still there.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};

use model::{Amount, Measured, Run, RunId};
use rusqlite::{Connection, params};
use serde_json::Value;
use wireproof_store::{Drawn, Store, StoreError};

/// As versions 1 and 2 wrote it.
const TABLES: &str = "CREATE TABLE run (id TEXT PRIMARY KEY, started TEXT NOT NULL, finished TEXT, plan TEXT NOT NULL, \
    bed TEXT NOT NULL, partial INTEGER NOT NULL DEFAULT TRUE, body TEXT NOT NULL) STRICT; \
    CREATE TABLE trial (run TEXT NOT NULL REFERENCES run (id), number INTEGER NOT NULL, body TEXT NOT NULL, \
    PRIMARY KEY (run, number)) STRICT; PRAGMA application_id = 2003858022;";

/// Content of a store of an older version: one run, and its trials.
struct Old {
    version: u32,
    run: Value,
    trials: Vec<Value>,
}

impl Old {
    fn of(version: u32, run: &str, trials: &str) -> Self {
        Self { version, run: serde_json::from_str(run).unwrap(), trials: serde_json::from_str(trials).unwrap() }
    }

    fn version_2() -> Self {
        Self::of(2, include_str!("version_2/run.json"), include_str!("version_2/trials.json"))
    }

    fn id(&self) -> RunId {
        RunId(self.run["id"].as_str().unwrap().to_owned())
    }

    fn written(&self, folder: &Path) -> PathBuf {
        let path = folder.join("runs.db");
        let old = Connection::open(&path).unwrap();
        old.execute_batch(TABLES).unwrap();
        old.pragma_update(None, "user_version", self.version).unwrap();
        let insert = "INSERT INTO run VALUES (?1, ?2, ?3, 'small', 'lab', FALSE, ?4)";
        let (started, finished) = (self.run["started"].as_str(), self.run["finished"].as_str());
        old.execute(insert, params![self.id().0, started, finished, self.run.to_string()]).unwrap();
        for trial in &self.trials {
            let row = params![self.id().0, trial["number"].as_i64(), trial.to_string()];
            old.execute("INSERT INTO trial VALUES (?1, ?2, ?3)", row).unwrap();
        }
        path
    }

    fn read(&self) -> Run {
        let folder = tempfile::TempDir::new().unwrap();
        Store::open_to_read(&self.written(folder.path())).unwrap().load(&self.id()).unwrap()
    }
}

#[test]
fn a_run_of_version_1_is_read_with_all_its_figures() {
    let old = Old::of(1, include_str!("version_1/run.json"), include_str!("version_1/trials.json"));
    let (read, trials) = (old.read(), &old.trials);
    assert_eq!(read.bed.endpoints[1].cpus, [1]);
    let [latency, goodput] = read.trials.as_slice() else { panic!("{:?}", read.trials) };
    let Measured::Latency { spec, result } = &latency.measured else { panic!("{latency:?}") };
    assert_eq!(
        (spec.amount, result.rtt_ns.p50),
        (Amount::Count(50), trials[0]["measured"]["result"]["rtt_ns"]["p50"].as_u64())
    );
    let Measured::Goodput { result, .. } = &goodput.measured else { panic!("{goodput:?}") };
    let old = &trials[1]["measured"]["result"];
    let flow = &result.flows[0];
    assert_eq!(flow.received.counted_bytes, old["received_bytes"].as_u64().unwrap());
    assert!((flow.received.mean_bps() / old["mean_bps"].as_f64().unwrap() - 1.0).abs() < 1e-9);
    assert_eq!(flow.sent.retransmits(), old["retransmits"].as_u64().unwrap());
    assert_eq!(goodput.counters[1].cpu.len(), 2, "the cores too");
}

#[test]
fn a_trial_of_version_1_that_cannot_be_read_is_left_out_and_the_other_is_read() {
    let old = Old::of(1, include_str!("version_1/run.json"), include_str!("version_1/trials.json"));
    for body in ["{", "5", "[]", "{\"measured\": 5}", "{\"measured\": {\"spec\": [], \"result\": 5}}"] {
        let folder = tempfile::TempDir::new().unwrap();
        let path = old.written(folder.path());
        let change = "UPDATE trial SET body = ?1 WHERE number = 1";
        Connection::open(&path).unwrap().execute(change, [body]).unwrap();
        let read = Store::open_to_read(&path).unwrap().load(&old.id()).unwrap();
        assert_eq!(read.trials.iter().map(|trial| trial.number).collect::<Vec<_>>(), [2], "{body}");
    }
}

#[test]
fn a_run_of_version_1_that_cannot_be_read_is_named() {
    let old = Old::of(1, include_str!("version_1/run.json"), include_str!("version_1/trials.json"));
    for body in ["{", "5", "{\"bed\": 5}", "{\"bed\": {\"endpoints\": [5]}}"] {
        let folder = tempfile::TempDir::new().unwrap();
        let path = old.written(folder.path());
        Connection::open(&path).unwrap().execute("UPDATE run SET body = ?1", [body]).unwrap();
        let error = Store::open_to_read(&path).unwrap().load(&old.id()).unwrap_err();
        assert!(matches!(error, StoreError::Unreadable { .. }), "{body}: {error}");
    }
}

#[test]
fn a_run_of_version_2_is_read_with_all_that_it_says() {
    let old = Old::version_2();
    let read = old.read();
    assert_eq!(read.trials.len(), 2);
    for (trial, stored) in read.trials.iter().zip(&old.trials) {
        assert_holds(&serde_json::to_value(trial).unwrap(), stored, "trial");
    }
    let mut run = serde_json::to_value(&read).unwrap();
    run["trials"] = Value::Array(vec![]);
    assert_holds(&run, &old.run, "run");
}

#[test]
fn a_run_of_version_2_can_be_a_baseline() {
    let folder = tempfile::TempDir::new().unwrap();
    let old = Old::version_2();
    let mut store = Store::open(&old.written(folder.path())).unwrap();
    let run = store.load(&old.id()).unwrap();
    store.set_baseline(&run, "").unwrap();
    assert_eq!(store.baseline_for(&run, "").unwrap(), run);
}

#[test]
fn reading_an_older_store_changes_nothing_in_it() {
    let version_1 = Old::of(1, include_str!("version_1/run.json"), include_str!("version_1/trials.json"));
    for old in [version_1, Old::version_2()] {
        let folder = tempfile::TempDir::new().unwrap();
        let path = old.written(folder.path());
        let before = std::fs::read(&path).unwrap();
        let mut store = Store::open_to_read(&path).unwrap();
        assert_eq!((store.runs().unwrap().len(), store.load(&old.id()).unwrap().trials.len()), (1, 2));
        let drawn = Drawn { run: old.id(), changes: 0, conclusion: "PASS".into() };
        let _ = store.keep_conclusions("judge", &[drawn]);
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
}

#[test]
fn conclusions_from_a_run_of_version_2_are_kept_once_it_is_written_to() {
    let folder = tempfile::TempDir::new().unwrap();
    let old = Old::version_2();
    let path = old.written(folder.path());
    drop(Store::open(&path).unwrap());
    let mut store = Store::open_to_read(&path).unwrap();
    let changes = store.conclusions("judge")[&old.id()].changes;
    store.keep_conclusions("judge", &[Drawn { run: old.id(), changes, conclusion: "PASS".into() }]).unwrap();
    assert_eq!(store.conclusions("judge")[&old.id()].conclusion.as_deref(), Some("PASS"));
}

/// Whether all that was stored is still said; there may be more now.
fn assert_holds(now: &Value, stored: &Value, place: &str) {
    match stored {
        Value::Object(table) => {
            table.iter().for_each(|(key, value)| assert_holds(&now[key], value, &format!("{place}.{key}")));
        }
        Value::Array(values) => {
            assert_eq!(now.as_array().map(Vec::len), Some(values.len()), "{place}");
            values.iter().zip(0..).for_each(|(value, at)| assert_holds(&now[at], value, &format!("{place}[{at}]")));
        }
        value => assert_eq!(now, value, "{place}"),
    }
}
