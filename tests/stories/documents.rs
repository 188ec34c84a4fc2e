//! Reports as documents: their owner, their sources, and their integrity.

use std::{fs, process::Command};

use serde_json::Value;

use crate::program::{Desk, SMALL};

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

const META: &str = r#"
title = "Link 7"
customer = "Example Ltd."
[[item]]
what = "Card seated"
verdict = "pass"
photos = ["card.png"]
[[device]]
what = "card"
serial = "SN-0042"
"#;

/// A desk with one run that has an identity.
fn measured() -> Desk {
    let desk = Desk::new();
    fs::write(desk.path("meta.toml"), META).unwrap();
    image::RgbImage::new(2, 2).save(desk.path("card.png")).unwrap();
    let (plan, meta, out) = (desk.plan(SMALL), desk.path("meta.toml"), desk.path("out"));
    let [plan, meta, out] = [&plan, &meta, &out].map(|path| path.to_str().unwrap());
    let done = desk.run(&["verify", plan, "--meta", meta, "--revision", "A", "--out", out]);
    assert_eq!(done.status, 0, "{}", done.err);
    desk
}

/// Writes the report of the last run to a folder of the desk.
fn report(desk: &Desk, folder: &str, more: &[&str]) -> String {
    let out = desk.path(folder);
    let done = desk.run(&[&["report", "last", "--out", out.to_str().unwrap()], more].concat());
    assert_eq!(done.status, 0, "{}", done.err);
    fs::read_to_string(out.join("report.html")).unwrap()
}

#[test]
fn the_identity_is_kept_with_the_run_and_may_be_changed_for_a_report() {
    let desk = measured();
    let html = report(&desk, "again", &["--revision", "B", "--made-by", "H. Sato, 2026-11-21"]);
    for said in ["Link 7", "Example Ltd.", "<dd>B</dd>", "H. Sato\n2026-11-21", "Card seated", "data:image/png;base64,"]
    {
        assert!(html.contains(said), "{said}");
    }
    let json: Value = serde_json::from_str(&desk.run(&["report", "--json", "--quiet"]).out).unwrap();
    assert_eq!((&json["identity"]["revision"], &json["run"]["verdict"]), (&"A".into(), &"PASS".into()));
    // Files beside the report are valid input again.
    let meta = desk.path("again/raw/identity.toml");
    report(&desk, "third", &["--meta", meta.to_str().unwrap()]);
    let failed = desk.path("failed.toml");
    fs::write(&failed, META.replace("\"pass\"", "\"fail\"")).unwrap();
    let words = ["report", "--meta", failed.to_str().unwrap()];
    assert_eq!(desk.run(&words).status, 0, "the report is written");
    let done = desk.run(&[&words[..], &["--check-limits"]].concat());
    assert_eq!(done.status, 3, "what a person found to fail, fails: {}", done.err);
}

/// A key pair without a password: paths of the secret and the public key.
fn keys(desk: &Desk) -> [String; 2] {
    let [secret, public] = ["key.sec", "key.pub"].map(|name| desk.path(name).to_str().unwrap().to_owned());
    let made = Command::new("minisign").args(["-G", "-W", "-s", &secret, "-p", &public]).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    [secret, public]
}

#[test]
fn a_signed_report_is_checked_by_us_by_sha256sum_and_by_minisign() {
    let desk = measured();
    let [secret, public] = keys(&desk);
    report(&desk, "out", &["--sign", &secret, "--format", "html,md,json"]);
    let out = desk.path("out");
    let folder = out.to_str().unwrap();
    let check = |more: &[&str]| desk.run(&[&["report", "--check", folder], more].concat());

    let good = check(&["--key", &public]);
    assert_eq!((good.status, good.out.contains("signature is that of the key")), (0, true), "{}{}", good.out, good.err);
    let run = desk.runs()[0].clone();
    let which = format!("report of run {}, begun {}, signed 20", text(&run["id"]), text(&run["started"]));
    assert!(good.out.contains(&which), "{}", good.out);
    let sums = Command::new("sha256sum").args(["-c", "--strict", "SHA256SUMS"]).current_dir(&out).output().unwrap();
    assert!(sums.status.success(), "{sums:?}");
    let listed = String::from_utf8(sums.stdout).unwrap();
    for name in ["report.html", "report.md", "report.json", "raw/run.json", "raw/plan.toml", "raw/photo-1.png"] {
        assert!(listed.contains(&format!("{name}: OK")), "{name} is not listed:\n{listed}");
    }
    let verified = Command::new("minisign").args(["-V", "-p", &public, "-m", "SHA256SUMS"]).current_dir(&out).output();
    assert!(verified.unwrap().status.success());

    fs::write(out.join("added.txt"), "").unwrap();
    let added = check(&["--key", &public]);
    assert!(
        added.status == 3 && added.out.contains("added.txt: not in") && added.out.contains(&which),
        "{}",
        added.out
    );
    fs::remove_file(out.join("added.txt")).unwrap();
    fs::write(out.join("raw/plan.toml"), "name = \"other\"").unwrap();
    let bad = check(&[]);
    assert_eq!((bad.status, bad.out.as_str()), (3, "raw/plan.toml: not as SHA256SUMS says\n"));
    let again = desk.run(&["report", "--out", folder]);
    assert!(again.err.contains("The signature in") && again.err.contains("was removed"), "{}", again.err);
    let unsigned = check(&["--key", &public]);
    assert_eq!(unsigned.status, 3);
    assert!(unsigned.out.contains("the report is not signed"), "{}", unsigned.out);
    let unverified = check(&[]);
    assert!(unverified.status == 0 && unverified.out.contains("anybody can rewrite"), "{}", unverified.out);
    check(&["--key", "/nowhere.pub"]).fails(1, &["/nowhere.pub", "No such file"]);
}

