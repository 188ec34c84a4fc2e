//! The controller's end with programs that are no proper agents.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    time::{Duration, Instant},
};

use tempfile::TempDir;
use wireproof_protocol::{
    AgentLink, Fault, FrameError, FromAgent, Hello, Launch, Place, Request, Ssh, write_message, write_preamble,
};

/// Launches a shell script as agent.
fn launch(folder: &Path, script: &str) -> Result<AgentLink, Fault> {
    let program = folder.join("agent.sh");
    executable(&program, script);
    AgentLink::launch("test", &Launch::here(program)).map_err(|error| error.fault)
}

/// A file with the first bytes of an agent of this build.
fn greeting(folder: &Path, build: &str) -> String {
    let mut bytes = Vec::new();
    write_preamble(&mut bytes).expect("writes");
    write_message(&mut bytes, &FromAgent::Hello(Hello { build: build.to_owned(), pid: 7 })).expect("writes");
    let path = folder.join("greeting");
    fs::write(&path, bytes).expect("writes");
    path.display().to_string()
}

fn executable(path: &Path, script: &str) {
    fs::write(path, format!("#!/bin/sh\n{script}\n")).expect("writes");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("sets");
}

/// BusyBox's `head -c` may read more from a pipe than requested.
#[test]
fn what_takes_a_copied_program_over_may_read_on_beyond_it() {
    let folder = TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let greeting = greeting(folder.path(), &wireproof_protocol::build_id());
    fs::create_dir(path("bin")).expect("makes");
    executable(&path("bin/head"), "/usr/bin/head \"$@\"; timeout 1 cat >/dev/null; true");
    executable(
        &path("ssh"),
        &format!("for last; do :; done; PATH={}:$PATH exec sh -c \"$last\"", path("bin").display()),
    );
    let mut preamble = Vec::new();
    write_preamble(&mut preamble).expect("writes");
    let first = format!("{:02x}", preamble[0]);
    // Sends its greeting again after the beginning of ours.
    let hears = format!("[ $(dd bs=1 count=1 2>/dev/null | od -An -tx1) = {first} ] || exit 3");
    let again = format!("tail -c +{} {greeting}", preamble.len() + 1);
    executable(&path("agent"), &format!("[ $1 = agent ] || exit 0\ncat {greeting}\n{hears}\n{again}\ncat >/dev/null"));
    let program = vec![path("ssh").display().to_string()];
    let ssh = Ssh { program, destination: "there".to_owned(), port: None, caller: None };
    let launch = Launch { place: Place::Remote { ssh, sudo: false, copied: true }, ..Launch::here(path("agent")) };
    let mut agent = AgentLink::launch("test", &launch).expect("greets");
    let heard = agent.next(Duration::from_secs(5)).expect("lives");
    assert!(matches!(heard, Some(FromAgent::Hello(_))), "{heard:?}");
}

/// Copies a program of this many bytes to a machine behind a script that stands for ssh.
fn launch_a_copy(folder: &Path, ssh: &str, bytes: usize) -> Result<AgentLink, Fault> {
    executable(&folder.join("ssh"), ssh);
    fs::write(folder.join("program"), vec![b'#'; bytes]).expect("writes");
    let program = vec![folder.join("ssh").display().to_string()];
    let ssh = Ssh { program, destination: "there".to_owned(), port: None, caller: None };
    let place = Place::Remote { ssh, sudo: false, copied: true };
    AgentLink::launch("test", &Launch { place, ..Launch::here(folder.join("program")) }).map_err(|error| error.fault)
}

#[test]
fn a_copy_that_does_not_go_through_is_given_up() {
    let folder = TempDir::new().expect("a folder");
    let begun = Instant::now();
    let fault = launch_a_copy(folder.path(), "exec sleep 600", 1 << 20).err().expect("cut");
    assert!(matches!(fault, Fault::Silent(_)), "{fault}");
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
}

