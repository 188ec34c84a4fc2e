//! Two hosts, connected by ssh and by a wire to be measured.

use std::{
    fs,
    os::unix::fs::chown,
    process::{Child, Command},
    time::{Duration, Instant},
};

use crate::{
    faults::wait_for_trials,
    machine::{Snapshot, agents},
    other_host::{ADDRESS, NEAR, OtherHost, WIRE, signal},
    program::{Desk, Done, MANY, WIREPROOF, done, text},
    waiting::within,
};

/// Each probe once, and both MTUs.
const ALL: &str = r#"
name = "hosts"
[[path]]
[[latency]]
protocol = "udp"
frame_sizes = [64, 1518]
count = 2000
warmup = 100
[[latency]]
protocol = "tcp"
mode = "block"
frame_sizes = [256]
count = 500
warmup = 50
[[goodput]]
protocol = "tcp"
duration = "1 s"
warmup = "100 ms"
mtus = [1500, 9000]
[[transactions]]
kind = "http"
connections = [8]
duration = "1 s"
warmup = "100 ms"
"#;

/// Two hosts before any measurement.
pub(crate) struct Story {
    before: Snapshot,
    pub(crate) host: OtherHost,
    wire: String,
    pub(crate) desk: Desk,
}

impl Story {
    pub(crate) fn new() -> Self {
        Self::with_tmp("size=1g")
    }

    fn with_tmp(options: &str) -> Self {
        let desk = Desk::new();
        let host = OtherHost::with_tmp(options);
        Self { before: Snapshot::take(), wire: host.wire(), host, desk }
    }

    pub(crate) fn run(&self, words: &[&str]) -> Done {
        self.host.run(&self.desk, words, WIRE)
    }

    /// A short measurement of round trips.
    fn look(&self, more: &[&str]) -> Done {
        self.run(&[&["latency", "--count", "100", "--repeats", "1", "--frame-sizes", "64"], more].concat())
    }

    /// Both hosts are as they were.
    pub(crate) fn assert_same(&self) {
        self.before.assert_same();
        within(Duration::from_secs(12), || self.host.wire() == self.wire);
        assert_eq!(self.host.wire(), self.wire, "the second host is not as it was");
        let left = |folder: &str| fs::read_dir(self.host.file(folder)).unwrap().count();
        assert_eq!(left("/tmp"), 0, "something of ours is left in /tmp of the second host");
        let ledger = self.host.path("state/ledger");
        assert_eq!(fs::read_dir(ledger).map_or(0, Iterator::count), 0, "a ledger is left on the second host");
    }

    pub(crate) fn start(&self, words: &[&str]) -> Child {
        self.host.command(&self.desk, words, "root", WIRE).spawn().unwrap()
    }

    /// Undoes what is left at both hosts.
    pub(crate) fn clean(&self) -> Done {
        let mut near = Command::new("ip");
        let near = done(near.args(["netns", "exec", NEAR, WIREPROOF, "clean"]).output().unwrap());
        if near.status == 0 { self.host.clean() } else { near }
    }

    /// A running run of this many trials, at least two of them stored.
    fn under_way(&self, trials: usize) -> Child {
        let plan = self.desk.plan(MANY);
        let repeats = (trials / 2).to_string();
        let words = ["verify", text(&plan), "--repeats", &repeats, "--json", "--ssh", &self.host.ssh()];
        let child = self.start(&words);
        wait_for_trials(&self.desk, 2);
        child
    }
}

