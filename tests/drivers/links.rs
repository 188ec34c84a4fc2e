//! Links that stay down, flap or differ; and the state that is lost with a link.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::{
    bench::{BED, Bench, SHORT, state},
    lab::Lab,
};

#[test]
fn a_link_that_comes_and_goes_is_named_with_what_to_do_about_it() {
    // QEMU's e1000e does not report a pulled cable to its driver.
    let mut bench = Bench::new("vmxnet3");
    let run = bench.machine.start(&format!("wireproof goodput {BED} {SHORT}"));
    // Flaps, like a link with failing autonegotiation, until the program reports it.
    let until = Instant::now() + Duration::from_secs(120);
    while !bench.machine.has_ended(run) && Instant::now() < until {
        for up in [false, true] {
            bench.machine.set_link("p1", up);
            thread::sleep(Duration::from_millis(250));
        }
    }
    let says =
        ["the link of p1 at endpoint a went down", " times within ", "ethtool -s PORT speed", "cable", "SFP", "dmesg"];
    bench.machine.end_of(run).fails(1, &says);
    bench.assert_given_back();
    bench.machine.wireproof(&format!("goodput {BED} {SHORT}")).ok();
}

#[test]
fn a_port_without_a_cable_is_named_and_both_come_back() {
    let mut bench = Bench::new("virtio-net-pci");
    bench.machine.set_link("p2", false);
    bench.machine.until("! grep -qx 1 /sys/class/net/p2/carrier");
    bench.before = state(&mut bench.machine);
    let done = bench.machine.wireproof(&format!("goodput {BED} {SHORT}"));
    done.fails(1, &["p2 at endpoint b has no link after 15s", "is its cable in"]);
    bench.assert_given_back();
}

#[test]
fn ports_of_different_speeds_are_measured_and_doubted() {
    let mut bench = Bench::with(["e1000e", "virtio-net-pci,speed=10000,duplex=full"]);
    let run = bench.machine.wireproof(&format!("goodput {BED} {SHORT}")).ok().json();
    let doubts = run["run"]["doubts"].to_string();
    assert!(doubts.contains("1000") && doubts.contains("10000") && doubts.contains("speeds-differ"), "{doubts}");
    bench.assert_given_back();
}

#[test]
fn an_mtu_that_the_driver_does_not_take_is_refused_with_what_it_takes() {
    let mut bench = Bench::new("e1000e");
    let most = bench.machine.sh("ip -d link show p1 | sed -n 's/.*maxmtu \\([0-9]*\\).*/\\1/p'").ok().out;
    let takes = format!("takes an MTU from 68 to {}", most.trim());
    let whole_bed = bench.machine.wireproof(&format!("path {BED} --repeats 1 --mtu 20000"));
    whole_bed.fails(2, &["nothing was changed", "--mtu 20000: p1 (e1000e)", &takes]);
    bench.assert_given_back();
    // For some trials only: earlier ones are kept.
    let some = bench.machine.wireproof(&format!("path {BED} --repeats 1 --mtus 1300,20000 --json"));
    some.fails(1, &["MTU 20000", &takes]);
    assert_eq!(some.json()["trials"][0]["mtu"]["forward"], 1300);
    bench.assert_given_back();
}

#[test]
fn what_goes_with_the_link_of_a_port_is_recorded_before_the_port_at_its_other_end_is_moved() {
    let mut machine = Lab::new().boot("joined", &[]);
    // QEMU's cards keep their link when the other end is set down. These do not, like cards with a cable.
    machine.sh("modprobe veth && ip link add p1 type veth peer name p2").ok();
    for (port, other) in [("p1", "2"), ("p2", "1")] {
        let number = 3 - other.parse::<u8>().unwrap();
        for command in [
            format!("ip link set {port} up && ip address add 198.18.10.{number}/24 dev {port}"),
            format!("ip link set {port} up && ip address add 2001:2:0:{number}::1/64 dev {port} nodad"),
        ] {
            machine.sh(&command).ok();
        }
    }
    machine.until("grep -qx up /sys/class/net/p1/operstate && grep -qx up /sys/class/net/p2/operstate");
    for command in [
        "ip nexthop add id 31 via 198.18.10.251 dev p1",
        "ip nexthop add id 32 via 198.18.10.252 dev p2",
        "ip nexthop add id 33 group 31/32,2",
        "ip route add 198.18.96.0/24 nhid 32",
        "ip route add 198.18.95.0/24 nhid 33",
        "ip route add 198.18.94.0/24 nexthop via 198.18.10.251 dev p1 nexthop via 198.18.10.252 dev p2 weight 3",
    ] {
        machine.sh(command).ok();
    }
    // The kernel adds link-local addresses after duplicate address detection.
    let settled = "test $(ip -6 route show table local | grep -c '^local fe80') = 2";
    machine.until(settled);
    let before = state(&mut machine);
    for words in ["path", "goodput --duration '1 s'"] {
        machine.wireproof(&format!("{words} {BED} --repeats 1")).ok();
        machine.until("ip nexthop | grep -q 'id 33 '");
        machine.until(settled);
        assert_eq!(state(&mut machine), before, "{words}");
    }
}
