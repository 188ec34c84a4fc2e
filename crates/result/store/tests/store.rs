//! Stored runs are there again, whatever happened in between.

mod fixture;

use std::{path::PathBuf, thread};

use fixture::{run, trial};
use model::{Doubt, Environment, Run, RunId, Trial, run::Resumption};
use run::Archive;
use tempfile::TempDir;
use wireproof_store::{Drawn, Store, StoreError, StoredConclusion};

const STARTED: &str = "2026-11-21T10:15:00Z";

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("deep/er/store.sqlite");
    (folder, path)
}

/// Stores the beginning of a run and this many trials; gives the run with them.
fn begin(store: &mut Store, id: &str, trials: u32) -> Run {
    let mut run = run(id, STARTED);
    store.begin(&run).expect("the run is stored");
    for number in 1..=trials {
        store.keep_trial(&run.id, &trial(number)).expect("the trial is stored");
        run.trials.push(trial(number));
    }
    run
}

#[test]
fn a_finished_run_is_read_back_as_it_was() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).unwrap();
    let mut run = begin(&mut store, "20261121-101500-3fa9", 12);
    run.finished = Some("2026-11-21T10:15:52Z".into());
    run.after = Some(Environment { read_at: "2026-11-21T10:15:51Z".into(), ..Environment::default() });
    run.doubts.push(Doubt::FewTrials { trials: 3, needed: 6 });
    store.finish(&run).unwrap();
    assert_eq!(store.load(&run.id).unwrap(), run);
    drop(store);
    let store = Store::open_to_read(&path).unwrap();
    assert_eq!(store.last().unwrap(), run);
    let [line] = &store.runs().unwrap()[..] else { panic!("one run") };
    assert_eq!((line.trials, line.partial, &line.finished), (12, false, &run.finished));
    assert_eq!((line.plan.as_str(), line.bed.as_str()), ("quick", "lab"));
}

#[test]
fn a_killed_run_has_each_finished_trial_and_is_partial() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).unwrap();
    let run = begin(&mut store, "20261121-101500-3fa9", 3);
    // As after kill -9: nothing is closed.
    std::mem::forget(store);
    let read = Store::open(&path).unwrap().load(&run.id).unwrap();
    let doubts = [run.doubts.as_slice(), &[Doubt::Interrupted]].concat();
    assert_eq!(read, Run { partial: true, doubts, ..run });
    assert!(Store::open(&path).unwrap().runs().unwrap()[0].partial);
}

#[test]
fn only_a_run_of_which_nothing_was_measured_is_forgotten() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).unwrap();
    for (id, trials) in [("empty", 0), ("measured", 1)] {
        let run = begin(&mut store, id, trials);
        store.forget(&run.id).unwrap();
    }
    let left: Vec<_> = store.runs().unwrap().into_iter().map(|run| run.id.0).collect();
    assert_eq!(left, ["measured"]);
}

#[test]
fn an_interrupted_run_that_was_finished_in_order_stays_partial() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).unwrap();
    let mut run = begin(&mut store, "20261121-101500-3fa9", 1);
    run.finished = Some("2026-11-21T10:15:10Z".into());
    run.partial = true;
    store.finish(&run).unwrap();
    assert!(store.last().unwrap().partial && store.runs().unwrap()[0].partial);
}

#[test]
fn a_run_that_is_gone_on_with_is_partial_until_its_end() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).unwrap();
    let mut run = begin(&mut store, "20261121-101500-3fa9", 1);
    (run.finished, run.partial) = (Some("2026-11-21T10:15:10Z".into()), true);
    store.finish(&run).unwrap();
    let at = "2026-11-21T11:00:00Z".to_owned();
    run.resumed.push(Resumption { at, kept: 1, wireproof: "wireproof 0.1.0".into(), before: Environment::default() });
    run.finished = None;
    store.resume(&run).unwrap();
    let line = &store.runs().unwrap()[0];
    assert_eq!((line.partial, &line.finished), (true, &None));
    assert_eq!(store.load(&run.id).unwrap().resumed, run.resumed);
    store.keep_trial(&run.id, &trial(2)).unwrap();
    (run.finished, run.partial) = (Some("2026-11-21T11:00:10Z".into()), false);
    store.finish(&run).unwrap();
    run.trials.push(trial(2));
    assert_eq!(store.last().unwrap(), run);
}