#[test]
fn two_hosts_are_measured_and_given_back() {
    let story = Story::new();
    let plan = story.desk.plan(ALL);
    let planned = story.run(&["verify", text(&plan), "--dry-run"]);
    assert_eq!(planned.status, 0, "{}", planned.err);
    assert!(planned.out.contains("far-host: address 198.18.101.2/24 on wire-f"), "{}", planned.out);
    story.assert_same();

    let verify = story.run(&["verify", text(&plan), "--json"]);
    assert_eq!(verify.status, 0, "{}", verify.err);
    story.assert_same();
    let document = verify.json();
    let bed = &document["bed"];
    assert_eq!(
        (bed["kind"].as_str(), bed["simulated"].as_bool()),
        (Some("hosts"), Some(true)),
        "both are namespaces of one kernel: {bed}"
    );
    let error = bed["clocks"]["error_ns"].as_u64().unwrap();
    assert!(bed["clocks"]["relation"] == "estimated" && error > 0 && error < 20_000_000, "{bed}");
    let ends = bed["endpoints"].as_array().unwrap();
    assert_eq!((ends[0]["interface"].as_str(), ends[1]["interface"].as_str()), (Some("wire-n"), Some("wire-f")));
    assert_eq!(ends[1]["machine"], "far-host");
    assert_eq!(ends[1]["addresses"][0], "198.18.101.2");
    let hosts = document["environment"]["before"]["hosts"].as_array().unwrap();
    assert_eq!((hosts.len(), hosts[1]["hostname"].as_str()), (2, Some("far-host")));
    let trials = document["trials"].as_array().unwrap();
    // Also a path search before each transfer with its own MTU.
    assert_eq!(trials.len(), 9, "{trials:?}");
    assert!(trials[8]["completed"].as_u64() > Some(0), "{}", trials[8]);
    for trial in trials {
        assert!(trial.get("one_way").is_none(), "two clocks give no one-way delays: {trial}");
    }
    let report = fs::read_to_string(story.desk.path("out").join("report.html")).unwrap();
    assert!(report.contains("The ends have two clocks") && report.contains("far-host"));
    assert!(report.contains("Simulated environment"), "no wire was between them");
}

#[test]
fn our_program_is_copied_and_removed_again() {
    let story = Story::new();
    fs::remove_file(story.host.path("bin/wireproof")).unwrap();
    story.look(&[]).fails(1, &["no wireproof on the path of the user at root@198.18.100.2", "--push"]);
    let pushed = story.look(&["--push"]);
    assert_eq!(pushed.status, 0, "{}", pushed.err);
    story.assert_same();
}

#[test]
fn another_build_is_refused_and_our_own_can_be_copied() {
    let story = Story::new();
    let other = story.host.path("bin/wireproof");
    let mut bytes = fs::read(WIREPROOF).unwrap();
    let note = bytes.windows(8).position(|window| window == b"\x03\0\0\0GNU\0").expect("a build id note");
    bytes[note + 8] ^= 0xff;
    fs::remove_file(&other).unwrap();
    fs::write(&other, bytes).unwrap();
    assert!(Command::new("chmod").args(["755", text(&other)]).status().unwrap().success());
    story.look(&[]).fails(1, &["is another build", "--push"]);
    assert_eq!(story.look(&["--push"]).status, 0);
    story.assert_same();
}

#[test]
fn a_disk_without_room_and_one_without_programs_are_told() {
    for (options, says) in [("size=64k", "there is no room"), ("size=1g,noexec", "mounted noexec")] {
        let story = Story::with_tmp(options);
        story.look(&["--push"]).fails(1, &["machine agent at root@198.18.100.2", says]);
        story.assert_same();
    }
}