#[test]
fn what_this_report_did_not_write_is_neither_signed_nor_left_beside_redacted_files() {
    let desk = measured();
    let [secret, _] = keys(&desk);
    let out = desk.path("out");
    let into = |more: &[&str]| desk.run(&[&["report", "--out", out.to_str().unwrap()], more].concat());
    // A signed report covers the written files, not the targets of links in their place.
    let elsewhere = desk.path("elsewhere");
    fs::write(&elsewhere, "precious").unwrap();
    let linked = desk.path("linked");
    fs::create_dir(&linked).unwrap();
    std::os::unix::fs::symlink(&elsewhere, linked.join("report.html")).unwrap();
    let signed = desk.run(&["report", "--out", linked.to_str().unwrap(), "--sign", &secret]);
    assert_eq!(signed.status, 0, "{}", signed.err);
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "precious");
    assert!(fs::symlink_metadata(linked.join("report.html")).unwrap().is_file());
    into(&["--redact"]).fails(2, &["holds raw/photo-1.png", "--out"]);
    // Listed as if an earlier report had written it.
    fs::write(out.join("report.pdf"), "planted").unwrap();
    let sums = fs::read_to_string(out.join("SHA256SUMS")).unwrap();
    let planted = Command::new("sha256sum").arg("report.pdf").current_dir(&out).output().unwrap().stdout;
    fs::write(out.join("SHA256SUMS"), sums + str::from_utf8(&planted).unwrap()).unwrap();
    into(&["--sign", &secret]).fails(2, &["holds report.pdf", "cannot answer for", "--format"]);
    assert!(!out.join("SHA256SUMS.minisig").exists());
}

#[test]
fn a_redacted_report_names_no_host_and_no_serial_number() {
    let desk = measured();
    report(&desk, "redacted", &["--redact", "--format", "html,md,csv,json"]);
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let words = [host.trim(), "SN-0042"];
    for name in ["report.html", "report.md", "report.csv", "report.json", "raw/run.json", "raw/identity.toml"] {
        let text = fs::read_to_string(desk.path("redacted").join(name)).unwrap();
        // A host name that is an ordinary word cannot be searched for.
        for word in words.iter().filter(|word| word.len() > 4) {
            assert!(!text.contains(word), "{name} says {word}");
        }
    }
    assert!(!desk.path("redacted/raw/photo-1.png").exists(), "nobody knows what is to be read on a photo");
}

#[test]
fn the_example_of_an_identity_can_be_used() {
    let desk = measured();
    let example = desk.run(&["report", "--meta-template", "--lang", "ja"]);
    let meta = desk.path("example.toml");
    fs::write(&meta, &example.out).unwrap();
    let done = desk.run(&["report", "--meta", meta.to_str().unwrap(), "--lang", "ja", "--check-limits"]);
    assert_eq!(done.status, 4, "one item of the example is not ticked: {}", done.err);
}

#[test]
fn an_identity_that_cannot_be_meant_is_refused_with_its_place() {
    let desk = Desk::new();
    let meta = desk.path("meta.toml");
    for (text, parts) in [
        ("titel = \"x\"", ["meta.toml", "line 1", "unknown field `titel`"]),
        (
            "[[item]]\nwhat = \"x\"\nverdict = \"ok\"",
            ["line 3", "is no verdict", "pass, fail, inconclusive or not-run"],
        ),
        ("[[item]]\nwhat = \"x\"\nphotos = [\"gone.jpg\"]", ["[[item]] number 1", "gone.jpg", "No such file"]),
    ] {
        fs::write(&meta, text).unwrap();
        desk.run(&["verify", "--meta", meta.to_str().unwrap()]).fails(2, &parts);
    }
}

#[test]
fn ci_systems_read_the_criteria_of_a_run_as_tests() {
    let desk = Desk::new();
    let plan = desk.plan(
        "name = \"ci\"\nrepeats = 6\n[[latency]]\nprotocol = \"udp\"\nframe_sizes = [64]\ncount = 500\nwarmup = 10\n\
         [[limits]]\nmetric = \"rtt_p50\"\nat_most = \"1 ns\"\n",
    );
    let out = desk.path("out");
    let [plan, folder] = [&plan, &out].map(|path| path.to_str().unwrap());
    let done = desk.run(&["verify", plan, "--out", folder, "--format", "junit,sarif,tap", "--annotate"]);
    assert_eq!(done.status, 3, "{}", done.err);
    assert!(done.out.contains("\n::error title=wireproof%3A "), "{}", done.out);
    let read = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    assert!(read("report.junit.xml").contains("<failure message="));
    assert!(read("report.sarif").contains("\"level\": \"error\""));
    // A reader of the protocol that is not ours.
    let proved =
        Command::new("prove").args(["--exec", "cat", out.join("report.tap").to_str().unwrap()]).output().unwrap();
    let said = String::from_utf8(proved.stdout).unwrap();
    assert!(!proved.status.success() && said.contains("Failed 1/1"), "{said}{}", read("report.tap"));
}
