//! Documentation that the program prints of itself: help, man pages, completions, schema.

use std::{fs, path::Path, process::Command, time::Instant};

use crate::{
    machine::Snapshot,
    program::{Desk, WIREPROOF, done, text, without_caller},
};

#[test]
fn completions_man_pages_and_schema_are_there() {
    let desk = Desk::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(desk.run(&["completions", shell]).out.contains("wireproof"));
    }
    let man = desk.path("man");
    assert_eq!(desk.run(&["man", man.to_str().unwrap()]).status, 0);
    let read = |name: &str| fs::read_to_string(man.join(name)).unwrap();
    let page = read("wireproof-latency.1");
    assert!(page.contains("frame\\-sizes"), "{page}");
    for section in [".SH \"EXIT STATUS\"\n.TP\n\\fB0\\fR\n", ".SH EXAMPLES\n.TP\n\\fBwireproof latency "] {
        assert!(page.contains(section), "{section}: {page}");
    }
    assert!(read("wireproof-bypass.1").contains("\n\\fB127\\fR\nThere is no such program."));
    let pages = fs::read_dir(&man).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let pages: Vec<String> = pages.collect();
    assert!(pages.contains(&"wireproof.1".to_owned()) && pages.contains(&"wireproof-bed-up.1".to_owned()), "{pages:?}");
    for page in pages {
        assert!(read(&page).contains(".SH EXAMPLES") && !page.contains("agent"), "{page}");
    }
    let japanese = desk.path("man-ja");
    assert_eq!(desk.run(&["man", japanese.to_str().unwrap(), "--lang", "ja"]).status, 0);
    let page = fs::read_to_string(japanese.join("wireproof-latency.1")).unwrap();
    for part in [".SH 終了ステータス\n", ".SH 使用例\n", ".SH 名前\n", ".SH オプション\n"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    for english in [".SH OPTIONS", ".SH NAME", "Print help", "It was done", "Possible values", "[default"] {
        assert!(!page.contains(english), "{english}: {page}");
    }
    assert_eq!(desk.run(&["schema"]).json()["title"], "Document");
}

/// Words that bash offers for the end of a line, with the files of this folder as the user's.
fn offered_by_bash(line: &str, data: &Path) -> Vec<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let last = words.len() - 1;
    let script = format!(
        "source <(wireproof completions bash)
        COMP_WORDS=({words}) COMP_CWORD={last} COMP_TYPE=9
        COMP_WORDS[{last}]='{word}'
        _clap_complete_wireproof wireproof '{word}' '{before}'
        printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words = words[..last].join(" "),
        word = words[last],
        before = words[last - 1],
    );
    let folder = Path::new(WIREPROOF).parent().unwrap().to_str().unwrap();
    let mut bash = without_caller("bash".as_ref());
    bash.env("PATH", format!("{folder}:/usr/sbin:/usr/bin:/sbin:/bin")).env("XDG_DATA_HOME", data);
    let done = done(bash.args(["--norc", "-c", &script]).current_dir(data).output().unwrap());
    assert_eq!(done.err, "", "{line}");
    done.out.lines().map(|word| word.trim().to_owned()).collect()
}

#[test]
fn a_shell_completes_plans_beds_runs_references_and_interfaces() {
    let desk = Desk::new();
    let before = Snapshot::take();
    let data = desk.path("data");
    fs::create_dir_all(data.join("wireproof/references")).unwrap();
    fs::write(data.join("mine.toml"), "").unwrap();
    let store = data.join("wireproof/runs.db");
    let mut measure = Command::new(WIREPROOF);
    measure.args([
        "--store",
        text(&store),
        "--quiet",
        "latency",
        "--count",
        "100",
        "--frame-sizes",
        "64",
        "--repeats",
        "1",
    ]);
    assert!(measure.output().unwrap().status.success());
    let id = {
        let mut listed = Command::new(WIREPROOF);
        let listed = done(listed.args(["--store", text(&store), "runs", "--json"]).output().unwrap()).json();
        listed["runs"][0]["id"].as_str().unwrap().to_owned()
    };
    let standing = desk.bed("shelled", &[]);
    let offered = |line: &str| offered_by_bash(line, &data);
    assert_eq!(offered("wireproof verify cer"), ["certify"]);
    assert_eq!(offered("wireproof verify mi"), ["mine.toml"]);
    assert_eq!(offered("wireproof verify --bed shel"), ["shelled"]);
    assert_eq!(offered("wireproof bed down s"), ["shelled"]);
    assert_eq!(offered("wireproof bed exec shelled ")[..2], ["a", "b"]);
    assert_eq!(offered(&format!("wireproof report {}", &id[..9])), [id.as_str()]);
    assert!(offered("wireproof compare ").contains(&id));
    let elsewhere = desk.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let named = format!("wireproof report --store {} {}", text(&store), &id[..9]);
    assert_eq!(offered_by_bash(&named, &elsewhere), [id.as_str()]);
    assert_eq!(offered("wireproof report last --references rx"), ["rx2540-exanic-2015"]);
    assert_eq!(offered("wireproof inspect --dev l"), ["lo"]);
    assert_eq!(offered("wireproof watch --namespace wpshelled-"), ["wpshelled-a", "wpshelled-b"]);
    assert_eq!(offered("wireproof schema bas"), ["baseline"]);
    assert_eq!(offered("wireproof verify --dry"), ["--dry-run"]);
    drop(standing);
    before.assert_same();
}

#[test]
fn help_names_every_command_a_user_needs() {
    let desk = Desk::new();
    let help = desk.run(&["--help"]).out;
    let words = "verify latency goodput bed bypass runs report compare baseline rfc2544 inspect doctor watch clean schema completions man";
    for command in words.split(' ') {
        assert!(help.contains(&format!("\n  {command} ")), "{command}: {help}");
    }
    let path = desk.run(&["path", "--help"]).out;
    assert!(path.contains("--mtus") && !path.contains("--streams") && !path.contains("--count"), "{path}");
    assert!(help.contains("\n  resume "), "{help}");
    assert!(!help.contains("agent"), "what users do not start is not shown: {help}");
}

#[test]
fn the_doctor_looks_the_machine_over() {
    let desk = Desk::new();
    let begun = Instant::now();
    let doctor = desk.run(&["doctor", "--json"]);
    assert_eq!(doctor.status, 0, "{}", doctor.err);
    assert!(!desk.path("runs.db").exists(), "it looks, and makes no store");
    let checks = doctor.json()["checks"].as_array().unwrap().clone();
    for name in ["store", "user", "kernel", "cores", "clock", "lab-bed"] {
        assert!(checks.iter().any(|check| check["check"] == name), "{name}: {checks:?}");
    }
    let engines: Vec<_> =
        checks.iter().filter(|check| check["check"] == "engine").map(|check| &check["finding"]).collect();
    for (engine, found) in ["live", "xsk", "af_packet", "udp"].iter().zip(&engines) {
        assert_eq!((&found["kind"], &found["engine"]), (&"engine-tried".into(), &(*engine).into()), "{engines:?}");
        assert!(found["sent"] == found["received"] && found["sent"].as_u64() > Some(0), "{engines:?}");
    }
    assert!(engines.len() == 5 && engines[4]["engine"] == "pktgen", "{engines:?}");
    assert!(begun.elapsed().as_secs() < 30);
}
