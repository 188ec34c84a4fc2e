//! Power cuts and cables: the record survives, missing ports are not searched for, and present ones are read anew.

use crate::lab::Lab;

const LEDGER: &str = "ls /var/lib/wireproof/ledger";

#[test]
fn a_power_cut_leaves_a_record_that_is_understood() {
    let lab = Lab::new();
    let mut machine = lab.boot("power", &[]);
    machine.wireproof("bed up kept").ok();
    machine.start("wireproof goodput --duration '60 s' --repeats 1");
    machine.until("[ $(ls /var/lib/wireproof/ledger/*.jsonl | wc -l) = 2 ] && [ $(ls /run/netns | wc -l) = 4 ]");
    machine.power_cut();

    let left = machine.sh(LEDGER).ok().out;
    assert_eq!(left.lines().filter(|name| name.ends_with(".jsonl")).count(), 2, "written before it was done: {left}");
    let beds = machine.wireproof("bed list").ok().out;
    assert!(!beds.contains("wpkept"), "of before: {beds}");
    machine.wireproof("clean").ok();
    assert_eq!(machine.sh(LEDGER).ok().out, "");
    machine.wireproof("bed up kept").ok();
    machine.wireproof("path --bed kept --repeats 1").ok();
    machine.wireproof("bed down kept").ok();
}

#[test]
fn a_cable_and_a_card_that_are_pulled_are_seen() {
    let mut lab = Lab::new();
    // QEMU's e1000e does not report a pulled cable to its driver.
    let cards = lab.pair("vmxnet3", ["v1", "v2"]);
    let mut machine = lab.boot("cable", &cards);
    machine.sh("ip link set v1 up; ip link set v2 up").ok();
    let carrier = |machine: &mut crate::machine::Machine| {
        let cards = machine.wireproof("inspect --dev v1 --json").ok().json();
        cards["ports"][0]["readings"]["carrier"].clone()
    };
    machine.until("grep -qx 1 /sys/class/net/v1/carrier");
    assert_eq!(carrier(&mut machine), true);
    machine.set_link("v1", false);
    machine.until("grep -qx 0 /sys/class/net/v1/carrier");
    assert_eq!(carrier(&mut machine), false);
    machine.set_link("v1", true);
    machine.until("grep -qx 1 /sys/class/net/v1/carrier");
    assert_eq!(carrier(&mut machine), true);

    machine.unplug("v1");
    machine.until("! test -e /sys/class/net/v1");
    machine.wireproof("inspect --dev v1").fails(2, &["--dev v1", "there is v2"]);
}
