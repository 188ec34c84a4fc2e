//! Folders that were changed after they were sealed, and signatures that minisign itself made and verifies.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    process::{Command, Output, Stdio},
};

use tempfile::TempDir;
use wireproof_seal::{Finding, SIGNATURE_FILE, SUMS_FILE, SealError, SigningKey, Sum, Sums, check, others, sha256};

fn sealed() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("raw")).unwrap();
    let files = [("report.html", "<p>PASS</p>"), ("raw/plan.toml", "name = \"t\"\n")];
    for (name, content) in files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    let sum = |(name, content): (&str, &str)| Sum { name: name.to_owned(), sha256: sha256(content.as_bytes()) };
    fs::write(folder.path().join(SUMS_FILE), Sums(files.map(sum).to_vec()).to_string()).unwrap();
    folder
}

fn sums(folder: &Path) -> String {
    fs::read_to_string(folder.join(SUMS_FILE)).unwrap()
}

/// Makes a key pair with the real program; without a password where there is none.
fn key_pair(folder: &Path, password: Option<&str>) -> (String, String) {
    let (secret, public) = (folder.join("key.sec"), folder.join("key.pub"));
    let mut make = Command::new("minisign");
    make.arg("-G").arg("-s").arg(&secret).arg("-p").arg(&public);
    let made = match password {
        None => make.arg("-W").stdin(Stdio::null()).output(),
        Some(password) => typed(make, &format!("{password}\n{password}\n")),
    };
    let made = made.expect("minisign runs; ./x test installs it");
    assert!(made.status.success(), "{made:?}");
    (fs::read_to_string(secret).unwrap(), fs::read_to_string(public).unwrap())
}

fn typed(mut command: Command, words: &str) -> std::io::Result<Output> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), words.as_bytes())?;
    child.wait_with_output()
}

fn no_password() -> Result<String, SealError> {
    panic!("this key has none")
}

fn findings(folder: &Path, key: Option<&str>) -> Vec<Finding> {
    check(folder, key).unwrap().findings
}

fn sign(folder: &Path, key: &SigningKey) {
    fs::write(folder.join(SIGNATURE_FILE), key.sign(&sums(folder), "wireproof run 1").unwrap()).unwrap();
}

#[test]
fn an_untouched_folder_is_in_order_also_for_sha256sum() {
    let folder = sealed();
    assert_eq!(findings(folder.path(), None), []);
    let theirs = Command::new("sha256sum").args(["-c", "--strict", SUMS_FILE]).current_dir(&folder).output().unwrap();
    assert!(theirs.status.success(), "{theirs:?}");
}

#[test]
fn each_file_that_is_not_as_it_was_is_named() {
    let folder = sealed();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("report.html"), "<p>FAIL</p>").unwrap();
    fs::remove_file(path("raw/plan.toml")).unwrap();
    fs::write(path("raw/more.txt"), "").unwrap();
    symlink("/etc/hostname", path("link")).unwrap();
    let lines = format!("{0}  ../outside\n{0}  /etc/hostname\n{0}  link\n", sha256(b""));
    fs::write(path(SUMS_FILE), sums(folder.path()) + &lines).unwrap();
    let findings = findings(folder.path(), None);
    let not_files = ["../outside", "/etc/hostname", "link"].map(|name| Finding::NotAFile(name.to_owned()));
    let expected = [
        vec![Finding::Changed("report.html".into()), Finding::Missing("raw/plan.toml".into())],
        not_files.to_vec(),
        vec![Finding::Unlisted("raw/more.txt".into())],
    ];
    assert_eq!(findings, expected.concat());
}

#[test]
fn a_folder_without_sums_cannot_be_checked() {
    let folder = TempDir::new().unwrap();
    let error = check(folder.path(), None).unwrap_err().to_string();
    assert!(error.contains("SHA256SUMS: No such file") && error.contains("name a folder"), "{error}");
}

#[test]
fn minisign_verifies_our_signature_and_we_do() {
    let (folder, keys) = (sealed(), TempDir::new().unwrap());
    let (secret, public) = key_pair(keys.path(), None);
    assert_eq!(findings(folder.path(), Some(&public)), [Finding::NotSigned]);
    sign(folder.path(), &SigningKey::read(&secret, no_password).unwrap());
    assert_eq!(findings(folder.path(), Some(&public)), []);
    let mut verify = Command::new("minisign");
    verify.arg("-V").arg("-m").arg(folder.path().join(SUMS_FILE)).arg("-p").arg(keys.path().join("key.pub"));
    let verified = verify.output().unwrap();
    assert!(verified.status.success(), "{verified:?}");
    assert!(String::from_utf8_lossy(&verified.stdout).contains("wireproof run 1"), "{verified:?}");
}

