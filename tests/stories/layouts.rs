//! Labs with their own device under test: bridges and routers of the kernel, and the XDP router.

use std::fs;

use kernel::process;
use serde_json::Value;

use crate::{
    machine::{Snapshot, agents},
    other_host::signal,
    program::{Desk, MANY, done, text},
    waiting::soon,
};

const PLAN: &str = r#"
name = "through"
repeats = 1
[[latency]]
protocol = "udp"
ip = 6
frame_sizes = [128]
count = 300
warmup = 30
[[packets]]
frame_sizes = [64]
rate = "5 kpps"
duration = "1 s"
"#;

/// Measures over the bed, which is made for it.
fn measured(bed: &str) -> Value {
    let desk = Desk::new();
    let before = Snapshot::take();
    let document = measured_at(&desk, bed);
    before.assert_same();
    document
}

/// Measures over the bed. The device under test counts at least the packets that its ends received.
fn measured_at(desk: &Desk, bed: &str) -> Value {
    let plan = desk.plan(PLAN);
    let done = desk.run(&["verify", text(&plan), "--bed", bed, "--json"]);
    assert_eq!(done.status, 0, "{bed}: {}", done.err);
    let document = done.json();
    let trials = document["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 2, "{bed}");
    assert_eq!(document["environment"]["differences"], Value::Array(vec![]), "{bed}");
    let received = trials[1]["received"].as_u64().unwrap();
    assert!(received > 0 && came_in(&trials[0]) >= 600 && came_in(&trials[1]) >= received, "{trials:?}");
    document
}

/// Packets received on all interfaces of the device.
fn came_in(trial: &Value) -> u64 {
    let came = trial["dut"]["deltas"].as_array().unwrap().iter().filter(|delta| delta["name"] == "rx_packets");
    came.map(|delta| delta["delta"].as_u64().unwrap()).sum()
}

#[test]
fn a_bridge_between_two_ends_is_measured_and_read() {
    let document = measured("lab:bridge");
    assert_eq!(document["bed"]["dut"]["machine"], "bridge", "{}", document["bed"]);
    assert_eq!(document["bed"]["endpoints"][1]["addresses"][0], "198.18.0.2");
}

#[test]
fn a_switch_before_two_senders_is_up_before_it_is_read() {
    let desk = Desk::new();
    let plan = desk.plan(PLAN);
    let done = desk.run(&["verify", text(&plan), "--bed", "lab:senders=2", "--json"]);
    assert_eq!(done.status, 0, "{}", done.err);
    assert_eq!(done.json()["environment"]["differences"], Value::Array(vec![]));
}

#[test]
fn a_router_between_two_ends_is_measured_and_read() {
    let document = measured("lab:router");
    assert_eq!(document["bed"]["dut"]["machine"], "router", "{}", document["bed"]);
    let gateways = document["bed"]["dut"]["gateways"].as_array().unwrap();
    assert_eq!((gateways.len(), &gateways[0]["address"]), (4, &Value::from("198.18.0.1")));
    assert_eq!(document["bed"]["endpoints"][1]["addresses"][0], "198.19.0.2");
}

#[test]
fn an_open_vswitch_between_two_ends_is_measured_and_read() {
    const OVS: &str = "/run/wireproof/ovs";
    let desk = Desk::new();
    let before = Snapshot::take();
    let document = measured_at(&desk, "lab:ovs");
    assert_eq!(document["bed"]["dut"]["machine"], "ovs", "this test needs the package openvswitch-switch");
    assert_eq!(document["bed"]["endpoints"][1]["addresses"][0], "198.18.0.2");
    let plan = desk.plan(
        "name = \"stream\"\nrepeats = 1\n[[goodput]]\nprotocol = \"tcp\"\nduration = \"1 s\"\nwarmup = \"100 ms\"",
    );
    let stream = desk.run(&["verify", text(&plan), "--bed", "lab:ovs", "--dut-cpus", "1", "--json"]);
    assert_eq!(stream.status, 0, "{}", stream.err);
    before.assert_same();
    assert!(!fs::exists(OVS).unwrap(), "its daemons, database and sockets are gone");
    let mut run = desk.start(&["verify", text(&desk.plan(MANY)), "--bed", "lab:ovs", "--quiet"]);
    let daemons = || process::of_programs(&["ovsdb-server", "ovs-vswitchd"], OVS);
    assert!(soon(|| daemons().len() == 2));
    [run.id()].into_iter().chain(agents()).for_each(|process| signal(process, "-KILL"));
    run.wait().unwrap();
    let cleaned = desk.run(&["clean"]);
    assert_eq!((cleaned.status, daemons()), (0, vec![]), "{} {}", cleaned.out, cleaned.err);
    before.assert_same();
    assert!(!fs::exists(OVS).unwrap());
    desk.run(&["bed", "up", "switch", "--bed", "lab:ovs"]).fails(2, &["made anew", "--bed lab:ovs"]);
}

#[test]
fn a_router_behind_two_virtual_switches_is_measured_and_read_at_each_hop() {
    let document = measured("lab:vswitch");
    assert_eq!(document["bed"]["dut"]["machine"], "vswitch", "{}", document["bed"]);
    assert_eq!(document["bed"]["dut"]["gateways"].as_array().unwrap().len(), 4);
    let deltas = document["trials"][1]["dut"]["deltas"].as_array().unwrap();
    let received = |interface: &str| {
        let of_interface = deltas.iter().find(|delta| delta["name"] == "rx_packets" && delta["of"] == interface);
        of_interface.and_then(|delta| delta["delta"].as_u64()).unwrap_or_default()
    };
    let came = document["trials"][1]["received"].as_u64().unwrap();
    // One way is from the first end to the second.
    for hop in ["to-a", "router-a", "port-b"] {
        assert!(received(hop) >= came, "{hop} of {came}: {deltas:#?}");
    }
    assert!(received("switch-a") < came, "the bridge forwards and does not take packets in: {deltas:#?}");
}

#[test]
fn the_xdp_router_between_two_ends_is_measured_and_read() {
    let document = measured("lab:xdp-router");
    assert_eq!(document["bed"]["dut"]["machine"], "xdp-router", "{}", document["bed"]);
    assert_eq!(document["bed"]["dut"]["gateways"].as_array().unwrap().len(), 4);
}

#[test]
fn a_device_between_two_ends_stays_with_its_bed_and_is_read_there() {
    let desk = Desk::new();
    let before = Snapshot::take();
    for (layout, device) in [("lab:router", "router"), ("lab:bridge", "bridge"), ("lab:vswitch", "vswitch")] {
        let standing = desk.bed("through", &["--bed", layout]);
        let listed = desk.run(&["bed", "list"]).out;
        assert!(listed.contains(&format!("  {device}: namespace wpthrough-{device}\n")), "{listed}");
        let document = measured_at(&desk, "through");
        assert_eq!(document["bed"]["dut"]["machine"], device, "{}", document["bed"]);
        let inside = desk.run(&["bed", "exec", "through", device, "--", "ls", "/sys/class/net"]).out;
        assert!(inside.contains("to-a\nto-b\n"), "{inside}");
        let nobody = desk.run(&["bed", "exec", "through", "c", "--", "true"]);
        nobody.fails(1, &["no endpoint \"c\"", &format!("a and b and {device}")]);
        drop(standing);
        before.assert_same();
    }
    desk.run(&["bed", "up", "several", "--bed", "lab:senders=2"]).fails(2, &["made anew", "--bed lab:senders=2"]);
}

/// Affinities of the kernel threads that receive for interfaces of this name, like `1`.
fn affinities(interface: &str) -> Vec<String> {
    let pids = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    let affinity = |pid: String| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let of = |key: &str| Some(status.lines().find_map(|line| line.strip_prefix(key))?.trim().to_owned());
        of("Name:")?.starts_with(&format!("napi/{interface}-")).then(|| of("Cpus_allowed_list:"))?
    };
    pids.filter(|pid| pid.parse::<u32>().is_ok()).filter_map(affinity).collect()
}

