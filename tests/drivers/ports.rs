//! The bed `ports:`: real drivers release their cards and get them back unchanged, however the run ends.

use crate::bench::{BED, Bench, LONG, SHORT, state};

fn measured_and_given_back(device: &'static str) {
    let mut bench = Bench::new(device);
    // The kernel keeps them only while there is a link.
    bench.machine.until("grep -qx 1 /sys/class/net/p1/carrier");
    bench.machine.sh("ip nexthop add id 30 via 198.18.10.253 dev p1 && ip nexthop add id 31 group 30").ok();
    bench.machine.sh("ip route add 198.18.96.0/24 nhid 31").ok();
    bench.before = state(&mut bench.machine);
    for words in ["path", "goodput --duration '1 s'", "latency --mode block --frame-sizes 64 --count 100 --stamps"] {
        let document = bench.machine.wireproof(&format!("{words} {BED} --repeats 1 --json")).ok().json();
        assert_eq!((&document["bed"]["kind"], &document["bed"]["simulated"]), (&"ports".into(), &false.into()));
        // QEMU's cards never stamp, even if their driver claims support: the kernel's timestamps are used.
        let stamped = &document["trials"][0]["hardware_stamps"];
        assert!(stamped.is_null() || stamped == false, "{document}");
        bench.assert_given_back();
    }
}

#[test]
fn ports_that_others_stand_on_are_refused() {
    let mut bench = Bench::new("e1000e");
    let mut refused = |before: &str, bed: &str, says: &[&str], after: &str| {
        bench.machine.sh(before).ok();
        let was = state(&mut bench.machine);
        let done = bench.machine.wireproof(&format!("path --bed ports:{bed}"));
        assert_eq!(state(&mut bench.machine), was, "{before}: nothing was changed");
        bench.machine.sh(after).ok();
        assert_ne!(done.status, 0, "{before}");
        for words in says {
            assert!(done.err.contains(words), "{before}: {words:?} is not said in: {}", done.err);
        }
    };
    refused("true", "p1,p2", &["p1 is in use", "198.18.10.1/24", "--take-ports-in-use"], "true");
    let vlan = "ip link add link p2 name p2.5 type vlan id 5";
    refused(vlan, "p1,p2 --take-ports-in-use", &["p2 carries p2.5"], "ip link del p2.5");
    let bond = "ip link add bond7 type bond; ip link set p2 master bond7";
    let no_bond = "ip link set p2 nomaster; ip link del bond7; ip link set p2 down";
    refused(bond, "p1,p2 --take-ports-in-use", &["p2 belongs to bond7"], no_bond);
    refused("ip link add bond7 type bond", "p1,bond7 --take-ports-in-use", &["bond7 is"], "ip link del bond7");
    let bridge = "ip link add br7 type bridge; ip link set p2 master br7";
    refused(bridge, "p1,p2 --take-ports-in-use", &["p2 belongs to br7"], "ip link del br7");
    let uplink = "ip route add default via 198.18.10.254";
    let says = ["default route", "--i-know-this-is-my-uplink"];
    refused(uplink, "p1,p2 --take-ports-in-use", &says, "ip route del default");
    refused("true", "p1,p9 --take-ports-in-use", &["no interface \"p9\"", "p2"], "true");
}

#[test]
fn ports_of_e1000e_are_measured_and_given_back() {
    measured_and_given_back("e1000e");
}

#[test]
fn ports_of_vmxnet3_are_measured_and_given_back() {
    measured_and_given_back("vmxnet3");
}

#[test]
fn ports_of_virtio_net_are_measured_and_given_back() {
    measured_and_given_back("virtio-net-pci");
}

#[test]
fn ports_come_back_after_kills() {
    let mut bench = Bench::new("e1000e");
    let run = bench.under_way(LONG);
    // Only the controller: the agents notice, and undo their changes.
    bench.machine.sh("kill -9 $(pidof wireproof | tr ' ' '\\n' | sort -n | head -n 1)").ok();
    assert_ne!(bench.machine.end_of(run).status, 0);
    bench.assert_given_back();

    // All at once: no process is left to undo anything.
    let run = bench.under_way(LONG);
    bench.machine.kill_wireproof();
    assert_ne!(bench.machine.end_of(run).status, 0);
    assert_ne!(state(&mut bench.machine), bench.before, "nobody was there to give them back");
    bench.machine.wireproof("clean").ok();
    bench.assert_given_back();
}

