//! A far end without wireproof, which takes part by its own nc: one that plays FreeBSD, and one with Linux, each behind a real ssh server.

use std::{
    fs,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::{
    inspect_freebsd::Beastie,
    machine::Snapshot,
    other_host::{NEAR, OtherHost, signal},
    program::{Desk, Done, WIREPROOF, done, text},
    waiting::within,
};

/// Address of the far end on the wire.
const FAR: &str = "198.18.101.2";

const NAMESPACE: &str = "wptest-far-host";

const PATIENCE: Duration = Duration::from_secs(20);

/// Measurements that the programs there can take part in, and a path search, which they cannot.
const ALL: &str = r#"
name = "agentless"
[[goodput]]
protocol = "tcp"
streams = 2
duration = "2 s"
warmup = "100 ms"
[[goodput]]
protocol = "tcp"
direction = "reverse"
duration = "1 s"
warmup = "100 ms"
[[latency]]
protocol = "udp"
mode = "block"
frame_sizes = [64, 1518]
count = 300
warmup = 20
[[latency]]
protocol = "tcp"
mode = "block"
frame_sizes = [256]
count = 300
warmup = 20
[[path]]
ip = 4
"#;

/// Trials long enough to be disturbed.
const LONG: &str = "name = \"long\"\n[[goodput]]\nprotocol = \"tcp\"\nduration = \"20 s\"";

/// A host that plays FreeBSD, with an interface on the wire.
fn beastie(shell: &str) -> Beastie {
    let host = OtherHost::with_tmp("size=1g");
    host.set(&format!("ip address add {FAR}/24 dev wire-f"));
    let beastie = Beastie::new(host, shell);
    let interface = format!(
        "ix0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\tether 02:00:00:00:00:0a\n\
         \tinet {FAR} netmask 0xffffff00 broadcast 198.18.101.255\n\tstatus: active\n"
    );
    beastie.plant("ifconfig -vm", "mce1:", &format!("{interface}mce1:"));
    beastie
}

fn verify(beastie: &Beastie, desk: &Desk, plan: &str, more: &str) -> Done {
    let (plan, bed) = (desk.plan(plan), format!("hosts:ssh://{}?dev=ix0{more}", beastie.name("root")));
    beastie.run(desk, &["verify", text(&plan), "--bed", &bed, "--json", "--out", text(&desk.path("out"))])
}

/// Nothing but the ssh server is left there.
fn assert_nothing_left(host: &OtherHost) {
    let processes = || {
        let pids = Command::new("ip").args(["netns", "pids", NAMESPACE]).output().unwrap().stdout;
        let pids = String::from_utf8(pids).unwrap();
        let line = |pid: &str| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let lines = pids.lines().map(|pid| String::from_utf8_lossy(&line(pid)).replace('\0', " "));
        lines.filter(|line| !line.is_empty() && !line.contains("/usr/sbin/sshd")).collect::<Vec<_>>()
    };
    assert!(within(PATIENCE, || processes().is_empty()), "{:?}", processes());
    assert_eq!(fs::read_dir(host.file("/tmp")).unwrap().count(), 0, "something is left in /tmp there");
}

fn doubts(trial: &Value) -> Vec<&str> {
    trial["doubts"].as_array().unwrap().iter().filter_map(|doubt| doubt["kind"].as_str()).collect()
}

/// Measures the whole plan, and checks what both systems have in common.
fn assert_measured(done: &Done, desk: &Desk) -> Value {
    assert!([0, 4].contains(&done.status), "{}", done.err);
    let document = done.json();
    let trials = document["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 5, "the path is left out: {document:#}");
    for trial in trials {
        let of_trial = doubts(trial);
        assert!(of_trial.contains(&"far-program") && of_trial.contains(&"far-unobserved"), "{trial:#}");
        assert!(!of_trial.contains(&"counters-disagree") && !of_trial.contains(&"data-ended-early"), "{trial:#}");
        assert!(!of_trial.contains(&"replies-missing") && !of_trial.contains(&"packets-disagree"), "{trial:#}");
    }
    let of_run = document["run"]["doubts"].to_string();
    assert!(of_run.contains("needs-agent"), "{of_run}");
    let report = fs::read_to_string(desk.path("out").join("report.md")).unwrap_or_default();
    assert!(!report.contains('⟦'), "{report}");
    document
}

#[test]
fn goodput_and_latency_to_a_freebsd_host_are_measured_by_its_own_nc() {
    let desk = Desk::new();
    for shell in ["/bin/csh", "/bin/bash"] {
        let beastie = beastie(shell);
        let before = Snapshot::take();
        let done = verify(&beastie, &desk, ALL, "");
        let document = assert_measured(&done, &desk);
        let end = &document["bed"]["endpoints"][1];
        assert_eq!((end["interface"].as_str(), end["addresses"][0].as_str()), (Some("ix0"), Some(FAR)), "{end}");
        let host = &document["environment"]["before"]["hosts"][1];
        assert!(host["os"].as_str().unwrap().starts_with("FreeBSD"), "{host}");
        assert!(!beastie.host.path("home/asked").exists(), "sudo was asked");
        assert_nothing_left(&beastie.host);
        before.assert_same();
    }
}

#[test]
fn a_linux_host_takes_part_by_its_own_nc_where_that_is_asked_for() {
    let desk = Desk::new();
    let host = OtherHost::with_tmp("size=1g");
    host.set(&format!("ip address add {FAR}/24 dev wire-f"));
    fs::remove_file(host.path("bin/wireproof")).unwrap();
    let plan = desk.plan(ALL);
    let run = |query: &str| {
        let words = ["verify", text(&plan), "--json", "--ssh", &host.ssh()];
        done(host.command(&desk, &words, "plain", query).output().unwrap())
    };
    run("dev=wire-f").fails(1, &["no wireproof on the path of the user", "--push", "agent=none"]);
    let document = assert_measured(&run("dev=wire-f&agent=none"), &desk);
    assert_eq!(document["bed"]["endpoints"][1]["interface"], "wire-f");
    assert_nothing_left(&host);
    run("dev=wire-f&agent=none&addr=198.18.101.9/24").fails(1, &["nothing of wireproof runs on far-host", "by hand"]);
}

#[test]
fn what_a_far_program_cannot_do_or_does_not_survive_is_said_and_leaves_nothing() {
    let desk = Desk::new();
    let beastie = beastie("/bin/csh");
    let before = Snapshot::take();
    let alone = verify(&beastie, &desk, "name = \"p\"\n[[path]]\nip = 4", "");
    alone.fails(2, &["needs wireproof at both ends", "beastie"]);

    let mut taken = Command::new("ip");
    taken.args(["netns", "exec", NAMESPACE, "iperf3", "-s", "-B", FAR, "-p", "17198"]).stdout(Stdio::null());
    let mut taken = taken.spawn().unwrap();
    let listens = || {
        let shown = Command::new("ip").args(["netns", "exec", NAMESPACE, "ss", "-Hltn"]).output().unwrap().stdout;
        String::from_utf8(shown).unwrap().contains(":17198")
    };
    assert!(within(PATIENCE, listens), "the port is not taken");
    verify(&beastie, &desk, LONG, "").fails(1, &["in use", "far-port=PORT"]);
    let elsewhere = verify(&beastie, &desk, &LONG.replace("20 s", "1 s"), "&far-port=5301");
    assert_eq!(elsewhere.status, 0, "{}", elsewhere.err);
    taken.kill().unwrap();
    taken.wait().unwrap();

    for disturb in [cut as fn(&Beastie), kill_shell, kill_nc] {
        let (plan, bed) = (desk.plan(LONG), format!("hosts:ssh://{}?dev=ix0", beastie.name("root")));
        let mut command = Command::new("ip");
        command.args(["netns", "exec", NEAR, WIREPROOF, "--store", text(&desk.path("runs.db"))]);
        command.args(["verify", text(&plan), "--bed", &bed, "--ssh", &beastie.host.ssh()]);
        command.args(["--out", text(&desk.path("out"))]).stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        assert!(within(PATIENCE, || !nc_there().is_empty()), "nc does not run");
        thread::sleep(Duration::from_secs(2));
        disturb(&beastie);
        let done = done(child.wait_with_output().unwrap());
        assert_eq!(done.status, 1, "{}", done.err);
        let told = ["ended", "reset", "pipe", "closed the connection"].iter().any(|word| done.err.contains(word));
        assert!(told, "{}", done.err);
        assert_nothing_left(&beastie.host);
    }

    beastie.host.set("mount --bind /dev/null /usr/bin/nc");
    verify(&beastie, &desk, LONG, "").fails(1, &["there is no nc on the path of this user"]);
    assert_nothing_left(&beastie.host);
    before.assert_same();
}

/// Processes of nc on that host.
fn nc_there() -> Vec<u32> {
    let pids = Command::new("ip").args(["netns", "pids", NAMESPACE]).output().unwrap().stdout;
    let pids = String::from_utf8(pids).unwrap();
    let pids = pids.lines().filter_map(|pid| pid.parse().ok());
    pids.filter(|pid: &u32| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.starts_with("nc")))
        .collect()
}

fn cut(beastie: &Beastie) {
    beastie.host.connections().into_iter().for_each(|pid| signal(pid, "-9"));
}

/// The shell that started nc.
fn kill_shell(_: &Beastie) {
    for nc in nc_there() {
        let status = fs::read_to_string(format!("/proc/{nc}/status")).unwrap();
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap();
        signal(parent.trim().parse().unwrap(), "-9");
    }
}

fn kill_nc(_: &Beastie) {
    nc_there().into_iter().for_each(|pid| signal(pid, "-9"));
}

#[test]
fn the_path_to_a_freebsd_host_shows_its_devices() {
    let desk = Desk::new();
    let beastie = beastie("/bin/csh");
    let bridge = format!(
        "bridge0: flags=8843<UP> metric 0 mtu 1500\n\tinet {FAR} netmask 0xffffff00\n\tmember: ix0 flags=143<LEARNING>\n\
         \tmember: tap0 flags=143<LEARNING>\n\tgroups: bridge\ntap0: flags=8943<UP> metric 0 mtu 1400\n"
    );
    beastie.plant("ifconfig -vm", &format!("\tinet {FAR} netmask 0xffffff00 broadcast 198.18.101.255\n"), "");
    beastie.plant("ifconfig -vm", "mce1:", &format!("{bridge}mce1:"));
    // Its name is that of the ssh connection; the devices are those around the address that is searched.
    let destination = format!("ssh://{}", beastie.name("root"));
    let shown = beastie.run(&desk, &["path", &destination, "--json"]);
    assert_eq!(shown.status, 0, "{}", shown.err);
    let devices = |document: &Value| -> Vec<String> {
        let devices = document["paths"][0]["devices"].as_array().unwrap().iter();
        devices
            .map(|device| format!("{} {}", device["host"].as_str().unwrap(), device["name"].as_str().unwrap()))
            .collect()
    };
    assert!(devices(&shown.json()).iter().all(|device| !device.starts_with("beastie")), "it is another address");
    beastie.plant("ifconfig -vm", &format!("inet {FAR} "), &format!("inet {} ", beastie.host.address));
    let found = beastie.run(&desk, &["path", &destination, "--json"]).json();
    let there: Vec<String> = devices(&found).into_iter().filter(|device| device.starts_with("beastie")).collect();
    assert_eq!(there, ["beastie bridge0", "beastie ix0", "beastie tap0"], "{found:#}");
    let words = beastie.run(&desk, &["path", &destination]);
    assert!(words.out.contains("beastie: bridge0") && words.out.contains("1400"), "{}", words.out);
    assert_nothing_left(&beastie.host);
}