/// Packets that the kernel of the device under test processed on each core in the second trial.
fn processed(document: &Value) -> Vec<(String, u64)> {
    let deltas = document["trials"][1]["dut"]["deltas"].as_array().unwrap();
    let of_cores = deltas.iter().filter(|delta| delta["source"] == "softnet" && delta["name"] == "processed");
    of_cores.map(|delta| (delta["of"].as_str().unwrap().to_owned(), delta["delta"].as_u64().unwrap())).collect()
}

#[test]
fn a_device_works_on_cores_of_its_own_in_pinned_threads() {
    // Alone: the name of a thread does not tell whose device it receives for.
    Desk::tell_alone(|desk| {
        let before = Snapshot::take();
        // More packets than others of the machine may have meanwhile.
        let plan = desk.plan(PLAN.replace("5 kpps", "20 kpps"));
        let words = ["verify", text(&plan), "--bed", "lab:router", "--cpus", "0,1", "--dut-cpus", "1", "--json"];
        let run = desk.start(&words);
        let mut threads: (Vec<String>, Vec<String>) = Default::default();
        assert!(soon(|| {
            threads = (affinities("to-a"), affinities("to-b"));
            // A thread is made before it is pinned.
            let is_pinned = |of: &[String]| matches!(of, [cores] if cores.parse::<usize>().is_ok());
            is_pinned(&threads.0) && is_pinned(&threads.1)
        }));
        let done = done(run.wait_with_output().unwrap());
        assert_eq!(done.status, 0, "{}", done.err);
        before.assert_same();
        assert!(affinities("to-a").is_empty() && affinities("to-b").is_empty(), "they end with the bed");

        let document = done.json();
        let core = document["bed"]["dut"]["cpus"][0].to_string();
        assert_eq!(threads, (vec![core.clone()], vec![core.clone()]));
        let is_shared = ["0", "1"].contains(&core.as_str());
        let doubts = document["run"]["doubts"].to_string();
        assert_eq!(doubts.contains("dut-shares-core"), is_shared, "core {core}: {doubts}");
        let received = document["trials"][1]["received"].as_u64().unwrap();
        let on = |cpu: &str| processed(&document).iter().find(|(of, _)| of == cpu).map_or(0, |(_, count)| *count);
        let (own, senders) = (on(&format!("cpu {core}")), on("cpu 0"));
        assert!(own >= received && senders < received / 2, "{own} and {senders} of {received}");
        let said = desk.run(&["report", "last", "--lang", "ja"]);
        assert_eq!(said.status, 0, "{}", said.err);
    });
}

