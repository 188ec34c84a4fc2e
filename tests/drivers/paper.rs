//! A report of real drivers on paper: the first page says what a reader needs.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tempfile::TempDir;

use crate::lab::Lab;

/// A limit that the cards keep, and one for jumbo frames that they are not set to.
const PLAN: &str = "name = \"card\"\nrepeats = 6\n[[path]]\n[[latency]]\nprotocol = \"udp\"\nframe_sizes = [64]\ncount = 50\n\
    [[limits]]\nmetric = \"rtt_p50\"\nat_most = \"1 s\"\n[[limits]]\nmetric = \"path_mtu\"\nat_least = \"9000\"\n";

/// Output of a command on this machine.
fn output(program: &Path, words: &[&str]) -> String {
    let done = Command::new(program).args(words).stdin(Stdio::null()).output().unwrap();
    let [out, err] = [done.stdout, done.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    assert!(done.status.success() || done.status.code() == Some(3), "{program:?} {words:?}: {out}{err}");
    out
}

#[test]
fn a_run_over_ports_of_real_drivers_gives_a_japanese_pdf_whose_first_page_says_it_all() {
    let mut lab = Lab::new();
    let cards = lab.pair("e1000e", ["e1", "e2"]);
    let mut machine = lab.boot("paper", &cards);
    let lines: Vec<String> = PLAN.lines().map(|line| format!("'{line}'")).collect();
    machine.sh(&format!("printf '%s\\n' {} >/tmp/plan.toml", lines.join(" "))).ok();
    let run =
        machine.wireproof("verify /tmp/plan.toml --bed ports:e1,e2 --lang ja --store /tmp/runs.db --out /tmp/report");
    assert_eq!(run.status, 3, "a limit fails: {}", run.err);

    let desk = TempDir::new().unwrap();
    let file = |name: &str| desk.path().join(name);
    // The channel to the machine carries text.
    fs::write(file("store"), machine.sh("base64 /tmp/runs.db").ok().out).unwrap();
    let unpacked = Command::new("base64").arg("-d").arg(file("store")).output().unwrap().stdout;
    fs::write(file("runs.db"), unpacked).unwrap();
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("debug/wireproof");
    let [store, out] = ["runs.db", "report"].map(|name| file(name).to_str().unwrap().to_owned());
    output(&program, &["--store", &store, "report", "last", "--lang", "ja", "--format", "pdf", "--out", &out]);
    let pdf = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path());
    let pdf: PathBuf = pdf.into_iter().find(|path| path.extension().is_some_and(|it| it == "pdf")).unwrap();
    let text = output(Path::new("pdftotext"), &["-l", "1", "-layout", pdf.to_str().unwrap(), "-"]);
    let said: String = text.split_whitespace().collect();
    // The verdict, its counts, both key figures with their limits, what to do, and what limited the path.
    for words in [
        "不合格1",
        "1500B不合格9000B以上",
        "RTTp50",
        "合格1,000,000µs以下",
        "最も重要な注意",
        "各端に別々のコアを割り当て",
        "制限要因",
    ] {
        assert!(said.contains(words), "{words}: {text}");
    }
}