#[test]
fn neither_links_nor_fifos_nor_endless_files_are_read() {
    let folder = sealed();
    let sums = folder.path().join(SUMS_FILE);
    let name = fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().path()).find(|it| *it != sums).unwrap();
    fs::remove_file(&name).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &name).unwrap();
    let listed = name.file_name().unwrap().to_str().unwrap().to_owned();
    assert!(findings(folder.path(), None).contains(&Finding::NotAFile(listed)));
    fs::remove_file(&sums).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &sums).unwrap();
    assert!(check(folder.path(), None).is_err());
    assert!(Sums::default().and_unchanged_in(folder.path()).0.is_empty());
    fs::remove_file(&sums).unwrap();
    assert!(Command::new("mkfifo").arg(&sums).status().unwrap().success());
    assert!(check(folder.path(), None).is_err());
    assert!(Sums::default().and_unchanged_in(folder.path()).0.is_empty());
}

#[test]
fn a_list_changed_after_signing_and_another_key_are_found() {
    let (folder, keys, others) = (sealed(), TempDir::new().unwrap(), TempDir::new().unwrap());
    let (secret, public) = key_pair(keys.path(), None);
    sign(folder.path(), &SigningKey::read(&secret, no_password).unwrap());
    let (_, other) = key_pair(others.path(), None);
    let bad = |key: &str| matches!(findings(folder.path(), Some(key)).as_slice(), [Finding::BadSignature(_)]);
    assert!(bad(&other) && !bad(&public));
    let without_last = sums(folder.path()).lines().next().unwrap().to_owned() + "\n";
    fs::write(folder.path().join(SUMS_FILE), without_last).unwrap();
    fs::remove_file(folder.path().join("raw/plan.toml")).unwrap();
    assert!(bad(&public));
    fs::write(folder.path().join(SIGNATURE_FILE), "nonsense").unwrap();
    assert!(bad(&public));
    let error = check(folder.path(), Some("nonsense")).unwrap_err().to_string();
    assert!(error.starts_with("not a minisign public key: "), "{error}");
}

#[test]
fn a_key_with_a_password_opens_with_it_alone() {
    let (folder, keys) = (sealed(), TempDir::new().unwrap());
    let (secret, public) = key_pair(keys.path(), Some("open sesame"));
    let with = |password: &str| SigningKey::read(&secret, || Ok::<_, SealError>(password.to_owned()));
    assert!(matches!(with("guess"), Err(SealError::Password)));
    sign(folder.path(), &with("open sesame").unwrap());
    assert_eq!(findings(folder.path(), Some(&public)), []);
    for broken in ["", "one line", "a comment\nnot base64!", "a comment\nAAAA"] {
        let error = SigningKey::read(broken, no_password).err().expect("no key").to_string();
        assert!(error.starts_with("not a minisign secret key: "), "{error}");
    }
}

#[test]
fn an_empty_list_vouches_for_nothing() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join(SUMS_FILE), "").unwrap();
    assert_eq!(findings(folder.path(), None), [Finding::Empty]);
}

#[test]
fn a_good_signature_says_what_was_signed_also_where_a_file_was_added() {
    let (folder, keys) = (sealed(), TempDir::new().unwrap());
    let (secret, public) = key_pair(keys.path(), None);
    sign(folder.path(), &SigningKey::read(&secret, no_password).unwrap());
    fs::write(folder.path().join("\x1b[2Jmore"), "").unwrap();
    let checked = check(folder.path(), Some(&public)).unwrap();
    assert_eq!(checked.signed.as_deref(), Some("wireproof run 1"));
    let [added] = checked.findings.as_slice() else { panic!("{:?}", checked.findings) };
    assert!(added.to_string().starts_with("\\u{1b}[2Jmore: not in SHA256SUMS"), "{added}");
    assert_eq!(check(folder.path(), None).unwrap().signed, None, "nothing is known without a key");
}

#[test]
fn what_is_neither_known_nor_a_seal_is_another_file() {
    let folder = sealed();
    fs::write(folder.path().join(SIGNATURE_FILE), "").unwrap();
    assert_eq!(others(folder.path(), ["report.html"].into_iter()).unwrap(), ["raw/plan.toml"]);
    assert_eq!(others(&folder.path().join("absent"), [].into_iter()).unwrap(), [""; 0]);
}
