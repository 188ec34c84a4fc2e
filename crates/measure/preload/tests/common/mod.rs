//! A C program that prints the result of each call, run with the library and without it.
#![allow(dead_code, reason = "each test takes a part of it")]

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
};

/// Parts of the program.
pub(crate) const PARTS: [&str; 50] = [
    "data",
    "flags",
    "options",
    "unbound",
    "control",
    "errors",
    "pointers",
    "pieces",
    "polls",
    "selects",
    "epolls",
    "edges",
    "copies",
    "closing",
    "behind",
    "forks",
    "handed",
    "executes",
    "replaced",
    "threads",
    "signals",
    "cancels",
    "cancelled",
    "stdio",
    "passing",
    "jumps",
    "leaps",
    "calm",
    "alike",
    "woken",
    "crowd",
    "masks",
    "later",
    "members",
    "nested",
    "inheriting",
    "shared",
    "refused",
    "contended",
    "large",
    "chrooted",
    "beside",
    "by_syscall",
    "stamps",
    "rearmed",
    "turns",
    "drained",
    "reopened",
    "chosen",
    "vanishes",
];

/// The library; cargo puts it beside the test program.
pub(crate) fn library() -> PathBuf {
    let test = std::env::current_exe().expect("it runs");
    let library = test.with_file_name("libwireproof_preload.so");
    assert!(library.exists(), "{} is built with this test", library.display());
    library
}

/// The program, compiled once per test program.
pub(crate) fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program");
        let files = fs::read_dir(sources).expect("it is there").map(|entry| entry.expect("it is there").path());
        let files = files.filter(|file| file.extension().is_some_and(|extension| extension == "c"));
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("every-call-{}", std::process::id()));
        let status = Command::new("cc")
            .args(["-O2", "-Wall", "-Wextra", "-Werror", "-Wno-nonnull", "-Wno-stringop-overflow", "-pthread", "-o"])
            .arg(&program)
            .args(files)
            .status();
        assert!(status.expect("a C compiler is installed").success());
        program
    })
}

/// The echo part of the program, running until this is dropped.
pub(crate) struct Echo(Child);

impl Echo {
    pub(crate) fn at(address: &str) -> Self {
        Self::by(&mut Command::new(program()), address)
    }

    /// Started by a command whose last argument is the program.
    pub(crate) fn by(command: &mut Command, address: &str) -> Self {
        let mut child =
            command.args(["echo", address, address]).stdout(Stdio::piped()).spawn().expect("it is executable");
        let mut line = String::new();
        let out = child.stdout.as_mut().expect("it is piped");
        BufReader::new(out).read_line(&mut line).expect("it speaks");
        assert_eq!(line, "ready\n");
        Self(child)
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Output of a command, and its exit status.
pub(crate) fn told(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().expect("it is executable");
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    format!("{out}{err}{}\n", output.status)
}

/// Runs a command under the library, without a launcher.
pub(crate) fn preloaded(command: &mut Command) -> &mut Command {
    command.env("LD_PRELOAD", library()).env("WIREPROOF_BYPASS", "wireproof-bypass-nobody")
}
