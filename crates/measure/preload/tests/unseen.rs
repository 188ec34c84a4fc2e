//! If nothing can be bypassed, the library must not affect a program.

mod common;

use std::process::Command;

use common::{Echo, PARTS, preloaded, program, told};

fn part(part: &str, address: &str) -> Command {
    let mut command = Command::new(program());
    command.args([part, address, address]);
    command
}

#[track_caller]
fn is_the_same(name: &str, address: &str) {
    let plain = told(&mut part(name, address));
    let loaded = told(preloaded(&mut part(name, address)));
    assert!(plain.ends_with("exit status: 0\n"), "{name}: {plain}");
    pretty(name, &plain, &loaded);
}

#[track_caller]
fn pretty(name: &str, plain: &str, loaded: &str) {
    let differs = plain.lines().zip(loaded.lines()).find(|(plain, loaded)| plain != loaded);
    assert!(plain == loaded, "{name}: {differs:?}\n--- without:\n{plain}\n--- with:\n{loaded}");
}

#[test]
fn every_call_answers_as_libc_does() {
    // Each has its own echo, so that their pauses overlap.
    std::thread::scope(|scope| {
        for (number, name) in (1..).zip(PARTS) {
            scope.spawn(move || {
                let address = format!("127.77.1.{number}");
                let _echo = Echo::at(&address);
                is_the_same(name, &address);
            });
        }
    });
}

#[test]
fn every_call_answers_as_libc_does_over_ipv6() {
    let _echo = Echo::at("::1");
    ["data", "flags", "options", "control", "errors", "polls"].iter().for_each(|name| is_the_same(name, "::1"));
}

#[test]
fn nothing_but_names_of_libc_is_visible() {
    let names = told(Command::new("nm").args(["--dynamic", "--defined-only", "--format=posix"]).arg(common::library()));
    let names: Vec<&str> = names.lines().filter_map(|line| line.split_once(' ')).map(|(name, _)| name).collect();
    let known = |name: &&&str| {
        let asked = format!("int main(void) {{ extern int {name}(); return (long){name} == 0; }}");
        let probe = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("name-{name}"));
        std::fs::write(probe.with_extension("c"), asked).expect("writable");
        let linked = Command::new("cc")
            .arg("-w")
            .arg("-fno-builtin")
            .arg("-o")
            .arg(&probe)
            .arg(probe.with_extension("c"))
            .status();
        !linked.expect("a C compiler is installed").success()
    };
    let strange: Vec<_> = names.iter().filter(|name| **name != "exit").filter(known).collect();
    assert!(names.len() > 40 && strange.is_empty(), "{strange:?} of {names:?}");
}