#[test]
fn a_host_that_cannot_be_used_is_told_with_what_to_do() {
    let story = Story::new();
    let host = &story.host;
    let query = |query: &str| host.run(&story.desk, &["latency", "--count", "100", "--frame-sizes", "64"], query);
    query("dev=wire-f").fails(1, &["wire-f has no address on far-host", "addr=ADDRESS/LENGTH"]);
    query("dev=nothing").fails(1, &["far-host has no interface \"nothing\"", "control-f, wire-f"]);
    query("dev=control-f&addr=198.18.101.2/24")
        .fails(1, &["control-f of far-host carries", "--i-know-this-is-my-uplink"]);
    query("dev=wire-f&addr=198.18.77.2/24").fails(1, &["near-dev="]);
    query("dev=wire-f&addr=fe80::1/64").fails(1, &["link-local"]);
    query("dev=wire-f&addr=198.18.101.1/24").fails(1, &["would both have 198.18.101.1"]);
    query("dev=wire-f&addr=198.18.77.2/24&near-dev=wire-n")
        .fails(1, &["wire-n at endpoint a", "has no route to 198.18.77.2"]);
    // A far host alone sends no packet through a router.
    host.set("ip addr add 198.18.77.2/24 dev wire-f");
    let route = |act: &str| {
        let words = ["-n", NEAR, "route", act, "198.18.77.0/24", "via", "198.18.101.9"];
        assert!(Command::new("ip").args(words).status().unwrap().success());
    };
    route("add");
    for asked in ["dev=wire-f", "dev=wire-f&near-dev=wire-n"] {
        query(asked).fails(1, &["says that wire-f has 198.18.77.2", "add &addr=198.18.77.2/24 behind dev=wire-f"]);
    }
    route("del");
    host.set("ip addr del 198.18.77.2/24 dev wire-f");
    query("wire-f").fails(2, &["is not KEY=VALUE"]);
    story.look(&["--mtu", "70000"]).fails(1, &["takes an MTU from 68 to 65535"]);
    story.look(&["--cpus", "0,99"]).fails(2, &["core 99 cannot be used"]);
    story.assert_same();

    let ssh = host.ssh();
    let as_plain = ["latency", "--count", "100", "--frame-sizes", "64", "--ssh", &ssh];
    let plain = |query: &str| done(host.command(&story.desk, &as_plain, "plain", query).output().unwrap());
    plain(WIRE).fails(1, &["without root on far-host", "address 198.18.101.2/24 on wire-f", "NOPASSWD"]);
    story.assert_same();

    let uname = host.path("bin/uname");
    fs::write(&uname, "#!/bin/sh\n[ \"$1\" = -s ] && echo Linux || echo riscv64\n").unwrap();
    assert!(Command::new("chmod").args(["755", text(&uname)]).status().unwrap().success());
    story.look(&["--push"]).fails(1, &["another architecture (riscv64", "--push does not help"]);
    fs::remove_file(uname).unwrap();

    for line in ["ip link add br0 type bridge", "ip link set wire-f master br0"] {
        host.set(line);
    }
    query(WIRE).fails(1, &["wire-f of far-host belongs to br0", "name br0 in its place"]);
    host.set("ip link del br0");

    let with_ssh = |ssh: &str| {
        let words = ["latency", "--count", "100", "--frame-sizes", "64", "--ssh", ssh];
        done(host.command(&story.desk, &words, "root", WIRE).output().unwrap())
    };
    with_ssh("/nowhere/ssh").fails(1, &["cannot run \"/nowhere/ssh\"", "openssh-client"]);
    let without_key = format!("{} -o IdentityFile=/dev/null", host.ssh());
    fs::rename(host.path("key"), host.path("other-key")).unwrap();
    let copy = without_key.replacen("ssh ", "ssh-copy-id ", 1) + " root@198.18.100.2";
    with_ssh(&without_key).fails(1, &["Permission denied", &copy]);
    fs::rename(host.path("other-key"), host.path("key")).unwrap();
    fs::write(host.path("known_hosts"), "").unwrap();
    with_ssh(&host.ssh())
        .fails(1, &["Host key verification failed", &format!("\"{} root@{ADDRESS}\" once by hand", host.ssh())]);
    story.assert_same();
}

