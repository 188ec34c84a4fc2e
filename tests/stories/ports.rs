//! Ports of a machine, taken for a run and returned. A network namespace stands for the machine, and two of its
//! interfaces, connected by a virtual cable, for the ports.

use std::{
    fs,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{
    faults::{assert_kept, end_of, wait_for_trials},
    machine::{Snapshot, children},
    program::{Desk, Done, MANY, SMALL, WIREPROOF, done, text, without_caller},
    waiting::soon,
};

const MACHINE: &str = "wptest-machine";
pub(crate) const BED: &str = "ports:port1,port2";

/// A machine that ends with the story.
pub(crate) struct Machine<'a> {
    pub(crate) desk: &'a Desk,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(desk: &'a Desk) -> Self {
        assert!(Command::new("ip").args(["netns", "add", MACHINE]).status().unwrap().success());
        let machine = Self { desk };
        machine.sh("ip link add port1 type veth peer name port2");
        for port in ["port1", "port2"] {
            machine.sh(&format!("ip link set {port} up"));
        }
        machine
    }

    /// An interface without a cable. The messages differ if it was up once.
    fn add_lonely(&self) {
        self.sh("ip link add lonely type veth peer name unused");
        self.sh("ip link set unused up");
        self.sh("ip link set unused down");
    }

    /// Configures port1 with addresses, routes and settings.
    fn use_port(&self) {
        for line in [
            "ip link set port1 mtu 2000",
            "ip link property add dev port1 altname port-one",
            "sysctl -qw net.ipv4.conf.port1.rp_filter=2",
            "ip address add 198.18.7.1/24 brd + dev port1",
            "ip address add 198.18.7.2/24 dev port1 label port1:1",
            "ip address add 2001:2:0:7::1/64 dev port1",
            "ip route add 198.19.0.0/24 via 198.18.7.254 dev port1",
            "ip route add 198.19.1.0/24 via 198.18.7.254 dev port1 table 100",
            "ip rule add iif port1 lookup 100",
        ] {
            self.sh(line);
        }
    }

    pub(crate) fn sh(&self, line: &str) -> String {
        let output = done(Command::new("ip").args(["netns", "exec", MACHINE]).args(line.split(' ')).output().unwrap());
        assert_eq!(output.status, 0, "{line}: {}", output.err);
        output.out
    }

    /// All settings of the machine, sorted: which link comes up first is random.
    fn seen(&self) -> Vec<String> {
        let looks = [
            "ip -d -o address",
            "ip -d -o link",
            "ip route show table all",
            "ip -6 route show table all",
            "ip rule",
            "ethtool -k port1",
            "sysctl -a --pattern port[12]",
        ];
        let mut seen: Vec<String> = looks.iter().flat_map(|look| self.lines(look)).collect();
        seen.sort();
        seen
    }

    fn lines(&self, look: &str) -> Vec<String> {
        self.sh(look).lines().map(str::to_owned).collect()
    }

    /// The same once duplicate address detection has finished.
    pub(crate) fn settled(&self) -> Vec<String> {
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            let seen = self.seen();
            let link_local = seen.iter().filter(|line| line.contains("inet6 fe80::")).count();
            let is_settled = link_local == 2 && !seen.iter().any(|line| line.contains("tentative"));
            if is_settled || Instant::now() > until {
                return seen;
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        // Not through "ip netns exec": its mounts end with it, and names of namespaces are mounts.
        let mut command = without_caller("nsenter".as_ref());
        let (machine, store) = (format!("--net=/run/netns/{MACHINE}"), self.desk.path("runs.db"));
        command.args([&machine, WIREPROOF, "--store", text(&store)]).args(args);
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Done {
        done(self.command(args).stdin(Stdio::null()).output().unwrap())
    }

    /// A running run with at least two stored trials.
    fn under_way(&self, more: &[&str]) -> Child {
        let (plan, out) = (self.desk.plan(MANY), self.desk.path("out"));
        let args = [&["verify", text(&plan), "--json", "--out", text(&out), "--bed", BED], more].concat();
        let run = self.start(&args);
        wait_for_trials(self.desk, 2);
        run
    }

    pub(crate) fn start(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

impl Drop for Machine<'_> {
    fn drop(&mut self) {
        // The failure of a story says more than this could.
        let _ = Command::new("ip").args(["netns", "delete", MACHINE]).status();
    }
}

/// A machine with a port whose nexthop object can only be restored once it has a link: giving it back takes long.
/// "unused" at the other end of its cable is idle.
fn machine_with_a_slow_port(desk: &Desk) -> Machine<'_> {
    let machine = Machine::new(desk);
    machine.add_lonely();
    for line in [
        "ip link set unused up",
        "ip link set lonely up",
        "ip address add 198.18.8.1/24 dev lonely",
        "ip nexthop add id 8 via 198.18.8.2 dev lonely",
        "ip route add 198.19.8.0/24 nhid 8",
    ] {
        machine.sh(line);
    }
    machine
}

impl Machine<'_> {
    /// State that only such a machine has.
    fn ways(&self) -> String {
        self.sh("ip nexthop") + &self.sh("ip route")
    }

    /// A run on that port, after the port was taken.
    fn takes_the_slow_port(&self) -> Child {
        let mut command = self.command(&["latency", "--bed", "ports:lonely,port1", "--take-ports-in-use"]);
        let run = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        assert!(soon(|| !self.sh("ip -br link").contains("lonely")), "it is never taken");
        run
    }
}

