//! Ports taken and returned on the real kernel, in a network namespace that stands for a machine. Needs root, and fails
//! without.

use std::{
    fs,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use kernel::{link, namespace};
use model::{Change, Manager, change};
use tempfile::TempDir;
use wireproof_ledger::{Error, Ledger, UndoErrors, undo_stale};
use xdp::Redirect;

/// A machine with two ports connected by a cable; one of them uses every kind of setting.
struct Bench {
    dir: TempDir,
    machine: String,
    away: String,
}

/// networkd's configuration until the next boot.
const FOLDER: &str = "/run/systemd/network";

const IN_USE: &str = "
    ip link add port1 address 02:00:00:00:01:01 type veth peer name port2 address 02:00:00:00:01:02
    ip link set port1 mtu 1400 txqueuelen 77 promisc on allmulticast on
    ip link property add dev port1 altname a-port-with-a-rather-long-alternative-name altname port-one
    sysctl -qw net.ipv4.conf.port1.rp_filter=2 net.ipv4.conf.port1.arp_ignore=1 net.ipv6.conf.port1.accept_ra=2
    sysctl -qw net.ipv4.neigh.port1.gc_stale_time=77 net.ipv6.neigh.port1.ucast_solicit=5
    ethtool -K port1 tx off gro on
    ip link set port1 up
    ip link set port2 up
    ip address add 198.18.7.1/24 brd + dev port1
    ip address add 198.18.7.2/24 dev port1 label port1:1
    ip address add 198.18.9.1 peer 198.18.9.2/32 dev port1 metric 9
    ip address add 2001:2:0:7::1/64 dev port1
    ip address add 2001:2:0:7::2/64 dev port1 noprefixroute
    ip address add 2001:2:0:9::1/64 dev port1 valid_lft 5000 preferred_lft 4000
    ip route add 198.19.0.0/24 via 198.18.7.254 dev port1 metric 5 proto static
    ip route add 198.19.1.0/24 dev port1 scope link src 198.18.7.2
    ip route add 198.19.2.0/24 via 198.19.1.9 dev port1 onlink mtu 1200
    ip route add default via 198.18.7.254 dev port1 table 100
    ip route add 2001:2:0:8::/64 via 2001:2:0:7::99 dev port1 metric 7
    ip route add default via fe80::99 dev port1 table 100
    ip rule add iif port1 lookup 100
    ip rule add oif port1 lookup 100 pref 77
    ip neighbour add 198.18.7.9 lladdr 02:00:00:00:09:09 nud permanent dev port1
    ip neighbour add 2001:2:0:7::9 lladdr 02:00:00:00:09:09 nud permanent dev port1
    ip route add 198.19.5.0/24 nexthop via 198.18.7.254 dev port1 nexthop via 198.18.7.253 dev port2 weight 3 onlink
    ip route add 2001:2:0:77::/64 nexthop via 2001:2:0:7::77 dev port1 nexthop via fe80::78 dev port2 weight 3
    ip nexthop add id 30 via 198.18.7.254 dev port1
    ip nexthop add id 31 via 198.18.7.253 dev port1
    ip nexthop add id 32 via fe80::9 dev port1
    ip link add other type veth peer name another
    ip link set other up
    ip link set another up
    ip nexthop add id 33 via 198.18.7.9 dev other onlink
    ip nexthop add id 12 group 30/31,3
    ip nexthop add id 13 group 31/33
    ip route add 198.19.6.0/24 nhid 30
    ip route add 198.19.7.0/24 nhid 12 metric 9
    ip route add 198.19.8.0/24 nhid 13
    ip route add 2001:2:0:78::/64 nhid 32
    ip address add 198.18.11.1/24 dev port1 noprefixroute
    ip route add 198.18.11.0/24 dev port1 proto kernel scope link src 198.18.11.1 metric 101
    ip maddress add 33:33:00:00:00:77 dev port1
    ip token set ::77 dev port1
    ip link set port1 alias a-port-to-be-taken
    tc qdisc replace dev port1 root handle 1: htb default 10
    tc class add dev port1 parent 1: classid 1:1 htb rate 50mbit
    tc class add dev port1 parent 1:1 classid 1:10 htb rate 5mbit ceil 20mbit prio 2
    tc class add dev port1 parent 1:1 classid 1:20 htb rate 5mbit burst 20k
    tc qdisc add dev port1 parent 1:10 handle 8001: pfifo limit 55
    tc qdisc add dev port1 parent 1:20 handle 8002: tbf rate 1mbit burst 10k latency 20ms
    tc filter add dev port1 parent 1: protocol ip pref 7 u32 match ip dst 198.18.7.9/32 flowid 1:20
    tc filter add dev port1 parent 1: protocol ip pref 8 u32 match ip protocol 17 0xff match ip dport 53 0xffff flowid 1:10
    tc qdisc add dev port1 clsact
    tc filter add dev port1 ingress protocol ip pref 3 u32 match ip src 198.18.7.8/32 classid 1:20
    tc filter add dev port1 egress protocol ip pref 4 u32 match ip src 198.18.7.8/32 classid 1:20
";

const SEEN: &str = "
    ip -d -j address
    ip route show table all
    ip -6 route show table all
    ip -j rule
    ip -6 -j rule
    ip -j neighbour show nud permanent
    ip -6 -j neighbour show nud permanent
    ethtool -k port1
    sysctl -a --pattern port1
    ip nexthop
    ip maddress show dev port1
    ip token
    tc -d -j qdisc show dev port1
    tc -d class show dev port1
    tc -d filter show dev port1
    tc -d filter show dev port1 ingress
    tc -d filter show dev port1 egress
";

impl Bench {
    fn new(test: &str) -> Self {
        let name = |end| format!("wptest{}{test}-{end}", std::process::id());
        let bench = Self { dir: TempDir::new().expect("a directory"), machine: name("m"), away: name("a") };
        namespace::create(&bench.machine).expect("this test needs root");
        bench.sh(IN_USE);
        bench.settled();
        bench
    }

    fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Runs commands on the machine; returns their output.
    fn sh(&self, commands: &str) -> String {
        let lines = commands.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(|line| in_namespace(&self.machine, line)).collect()
    }

    /// The visible state of the machine, without lifetimes, and sorted.
    ///
    /// The order of two links and their routes is random: either link may come up first.
    fn seen(&self) -> String {
        let seen = self.sh(SEEN).replace("expires ", "\n");
        let runs_on = |word: &str| {
            ["life_time\":4", "life_time\":3", "sec ", "direct_packets"].iter().any(|it| word.contains(it))
        };
        let mut words: Vec<&str> = seen.split([',', '\n']).filter(|word| !runs_on(word)).collect();
        words.sort_unstable();
        words.join("\n")
    }

    /// The same once duplicate address detection has finished.
    fn settled(&self) -> String {
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            let seen = self.seen();
            let is_up = !seen.contains("tentative") && seen.matches("fe80::").count() >= 6;
            if is_up || Instant::now() > until {
                return seen;
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Runs `f` on the machine.
    fn on_machine<T: Send>(&self, f: impl FnOnce() -> T + Send) -> T {
        namespace::within(&self.machine, f).expect("the machine stands")
    }

    fn take(&self, ledger: &mut Ledger, interface: &str) -> Result<(), Error> {
        ledger.apply(Change::Namespace(change::Namespace { name: self.away.clone() }))?;
        ledger.apply(Change::Nic(change::MovedNic { interface: interface.into(), namespace: self.away.clone() }))
    }

    /// A taken port, whose owner dies or undoes it.
    fn taken(&self) -> Ledger {
        self.on_machine(|| {
            let mut ledger = Ledger::open(self.dir(), "owner").expect("a new ledger");
            self.take(&mut ledger, "port1").expect("it can be taken");
            ledger
        })
    }

    fn clean(&self) -> Result<usize, UndoErrors> {
        self.on_machine(|| undo_stale(self.dir())).map(|cleaned| cleaned.undone.len())
    }

    /// The ledger during the change. The port is returned by now, and the ledger removed.
    fn record_of_a_port_given_back(&self) -> String {
        let mut ledger = self.taken();
        let recorded = fs::read_to_string(self.dir().join("owner.jsonl")).expect("readable");
        self.on_machine(|| ledger.undo_all()).expect("all can be undone");
        drop(ledger);
        self.settled();
        recorded
    }

    fn assert_as_before(&self, before: &str) {
        let after = self.settled();
        for (then, now) in before.split('\n').zip(after.split('\n')) {
            assert_eq!(then, now, "in {after}");
        }
        assert_eq!(before.len(), after.len());
        assert!(!namespace::exists(&self.away));
        assert_eq!(fs::read_dir(self.dir()).expect("ours").count(), 0, "nothing is recorded any more");
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        for name in [&self.machine, &self.away] {
            // A failed test may have left it; nothing to add to that test's message.
            let _ = namespace::delete(name);
        }
    }
}

fn in_namespace(namespace: &str, line: &str) -> String {
    let output = Command::new("ip").args(["netns", "exec", namespace]).args(line.split(' ')).output().expect("ip");
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_port_in_use_is_given_back_as_it_was() {
    let bench = Bench::new("undo");
    let before = bench.settled();
    let mut ledger = bench.taken();
    assert!(link::exists(&bench.away, "port1").expect("readable"), "with its name");
    assert!(!bench.sh("ip address").contains("198.18.7.1"), "the move takes its addresses");
    assert_eq!(bench.on_machine(|| ledger.undo_all()).expect("all can be undone").len(), 2);
    drop(ledger);
    bench.assert_as_before(&before);
}

#[test]
fn a_port_that_a_crash_left_away_is_given_back() {
    let bench = Bench::new("crash");
    let before = bench.settled();
    drop(bench.taken());
    // Changes that a run made there.
    in_namespace(&bench.away, "ip link set port1 mtu 9000 txqueuelen 5");
    in_namespace(&bench.away, "ip address add 198.18.0.1/24 dev port1");
    assert_eq!(bench.clean().expect("all can be undone"), 2);
    bench.assert_as_before(&before);
}

#[test]
fn a_port_that_came_back_by_itself_under_another_name_is_put_right() {
    let bench = Bench::new("back");
    let before = bench.settled();
    drop(bench.taken());
    // As the kernel does for a card when its namespace ends and its name is in use.
    in_namespace(&bench.away, &format!("ip link set port1 netns {} name dev5", bench.machine));
    namespace::delete(&bench.away).expect("it exists");
    assert_eq!(bench.clean().expect("all can be undone"), 1);
    bench.assert_as_before(&before);
}

#[test]
fn a_crash_between_record_and_move_changes_nothing() {
    let bench = Bench::new("between");
    let before = bench.settled();
    let recorded = bench.record_of_a_port_given_back();
    fs::write(bench.dir().join("owner.jsonl"), recorded).expect("ours");
    bench.clean().expect("all can be undone");
    bench.assert_as_before(&before);
}

#[test]
fn a_name_that_somebody_took_meanwhile_is_said_and_everything_else_put_back() {
    let bench = Bench::new("name");
    let before = bench.settled();
    drop(bench.taken());
    bench.sh("ip link add port1 type bridge");
    let error = bench.clean().expect_err("its name is taken").to_string();
    assert!(error.contains("it is back, but not in all as it was"), "{error}");
    assert!(
        error.contains("could not be done: ip link set dev") && error.contains("name port1 (File exists"),
        "{error}"
    );
    assert!(bench.sh("ip address").contains("198.18.7.1/24"));
    assert!(!namespace::exists(&bench.away), "it is in no other namespace any more");
    bench.sh("ip link delete port1");
    bench.clean().expect("all can be undone");
    bench.assert_as_before(&before);
}

#[test]
fn a_port_that_is_gone_leaves_nothing_to_undo() {
    let bench = Bench::new("gone");
    drop(bench.taken());
    in_namespace(&bench.away, "ip link delete port1");
    assert_eq!(bench.clean().expect("nothing fails"), 1, "the namespace alone");
    assert!(!namespace::exists(&bench.away));
    assert_eq!(fs::read_dir(bench.dir()).expect("ours").count(), 0);
}

#[test]
fn a_port_is_given_back_only_to_the_machine_it_was_taken_from() {
    let bench = Bench::new("else");
    let before = bench.settled();
    drop(bench.taken());
    let error = undo_stale(bench.dir()).expect_err("this is another namespace").to_string();
    assert!(error.contains("taken from another network namespace than this one"), "{error}");
    assert!(link::exists(&bench.away, "port1").expect("readable"), "it was not touched, nor was its namespace");
    bench.clean().expect("all can be undone");
    bench.assert_as_before(&before);
}

#[test]
fn what_an_earlier_boot_took_is_forgotten() {
    let bench = Bench::new("boot");
    let before = bench.settled();
    let recorded = bench.record_of_a_port_given_back();
    let boot_id = kernel::sysctl::read("kernel.random.boot_id").expect("readable");
    fs::write(bench.dir().join("owner.jsonl"), recorded.replace(&boot_id, "an earlier boot")).expect("ours");
    assert_eq!(bench.clean().expect("nothing fails"), 0, "the system itself made the port what it is now");
    bench.assert_as_before(&before);
}

#[test]
fn what_could_not_be_put_back_is_refused_before_anything_is_changed() {
    let bench = Bench::new("lasting");
    let mut ledger = bench.on_machine(|| Ledger::open(bench.dir(), "owner")).expect("a new ledger");
    ledger.apply(Change::Namespace(change::Namespace { name: bench.away.clone() })).expect("it can be made");
    let mut refused = |before: &str, says: &str, after: &str| {
        bench.sh(before);
        let seen = bench.settled();
        let change = Change::Nic(change::MovedNic { interface: "port1".into(), namespace: bench.away.clone() });
        let error = bench.on_machine(|| ledger.apply(change)).expect_err("refused").to_string();
        assert!(error.contains("could not be put back") && error.contains(says), "{error}");
        assert_eq!(bench.settled(), seen, "nothing was changed");
        bench.sh(after);
    };
    let resilient = "ip nexthop add id 14 group 30/31 type resilient buckets 8";
    refused(resilient, "a resilient group of nexthops (ip nexthop delete id 14)", "ip nexthop delete id 14");
    let sized = "tc qdisc replace dev port1 parent 1:10 handle 8001: stab overhead 20 pfifo";
    let says = "the queueing discipline pfifo (tc qdisc delete dev port1 parent 1:10)";
    refused(sized, says, "tc qdisc delete dev port1 parent 1:10");
    bench.on_machine(|| ledger.undo_all()).expect("all can be undone");
}

#[test]
fn a_port_whose_packets_a_program_of_somebody_else_sees_first_is_refused() {
    let bench = Bench::new("xdp");
    let attached = bench.on_machine(|| Redirect::attach("port1", 1)).expect("veth takes XDP programs");
    let mut ledger = bench.on_machine(|| Ledger::open(bench.dir(), "owner")).expect("a new ledger");
    let error = bench.on_machine(|| bench.take(&mut ledger, "port1")).expect_err("refused").to_string();
    assert!(
        error.contains("an XDP program of somebody else") && error.contains("ip link set port1 xdp off"),
        "{error}"
    );
    drop(attached);
    let change = Change::Nic(change::MovedNic { interface: "port1".into(), namespace: bench.away.clone() });
    bench.on_machine(|| ledger.apply(change)).expect("it is gone");
    bench.on_machine(|| ledger.undo_all()).expect("all can be undone");
}

#[test]
fn a_program_that_cannot_be_told_is_named_and_its_file_taken_away_again() {
    let bench = Bench::new("manager");
    // Empty folders were created for this file.
    let tidy = || [FOLDER, "/run/systemd"].iter().for_each(|folder| drop(fs::remove_dir(folder)));
    let before = bench.settled();
    let mut ledger = Ledger::open(bench.dir(), "owner").expect("a new ledger");
    let change = Change::UnmanagedNic(change::UnmanagedNic {
        manager: Manager::Networkd,
        interface: "port1".into(),
        mac: "02:00:00:00:01:01".into(),
    });
    let told = bench.on_machine(|| ledger.apply(change));
    // There is no networkd in these tests.
    let error = told.expect_err("nobody to tell").to_string();
    assert!(error.contains("\"networkctl reload\" does not work"), "{error}");
    let file = Path::new(FOLDER).join("00-wireproof-port1.network");
    assert!(file.exists());
    // A change that it may have made to the port before the notification.
    bench.sh("ip address delete 198.18.7.1/24 dev port1");
    // It is still unknown, but the file no longer exists, and the port is as before.
    bench.on_machine(|| ledger.undo_all()).expect_err("nobody to tell");
    assert!(!file.exists());
    assert_eq!(bench.settled(), before);
    assert_eq!(bench.on_machine(|| ledger.undo_all()).expect("nothing left to do"), []);
    tidy();
}