#[test]
fn cards_that_come_back_by_themselves_get_their_names_and_all_else_back() {
    let mut bench = Bench::new("e1000e");
    let run = bench.under_way(LONG);
    bench.machine.kill_wireproof();
    assert_ne!(bench.machine.end_of(run).status, 0);
    // Cards outlive their namespaces, but the name of one is in use by then.
    bench.machine.sh("ip link add p1 type bridge").ok();
    bench.machine.sh("for name in $(ls /run/netns); do ip netns delete $name; done").ok();
    bench.machine.wireproof("clean").fails(1, &["it is back, but not in all as it was", "name p1"]);
    bench.machine.sh("ip link delete p1").ok();
    bench.machine.wireproof("clean").ok();
    bench.assert_given_back();
}

#[test]
fn a_card_that_was_told_to_stamp_is_told_what_it_was_before() {
    let mut bench = Bench::new("e1000e");
    let words = format!("latency {BED} --mode block --frame-sizes 64 --count 100000 --stamps --repeats 1");
    // Only a card without configured timestamping is configured, so its state shows whether it was free.
    let is_free = |bench: &mut Bench| {
        let planned = bench.machine.wireproof(&format!("{words} --dry-run --json")).ok().out;
        planned.contains("/p1 stamps packets")
    };
    assert!(is_free(&mut bench), "the driver says that it can");
    bench.machine.wireproof(&words.replace("100000", "100")).ok();
    assert!(is_free(&mut bench), "set back");

    let run = bench.machine.start(&format!("wireproof {words}"));
    bench.machine.until("grep -q '\"change\":\"stamping\"' /var/lib/wireproof/ledger/*.jsonl");
    bench.machine.until("ip -n $(ls /run/netns | grep a$) address show p1 | grep -q 198.18.0.1");
    bench.machine.kill_wireproof();
    assert_ne!(bench.machine.end_of(run).status, 0);
    bench.machine.sh("for name in $(ls /run/netns); do ip netns delete $name; done").ok();
    bench.machine.until("test -e /sys/class/net/p1");
    assert!(!is_free(&mut bench), "it still stamps");
    bench.machine.wireproof("clean").ok();
    assert!(is_free(&mut bench), "set back after all was killed");
    bench.assert_given_back();
}

#[test]
fn after_a_power_cut_there_is_nothing_to_undo_and_the_next_run_works() {
    let mut bench = Bench::new("e1000e");
    bench.under_way(LONG);
    bench.machine.power_cut();
    let left = bench.machine.sh("ls /var/lib/wireproof/ledger").ok().out;
    assert!(left.contains(".jsonl"), "what was recorded survives: {left}");
    bench.machine.wireproof("clean").ok();
    assert_eq!(bench.machine.sh("ls /var/lib/wireproof/ledger").ok().out, "");
    bench.before = state(&mut bench.machine);
    bench.machine.wireproof(&format!("goodput {BED} {SHORT}")).ok();
    bench.assert_given_back();
}

#[test]
fn a_cable_that_is_pulled_ends_the_run_and_the_ports_come_back() {
    // QEMU's e1000e does not report it to its driver.
    let mut bench = Bench::new("vmxnet3");
    let run = bench.under_way("15 s");
    for port in ["p1", "p2"] {
        bench.machine.set_link(port, false);
    }
    let done = bench.machine.end_of(run);
    assert!(done.status != 0 && !done.err.contains("panicked"), "{done:?}");
    for port in ["p1", "p2"] {
        bench.machine.set_link(port, true);
    }
    bench.assert_given_back();
    bench.machine.wireproof(&format!("goodput {BED} {SHORT}")).ok();
}

#[test]
fn a_card_that_is_pulled_out_is_named_and_the_other_one_comes_back() {
    let mut bench = Bench::new("e1000e");
    let run = bench.under_way(LONG);
    bench.machine.unplug("p2");
    let done = bench.machine.end_of(run);
    assert!(done.status != 0 && !done.err.contains("panicked"), "{done:?}");
    assert!(done.err.contains("p2"), "{}", done.err);
    bench.machine.until("ip address show dev p1 | grep -q 198.18.10.1/24");
    bench.machine.until("ip route | grep -q '198.18.99.0/24.*metric 77'");
    let left = bench.machine.sh("ls /run/netns; ls /var/lib/wireproof/ledger; pidof wireproof").out;
    assert_eq!(left, "", "nothing is left behind");
    bench.machine.wireproof(&format!("goodput {BED} {SHORT}")).fails(2, &["there is no interface \"p2\""]);
}