#[test]
fn ports_that_take_long_to_give_back_are_waited_for_also_where_there_was_no_bed_yet() {
    let desk = Desk::new();
    let machine = machine_with_a_slow_port(&desk);
    let (before, whole) = (machine.ways(), Snapshot::take());
    let run = machine.takes_the_slow_port();
    machine.sh("ip link set unused down");
    // No link for 15 s, and none for 9 s of giving back.
    thread::sleep(Duration::from_secs(24));
    machine.sh("ip link set unused up");
    end_of(run).fails(1, &["lonely at endpoint a has no link after 15s"]);
    assert_eq!(machine.ways(), before);
    whole.assert_same();
}

#[test]
fn a_run_goes_on_after_a_crash_whose_undoing_takes_long() {
    let desk = Desk::new();
    let machine = machine_with_a_slow_port(&desk);
    let (before, whole) = (machine.ways(), Snapshot::take());
    let mut run = machine.takes_the_slow_port();
    let mut victims: Vec<String> = children(run.id()).iter().map(ToString::to_string).collect();
    victims.push(run.id().to_string());
    assert!(Command::new("kill").arg("-KILL").args(&victims).status().unwrap().success());
    let _ = run.wait().unwrap();
    machine.sh("ip link set unused down");
    let mut next = machine.command(&["latency", "--count", "100", "--repeats", "1", "--frame-sizes", "64"]);
    let next = next.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Longer than the permitted silence.
    thread::sleep(Duration::from_secs(12));
    machine.sh("ip link set unused up");
    let ended = end_of(next);
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert_eq!(machine.ways(), before);
    whole.assert_same();
}

/// The namespace of a moved port.
fn namespace_of(port: &str) -> String {
    let names = fs::read_dir("/run/netns").unwrap().flatten().map(|it| it.file_name().to_string_lossy().into_owned());
    let has_it =
        |name: &String| done(Command::new("ip").args(["-n", name, "link", "show", port]).output().unwrap()).status == 0;
    names.into_iter().find(has_it).expect("it was moved")
}

#[test]
fn ports_are_measured_and_given_back_as_they_were() {
    let desk = Desk::new();
    let machine = Machine::new(&desk);
    machine.use_port();
    let (before, whole) = (machine.settled(), Snapshot::take());
    let section = "[[transactions]]\nkind = \"crr\"\nconnections = [8]\nduration = \"1 s\"\n";
    let (plan, out) = (desk.plan(format!("{SMALL}{section}")), desk.path("out"));
    let verify = ["verify", text(&plan), "--json", "--out", text(&out), "--bed", BED];
    machine.run(&verify).fails(2, &["port1 is in use (198.18.7.1/24", "--take-ports-in-use"]);
    assert_eq!(machine.settled(), before, "nothing was changed");

    let dry = machine.run(&[&verify[..], &["--dry-run", "--take-ports-in-use"]].concat());
    assert!(dry.json()["changes"].to_string().contains("port port2 moved into wp<id>-b"), "{}", dry.out);
    let measured = machine.run(&[&verify[..], &["--take-ports-in-use", "--mtu", "1800"]].concat());
    assert_eq!(measured.status, 0, "{}", measured.err);
    let document = measured.json();
    let served = document["trials"].as_array().unwrap().iter().find(|trial| trial["probe"] == "transactions");
    assert!(served.unwrap()["completed"].as_u64() > Some(0), "{served:?}");
    let bed = &document["bed"];
    assert_eq!((bed["kind"].as_str(), bed["simulated"].as_bool()), (Some("ports"), Some(true)));
    let end = &bed["endpoints"][0];
    assert_eq!((&end["interface"], &end["driver"], &end["mtu"]), (&"port1".into(), &"veth".into(), &1800.into()));
    let report = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(report.contains("ports: port1 and port2 of one machine"));
    assert_eq!(machine.settled(), before);
    whole.assert_same();
}

