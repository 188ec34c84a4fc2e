//! Packets by the kernel's generator, and over drivers with partial or no native XDP: the engine is selected, with its
//! reason.

use serde_json::Value;

use crate::{
    control::Done,
    lab::{Card, Lab},
    machine::Machine,
};

const SHORT: &str = "--rate '500 pps' --duration '1 s' --repeats 1 --json";

/// Devices of the generator's threads at one end of the bed.
const DEVICES: &str = "ip netns exec wpgen-a sh -c 'grep -h @ /proc/net/pktgen/kpktgend_*'";

fn pktgen(machine: &mut Machine, words: &str) -> Done {
    machine.wireproof(&format!("packets --engine pktgen --bed gen {words} {SHORT}"))
}

/// The only trial, without losses. An emulated machine does not keep the rate.
fn whole(done: Done) -> Value {
    let trial = done.ok().json()["trials"][0].clone();
    let [sent, received] = ["sent", "received"].map(|name| trial[name].as_u64().unwrap());
    assert!(sent > 50 && sent == received, "{trial}");
    trial
}

#[test]
fn the_kernels_own_generator_is_counted_by_its_own_number_and_put_away() {
    let lab = Lab::with_two_processors();
    let mut machine = lab.boot("pktgen", &[]);
    machine.wireproof("bed up gen").ok();
    let absent = pktgen(&mut machine, "");
    assert!(absent.status == 1 && absent.err.contains("modprobe pktgen"), "{}", absent.err);
    machine.sh("modprobe pktgen").ok();

    let trial = whole(pktgen(&mut machine, ""));
    assert_eq!((&trial["engine"], &trial["sent"]), (&"pktgen".into(), &500.into()), "{trial}");
    assert_eq!((&trial["duplicated"], &trial["reordered"]), (&0.into(), &0.into()), "{trial}");
    whole(pktgen(&mut machine, "--flows 10 --frame-sizes 1518 --direction both"));
    whole(pktgen(&mut machine, "--ip 6 --frame-sizes 128"));
    assert_ne!(machine.sh(DEVICES).status, 0, "devices are left");

    let refused = pktgen(&mut machine, "--imix");
    assert!(
        refused.status == 1 && refused.err.contains("pktgen cannot send frames of several sizes"),
        "{}",
        refused.err
    );
    assert!(refused.err.contains("can be had"), "it names another: {}", refused.err);

    let others = "echo add_device lab-a@theirs > /proc/net/pktgen/kpktgend_0";
    machine.sh(&format!("ip netns exec wpgen-a sh -c '{others}'")).ok();
    let busy = pktgen(&mut machine, "");
    assert!(
        busy.status == 1 && busy.err.contains("lab-a@theirs") && busy.err.contains("rem_device_all"),
        "{}",
        busy.err
    );
    machine.sh("ip netns exec wpgen-a sh -c 'echo rem_device_all > /proc/net/pktgen/kpktgend_0'").ok();

    let run =
        machine.start("wireproof packets --engine pktgen --bed gen --rate '500 pps' --duration '60 s' --repeats 1");
    machine.until(DEVICES);
    machine.sh("kill -INT $(pidof wireproof | tr ' ' '\\n' | sort -n | head -n 1)").ok();
    let stopped = machine.end_of(run);
    assert_ne!(stopped.status, 0, "{}", stopped.err);
    assert_ne!(machine.sh(DEVICES).status, 0, "devices are left");
}

#[test]
fn the_doctor_has_every_engine_send_on_this_kernel() {
    let lab = Lab::with_two_processors();
    let mut machine = lab.boot("engines", &[]);
    machine.sh("modprobe pktgen").ok();
    let doctor = machine.wireproof("doctor --json").ok().json();
    let engines = doctor["checks"].as_array().unwrap().iter().filter(|check| check["check"] == "engine");
    let engines: Vec<&Value> = engines.collect();
    assert_eq!(engines.len(), 5, "{engines:?}");
    for engine in engines {
        assert_eq!(engine["severity"], "ok", "{engine}");
    }
}

/// The only trial over two unchanged cards.
fn over(device: &'static str, words: &str) -> Value {
    let mut lab = Lab::with_two_processors();
    let cards: [Card; 2] = lab.pair(device, ["p1", "p2"]);
    let mut machine = lab.boot("cards", &cards);
    machine.wireproof(&format!("packets --bed ports:p1,p2 {words} {SHORT}")).ok().json()["trials"][0].clone()
}

fn arrives(trial: &Value) -> bool {
    trial["received"].as_u64() > Some(20)
}

#[test]
fn where_a_driver_has_no_native_xdp_sockets_count_and_it_is_said() {
    let trial = over("e1000e", "");
    assert!(trial["engine"] == "udp" && arrives(&trial), "{trial}");
    let why = trial["streams"][0]["engine_why"].as_str().unwrap();
    assert!(why.contains("the other end counts by a UDP socket"), "{why}");
}

#[test]
fn a_paravirtual_card_counts_in_its_driver_and_sends_by_a_ring() {
    let trial = over("virtio-net-pci", "");
    assert!(trial["engine"] == "xsk" && arrives(&trial), "{trial}");
}

/// They are sent in batches, of which QEMU's wire holds only a few frames.
#[test]
fn live_frames_leave_through_a_card_that_wants_a_program_for_them() {
    let trial = over("virtio-net-pci", "--engine live");
    assert!(trial["engine"] == "live" && arrives(&trial), "{trial}");
}
