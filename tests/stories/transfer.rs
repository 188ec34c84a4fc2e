//! A file from one end to the other, by wireproof itself and by real programs.

use std::{
    fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    process::{Command, Output},
};

use serde_json::Value;

use crate::{
    hosts::Story,
    machine::{Snapshot, agents, processes},
    other_host::signal,
    planted::Bad,
    ports::{self, Machine},
    program::{Desk, Done, done, text},
    waiting::soon,
};

const METHODS: &str = "tcp,tcp-jumbo,sendfile,nc,http,https,rsync,ftp-put,ftp-get,scp,sftp,nfs3,nfs4,smb,iperf3";

const SIZE: u64 = 16 << 20;

fn trials(done: &Done) -> Vec<Value> {
    done.json()["trials"].as_array().unwrap_or_else(|| panic!("{}", done.err)).clone()
}

fn words<'a>(methods: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let asked = ["--methods", methods, "--contents", "file", "--size", "16 MiB", "--repeats", "1", "--json"];
    [&["transfer"], &asked[..], more].concat()
}

/// A path on which 16 MiB take seconds.
const SLOW: &str = "tc qdisc add dev lab-a root tbf rate 20mbit burst 64k limit 1m";

/// Folders of transfers in this story's memory, as a process sees it.
fn folders(process: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(format!("/proc/{process}/root/dev/shm")).into_iter().flatten().flatten();
    all.map(|entry| entry.path()).collect()
}

/// The same command with a PATH that begins with a folder, or has it alone.
fn with_path(desk: &Desk, words: &[&str], path: &str) -> Done {
    let output: Output = desk.command(words).env("PATH", path).output().unwrap();
    done(output)
}

#[test]
fn each_method_moves_a_file_is_reported_and_compared_and_leaves_nothing() {
    let desk = Desk::new();
    let before = Snapshot::take();
    let out = desk.path("out");
    let done = desk.run(&words(METHODS, &["--out", text(&out), "--format", "html,md,csv,json"]));
    assert_eq!(done.status, 0, "{}", done.err);
    before.assert_same();
    assert!(folders("thread-self").is_empty(), "{:?}", folders("thread-self"));
    let all = trials(&done);
    let methods: Vec<&str> = all.iter().map(|trial| trial["method"].as_str().unwrap()).collect();
    assert_eq!(methods.join(","), METHODS);
    for trial in &all {
        let method = trial["method"].as_str().unwrap();
        assert_eq!((trial["bytes"].as_u64(), trial["arrived_bytes"].as_u64()), (Some(SIZE), Some(SIZE)), "{trial}");
        assert_eq!(trial["verified"].as_bool(), (method != "iperf3").then_some(true), "{trial}");
        let rate = SIZE as f64 / trial["seconds"].as_f64().unwrap();
        assert!((trial["bytes_per_second"].as_f64().unwrap() - rate).abs() < 1.0, "{trial}");
        assert_eq!(trial["seconds"].as_f64().unwrap() < 1.0, is_too_short(trial), "{trial}");
        assert!(!is_too_short(trial) || trial["client_cpu_s_per_gib"].is_null(), "{trial}");
        let is_own = ["tcp", "tcp-jumbo", "sendfile"].contains(&method);
        assert_eq!(trial["client_command"].is_null(), is_own, "{trial}");
        assert_eq!(trial["tcp"].as_array().unwrap().len(), usize::from(is_own), "{trial}");
        // Where the kernel has TLS, nginx lets it encrypt.
        let kernel_has_it = fs::exists("/proc/net/tls_stat").unwrap();
        let kernel_tls = (method == "https").then_some(if kernel_has_it { "used" } else { "lacking" });
        assert_eq!(trial["kernel_tls"].as_str(), kernel_tls, "{trial}");
    }
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    for words in [
        "Transfers of a file",
        "MiB/s",
        "Rate of each method",
        "/usr/bin/curl",
        "aes128-gcm@openssh.com",
        "/usr/bin/ganesha.nfsd",
        "/usr/bin/smbclient",
        "too short to say what limited it",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("PRIVATE KEY"));
    let table = fs::read_to_string(out.join("report.csv")).unwrap();
    assert!(table.lines().next().unwrap().contains("bytes_per_second"), "{table}");
    assert_eq!(table.lines().count(), 1 + all.len(), "{table}");

    desk.run(&words("tcp,nc", &["--quiet"]));
    let ids: Vec<String> = desk.runs().iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect();
    let compared = desk.run(&["compare", &ids[1], &ids[0]]);
    assert!(compared.out.contains("Transfer rate"), "{}", compared.out);
}