#[test]
fn ports_come_back_after_all_of_it_was_killed() {
    let desk = Desk::new();
    let machine = Machine::new(&desk);
    machine.use_port();
    let (before, whole) = (machine.settled(), Snapshot::take());
    let mut run = machine.under_way(&["--take-ports-in-use"]);
    let mut victims: Vec<String> = children(run.id()).iter().map(ToString::to_string).collect();
    victims.push(run.id().to_string());
    assert!(Command::new("kill").arg("-KILL").args(&victims).status().unwrap().success());
    let _ = run.wait().unwrap();
    assert!(!machine.sh("ip -br link").contains("port1"), "it is away");
    let clean = machine.run(&["clean"]);
    assert_eq!(clean.status, 0, "{}", clean.err);
    assert!(clean.out.contains("undone: port port1 moved into wp"), "{}", clean.out);
    assert_eq!(machine.settled(), before);
    whole.assert_same();
}

#[test]
fn a_port_that_is_pulled_out_is_named_and_nothing_measured_is_lost() {
    let desk = Desk::new();
    let machine = Machine::new(&desk);
    let whole = Snapshot::take();
    let run = machine.under_way(&[]);
    let pulled = Command::new("ip").args(["-n", &namespace_of("port1"), "link", "delete", "port1"]).status().unwrap();
    assert!(pulled.success());
    let ended = end_of(run);
    ended.fails(1, &["port1 at endpoint a is gone", "wireproof resume"]);
    assert_kept(&desk, &ended);
    whole.assert_same();
}

#[test]
fn a_bed_of_ports_stands_is_used_and_taken_down() {
    let desk = Desk::new();
    let machine = Machine::new(&desk);
    let (before, whole) = (machine.settled(), Snapshot::take());
    let up = machine.run(&["bed", "up", "cards", "--bed", BED]);
    assert_eq!(up.status, 0, "{}", up.err);
    assert!(up.out.contains("ports: port1 and port2 of one machine"), "{}", up.out);
    let again = machine.run(&["latency", "--bed", BED]);
    let verify = machine.run(&["verify", text(&desk.plan(SMALL)), "--bed", "cards", "--json"]);
    let down = machine.run(&["bed", "down", "cards"]);
    again.fails(2, &["port1 is in the network namespace \"wpcards-a\""]);
    assert_eq!((verify.status, down.status), (0, 0), "{} {}", verify.err, down.err);
    assert_eq!(machine.settled(), before);
    whole.assert_same();
}