#[test]
fn nothing_stays_of_a_copy_that_did_not_come_whole() {
    let folder = TempDir::new().expect("a folder");
    let there = folder.path().join("there");
    fs::create_dir(&there).expect("makes");
    // The connection ends half-way, and error messages are lost.
    let cut = format!(
        "for last; do :; done; export TMPDIR={}\n{{ head -c 5000 | sh -c \"$last\" 2>&1 >/dev/null; echo ended >&3; }} 3>{} | true\n\
         while ! [ -s {1} ]; do sleep 0.05; done",
        there.display(),
        folder.path().join("ended").display()
    );
    assert!(launch_a_copy(folder.path(), &cut, 100_000).is_err());
    assert_eq!(fs::read_dir(&there).expect("there").count(), 0, "it is removed");
}

#[test]
fn a_login_script_that_takes_what_is_meant_for_the_agent_is_thought_of() {
    let folder = TempDir::new().expect("a folder");
    let takes = launch_a_copy(folder.path(), "cat >/dev/null & exec sleep 0.2", 1000);
    let fault = takes.err().expect("no agent").to_string();
    assert!(fault.starts_with("ended unexpectedly (exit status 0); does a login script there"), "{fault}");
}

#[test]
fn another_build_is_refused_with_both_named() {
    let folder = TempDir::new().expect("a folder");
    let greeting = greeting(folder.path(), "0.0.9 abcdef");
    let fault = launch(folder.path(), &format!("cat {greeting}; cat >/dev/null")).err().expect("refused");
    let Fault::OtherBuild { theirs, ours } = &fault else { panic!("{fault:?}") };
    assert_eq!((theirs.as_str(), ours), ("0.0.9 abcdef", &wireproof_protocol::build_id()));
    assert!(fault.to_string().contains("use the same wireproof program on both ends"));
}

#[test]
fn what_a_login_script_prints_is_skipped_or_quoted() {
    let folder = TempDir::new().expect("a folder");
    let greeting = greeting(folder.path(), &wireproof_protocol::build_id());
    let agent = launch(folder.path(), &format!("echo Welcome to host7; cat {greeting}; cat >/dev/null"));
    assert_eq!(agent.expect("greets").pid(), 7);
    let fault = launch(folder.path(), "echo Welcome to host7").err().expect("refused");
    assert!(
        matches!(&fault, Fault::Protocol(FrameError::Noise(noise)) if noise.contains("Welcome to host7")),
        "{fault}"
    );
}

#[test]
fn an_agent_that_dies_is_quoted() {
    let folder = TempDir::new().expect("a folder");
    let fault = launch(folder.path(), "echo no such luck >&2; exit 9").err().expect("dead");
    assert_eq!(fault.to_string(), "ended unexpectedly (exit status 9); it said: no such luck");
    let greeting = greeting(folder.path(), &wireproof_protocol::build_id());
    let mut agent = launch(folder.path(), &format!("cat {greeting}; kill -KILL $$")).expect("greets");
    let fault = agent.ask(Request::Clock, Duration::from_secs(5)).expect_err("dead").fault;
    assert_eq!(fault.to_string(), "ended unexpectedly (killed by signal 9)");
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let launch = Launch::here("/nowhere/wireproof".into());
    let fault = AgentLink::launch("test", &launch).err().expect("cannot start").fault;
    assert!(fault.to_string().contains("could not be started (/nowhere/wireproof)"), "{fault}");
}

#[test]
fn an_agent_that_does_not_answer_in_time_is_ended() {
    let folder = TempDir::new().expect("a folder");
    let greeting = greeting(folder.path(), &wireproof_protocol::build_id());
    let mut agent = launch(folder.path(), &format!("cat {greeting}; exec sleep 600")).expect("greets");
    let asked = Instant::now();
    let fault = agent.ask(Request::Clock, Duration::from_millis(300)).expect_err("late").fault;
    assert!(fault.to_string().starts_with("did not answer Clock within 300ms"), "{fault}");
    drop(agent);
    assert!(asked.elapsed() < Duration::from_secs(5), "it was ended, not waited for");
}