fn is_too_short(trial: &Value) -> bool {
    trial["limited_by"]["evidence"].as_str().unwrap().contains("too short to say")
}

#[test]
fn small_files_have_a_column_and_limits_of_their_own() {
    let desk = Desk::new();
    let before = Snapshot::take();
    let plan = desk.plan(
        "name = \"small\"\n[[transfer]]\nmethods = [\"tcp\", \"nc\", \"https\", \"rsync\", \"scp\", \"sftp\", \"smb\", \"iperf3\"]\n\
         contents = [\"file\", \"small-files\"]\nsize = \"16 MiB\"\n[[limits]]\nmetric = \"small_file_rate\"\nat_least = \"10 files/s\"\n\
         [[limits]]\nmetric = \"damaged\"\nat_most = \"0\"\n",
    );
    let out = desk.path("out");
    let done = desk.run(&["verify", text(&plan), "--json", "--out", text(&out), "--format", "html,csv"]);
    // One trial decides no limit of a rate.
    assert_eq!(done.status, 4, "{}", done.err);
    before.assert_same();
    let all = trials(&done);
    let small: Vec<&Value> = all.iter().filter(|trial| trial["contents"] == "small-files").collect();
    assert_eq!((all.len(), small.len()), (8 + 7, 7), "iperf3 moves no files");
    for trial in small {
        assert_eq!(
            (trial["arrived_bytes"].as_u64(), trial["verified"].as_bool()),
            (Some(10_000 << 12), Some(true)),
            "{trial}"
        );
        let rate = 10_000.0 / trial["seconds"].as_f64().unwrap();
        assert!((trial["files_per_second"].as_f64().unwrap() - rate).abs() < 0.01, "{trial}");
    }
    assert!(all.iter().all(|trial| trial["contents"] == "small-files" || trial["files_per_second"].is_null()));
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    for words in [
        "10,000 files of 4 KiB",
        "Small files (files/s)",
        "tar -f - -c contents | /usr/bin/nc.openbsd",
        "Rate of small files",
    ] {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn a_file_goes_from_disk_to_disk_and_its_faults_are_named() {
    const BED: &str = "moved";
    let desk = Desk::new();
    // Programs reach it as nobody.
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let file = folder.path().join("an image");
    fs::write(&file, vec![7; SIZE as usize]).unwrap();
    let alone = || fs::read_dir(folder.path()).unwrap().count() == 1;
    let of = |methods| {
        let asked = ["--contents", "file", "--file", text(&file), "--repeats", "1", "--json"];
        [&["transfer", "--methods", methods], &asked[..]].concat()
    };
    // A configuration of ganesha has no quotes for a space.
    desk.run(&of("nfs4")).fails(1, &["the path of the file may have letters, digits"]);
    let plain = folder.path().join("image");
    fs::rename(&file, &plain).unwrap();
    let asked =
        ["transfer", "--methods", "nfs4", "--contents", "file", "--file", text(&plain), "--repeats", "1", "--json"];
    assert_whole(&desk.run(&asked), "nfs4");
    fs::rename(&plain, &file).unwrap();
    let methods = "tcp,sendfile,nc,http,rsync,ftp-get,sftp,smb";
    let moved = desk.run(&of(methods));
    assert_whole(&moved, methods);
    assert!(alone(), "what arrived is gone");
    for trial in trials(&moved) {
        let rates =
            ["disk_read_bytes_per_second", "disk_write_bytes_per_second"].map(|name| trial[name].as_f64().unwrap());
        assert!(rates.iter().all(|rate| *rate > 0.0) && trial["bytes"] == SIZE, "{trial}");
    }
    let shown = desk.run(&["report", "last", "--format", "md", "--out", text(&desk.path("out"))]);
    assert_eq!(shown.status, 0, "{}", shown.err);
    let page = fs::read_to_string(desk.path("out").join("report.md")).unwrap();
    assert!(page.contains("Disk reads") && page.contains(text(&file)), "{page}");
    {
        let _bed = desk.bed(BED, &[]);
        Bad::new(&desk, BED).at("a", SLOW);
        let run = desk.start(&[&of("nc")[..], &["--bed", BED]].concat());
        assert!(soon(|| !processes("nc.openbsd\0-n\0-N\0").is_empty()), "no client comes");
        fs::OpenOptions::new().append(true).open(&file).unwrap().write_all(b"more").unwrap();
        let done = done(run.wait_with_output().unwrap());
        done.fails(1, &["an image", "it changed while it was moved"]);
        assert!(alone());
    }
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    desk.run(&of("nc")).fails(1, &["an image", "chmod o+r"]);
    fs::remove_file(&file).unwrap();
    desk.run(&of("nc")).fails(1, &["an image", "No such file"]);
    desk.run(&[&of("nc")[..], &["--size", "1 MiB"]].concat()).fails(2, &["--size", "--file"]);
}

#[test]
fn a_disk_without_room_is_named_before_anything_moves() {
    let desk = Desk::new();
    let disk = tempfile::tempdir().unwrap();
    let mount =
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=20m,mode=755", "none", text(disk.path())]).status();
    assert!(mount.unwrap().success());
    let file = disk.path().join("image");
    fs::write(&file, vec![7; SIZE as usize]).unwrap();
    let done =
        desk.run(&["transfer", "--methods", "nc,tcp", "--contents", "file", "--file", text(&file), "--repeats", "1"]);
    let left = fs::read_dir(disk.path()).unwrap().count();
    assert!(Command::new("umount").arg(disk.path()).status().unwrap().success());
    done.fails(1, &["the disk has room for"]);
    assert_eq!(left, 1);
}

#[test]
fn a_run_that_is_killed_leaves_no_server_of_nfs_or_smb() {
    const BED: &str = "moved";
    let desk = Desk::new();
    let before = Snapshot::take();
    {
        let _bed = desk.bed(BED, &[]);
        let bad = Bad::new(&desk, BED);
        bad.at("a", SLOW);
        bad.at("b", &SLOW.replace("lab-a", "lab-b"));
        let programs = processes("");
        for (method, client) in [("nfs3", "nfs-cp\0"), ("smb", "smbclient\0")] {
            let mut run = desk.start(&words(method, &["--bed", BED]));
            assert!(soon(|| !processes(client).is_empty()), "{method}: no client comes: {:?}", run.try_wait());
            run.kill().unwrap();
            run.wait().unwrap();
            assert!(soon(|| processes("").is_subset(&programs)), "{method}: {:?}", processes(""));
        }
        assert!(folders("thread-self").is_empty(), "{:?}", folders("thread-self"));
    }
    before.assert_same();
}

#[test]
fn a_method_whose_program_is_missing_is_not_run_and_the_others_are() {
    let desk = Desk::new();
    // Programs of the PATH are those of /usr/bin; nginx is found beside it.
    let done = with_path(&desk, &words("tcp,nc,http", &[]), "/nonexistent");
    assert_eq!(done.status, 4, "{}", done.err);
    let all = trials(&done);
    assert_eq!(all.len(), 3, "{}", done.err);
    assert_eq!(all[0]["verified"], true);
    assert_eq!(all[1]["lacks"].as_array().unwrap().len(), 2, "both ends lack it: {}", all[1]);
    assert_eq!(all[2]["lacks"][0]["program"]["package"], "curl");
    assert!(all[1]["bytes_per_second"].is_null());
    let said = desk.run(&["report", "last", "--out", text(&desk.path("out"))]);
    let said = said.out + &said.err;
    for words in ["NOT RUN", "nc.openbsd is not installed at a: sudo apt install netcat-openbsd"] {
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn contents_that_were_changed_on_the_way_fail() {
    let desk = Desk::new();
    // A curl that changes what it has fetched. It runs as nobody.
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.path().join("curl");
    let script = "#!/bin/sh\n/usr/bin/curl \"$@\" || exit\nwhile [ \"$1\" != -o ]; do shift; done\n\
                  printf damaged | /bin/dd of=\"$2\" bs=1 conv=notrunc status=none\n";
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    let done = with_path(&desk, &words("tcp,http", &[]), &path);
    assert_eq!(done.status, 3, "{}", done.err);
    let all = trials(&done);
    assert_eq!([&all[0]["verified"], &all[1]["verified"]], [true, false]);
    assert!(all[1]["bytes_per_second"].is_null(), "what is damaged has no rate: {}", all[1]);
}

#[test]
fn a_server_that_is_killed_fails_its_trial_alone() {
    const BED: &str = "moved";
    let desk = Desk::new();
    let before = Snapshot::take();
    {
        let _bed = desk.bed(BED, &[]);
        Bad::new(&desk, BED).at("a", SLOW);
        let run = desk.start(&words("nc,tcp", &["--bed", BED]));
        let server = || processes("nc.openbsd\0-n\0-l\0").first().copied();
        assert!(soon(|| server().is_some()), "no server comes");
        signal(server().unwrap(), "-KILL");
        let done = done(run.wait_with_output().unwrap());
        assert_eq!(done.status, 1, "{}", done.err);
        assert!(done.err.contains("nc.openbsd: it ended by itself (signal: 9 (SIGKILL))"), "{}", done.err);
        let all = trials(&done);
        assert_eq!(all.len(), 1, "{}", done.err);
        assert_eq!((&all[0]["method"], &all[0]["verified"]), (&Value::from("tcp"), &Value::from(true)));
    }
    before.assert_same();
}

#[test]
fn a_run_that_is_killed_amid_a_transfer_leaves_no_program_folder_or_key_and_comes_to_its_end() {
    const BED: &str = "moved";
    let desk = Desk::new();
    let before = Snapshot::take();
    {
        let _bed = desk.bed(BED, &[]);
        let bad = Bad::new(&desk, BED);
        bad.at("a", SLOW);
        let programs = processes("");
        let mut run = desk.start(&words("scp,tcp", &["--bed", BED]));
        let has_key = |agent: &u32| folders(&agent.to_string()).iter().any(|folder| folder.join("room/key").exists());
        let is_amid = || !processes("scp\0-q\0").is_empty() && agents().iter().filter(|it| has_key(it)).count() >= 2;
        assert!(soon(is_amid), "no file is on its way: {:?}", run.try_wait());
        run.kill().unwrap();
        run.wait().unwrap();
        assert!(soon(|| processes("").is_subset(&programs)), "{:?}", processes(""));
        assert!(soon(|| folders("thread-self").is_empty()), "{:?}", folders("thread-self"));
        bad.at("a", "tc qdisc del dev lab-a root");
        let all = trials(&desk.run(&["resume", "last", "--json", "--bed", BED]));
        assert_eq!(all.iter().map(|trial| trial["method"].as_str().unwrap()).collect::<Vec<_>>(), ["scp", "tcp"]);
    }
    before.assert_same();
}

/// Each method moved its file whole.
fn assert_whole(done: &Done, methods: &str) {
    assert_eq!(done.status, 0, "{}", done.err);
    let all = trials(done);
    let whole = all.iter().filter(|trial| trial["verified"] == true).map(|trial| trial["method"].as_str().unwrap());
    assert_eq!(whole.collect::<Vec<_>>().join(","), methods, "{all:?}");
}

#[test]
fn files_move_between_ports_which_are_given_back() {
    const METHODS: &str = "sendfile,https,scp";
    let desk = Desk::new();
    let machine = Machine::new(&desk);
    let seen = machine.settled();
    assert_whole(&machine.run(&words(METHODS, &["--bed", ports::BED])), METHODS);
    assert_eq!(machine.settled(), seen);
    assert!(folders("thread-self").is_empty(), "{:?}", folders("thread-self"));
}

#[test]
fn files_move_between_hosts_which_are_given_back() {
    const METHODS: &str = "tcp,ftp-put,sftp";
    let story = Story::new();
    assert_whole(&story.run(&words(METHODS, &[])), METHODS);
    story.assert_same();
}

#[test]
fn transfers_that_cannot_be_are_refused_with_advice() {
    let desk = Desk::new();
    let refused = |words: &[&str], says: &[&str]| desk.run(&[&["transfer"], words].concat()).fails(2, says);
    refused(&["--methods", "gopher"], &["gopher", "a method of transfer", "tcp-jumbo", "iperf3"]);
    refused(&["--size", "0 B"], &["size", "1 B and 1024 GiB"]);
    refused(&["--methods", "nc,nc"], &["names transfer nc IPv4 twice"]);
    refused(&["--duration", "1 s"], &["--duration"]);
    refused(&["--methods", "iperf3", "--contents", "small-files"], &["none of the methods moves these contents"]);
}