#[test]
fn a_path_of_ipv4_alone_is_measured_and_ipv6_is_not_run() {
    let story = Story::new();
    let ssh = story.host.ssh();
    let words = ["path", "--repeats", "1", "--ssh", &ssh, "--json"];
    let done = done(story.host.command(&story.desk, &words, "root", WIRE).output().unwrap());
    assert_eq!(done.status, 4, "{}", done.err);
    let document = done.json();
    assert_eq!(document["trials"].as_array().unwrap().len(), 1, "{}", document["trials"]);
    let doubts = document["run"]["doubts"].to_string();
    assert!(doubts.contains("no-address") && doubts.contains("the path over IPv6"), "{doubts}");
    let words = ["path", "--ip", "6", "--ssh", &ssh];
    let alone = crate::program::done(story.host.command(&story.desk, &words, "root", WIRE).output().unwrap());
    alone.fails(2, &["has no IPv6 address"]);
    story.assert_same();
}

#[test]
fn an_ordinary_user_there_measures_what_is_there() {
    let story = Story::new();
    // A manual change by an administrator.
    assert_eq!(story.host.prints(&["ip", "addr", "add", "198.18.101.2/24", "dev", "wire-f"]), "");
    let wire = story.host.wire();
    let words = ["latency", "--count", "100", "--frame-sizes", "64", "--json", "--ssh", &story.host.ssh()];
    let measured = done(story.host.command(&story.desk, &words, "plain", "dev=wire-f").output().unwrap());
    assert_eq!(measured.status, 0, "{}", measured.err);
    assert!(measured.err.contains("Without root on far-host, nothing is changed there"), "{}", measured.err);
    assert_eq!(measured.json()["bed"]["endpoints"][0]["addresses"][0], "198.18.101.1", "by the route");
    let words = ["path", "--ip", "4", "--mtus", "9000", "--ssh", &story.host.ssh()];
    let other = done(story.host.command(&story.desk, &words, "plain", "dev=wire-f").output().unwrap());
    other.fails(1, &["without root on far-host", "wire-f MTU 9000"]);
    assert_eq!(story.host.wire(), wire);
}

#[test]
fn root_there_is_reached_by_sudo_without_a_password() {
    let story = Story::new();
    let ssh = story.host.ssh();
    for more in [[].as_slice(), &["--push"]] {
        let words = [&["latency", "--count", "100", "--frame-sizes", "64", "--ssh", &ssh], more].concat();
        let measured = done(story.host.command(&story.desk, &words, "admin", WIRE).output().unwrap());
        assert_eq!(measured.status, 0, "{}", measured.err);
        story.assert_same();
    }
}

#[test]
fn ssh_runs_as_the_user_who_called_sudo() {
    let story = Story::new();
    let (host, caller) = (&story.host, 65_534);
    // Keys that only this user may read, and a program that prints its user.
    for path in [host.path("key"), story.desk.path("")] {
        chown(path, Some(caller), Some(caller)).unwrap();
    }
    let told = story.desk.path("told");
    let program = story.desk.path("my-ssh");
    fs::write(&program, format!("#!/bin/sh\nid -u >>{}\nexec {} \"$@\"\n", text(&told), host.ssh())).unwrap();
    assert!(Command::new("chmod").args(["755", text(&program)]).status().unwrap().success());
    let words = ["latency", "--count", "100", "--frame-sizes", "64", "--ssh", text(&program)];
    let mut command = host.command(&story.desk, &words, "root", WIRE);
    let number = caller.to_string();
    command.envs([("SUDO_UID", number.as_str()), ("SUDO_GID", &number), ("SUDO_USER", "nobody")]);
    let measured = done(command.output().unwrap());
    assert_eq!(measured.status, 0, "{}", measured.err);
    assert_eq!(fs::read_to_string(told).unwrap(), "65534\n".repeat(3), "to look around, and for two agents");
    story.assert_same();
}