#[test]
fn runs_are_listed_as_they_were_begun_whatever_the_clock_showed() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).unwrap();
    assert!(matches!(store.last(), Err(StoreError::NoRuns { .. })));
    for (id, started) in [("b", "2026-02-01T00:00:00Z"), ("c", "2026-03-01T00:00:00Z"), ("a", "2026-01-01T00:00:00Z")] {
        store.begin(&run(id, started)).unwrap();
    }
    let ids: Vec<_> = store.runs().unwrap().into_iter().map(|line| line.id.0).collect();
    assert_eq!(ids, ["a", "c", "b"]);
    assert_eq!(store.last().unwrap().id.0, "a");
}

#[test]
fn a_run_is_found_by_the_beginning_of_its_name() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).unwrap();
    for id in ["20261121-101500-3fa9", "20261121-101500", "20261122-090000-00ff"] {
        begin(&mut store, id, 1);
    }
    let found = |id: &str| store.load(&RunId(id.into())).map(|run| run.id.0);
    assert_eq!(found("20261122").unwrap(), "20261122-090000-00ff");
    assert_eq!(found("20261121-101500").unwrap(), "20261121-101500");
    assert_eq!(found("20261121-101500-").unwrap(), "20261121-101500-3fa9");
    let several = found("2026").unwrap_err().to_string();
    assert!(several.starts_with("3 runs in ") && several.contains("begin with \"2026\""), "{several}");
    let none = found("2026%").unwrap_err().to_string();
    assert!(none.contains("there is no run \"2026%\"") && none.contains("wireproof runs"), "{none}");
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).unwrap();
    let unknown = run("unknown", STARTED);
    assert!(matches!(store.keep_trial(&unknown.id, &trial(1)), Err(StoreError::Other { .. })));
    assert!(matches!(store.finish(&unknown), Err(StoreError::NoSuchRun { .. })));
    let known = begin(&mut store, "known", 1);
    assert!(matches!(store.begin(&known), Err(StoreError::Other { .. })));
}

#[test]
fn a_trial_takes_the_place_of_what_was_kept_of_it_while_it_was_under_way() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).unwrap();
    let known = begin(&mut store, "known", 1);
    let further = Trial { duration_s: 10.0, ..trial(1) };
    store.keep_trial(&known.id, &further).unwrap();
    assert_eq!(store.load(&known.id).unwrap().trials, [further]);
}

#[test]
fn two_runs_write_at_the_same_time() {
    let (_folder, path) = place();
    let write = |id: &'static str| {
        let path = path.clone();
        // Both find no store and make it.
        thread::spawn(move || begin(&mut Store::open(&path).unwrap(), id, 30))
    };
    let both = [write("one"), write("two")].map(|thread| thread.join().unwrap());
    let store = Store::open_to_read(&path).unwrap();
    for run in both {
        assert_eq!(store.load(&run.id).unwrap().trials, run.trials);
    }
}

#[test]
fn each_bed_and_plan_has_baselines_of_its_own() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).unwrap();
    let [first, second] = ["first", "second"].map(|id| begin(&mut store, id, 1));
    let mut other = run("other", STARTED);
    other.bed.name = "cards".into();
    store.begin(&other).unwrap();
    store.set_baseline(&first, "").unwrap();
    assert_eq!(store.baseline_for(&second, "").unwrap(), store.load(&first.id).unwrap());
    let absent = store.baseline_for(&other, "").unwrap_err().to_string();
    assert!(absent.contains("no baseline is set for plan \"quick\" on bed \"cards\""), "{absent}");
    let absent = store.baseline_for(&second, "release").unwrap_err().to_string();
    assert!(absent.contains("no baseline \"release\" is set"), "{absent}");
    store.set_baseline(&second, "").unwrap();
    store.set_baseline(&first, "release").unwrap();
    store.set_baseline(&other, "").unwrap();
    drop(store);
    let listed = Store::open_to_read(&path).unwrap().baselines().unwrap();
    let rows: Vec<_> = listed.iter().map(|it| (it.bed.as_str(), it.name.as_str(), it.run.0.as_str())).collect();
    assert_eq!(rows, [("cards", "", "other"), ("lab", "", "second"), ("lab", "release", "first")]);
}