#[test]
fn ports_that_others_need_are_refused_before_anything_is_changed() {
    let desk = Desk::new();
    let machine = Machine::new(&desk);
    machine.sh("ip link add br0 type bridge");
    machine.sh("ip link add joined type veth peer name other");
    machine.sh("ip link set joined master br0");
    machine.sh("ip link add on-top link other type macvlan");
    machine.sh("ip address add 198.18.7.1/24 dev port1");
    machine.sh("ip route add default via 198.18.7.254");
    let (before, whole) = (machine.settled(), Snapshot::take());
    let told = ["--take-ports-in-use"];
    let cases: [(&str, &[&str], &[&str]); 9] = [
        ("ports:port1", &[], &["does not name two ports", "ip link"]),
        ("ports:port2,port2", &[], &["names one port twice"]),
        ("ports:port2,much-too-long-a-name", &[], &["1 to 15 bytes"]),
        ("ports:port2,port9", &[], &["no interface \"port9\"", "there are: ", "port2"]),
        ("ports:port2,lo", &[], &["lo is the loopback interface"]),
        ("ports:port2,br0", &told, &["br0 is a bridge"]),
        ("ports:port2,joined", &told, &["joined belongs to br0", "nomaster"]),
        ("ports:port2,other", &told, &["other carries on-top"]),
        ("ports:port1,port2", &told, &["default route", "--i-know-this-is-my-uplink"]),
    ];
    for (bed, more, says) in cases {
        machine.run(&[&["latency", "--count", "10", "--bed", bed], more].concat()).fails(2, says);
    }
    let mut command = machine.command(&["latency", "--count", "10", "--bed", BED, "--take-ports-in-use"]);
    let session = done(command.env("SSH_CONNECTION", "198.18.7.9 50000 198.18.7.1 22").output().unwrap());
    session.fails(2, &["your ssh session comes in through port1"]);
    assert_eq!(machine.settled(), before);
    whole.assert_same();
}

#[test]
fn ports_without_a_cable_are_named_and_given_back() {
    let desk = Desk::new();
    let machine = Machine::new(&desk);
    machine.add_lonely();
    let (before, whole) = (machine.settled(), Snapshot::take());
    machine
        .run(&["latency", "--bed", "ports:lonely,port1"])
        .fails(1, &["lonely at endpoint a has no link after 15s", "cable"]);
    assert_eq!(machine.settled(), before);
    whole.assert_same();
}

#[test]
fn ports_that_are_not_joined_are_told_before_anything_is_measured_and_given_back() {
    let desk = Desk::new();
    let machine = Machine::new(&desk);
    machine.sh("ip link add apart type veth peer name elsewhere");
    for port in ["apart", "elsewhere"] {
        machine.sh(&format!("ip link set {port} up"));
    }
    let (before, whole) = (machine.lines("ip -br link"), Snapshot::take());
    machine.run(&["latency", "--bed", "ports:apart,port1"]).fails(
        1,
        &["apart at endpoint a does not find 198.18.0.2, which is at port1 at endpoint b", "doctor --cabling"],
    );
    assert!(desk.runs().is_empty(), "nothing was measured");
    assert_eq!(machine.lines("ip -br link"), before);
    whole.assert_same();
}

#[test]
fn an_interrupt_gives_the_ports_back_and_keeps_what_was_measured() {
    let desk = Desk::new();
    let machine = Machine::new(&desk);
    machine.use_port();
    let (before, whole) = (machine.settled(), Snapshot::take());
    let run = machine.under_way(&["--take-ports-in-use"]);
    assert!(Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap().success());
    let ended = end_of(run);
    assert_eq!(ended.status, 130, "{}", ended.err);
    assert_kept(&desk, &ended);
    assert_eq!(machine.settled(), before);
    whole.assert_same();
}

#[test]
fn an_interrupt_while_a_link_is_waited_for_gives_the_ports_back_at_once() {
    let desk = Desk::new();
    let machine = Machine::new(&desk);
    machine.add_lonely();
    let (before, whole) = (machine.settled(), Snapshot::take());
    let mut command = machine.command(&["latency", "--bed", "ports:lonely,port1"]);
    let run = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    assert!(soon(|| !machine.sh("ip -br link").contains("lonely")), "it is never taken");
    thread::sleep(Duration::from_secs(1));
    let asked = Instant::now();
    assert!(Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap().success());
    let ended = end_of(run);
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    assert_eq!(ended.status, 130, "{}", ended.err);
    assert_eq!(machine.settled(), before);
    whole.assert_same();
}

#[test]
fn a_port_that_loses_its_link_is_named_and_nothing_measured_is_lost() {
    let desk = Desk::new();
    let machine = Machine::new(&desk);
    let whole = Snapshot::take();
    let run = machine.under_way(&[]);
    let namespace = namespace_of("port2");
    let down = Command::new("ip").args(["-n", &namespace, "link", "set", "port2", "down"]).status().unwrap();
    assert!(down.success());
    let ended = end_of(run);
    ended.fails(1, &["port2 at endpoint b lost its link", "wireproof resume"]);
    assert_kept(&desk, &ended);
    whole.assert_same();
}