#[test]
fn a_cut_connection_keeps_the_trials_and_undoes_both_ends() {
    let story = Story::new();
    let run = story.under_way(30);
    let cut = Instant::now();
    story.host.connections().into_iter().for_each(|pid| signal(pid, "-KILL"));
    let bed = format!("hosts:ssh://root@{ADDRESS}?{WIRE}");
    let continued = format!("--bed '{bed}' --ssh '{}'", story.host.ssh());
    assert_kept(
        &story,
        run,
        &["agent at endpoint b on far-host", "ended unexpectedly", "far-host undoes by itself", &continued],
    );
    story.assert_same();
    assert!(cut.elapsed() < Duration::from_secs(20), "{:?}", cut.elapsed());

    let ssh = story.host.ssh();
    let unsaid = done(story.host.program(&story.desk, &["resume", "last", "--ssh", &ssh]).output().unwrap());
    unsaid.fails(2, &[&format!("was begun with --bed '{bed}';")]);
    let words = ["resume", "last", "--json", "--ssh", &ssh, "--bed", &bed];
    let resumed = done(story.host.program(&story.desk, &words).output().unwrap());
    assert_eq!(resumed.status, 0, "{}", resumed.err);
    assert_eq!(resumed.json()["trials"].as_array().unwrap().len(), 30);
    story.assert_same();
}

#[test]
fn a_host_that_falls_silent_keeps_the_trials_and_undoes_by_itself() {
    let story = Story::new();
    let run = story.under_way(80);
    // Like a lost network: no data, and no end of the connection.
    let connections = story.host.connections();
    connections.iter().for_each(|pid| signal(*pid, "-STOP"));
    assert_kept(&story, run, &["agent at endpoint b on far-host", "has said nothing for 10s"]);
    within(Duration::from_secs(40), || agents().is_empty() && story.host.wire() == story.wire);
    assert_eq!(story.host.wire(), story.wire, "it undid without a word from here");
    connections.iter().for_each(|pid| signal(*pid, "-KILL"));
    story.assert_same();
}

#[test]
fn a_wire_that_is_lost_is_named_with_its_host_and_both_ends_are_undone() {
    let story = Story::new();
    let run = story.under_way(80);
    story.host.set("ip link set wire-f down");
    assert_kept(&story, run, &["wire-f at endpoint b on far-host lost its link", "wireproof resume"]);
    story.host.set("ip link set wire-f up");
    story.assert_same();
}

#[test]
fn an_interrupt_undoes_both_ends_and_keeps_what_was_measured() {
    let story = Story::new();
    let run = story.under_way(80);
    signal(run.id(), "-INT");
    let ended = done(run.wait_with_output().unwrap());
    assert_eq!(ended.status, 130, "{}", ended.err);
    let document = ended.json();
    assert_eq!(document["run"]["partial"], true);
    assert!(document["trials"].as_array().unwrap().len() >= 2);
    story.assert_same();
}

#[test]
fn an_agent_that_is_killed_there_is_followed_by_another_one_that_undoes() {
    let story = Story::new();
    let run = story.under_way(30);
    signal(story.host.machine_agent(), "-KILL");
    let ended = done(run.wait_with_output().unwrap());
    ended.fails(1, &["machine agent at root@", "ended unexpectedly", "a new agent has undone"]);
    story.assert_same();
}

#[test]
fn what_killed_agents_left_there_is_undone_before_the_next_run_looks_the_host_over() {
    let story = Story::new();
    let run = story.under_way(80);
    let there = story.host.machine_agent();
    [there, run.id()].iter().for_each(|pid| signal(*pid, "-KILL"));
    run.wait_with_output().unwrap();
    assert_ne!(story.host.wire(), story.wire, "nobody is left to undo it");
    let looked = story.look(&[]);
    assert_eq!(looked.status, 0, "{}", looked.err);
    story.assert_same();
}

/// Finished trials are printed, stored and reported as partial, with a message that contains these words.
fn assert_kept(story: &Story, run: Child, says: &[&str]) {
    let ended = done(run.wait_with_output().unwrap());
    ended.fails(1, says);
    let document = ended.json();
    assert_eq!(document["run"]["partial"], true);
    let trials = document["trials"].as_array().unwrap().len();
    assert!((2..80).contains(&trials), "{trials}");
    assert_eq!(story.desk.runs()[0]["trials"], trials as u64);
}
