//! Places that cannot hold a store: real files and real mounts, so these tests need root.

mod fixture;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use fixture::{run, trial};
use run::Archive;
use rusqlite::Connection;
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, mount_remount, unmount};
use tempfile::TempDir;
use wireproof_store::{Drawn, Store, StoreError};

const STARTED: &str = "2026-11-21T10:15:00Z";

/// A mount that is gone when the test ends, however it ends.
struct Mount(PathBuf);

impl Mount {
    fn tmpfs(at: &Path, size: &str) -> Self {
        let options = std::ffi::CString::new(format!("size={size}")).expect("no zero byte");
        mount("wireproof-test", at, "tmpfs", MountFlags::empty(), options.as_c_str())
            .expect("a tmpfs is mounted: this test needs root (CAP_SYS_ADMIN)");
        Self(at.to_owned())
    }

    fn file_over_itself(file: &Path) -> Self {
        mount_bind(file, file).expect("a file is mounted over itself");
        Self(file.to_owned())
    }

    fn make_read_only(&self) {
        mount_remount(&self.0, MountFlags::BIND | MountFlags::RDONLY, c"").expect("the mount is made read-only");
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        if let Err(error) = unmount(&self.0, UnmountFlags::DETACH) {
            eprintln!("cannot unmount {}: {error}", self.0.display());
        }
    }
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// A store with one run of three trials.
fn stored(path: &Path) -> Store {
    let mut store = Store::open(path).expect("the store opens");
    let run = run("first", STARTED);
    store.begin(&run).expect("the run is stored");
    for number in 1..=3 {
        store.keep_trial(&run.id, &trial(number)).expect("the trial is stored");
    }
    store
}

fn says(error: &StoreError, words: &[&str]) {
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "\"{word}\" is not in: {text}");
    }
}

#[test]
fn a_file_that_is_no_database_is_left_as_it_is() {
    let folder = folder();
    let path = folder.path().join("letter.txt");
    let letter = "Dear reader, this is not a database. ".repeat(100);
    fs::write(&path, &letter).unwrap();
    let error = Store::open(&path).unwrap_err();
    says(&error, &["letter.txt is not an SQLite database", "move it out of the way", "--store PATH"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), letter);
}

#[test]
fn an_empty_file_is_left_as_it_is() {
    let folder = folder();
    let path = folder.path().join("empty");
    fs::write(&path, "").unwrap();
    for error in [Store::open(&path).unwrap_err(), Store::open_to_read(&path).unwrap_err()] {
        says(&error, &["empty is an empty file", "move it out of the way", "--store PATH"]);
    }
    assert_eq!(names(folder.path()), ["empty"]);
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
}

#[test]
fn a_new_store_is_one_file_and_a_failed_one_leaves_none() {
    let folder = folder();
    let mount = Mount::tmpfs(folder.path(), "8k");
    let path = folder.path().join("store.sqlite");
    says(&Store::open(&path).unwrap_err(), &["cannot make the store", "is full"]);
    assert!(names(folder.path()).is_empty(), "{:?}", names(folder.path()));
    drop(mount);
    drop(stored(&path));
    assert_eq!(names(folder.path()), ["store.sqlite"]);
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    entries.map(|name| name.to_string_lossy().into_owned()).collect()
}

#[test]
fn a_database_of_another_program_is_left_as_it_is() {
    let folder = folder();
    let path = folder.path().join("places.sqlite");
    Connection::open(&path)
        .unwrap()
        .execute_batch("CREATE TABLE bookmark (url TEXT); PRAGMA user_version = 77")
        .unwrap();
    let before = fs::read(&path).unwrap();
    says(&Store::open(&path).unwrap_err(), &["an SQLite database of another program"]);
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn damaged_pages_are_told_from_an_empty_store() {
    let folder = folder();
    let path = folder.path().join("store.sqlite");
    drop(stored(&path));
    let mut bytes = fs::read(&path).unwrap();
    // The head stays; all pages behind it are lost.
    bytes[4096..].fill(0xa5);
    fs::write(&path, bytes).unwrap();
    let error = Store::open(&path).and_then(|store| store.last()).unwrap_err();
    says(&error, &["a damaged SQLite database", "move it out of the way"]);
}

#[test]
fn a_run_that_was_changed_by_hand_is_named() {
    let folder = folder();
    let path = folder.path().join("store.sqlite");
    let store = stored(&path);
    Connection::open(&path).unwrap().execute_batch("UPDATE run SET body = '{}'").unwrap();
    says(&store.last().unwrap_err(), &["the run \"first\"", "cannot be read", "missing field"]);
}

#[test]
fn a_store_of_a_newer_version_is_left_as_it_is() {
    let folder = folder();
    let path = folder.path().join("store.sqlite");
    drop(stored(&path));
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 9).unwrap();
    for error in [Store::open(&path).unwrap_err(), Store::open_to_read(&path).unwrap_err()] {
        says(&error, &["newer wireproof", "its schema is 9, this program knows 4", "update", "--store PATH"]);
    }
}

#[test]
fn what_is_not_there_is_not_made_for_reading() {
    let folder = folder();
    let path = folder.path().join("store.sqlite");
    says(&Store::open_to_read(&path).unwrap_err(), &["there is no store", "wireproof verify"]);
    assert!(!path.exists());
}

