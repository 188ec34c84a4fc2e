//! What an older version of the program stored is still there.

use model::{Amount, Measured, RunId};
use rusqlite::{Connection, params};
use serde_json::Value;
use wireproof_store::Store;

/// As version 1 wrote it.
const TABLES: &str = "CREATE TABLE run (id TEXT PRIMARY KEY, started TEXT NOT NULL, finished TEXT, plan TEXT NOT NULL, \
    bed TEXT NOT NULL, partial INTEGER NOT NULL DEFAULT TRUE, body TEXT NOT NULL) STRICT; \
    CREATE TABLE trial (run TEXT NOT NULL REFERENCES run (id), number INTEGER NOT NULL, body TEXT NOT NULL, \
    PRIMARY KEY (run, number)) STRICT; PRAGMA application_id = 2003858022; PRAGMA user_version = 1;";

#[test]
fn a_run_of_version_1_is_read_with_all_its_figures() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("runs.db");
    let run: Value = serde_json::from_str(include_str!("version_1/run.json")).unwrap();
    let trials: Vec<Value> = serde_json::from_str(include_str!("version_1/trials.json")).unwrap();
    let id = run["id"].as_str().unwrap();
    {
        let old = Connection::open(&path).unwrap();
        old.execute_batch(TABLES).unwrap();
        let insert = "INSERT INTO run VALUES (?1, ?2, ?3, 'small', 'lab', FALSE, ?4)";
        let row = params![id, run["started"].as_str(), run["finished"].as_str(), run.to_string()];
        old.execute(insert, row).unwrap();
        for trial in &trials {
            let row = params![id, trial["number"].as_i64(), trial.to_string()];
            old.execute("INSERT INTO trial VALUES (?1, ?2, ?3)", row).unwrap();
        }
    }
    let read = Store::open_to_read(&path).unwrap().load(&RunId(id.into())).unwrap();
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