#[test]
fn a_run_is_for_one_program_until_that_ends() {
    let (_folder, path) = place();
    let store = Store::open(&path).unwrap();
    let files = || std::fs::read_dir(path.parent().unwrap()).unwrap().count();
    let alone = files();
    let (run, other) = (RunId("r1".into()), RunId("r2".into()));
    let first = store.lock_run(&run).unwrap();
    let error = Store::open(&path).unwrap().lock_run(&run).unwrap_err().to_string();
    assert!(error.starts_with(&format!("run r1 is under way (pid {})", std::process::id())), "{error}");
    assert!(store.lock_run(&other).is_ok());
    drop(first);
    assert!(store.lock_run(&run).is_ok());
    assert_eq!(files(), alone, "nothing is left");
    std::fs::write(path.with_file_name("store.sqlite.r1.lock"), "4000000000\n").unwrap();
    assert!(store.lock_run(&run).is_ok(), "a file that a killed program left is nobody's");
}

#[test]
fn the_last_run_is_the_one_begun_last_whatever_the_clock_showed() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).unwrap();
    store.begin(&run("first", "2026-11-21T10:15:00Z")).unwrap();
    store.begin(&run("second", "2020-01-01T00:00:00Z")).unwrap();
    assert_eq!(store.last().unwrap().id.0, "second");
}

#[test]
fn a_run_that_calls_itself_otherwise_than_its_row_is_refused() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).unwrap();
    store.begin(&run("first", STARTED)).unwrap();
    let change = |sql: &str| rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    change("UPDATE run SET body = replace(body, '\"first\"', '\"../../../x\"')");
    let error = store.last().unwrap_err();
    assert!(matches!(error, StoreError::OtherName { .. }), "{error}");
    change("UPDATE run SET id = '../../../x'");
    assert!(matches!(store.last().unwrap_err(), StoreError::OtherName { .. }), "also where both say so");
}

#[test]
fn a_run_whose_plan_bed_or_machines_cannot_be_is_refused_and_other_runs_are_read() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).unwrap();
    begin(&mut store, "other", 1);
    let change = |sql: &str| rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let long = "printf('%.*c', 100000, 'x')";
    let host = "{\"hostname\":\"\",\"architecture\":\"\",\"mitigations\":{},\"sysctls\":{},\"wireproof\":\"\"}";
    let hosts = format!("json('[{}]')", vec![host; 1001].join(","));
    for (place, value, why) in [
        ("$.plan.repeats", "4294967295".to_owned(), "plan.repeats cannot be: 4294967295 is more than"),
        ("$.plan.name", long.to_owned(), "plan.name cannot be: its length 100000"),
        ("$.bed.endpoints[0].cpus_why", long.to_owned(), "bed.endpoints 1.cpus_why cannot be: its length 100000"),
        ("$.bed.endpoints[1].mtu", "4294967295".to_owned(), "bed.endpoints 2.mtu cannot be: 4294967295 is more than"),
        ("$.before.hosts", hosts, "before.hosts cannot be: its length 1001"),
        ("$.before.read_at", long.to_owned(), "before.read_at cannot be: its length 100000"),
        ("$.command[0]", long.to_owned(), "command 1 cannot be: its length 100000"),
        ("$.wireproof", long.to_owned(), "wireproof cannot be: its length 100000"),
    ] {
        let run = begin(&mut store, &format!("r{}", place.len()), 1);
        change(&format!("UPDATE run SET body = json_set(body, '{place}', {value}) WHERE id = '{}'", run.id));
        let error = store.load(&run.id).unwrap_err();
        assert!(matches!(error, StoreError::Impossible { .. }), "{place}: {error}");
        let said = error.to_string();
        assert!(said.contains(&format!("the run \"{}\" in ", run.id)) && said.contains(why), "{said}");
        change(&format!("DELETE FROM trial WHERE run = '{0}'; DELETE FROM run WHERE id = '{0}'", run.id));
    }
    assert_eq!(store.load(&RunId("other".into())).unwrap().trials.len(), 1);
    let long = begin(&mut store, "long", 0);
    change("UPDATE run SET body = json_set(body, '$.wireproof', printf('%.*c', 70000000, 'x')) WHERE id = 'long'");
    let said = store.load(&long.id).unwrap_err().to_string();
    assert!(said.contains("its text cannot be: it has more than 67108864 bytes"), "{said}");
}

