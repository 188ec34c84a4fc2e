//! Through sudo: new files belong to the calling user, and root follows no symbolic links of that user.

use std::{
    fs::{self, Permissions},
    os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink},
    path::Path,
    process::{Command, Stdio},
};

use crate::program::{Desk, Done, WIREPROOF, done, text, without_caller};

const CALLER: u32 = 65_534;

fn run_through_sudo(desk: &Desk, args: &[&str]) -> Done {
    run_by_caller(desk.command(args))
}

fn run_by_caller(mut command: Command) -> Done {
    let number = CALLER.to_string();
    command.envs([("SUDO_UID", number.as_str()), ("SUDO_GID", &number), ("SUDO_USER", "nobody")]);
    done(command.stdin(Stdio::null()).output().unwrap())
}

fn belongs_to_caller(desk: &Desk) {
    chown(desk.path(""), Some(CALLER), Some(CALLER)).unwrap();
}

fn owner(path: &Path) -> u32 {
    fs::metadata(path).unwrap().uid()
}

#[test]
fn reports_and_store_belong_to_the_caller_and_lead_root_nowhere() {
    let desk = Desk::new();
    belongs_to_caller(&desk);
    let out = desk.path("out");
    let words = ["latency", "--count", "100", "--repeats", "1", "--out", text(&out)];
    let latency = run_through_sudo(&desk, &words);
    assert_eq!(latency.status, 0, "{}", latency.err);
    for path in [desk.path("runs.db"), out.clone(), out.join("report.html"), out.join("report.json")] {
        assert_eq!(owner(&path), CALLER, "{}", path.display());
    }

    let somebody_elses = tempfile::NamedTempFile::new().unwrap();
    fs::write(somebody_elses.path(), "precious").unwrap();
    fs::remove_file(out.join("report.html")).unwrap();
    symlink(somebody_elses.path(), out.join("report.html")).unwrap();
    let again = run_through_sudo(&desk, &["report", "last", "--out", text(&out)]);
    assert_eq!(again.status, 0, "{}", again.err);
    assert_eq!(fs::read_to_string(somebody_elses.path()).unwrap(), "precious");
    assert!(fs::symlink_metadata(out.join("report.html")).unwrap().is_file(), "the link is replaced");

    fs::remove_dir_all(out.join("raw")).unwrap();
    symlink(somebody_elses.path().parent().unwrap(), out.join("raw")).unwrap();
    run_through_sudo(&desk, &["report", "last", "--out", text(&out)]).fails(1, &["raw is a link", "--out"]);

    let (reports, own) = (desk.path("reports"), desk.path("own"));
    fs::create_dir(&own).unwrap();
    chown(&own, Some(CALLER), Some(CALLER)).unwrap();
    symlink(&own, &reports).unwrap();
    lchown(&reports, Some(CALLER), Some(CALLER)).unwrap();
    let through = run_through_sudo(&desk, &["report", "last"]);
    assert_eq!(through.status, 0, "a link of the caller's own: {}", through.err);
    fs::remove_file(&reports).unwrap();
    symlink(somebody_elses.path().parent().unwrap(), &reports).unwrap();
    lchown(&reports, Some(CALLER), Some(CALLER)).unwrap();
    desk.run(&["report", "last"]).fails(1, &["reports is a link of another user", "--out"]);
}

#[test]
fn an_unknown_user_of_sudo_has_no_rights_of_root() {
    let desk = Desk::new();
    for forged in ["0x", "-1", "4294967288"] {
        let mut command = desk.command(&["runs"]);
        command.envs([("SUDO_UID", forged), ("SUDO_GID", "0"), ("SUDO_USER", "root\nroot")]);
        done(command.stdin(Stdio::null()).output().unwrap()).fails(1, &["SUDO_UID", "unset SUDO_UID and SUDO_GID"]);
        assert!(!desk.path("runs.db").exists());
    }
}

#[test]
fn a_report_is_written_and_set_with_the_rights_of_the_caller() {
    let desk = Desk::new();
    belongs_to_caller(&desk);
    let latency = run_through_sudo(&desk, &["latency", "--count", "100", "--repeats", "1", "--format", "json"]);
    assert_eq!(latency.status, 0, "{}", latency.err);

    // A file of root's group, in a folder of the caller.
    let secret = desk.path("secret.toml");
    fs::write(&secret, "document = \"secret\"\n").unwrap();
    fs::set_permissions(&secret, Permissions::from_mode(0o440)).unwrap();
    run_through_sudo(&desk, &["report", "last", "--meta", text(&secret)]).fails(2, &["secret.toml", "denied"]);
    let logo = format!("issuer.logo={}", text(&secret));
    run_through_sudo(&desk, &["report", "last", "--meta", &logo]).fails(2, &["issuer.logo", "secret.toml", "denied"]);

    let (program, told) = (desk.path("wireproof"), desk.path("told"));
    fs::copy(WIREPROOF, &program).unwrap();
    let rights = "^(Uid|Gid|Groups|CapPrm):";
    let script =
        format!("#!/bin/sh\ngrep -E '{rights}' /proc/self/status >{}\ncat >/dev/null\necho pdf\n", text(&told));
    fs::write(desk.path("wireproof-pdf"), script).unwrap();
    fs::set_permissions(desk.path("wireproof-pdf"), Permissions::from_mode(0o755)).unwrap();
    let mut report = without_caller(program.as_os_str());
    report.args(["--store", text(&desk.path("runs.db")), "report", "last", "--format", "pdf"]);
    let set = run_by_caller(report);
    assert_eq!(set.status, 0, "{}", set.err);
    let told = fs::read_to_string(told).unwrap();
    let words: Vec<&str> = told.split_whitespace().collect();
    let four = ["65534"; 4];
    let expected =
        [&["Uid:"][..], &four, &["Gid:"], &four, &["Groups:", "65534", "CapPrm:", "0000000000000000"]].concat();
    assert_eq!(words, expected);
}
