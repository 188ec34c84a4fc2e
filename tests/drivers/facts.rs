//! Information from drivers of real cards is read correctly, and machines with them are measured like others.

use crate::{lab::Lab, machine::Machine};

/// Two cards of each driver, connected by a wire, and up.
fn machine_with_all_drivers(lab: &mut Lab) -> Machine {
    let mut cards = Vec::new();
    for (device, names) in [("e1000e", ["e1", "e2"]), ("vmxnet3", ["v1", "v2"]), ("virtio-net-pci", ["n1", "n2"])] {
        cards.extend(lab.pair(device, names));
    }
    let mut machine = lab.boot("facts", &cards);
    for card in &cards {
        machine.sh(&format!("ip link set {} up", card.name)).ok();
    }
    for card in &cards {
        machine.until(&format!("grep -qx up /sys/class/net/{}/operstate", card.name));
    }
    machine
}

#[test]
fn the_doctor_reads_each_driver_as_ethtool_does() {
    let mut lab = Lab::with_two_processors();
    let mut machine = machine_with_all_drivers(&mut lab);
    let doctor = machine.wireproof("doctor --json").ok().json();
    let checks = doctor["checks"].as_array().unwrap();
    let read: Vec<&str> = checks
        .iter()
        .filter(|check| check["check"] == "interface")
        .filter_map(|check| check["read"].as_str())
        .collect();
    assert_eq!(read.len(), 6, "{read:?}");
    for name in ["e1", "e2", "v1", "v2", "n1", "n2"] {
        let field = |machine: &mut Machine, command: &str| machine.sh(command).ok().out.trim().to_owned();
        let driver = field(&mut machine, &format!("ethtool -i {name} | sed -n 's/^driver: //p'"));
        let speed = field(&mut machine, &format!("ethtool {name} | sed -n 's/.*Speed: //p'"));
        let speed = match speed.strip_suffix("Mb/s") {
            Some(speed) => format!("{speed} Mbit/s"),
            None => "speed not known".to_owned(),
        };
        let expected = format!("{name}: {driver}, {speed}, MTU 1500, up");
        assert!(read.contains(&expected.as_str()), "{expected:?} is not in {read:?}");
    }
    for driver in [": e1000e, 1000 Mbit/s", ": vmxnet3, ", ": virtio_net, speed not known"] {
        assert_eq!(read.iter().filter(|line| line.contains(driver)).count(), 2, "{driver}: {read:?}");
    }
}

#[test]
fn every_probe_measures_on_this_kernel_too() {
    let lab = Lab::with_two_processors();
    let mut machine = lab.boot("probes", &[]);
    let mut trials = |words: &str| {
        let document = machine.wireproof(&format!("{words} --repeats 1 --json")).ok().json();
        document["trials"].as_array().unwrap().clone()
    };
    let path = trials("path");
    assert!(path.len() == 2 && path.iter().all(|trial| trial["mtu"]["forward"] == 1500), "{path:?}");
    let goodput = trials("goodput --duration '1 s'");
    assert!(goodput[0]["goodput_bps"]["mean"].as_f64() > Some(0.0), "{}", goodput[0]["goodput_bps"]);
    let latency = trials("latency --count 200 --frame-sizes 64 --stamps");
    assert_eq!((&latency[0]["rtt_ns"]["n"], latency[0]["stages"].as_array().unwrap().len()), (&200.into(), 3));
    assert_eq!(latency[0]["hardware_stamps"], false);
    assert_eq!(machine.sh("ls /run/netns").ok().out, "", "nothing is left");
}

#[test]
fn a_slow_processor_is_not_taken_for_a_fault_of_the_card() {
    let mut lab = Lab::with_two_processors();
    let cards = lab.pair("e1000e", ["e1", "e2"]);
    let mut machine = lab.boot("card", &cards);
    let short = "--set repeats=1 --set 'goodput.duration=1 s' --set 'packets.duration=1 s'";
    let card = machine.wireproof(&format!("verify card --bed ports:e1,e2 --json {short}")).json()["card"].clone();
    let of = |kind: &str| -> Vec<_> {
        let checks = card["checks"].as_array().unwrap();
        checks.iter().filter(|check| check["kind"] == kind).cloned().collect()
    };
    for kind in ["link", "pcie", "mtu"] {
        let checks = of(kind);
        assert_eq!(checks.len(), 2, "of each end, or of each MTU: {card}");
        assert!(checks.iter().all(|check| check["health"] == "fine"), "{kind}: {card}");
    }
    assert!(of("link").iter().all(|link| link["speed_mbps"] == 1000 && link["full_duplex"] == true), "{card}");
    // An emulated card does not pad short frames, and its peer counts them as errors: all there are.
    let only_all_errors = |counter: &serde_json::Value| counter["name"] == "rx_errors";
    let damage = of("damage");
    assert!(damage.iter().all(|check| check["counters"].as_array().unwrap().iter().all(only_all_errors)), "{card}");
    let counted = |machine: &mut Machine, name: &str| -> u64 {
        machine.sh(&format!("ethtool -S e1 | sed -n 's/^ *{name}: //p'")).ok().out.trim().parse().unwrap()
    };
    assert_eq!(counted(&mut machine, "rx_errors"), counted(&mut machine, "rx_short_length_errors"));
    let transfers = of("goodput");
    assert_eq!((transfers.len(), of("packets").len()), (6, 1), "{card}");
    // The wire between emulated cards is a socket, which has no room for what a card sends at once.
    let is_fault = |check: &serde_json::Value| check["health"] == "not-fine" && check["limited_by"] != "path";
    assert!(transfers.iter().all(|check| check["line_bps"].is_f64() && !is_fault(check)), "{card}");
    assert_eq!(machine.sh("ls /run/netns").ok().out, "", "nothing is left");
}