#[test]
fn places_where_no_file_can_be_say_why() {
    let folder = folder();
    says(&Store::open(Path::new("/proc/wireproof/store")).unwrap_err(), &["cannot make the folder /proc/wireproof"]);
    says(&Store::open(folder.path()).unwrap_err(), &["cannot open the store", "see that it is a file"]);
    let fifo = folder.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    says(&Store::open_to_read(&fifo).unwrap_err(), &["is no regular file"]);
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    says(&Store::open(&file.join("store")).unwrap_err(), &["cannot make the folder", "File exists", "--store PATH"]);
}

#[test]
fn a_read_only_disk_can_be_read_and_not_written() {
    let folder = folder();
    let mount = Mount::tmpfs(folder.path(), "1m");
    let path = folder.path().join("store.sqlite");
    drop(stored(&path));
    mount.make_read_only();
    let mut store = Store::open_to_read(&path).unwrap();
    assert_eq!(store.last().unwrap().trials.len(), 3);
    says(&store.begin(&run("second", STARTED)).unwrap_err(), &["store the beginning of the run", "read-only"]);
    says(&Store::open(&path).unwrap_err(), &["write to the store", "read-only", "--store PATH"]);
    says(&Store::open(&folder.path().join("new")).unwrap_err(), &["cannot make the store", "Read-only file system"]);
    let drawn = Drawn { run: run("first", STARTED).id, changes: 0, conclusion: "PASS".into() };
    says(&store.keep_conclusions("judge", &[drawn]).unwrap_err(), &["keep conclusions", "read-only"]);
}

#[test]
fn an_older_store_on_a_read_only_disk_is_read_as_it_is() {
    let folder = folder();
    let mount = Mount::tmpfs(folder.path(), "1m");
    let path = folder.path().join("store.sqlite");
    drop(stored(&path));
    let older = "DROP TRIGGER run_begun; DROP TRIGGER run_changed; DROP TRIGGER trial_kept; DROP TRIGGER trial_changed; \
                 DROP TRIGGER trial_removed; DROP TABLE conclusion;";
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(older).unwrap();
    connection.pragma_update(None, "user_version", 3).unwrap();
    drop(connection);
    mount.make_read_only();
    let mut store = Store::open_to_read(&path).unwrap();
    assert_eq!((store.runs().unwrap().len(), store.last().unwrap().trials.len()), (1, 3));
    assert!(store.conclusions("judge").is_empty());
    let drawn = Drawn { run: run("first", STARTED).id, changes: 0, conclusion: "PASS".into() };
    assert!(store.keep_conclusions("judge", &[drawn]).is_err());
    says(&Store::open(&path).unwrap_err(), &["open the store", "read-only"]);
}

#[test]
fn a_read_only_folder_is_seen_although_the_file_is_writable() {
    let folder = folder();
    let mount = Mount::tmpfs(folder.path(), "1m");
    let path = folder.path().join("store.sqlite");
    drop(stored(&path));
    let _file = Mount::file_over_itself(&path);
    mount.make_read_only();
    fs::OpenOptions::new().append(true).open(&path).expect("the file itself is writable");
    says(&Store::open(&path).unwrap_err(), &["write to the store", "the folder it is in", "--store PATH"]);
    assert_eq!(Store::open_to_read(&path).unwrap().last().unwrap().trials.len(), 3);
}

#[test]
fn on_a_full_disk_all_that_was_stored_before_is_kept() {
    let folder = folder();
    let _mount = Mount::tmpfs(folder.path(), "96k");
    let path = folder.path().join("store.sqlite");
    let mut store = stored(&path);
    let first = store.last().unwrap().id;
    let (kept, error) = (4..)
        .find_map(|number| store.keep_trial(&first, &trial(number)).err().map(|error| (number - 1, error)))
        .expect("the disk fills up");
    says(&error, &["cannot store a trial", "is full", "make room", "What was stored before is kept"]);
    let numbers = |store: &Store| store.last().unwrap().trials.iter().map(|trial| trial.number).collect::<Vec<_>>();
    assert_eq!(numbers(&store), (1..=kept).collect::<Vec<_>>());
    fill(folder.path());
    drop(store);
    says(&Store::open(&path).unwrap_err(), &["is full"]);
    assert_eq!(numbers(&Store::open_to_read(&path).unwrap()), (1..=kept).collect::<Vec<_>>());
}

/// Takes the last byte of a small disk.
fn fill(folder: &Path) {
    let written = fs::write(folder.join("ballast"), vec![0; 1 << 20]);
    assert!(written.is_err(), "the disk is small");
}

#[test]
fn a_lock_that_somebody_holds_is_named_after_a_while() {
    let folder = folder();
    let path = folder.path().join("store.sqlite");
    let mut store = stored(&path);
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let first = run("first", STARTED);
    says(&store.keep_trial(&first.id, &trial(4)).unwrap_err(), &["cannot store a trial", "locked for 5 s", "fuser"]);
    other.execute_batch("ROLLBACK").unwrap();
    store.keep_trial(&first.id, &trial(4)).unwrap();
}