#[test]
fn a_trial_of_any_length_is_left_out_before_it_is_read() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).unwrap();
    begin(&mut store, "long", 2);
    let change = "UPDATE trial SET body = json_set(body, '$.started', printf('%.*c', 70000000, 'x')) WHERE number = 2";
    rusqlite::Connection::open(&path).unwrap().execute_batch(change).unwrap();
    is_left_out(&store, 2, "it has more than 67108864 bytes");
}

/// Reads the only run, of whose trials this one is left out for this reason.
fn is_left_out(store: &Store, number: u32, why: &str) {
    let read = store.last().expect("the run is read");
    assert!(read.partial && read.trials.iter().all(|trial| trial.number != number), "{:?}", read.trials);
    let why = format!("trial {number} of the store is left out, because {why}");
    let says = |doubt: &Doubt| matches!(doubt, Doubt::Failed { what } if what.starts_with(&why) && what.len() < 400);
    assert!(read.doubts.iter().any(says), "{why}: {:?}", read.doubts);
}

#[test]
fn a_trial_whose_figures_are_not_possible_is_left_out_and_the_others_are_read() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).unwrap();
    let run = begin(&mut store, "first", 3);
    store.keep_trial(&run.id, &Trial { duration_s: -1.0, ..trial(2) }).unwrap();
    is_left_out(&store, 2, "duration_s cannot be: -1 is not from 0");
    assert_eq!(store.last().unwrap().trials, [trial(1), trial(3)]);
}

#[test]
fn a_trial_that_cannot_be_read_is_left_out_and_the_others_are_read() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).unwrap();
    let run = begin(&mut store, "first", 6);
    let change = |sql: &str| rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    change("UPDATE trial SET body = '{' WHERE number = 1");
    change("UPDATE trial SET body = CAST(x'22ff22' AS TEXT) WHERE number = 2");
    change("UPDATE trial SET body = '\"' || printf('%.*c', 100000, 'x') || '\"' WHERE number = 3");
    change("UPDATE trial SET number = -5 WHERE number = 5");
    is_left_out(&store, 1, "it cannot be read: EOF while parsing");
    is_left_out(&store, 2, "it cannot be read: invalid utf-8");
    is_left_out(&store, 3, "it cannot be read: invalid type: string \"xxx");
    assert_eq!(store.last().unwrap().trials, [trial(4), trial(6)]);
    let failed = |doubt: &Doubt| matches!(doubt, Doubt::Failed { what } if what.contains("trial -5 of the store"));
    assert!(store.last().unwrap().doubts.iter().any(failed), "it calls itself trial 5");
    store.keep_trial(&run.id, &trial(1)).unwrap();
    assert_eq!(store.last().unwrap().trials[0], trial(1), "a run that is gone on with puts it right");
}

/// Conclusion from the run "first", by this judge.
fn kept(store: &Store, judge: &str) -> StoredConclusion {
    store.conclusions(judge).remove(&RunId("first".into())).expect("the run is stored")
}

