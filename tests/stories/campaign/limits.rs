//! Disks that fill at every stage of a run.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    machine::Snapshot,
    program::{Desk, Done, MANY, WIREPROOF, done, text, without_caller},
    waiting::soon,
};

/// Where a limit stops a run differs with it; each limit is so much larger than the one before.
const STEP: f64 = 1.12;

/// A file system in memory, until this is dropped.
struct Disk(PathBuf);

impl Disk {
    fn new(desk: &Desk, options: &str) -> Self {
        let place = desk.path("disk");
        fs::create_dir_all(&place).unwrap();
        let disk = Self(place);
        disk.mount(options);
        disk
    }

    fn mount(&self, options: &str) {
        let mut mount = Command::new("mount");
        assert!(mount.args(["-t", "tmpfs", "-o", options, "none", text(&self.0)]).status().unwrap().success());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// A control group with a limit of memory, until this is dropped.
struct Group {
    hierarchy: PathBuf,
    limit: &'static str,
}

impl Group {
    fn new(desk: &Desk) -> Self {
        let hierarchy = desk.path("cgroup");
        fs::create_dir_all(&hierarchy).unwrap();
        // The controller is in the unified hierarchy unless something has mounted it by itself.
        let of_controllers = fs::read_to_string("/proc/cgroups").unwrap_or_default();
        let memory = of_controllers.lines().find_map(|line| line.strip_prefix("memory\t"));
        let is_alone = memory.is_some_and(|rest| !rest.starts_with("0\t"));
        let mut mount = Command::new("mount");
        mount.args(if is_alone { ["-t", "cgroup", "-o", "memory"].as_slice() } else { &["-t", "cgroup2"] });
        assert!(mount.args(["none", text(&hierarchy)]).status().unwrap().success());
        let group = Self { hierarchy, limit: if is_alone { "memory.limit_in_bytes" } else { "memory.max" } };
        fs::create_dir(group.folder()).unwrap();
        group
    }

    fn folder(&self) -> PathBuf {
        self.hierarchy.join(format!("wireproof-{}", std::process::id()))
    }

    fn limit(&self, mib: f64) {
        fs::write(self.folder().join(self.limit), format!("{}", (mib * 1048576.0) as u64)).unwrap();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let is_removed = || fs::remove_dir(self.folder()).is_ok();
        if !soon(is_removed) {
            eprintln!("left: {}", text(&self.folder()));
        }
        let _ = Command::new("umount").arg(&self.hierarchy).status();
    }
}

/// A run with its store and report in this folder.
fn run(desk: &Desk, folder: &Path) -> Done {
    run_by(without_caller(WIREPROOF.as_ref()), desk, folder)
}

fn run_by(by: Command, desk: &Desk, folder: &Path) -> Done {
    done(command(by, &desk.plan(MANY), folder).output().unwrap())
}

fn command(mut command: Command, plan: &Path, folder: &Path) -> Command {
    command.args(["--store", text(&folder.join("runs.db"))]);
    command.args(["verify", text(plan), "--repeats", "4", "--quiet", "--out", text(&folder.join("out"))]);
    command.stdin(Stdio::null());
    command
}

/// Each stored trial can be read, and none is missing in between; the number of trials.
fn readable(store: &Path, out: &Path) -> u64 {
    let asked = |words: &[&str]| {
        let mut command = without_caller(WIREPROOF.as_ref());
        done(command.args(["--store", text(store)]).args(words).stdin(Stdio::null()).output().unwrap())
    };
    let listed = asked(&["runs", "--json"]);
    assert_eq!(listed.status, 0, "{}", listed.err);
    let mut trials = 0;
    for run in listed.json()["runs"].as_array().unwrap() {
        let report = asked(&["report", run["id"].as_str().unwrap(), "--json", "--quiet", "--out", text(out)]);
        let numbers: Vec<u64> =
            report.json()["trials"].as_array().unwrap().iter().map(|trial| trial["number"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "none is missing in between");
        assert_eq!(run["trials"], numbers.len() as u64);
        trials += numbers.len() as u64;
    }
    trials
}

#[test]
#[ignore = "takes some minutes: sudo ./x campaign limits"]
fn limits_of_the_disk_are_named_and_lose_nothing() {
    let (desk, mut kib, mut ended) = (Desk::new(), 16.0, Vec::new());
    while kib < 4096.0 {
        // The run is begun with room, which is gone once its store is there.
        let disk = Disk::new(&desk, "size=64m");
        let before = Snapshot::take();
        let plan = desk.plan(MANY);
        let run = command(without_caller(WIREPROOF.as_ref()), &plan, &disk.0)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let store = disk.0.join("runs.db");
        assert!(soon(|| store.exists()), "no store is made");
        let left = kib as usize * 1024;
        let ballast = vec![0; (64 << 20) - fs::metadata(&store).unwrap().len() as usize - left];
        let _ = fs::write(disk.0.join("ballast"), ballast);
        let done = done(run.wait_with_output().unwrap());
        assert!(!done.err.contains("panicked"), "{kib:.0} KiB: {}", done.err);
        if done.status != 0 {
            assert!(done.err.contains("No space left") || done.err.contains("full"), "{kib:.0} KiB: {}", done.err);
        }
        before.assert_same();
        fs::remove_file(disk.0.join("ballast")).unwrap();
        ended.push((done.status, readable(&store, &disk.0.join("out"))));
        kib *= STEP;
    }
    assert!(ended.iter().any(|end| end.0 != 0) && ended.last().is_some_and(|end| *end == (0, 8)), "{ended:?}");
    println!("disks of which 16 to 4096 KiB are left, status and trials kept: {ended:?}");
}

#[test]
#[ignore = "takes some seconds: sudo ./x campaign limits"]
fn limits_of_a_disk_that_is_read_only_are_named() {
    let desk = Desk::new();
    let disk = Disk::new(&desk, "ro");
    let before = Snapshot::take();
    run(&desk, &disk.0).fails(1, &["Read-only file system"]);
    before.assert_same();
}

#[test]
#[ignore = "takes some minutes: sudo ./x campaign limits"]
fn limits_of_memory_leave_nothing_and_lose_nothing() {
    let desk = Desk::new();
    let (group, before) = (Group::new(&desk), Snapshot::take());
    let (mut mib, mut ended, mut folders) = (4.0, Vec::new(), 0..);
    while mib < 256.0 {
        group.limit(mib);
        let folder = desk.path(&folders.next().unwrap().to_string());
        fs::create_dir(&folder).unwrap();
        let mut command = without_caller("sh".as_ref());
        command.args(["-c", "echo $$ >\"$0\" && exec \"$@\"", text(&group.folder().join("cgroup.procs")), WIREPROOF]);
        let done = run_by(command, &desk, &folder);
        assert!(!done.err.contains("panicked"), "{mib:.0} MiB: {}", done.err);
        // The controller alone says nothing where it was killed itself.
        assert!(done.status != 1 || !done.err.is_empty(), "{mib:.0} MiB: it says nothing");
        if done.err.contains("killed by signal 9") {
            assert!(done.err.contains("memory ran out"), "{mib:.0} MiB: {}", done.err);
        }
        let clean = desk.run(&["clean"]);
        assert_eq!(clean.status, 0, "{mib:.0} MiB: {}", clean.err);
        before.assert_same();
        let store = folder.join("runs.db");
        let kept = if store.exists() { readable(&store, &folder.join("out")) } else { 0 };
        eprintln!(
            "{mib:.0} MiB: status {}, {kept} trials; {}",
            done.status,
            done.err.lines().last().unwrap_or_default()
        );
        ended.push((done.status, kept));
        mib *= STEP;
    }
    assert!(ended.iter().any(|end| end.0 != 0) && ended.last().is_some_and(|end| *end == (0, 8)), "{ended:?}");
}