#[test]
fn cores_for_a_device_need_a_device_and_cores() {
    let desk = Desk::new();
    let before = Snapshot::take();
    let refused = |words: &[&str], says: &[&str]| desk.run(&[&["latency"], words].concat()).fails(2, says);
    refused(&["--dut-cpus", "1"], &["bed \"lab\" is not made with a device under test", "lab:router"]);
    refused(&["--dut-cpus", "4000", "--bed", "lab:bridge"], &["--dut-cpus 4000: this machine has"]);
    refused(&["--dut-cpus", "0", "--bed", "lab:bridge"], &["a whole number from 1"]);
    let planned = desk.run(&["latency", "--dut-cpus", "1", "--bed", "lab:vswitch", "--dry-run"]);
    let threads = "-vswitch/to-b receives in kernel threads on core ";
    assert!(planned.status == 0 && planned.out.contains(threads), "{} {}", planned.out, planned.err);
    before.assert_same();
}

#[test]
fn each_hop_of_a_routed_way_is_shown() {
    let desk = Desk::new();
    let words = ["path", "--bed", "lab:router", "--ip", "4", "--repeats", "1", "--hops=3"];
    let done = desk.run(&[&words[..], &["--json"]].concat());
    assert_eq!(done.status, 0, "{}", done.err);
    let hops = done.json()["trials"][0]["hops"].clone();
    let seen: Vec<_> = hops.as_array().unwrap().iter().map(|hop| (&hop["addresses"][0], &hop["answered"])).collect();
    assert_eq!(seen, [(&"198.18.0.1".into(), &3.into()), (&"198.19.0.2".into(), &3.into())], "{hops:#}");
    let said = desk.run(&["report", "last", "--lang", "ja"]);
    assert!(said.out.contains("ホップ  2: 198.19.0.2"), "{}", said.out);
}
