//! Through sudo: new files belong to the calling user, and root follows no symbolic links of that user.

use std::{
    fs,
    os::unix::fs::{MetadataExt, chown, symlink},
    path::Path,
    process::Stdio,
};

use crate::program::{Desk, Done, done, text};

const CALLER: u32 = 65_534;

fn run_through_sudo(desk: &Desk, args: &[&str]) -> Done {
    let mut command = desk.command(args);
    let number = CALLER.to_string();
    command.envs([("SUDO_UID", number.as_str()), ("SUDO_GID", &number), ("SUDO_USER", "nobody")]);
    done(command.stdin(Stdio::null()).output().unwrap())
}

fn owner(path: &Path) -> u32 {
    fs::metadata(path).unwrap().uid()
}

#[test]
fn reports_and_store_belong_to_the_caller_and_lead_root_nowhere() {
    let desk = Desk::new();
    chown(desk.path(""), Some(CALLER), Some(CALLER)).unwrap();
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
}