/// Keeps a conclusion from the run "first" as it is.
fn conclude(store: &mut Store) {
    let changes = kept(store, "judge").changes;
    let drawn = Drawn { run: RunId("first".into()), changes, conclusion: "PASS".into() };
    store.keep_conclusions("judge", &[drawn]).expect("it is kept");
}

#[test]
fn a_store_that_keeps_a_conclusion_is_still_open_to_read_alone() {
    let (_folder, path) = place();
    begin(&mut Store::open(&path).unwrap(), "first", 1);
    let mut store = Store::open_to_read(&path).unwrap();
    conclude(&mut store);
    assert_eq!(kept(&store, "judge").conclusion.as_deref(), Some("PASS"));
    let refused = store.keep_trial(&RunId("first".into()), &trial(2)).expect_err("it is open to read").to_string();
    assert!(refused.contains("is read-only"), "{refused}");
}

/// A change of a store.
type Change<'a> = Box<dyn Fn(&mut Store) + 'a>;

#[test]
fn a_conclusion_is_kept_until_the_run_or_a_trial_changes() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).unwrap();
    let mut first = begin(&mut store, "first", 3);
    begin(&mut store, "second", 3);
    let by_hand = |sql: &'static str| {
        let path = path.clone();
        move |_: &mut Store| rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap()
    };
    first.finished = Some("2026-11-21T10:15:52Z".into());
    let changes: [(&str, Change<'_>); 6] = [
        ("a trial more", Box::new(|store| store.keep_trial(&RunId("first".into()), &trial(4)).unwrap())),
        ("another trial in its place", Box::new(|store| store.keep_trial(&RunId("first".into()), &trial(4)).unwrap())),
        ("the end", Box::new(|store| store.finish(&first).unwrap())),
        ("a trial by hand", Box::new(by_hand("UPDATE trial SET body = '{}' WHERE run = 'first' AND number = 2"))),
        (
            "a trial of another run",
            Box::new(by_hand("UPDATE trial SET run = 'first', number = 9 WHERE run = 'second' AND number = 2")),
        ),
        ("a trial less", Box::new(by_hand("DELETE FROM trial WHERE run = 'first' AND number = 9"))),
    ];
    for (what, change) in changes {
        conclude(&mut store);
        assert_eq!(kept(&store, "judge").conclusion.as_deref(), Some("PASS"), "before {what}");
        assert_eq!(kept(&store, "another judge").conclusion, None);
        change(&mut store);
        assert_eq!(kept(&store, "judge").conclusion, None, "{what}");
    }
    conclude(&mut store);
    store.keep_trial(&RunId("second".into()), &trial(4)).unwrap();
    assert!(kept(&store, "judge").conclusion.is_some(), "another run is nothing to it");
}

#[test]
fn a_conclusion_from_rows_that_changed_meanwhile_or_without_measure_is_not_kept() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).unwrap();
    let run = begin(&mut store, "first", 1);
    let drawn = |conclusion: &str, StoredConclusion { changes, .. }| Drawn {
        run: run.id.clone(),
        changes,
        conclusion: conclusion.into(),
    };
    let read_before = kept(&store, "judge");
    store.keep_trial(&run.id, &trial(2)).unwrap();
    store.keep_conclusions("judge", &[drawn("PASS", read_before)]).unwrap();
    assert_eq!(kept(&store, "judge").conclusion, None);
    let now = kept(&store, "judge");
    store.keep_conclusions("judge", &[drawn(&"x".repeat(1 << 21), now)]).unwrap();
    assert_eq!(kept(&store, "judge").conclusion, None);
}

#[test]
fn a_run_that_is_forgotten_leaves_no_conclusion() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).unwrap();
    let run = begin(&mut store, "first", 0);
    conclude(&mut store);
    store.forget(&run.id).unwrap();
    assert!(store.conclusions("judge").is_empty());
}
