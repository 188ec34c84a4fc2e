//! Without root: the lab bed in its own user namespace.

use std::{fs, os::unix::fs::PermissionsExt, process::Stdio};

use crate::{
    machine::Snapshot,
    program::{Desk, Done, SMALL, WIREPROOF, done, text, without_caller},
};

/// A desk that any user may write to, with a copy of the program that any user may run.
pub(crate) struct Guest {
    desk: Desk,
}

impl Guest {
    pub(crate) fn new() -> Self {
        let desk = Desk::new();
        fs::set_permissions(desk.path(""), fs::Permissions::from_mode(0o777)).unwrap();
        fs::copy(WIREPROOF, desk.path("wireproof")).unwrap();
        Self { desk }
    }

    pub(crate) fn run(&self, args: &[&str]) -> Done {
        let mut command = without_caller("setpriv".as_ref());
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(self.desk.path("wireproof")).args(args);
        command.env("HOME", self.desk.path(""));
        done(command.stdin(Stdio::null()).output().unwrap())
    }
}

#[test]
fn a_first_try_needs_no_root() {
    let guest = Guest::new();
    let before = Snapshot::take();
    let plan = guest.desk.plan(SMALL);
    let verify = guest.run(&["verify", text(&plan), "--json"]);
    assert_eq!(verify.status, 0, "{}", verify.err);
    let document = verify.json();
    assert_eq!(document["trials"].as_array().unwrap().len(), 8);
    let doubts = document["run"]["doubts"].to_string();
    assert!(doubts.contains("unprivileged"), "the report says what root would add: {doubts}");
    assert!(guest.desk.path(".local/share/wireproof/runs.db").exists());
    before.assert_same();
}

#[test]
fn what_needs_root_says_so() {
    let guest = Guest::new();
    guest.run(&["bed", "up", "x"]).fails(1, &["run the same command with sudo"]);
    guest.run(&["latency", "--bed", "x"]).fails(1, &["run the same command with sudo"]);
    guest.run(&["clean"]).fails(1, &["run the same command with sudo"]);
    let doctor = guest.run(&["doctor"]);
    assert_eq!(doctor.status, 0, "{}{}", doctor.out, doctor.err);
    assert!(doctor.out.contains("not root; user namespaces are allowed"), "{}", doctor.out);
}

#[test]
fn neither_root_nor_user_namespaces_is_explained() {
    let guest = Guest::new();
    // The kernel refuses a user namespace to a process in a chroot (user_namespaces(7)).
    let root = guest.desk.path("root");
    fs::create_dir(&root).unwrap();
    let script = "mount --rbind / \"$1\" && exec chroot \"$1\" setpriv --reuid=65534 --regid=65534 --clear-groups \
                  env HOME=\"$2\" \"$2/wireproof\" latency --count 10";
    let mut command = without_caller("unshare".as_ref());
    command.args(["--mount", "sh", "-c", script, "sh", text(&root), text(&guest.desk.path(""))]);
    let refused = done(command.stdin(Stdio::null()).output().unwrap());
    refused.fails(1, &["not root", "run the same command with sudo", "max_user_namespaces"]);
}
