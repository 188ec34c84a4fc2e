//! Limits of a figure: each planted fault is named, and no longer after its removal.

use std::{
    process::Command,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    other_host::signal,
    planted::{Bad, Busy},
    program::{Desk, Done, done},
    waiting::soon,
};

const BED: &str = "faulty";

/// The only trial of one goodput run on the bed.
fn goodput(desk: &Desk, more: &[&str]) -> Value {
    measure(desk, "goodput", &[&["--duration", "2 s"], more].concat())
}

fn measure(desk: &Desk, probe: &str, more: &[&str]) -> Value {
    desk.undisturbed(|| measure_once(desk, probe, more))
}

/// The same while the story itself keeps the cores busy.
fn goodput_beside_others(desk: &Desk, more: &[&str]) -> Value {
    measure_once(desk, "goodput", &[&["--duration", "2 s"], more].concat())
}

fn measure_once(desk: &Desk, probe: &str, more: &[&str]) -> Value {
    let words = [&[probe, "--bed", BED, "--repeats", "1", "--cpus", "0,1", "--json"], more].concat();
    let done = desk.run(&words);
    assert_eq!(done.status, 0, "{words:?}: {}", done.err);
    done.json()["trials"][0].clone()
}

fn place(trial: &Value) -> &str {
    trial["limited_by"]["place"].as_str().unwrap_or_else(|| panic!("{trial}"))
}

/// The same measurement with the fault and without: named, then no longer.
fn assert_named(named: &str, with: &Value, without: &Value) {
    assert_eq!(place(with), named, "{}\n{}", with["limited_by"], with["loss_at"]);
    assert_ne!(place(without), named, "taken away, and still named: {}", without["limited_by"]);
}

#[test]
fn a_queueing_discipline_is_named() {
    Desk::tell_alone(|desk| {
        let _bed = desk.bed(BED, &[]);
        let bad = Bad::new(desk, BED);
        bad.at("a", "tc qdisc add dev lab-a root tbf rate 200mbit burst 64kb latency 20ms");
        let tcp = goodput(desk, &[]);
        let udp = goodput(desk, &["--protocol", "udp", "--rate", "400 Mbit/s"]);
        bad.at("a", "tc qdisc del dev lab-a root");
        assert_named("qdisc", &tcp, &goodput(desk, &[]));
        assert_named("qdisc", &udp, &goodput(desk, &["--protocol", "udp", "--rate", "400 Mbit/s"]));
        assert!(udp["lost"].as_u64() > Some(0) && udp["loss_at"]["qdisc"].as_u64() > Some(0), "{}", udp["loss_at"]);
        assert!(tcp["limited_by"]["evidence"].as_str().unwrap().contains("tbf"), "{}", tcp["limited_by"]);
    });
}

#[test]
fn a_slow_way_back_for_acknowledgements_is_named() {
    Desk::tell_alone(|desk| {
        let _bed = desk.bed(BED, &[]);
        let bad = Bad::new(desk, BED);
        bad.at("b", "tc qdisc add dev lab-b root tbf rate 1mbit burst 16kb latency 50ms");
        let slow = goodput(desk, &[]);
        bad.at("b", "tc qdisc del dev lab-b root");
        assert_named("qdisc", &slow, &goodput(desk, &[]));
        assert_eq!(slow["limited_by"]["endpoint"], "b", "{}", slow["limited_by"]);
    });
}

/// Congestion control is set, so that labs of all machines compare; a plan can ask for the host's own.
#[test]
fn a_lab_has_a_congestion_control_of_its_own() {
    let desk = Desk::new();
    let _bed = desk.bed(BED, &[]);
    let used = |more: &[&str]| goodput(&desk, more)["flows"][0]["tcp"][0]["congestion"].as_str().unwrap().to_owned();
    let hosts = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap();
    assert_eq!(used(&[]), "cubic");
    assert_eq!(used(&["--congestion", "default"]), hosts.trim());
    assert_eq!(used(&["--congestion", "reno"]), "reno");
}

/// bbr, as the default of a host: its segments overtake each other over a veth pair, and that costs it nothing.
#[test]
fn an_undisturbed_connection_is_not_put_down_to_reordering() {
    Desk::tell_alone(|desk| {
        let _bed = desk.bed(BED, &[]);
        for control in ["default", "cubic"] {
            let clean = goodput(desk, &["--congestion", control]);
            assert_ne!(place(&clean), "reordering", "{control}: {}", clean["limited_by"]);
            assert_ne!(clean["limited_by"]["evidence"], "", "{control}");
        }
    });
}

#[test]
fn a_time_in_which_nothing_passes_is_named() {
    Desk::tell_alone(|desk| {
        let _bed = desk.bed(BED, &[]);
        let run =
            desk.start(&["goodput", "--bed", BED, "--repeats", "1", "--cpus", "0,1", "--duration", "5 s", "--json"]);
        thread::sleep(Duration::from_millis(2_500));
        let bad = Bad::new(desk, BED);
        bad.at("b", "nft add table ip f");
        bad.at("b", "nft add chain ip f i { type filter hook prerouting priority 0 ; policy drop ; }");
        thread::sleep(Duration::from_millis(1_500));
        bad.at("b", "nft delete table ip f");
        let trial = done(run.wait_with_output().unwrap()).json()["trials"][0].clone();
        assert_eq!(place(&trial), "interruption", "{}", trial["limited_by"]);
        assert!(trial["doubts"].to_string().contains("stalled"), "{}", trial["doubts"]);
    });
}

/// A trial in the middle of which this is done.
fn meanwhile(desk: &Desk, more: &[&str], done_then: impl FnOnce()) -> Done {
    let words = [&["goodput", "--bed", BED, "--repeats", "1", "--cpus", "0,1", "--json"], more].concat();
    let sent = || Bad::new(desk, BED).reads("a", "/sys/class/net/lab-a/statistics/tx_packets");
    let before = sent();
    let run = desk.start(&words);
    assert!(soon(|| sent() > before + 15_000), "nothing is sent");
    done_then();
    done(run.wait_with_output().unwrap())
}

fn trial(done: &Done) -> Value {
    done.json()["trials"][0].clone()
}

#[test]
fn what_changes_in_the_middle_is_told_with_its_second() {
    Desk::tell_alone(|desk| {
        let _bed = desk.bed(BED, &[]);
        let bad = Bad::new(desk, BED);
        let udp = ["--duration", "4 s", "--protocol", "udp", "--rate", "100 Mbit/s"];
        let calm = trial(&meanwhile(desk, &udp, || {}));
        for doubt in ["settings-changed", "link-lost", "clock-set"] {
            assert!(!calm["doubts"].to_string().contains(doubt), "nothing changed: {}", calm["doubts"]);
        }
        let changed = trial(&meanwhile(desk, &udp, || bad.at("a", "ethtool -K lab-a tso off")));
        assert!(changed["doubts"].to_string().contains("settings-changed"), "{}", changed["doubts"]);
        let events = changed["counters"][0]["events"].as_array().unwrap();
        let event = events.iter().find(|event| event["what"] == "tx-tcp-segmentation").unwrap();
        assert_eq!(event["after"], "off", "{event}");
        assert!((0.0..4.0).contains(&event["at_s"].as_f64().unwrap()), "{event}");
        let qdisc = trial(&meanwhile(desk, &udp, || bad.at("b", "tc qdisc add dev lab-b root pfifo limit 5000")));
        assert!(qdisc["doubts"].to_string().contains("pfifo"), "{}", qdisc["doubts"]);
        // Nothing reaches the other end any more, not even that all was sent.
        let neighbour = "ip neigh replace 198.18.0.2 lladdr 02:00:00:00:00:99 dev lab-a nud permanent";
        meanwhile(desk, &udp, || bad.at("a", neighbour)).fails(1, &["neighbour 198.18.0.2", "02:00:00:00:00:99"]);
    });
}

#[test]
fn a_link_that_goes_down_for_a_moment_is_named_for_what_it_did_not_carry() {
    Desk::tell_alone(|desk| {
        let _bed = desk.bed(BED, &[]);
        let bad = Bad::new(desk, BED);
        let flap = || {
            bad.at("b", "ip link set lab-b down");
            thread::sleep(Duration::from_millis(200));
            bad.at("b", "ip link set lab-b up");
        };
        let udp = trial(&meanwhile(desk, &["--duration", "4 s", "--protocol", "udp", "--rate", "100 Mbit/s"], flap));
        assert!(udp["doubts"].to_string().contains("link-lost"), "{}", udp["doubts"]);
        assert!(udp["loss_at"]["interruption"].as_u64() > Some(0), "{}", udp["loss_at"]);
        assert_eq!(udp["loss_at"]["device under test"], Value::Null, "{}", udp["loss_at"]);
        let tcp = trial(&meanwhile(desk, &["--duration", "4 s"], flap));
        assert!(tcp["doubts"].to_string().contains("link-lost"), "{}", tcp["doubts"]);
        assert!(!["reordering", "device under test"].contains(&place(&tcp)), "{}", tcp["limited_by"]);
    });
}

#[test]
fn a_window_too_small_for_the_path_is_named() {
    Desk::tell_alone(|desk| {
        let _bed = desk.bed(BED, &[]);
        let small = goodput(desk, &["--window", "8 KiB"]);
        assert_named("window", &small, &goodput(desk, &[]));
    });
}

#[test]
fn a_receive_buffer_too_small_for_bursts_is_named() {
    Desk::tell_alone(|desk| {
        let _bed = desk.bed(BED, &[]);
        let load = ["--protocol", "udp", "--rate", "1 Gbit/s"];
        let small = goodput(desk, &[load.as_slice(), &["--window", "4 KiB"]].concat());
        assert_named("receiver's socket", &small, &goodput(desk, &load));
        assert!(small["loss_at"]["receiver's socket"].as_u64() > Some(0), "{}", small["loss_at"]);
    });
}

#[test]
fn a_receiver_without_a_core_of_its_own_is_named() {
    Desk::tell_alone(|desk| {
        let _bed = desk.bed(BED, &[]);
        let load = ["--protocol", "udp", "--rate", "1500 Mbit/s"];
        let busy = [(); 9].map(|()| Busy::on(1));
        let slow = goodput_beside_others(desk, &load);
        drop(busy);
        let alone = goodput(desk, &load);
        assert_named("receiver CPU", &slow, &alone);
        assert!(slow["doubts"].to_string().contains("other-load"), "{}", slow["doubts"]);
        assert!(!alone["doubts"].to_string().contains("other-load"), "{}", alone["doubts"]);
    });
}

#[test]
fn one_core_for_both_ends_is_named_and_doubted() {
    Desk::tell_alone(|desk| {
        let _bed = desk.bed(BED, &[]);
        let on = |cpus: &str| {
            let words = ["goodput", "--bed", BED, "--repeats", "1", "--cpus", cpus, "--duration", "2 s", "--json"];
            let done = desk.run(&words);
            assert_eq!(done.status, 0, "{}", done.err);
            done.json()["trials"][0].clone()
        };
        let shared = on("1,1");
        assert!(place(&shared).ends_with("CPU"), "{}", shared["limited_by"]);
        assert!(shared["doubts"].to_string().contains("shared-core"), "{}", shared["doubts"]);
        assert!(!on("0,1")["doubts"].to_string().contains("shared-core"), "taken away, and still named");
    });
}

#[test]
fn a_load_that_arrives_as_asked_is_limited_by_what_was_asked() {
    Desk::tell_alone(|desk| {
        let _bed = desk.bed(BED, &[]);
        let trial = goodput(desk, &["--protocol", "udp", "--rate", "100 Mbit/s"]);
        assert_eq!((place(&trial), &trial["lost"]), ("intended load", &0.into()), "{}", trial["limited_by"]);
        let mean = trial["goodput_bps"]["mean"].as_f64().unwrap();
        assert!((0.98e8..1.02e8).contains(&mean), "{mean}");
    });
}

/// A sender asked for more than a core can send is behind its schedule; that is no loss.
#[test]
fn a_sender_that_cannot_keep_up_is_no_loss() {
    Desk::tell_alone(|desk| {
        let _bed = desk.bed(BED, &[]);
        let trial = goodput(desk, &["--protocol", "udp", "--rate", "50 Gbit/s", "--datagram", "64"]);
        assert!(trial["doubts"].to_string().contains("sender-too-slow"), "{}", trial["doubts"]);
        let flow = &trial["flows"][0];
        let count = |what: &str| flow[what].as_u64().unwrap();
        let (sent, received) = (count("datagrams_sent"), count("datagrams_received"));
        assert_eq!(trial["lost"].as_u64().unwrap(), sent - received, "counted against what was sent: {flow}");
    });
}

#[test]
fn other_traffic_on_the_interface_is_a_doubt() {
    Desk::tell_alone(|desk| {
        let _bed = desk.bed(BED, &[]);
        let load = ["--protocol", "udp", "--rate", "20 Mbit/s"];
        let others = "while :; do echo x >/dev/udp/198.18.0.2/9; done 2>/dev/null";
        let mut foreign = Command::new("ip");
        let mut foreign =
            foreign.args(["netns", "exec", "wpfaulty-a", "timeout", "60", "bash", "-c", others]).spawn().unwrap();
        let shared = goodput_beside_others(desk, &load);
        // `timeout` passes the signal to its child.
        signal(foreign.id(), "-TERM");
        foreign.wait().unwrap();
        assert!(shared["doubts"].to_string().contains("packets-disagree"), "{}", shared["doubts"]);
        let alone = goodput(desk, &load);
        assert!(!alone["doubts"].to_string().contains("packets-disagree"), "{}", alone["doubts"]);
    });
}

/// One in 10^6, all of them detected.
#[test]
fn planted_loss_duplication_and_reordering_are_counted_to_the_packet() {
    const EVERY: u64 = 1_000_000;
    Desk::tell_alone(|desk| {
        let _bed = desk.bed(BED, &[]);
        let bad = Bad::new(desk, BED);
        let load = ["--protocol", "udp", "--rate", "120 Mbit/s", "--datagram", "64"];
        // A planted fault counts from its first datagram, so it is planted anew each time.
        let counted = |plant: &dyn Fn(), remove: &dyn Fn()| {
            let trial = desk.undisturbed(|| {
                plant();
                let trial = measure_once(desk, "goodput", &[&["--duration", "10 s"], load.as_slice()].concat());
                remove();
                trial
            });
            let sent = trial["flows"][0]["datagrams_sent"].as_u64().unwrap();
            assert!(sent > EVERY, "{sent} datagrams are too few to show anything");
            assert_eq!(
                trial["loss_at"].get("receiver's socket"),
                None,
                "the tester loses nothing: {}",
                trial["loss_at"]
            );
            (trial["flows"][0].clone(), sent)
        };
        let number = |flow: &Value, what: &str| flow[what].as_u64().unwrap();

        let (flow, sent) = counted(&|| bad.xdp("lose", EVERY), &|| bad.remove_xdp());
        assert_eq!(number(&flow, "lost"), sent / EVERY, "of {sent}");

        let (flow, sent) = counted(&|| bad.tc("duplicate", EVERY), &|| bad.remove_tc());
        assert_eq!(number(&flow, "duplicated"), sent / EVERY, "of {sent}");

        // The second of two consecutive datagrams on a slow path falls behind later ones.
        bad.at("a", "tc qdisc add dev lab-a root handle 1: htb default 10");
        bad.at("a", "tc class add dev lab-a parent 1: classid 1:10 htb rate 90gbit quantum 60000");
        bad.at("a", "tc class add dev lab-a parent 1: classid 1:20 htb rate 8kbit burst 20 quantum 1500");
        let (flow, sent) = counted(&|| bad.tc("reorder", EVERY), &|| bad.remove_tc());
        bad.at("a", "tc qdisc del dev lab-a root");
        // The timer of the slow path may release a datagram on another core, which reorders it in fact.
        assert!((sent / EVERY..=20).contains(&number(&flow, "reordered")), "of {sent}: {flow}");

        let (flow, _) = counted(&|| (), &|| ());
        for what in ["lost", "duplicated", "reordered"] {
            assert_eq!(number(&flow, what), 0, "taken away, and still {what}");
        }
    });
}

#[test]
fn the_place_of_loss_that_no_counter_explains_is_not_known() {
    Desk::tell_alone(|desk| {
        let _bed = desk.bed(BED, &[]);
        let bad = Bad::new(desk, BED);
        let load = ["--protocol", "udp", "--rate", "100 Mbit/s"];
        bad.tc("drop_large", 1);
        let lost = goodput(desk, &load);
        bad.remove_tc();
        assert!(lost["lost"].as_u64() > Some(0));
        // Goodput counts arrivals, whatever was sent.
        assert!(lost["sent_bps"].as_f64() > Some(0.98e8) && lost["goodput_bps"]["mean"] == 0.0, "{lost}");
        let without = goodput(desk, &load);
        assert_eq!(place(&without), "intended load");
        assert_eq!(place(&lost), "not known", "no device is there: {}", lost["limited_by"]);
        assert_eq!(lost["loss_at"]["not known"], lost["lost"], "{}", lost["loss_at"]);
    });
}

/// Rules of nftables at an input hook, which drop every twentieth datagram.
const FILTER: &str = "nft add table ip f; nft add chain ip f c '{ type filter hook HOOK priority 0; }'; \
                      nft add rule ip f c udp dport != 0 numgen random mod 20 0 drop";

#[test]
fn a_packet_filter_of_the_receiver_is_named() {
    Desk::tell_alone(|desk| {
        let _bed = desk.bed(BED, &[]);
        let bad = Bad::new(desk, BED);
        let load = ["--protocol", "udp", "--rate", "100 Mbit/s"];
        for hook in ["input", "prerouting"] {
            bad.script("b", &FILTER.replace("HOOK", hook));
            let filtered = goodput(desk, &load);
            bad.at("b", "nft delete table ip f");
            assert_named("packet filter", &filtered, &goodput(desk, &load));
            let (lost, placed) = (filtered["lost"].as_u64().unwrap(), &filtered["loss_at"]["packet filter"]);
            assert!(lost > 0 && placed.as_u64() >= Some(lost * 99 / 100), "{hook}: {}", filtered["loss_at"]);
        }
    });
}

#[test]
fn the_path_is_found_to_the_byte_and_what_keeps_it_down_is_named() {
    let desk = Desk::new();
    let _bed = desk.bed(BED, &["--mtu", "9000"]);
    let bad = Bad::new(&desk, BED);
    let path = |ip: &str| measure(&desk, "path", &["--ip", ip]);
    let mtus = |trial: &Value| (trial["mtu"]["forward"].as_u64(), trial["mtu"]["reverse"].as_u64());

    for ip in ["4", "6"] {
        let clean = path(ip);
        assert_eq!((mtus(&clean), &clean["culprit"]), ((Some(9000), Some(9000)), &Value::Null), "{clean}");
    }
    bad.at("b", "ip link set dev lab-b mtu 1777");
    for ip in ["4", "6"] {
        let peer = path(ip);
        // A veth accepts packets up to 4 bytes over its MTU: room for a VLAN tag.
        assert_eq!(mtus(&peer), (Some(1781), Some(1777)), "{peer}");
        assert_eq!((&peer["culprit"]["kind"], &peer["culprit"]["device"]), (&"peer-interface".into(), &"lab-b".into()));
    }
    bad.at("b", "ip link set dev lab-b mtu 9000");
    bad.tc("drop_large", 1);
    let hole = path("4");
    bad.remove_tc();
    assert_eq!((mtus(&hole), &hole["culprit"]["kind"]), ((Some(1400), Some(9000)), &"black-hole".into()), "{hole}");
    assert_eq!(path("4")["culprit"], Value::Null, "taken away");
}

#[test]
fn a_peer_that_takes_smaller_packets_is_named_for_what_it_drops() {
    Desk::tell_alone(|desk| {
        let _bed = desk.bed(BED, &["--mtu", "9000"]);
        let bad = Bad::new(desk, BED);
        let load = ["--protocol", "udp", "--rate", "100 Mbit/s"];
        bad.at("b", "ip link set dev lab-b mtu 1500");
        let mismatch = goodput(desk, &load);
        bad.at("b", "ip link set dev lab-b mtu 9000");
        assert_named("path MTU", &mismatch, &goodput(desk, &load));
    });
}

#[test]
fn an_mtu_sweep_proves_each_mtu_and_puts_the_old_one_back() {
    Desk::tell_alone(|desk| {
        let _bed = desk.bed(BED, &["--mtu", "4000"]);
        let bad = Bad::new(desk, BED);
        let sweep = ["goodput", "--bed", BED, "--repeats", "1", "--duration", "1 s", "--mtus", "1500,9000", "--json"];
        let done = desk.run(&sweep);
        assert_eq!(done.status, 0, "{}", done.err);
        let document = done.json();
        let shown: Vec<_> = document["trials"]
            .as_array()
            .unwrap()
            .iter()
            .map(|trial| (trial["probe"].as_str().unwrap().to_owned(), trial["mtu"].clone()))
            .collect();
        let path = |mtu: u32| ("path".to_owned(), serde_json::json!({ "forward": mtu, "reverse": mtu }));
        let data = |mtu: u32| ("goodput".to_owned(), mtu.into());
        assert_eq!(shown, [path(1500), data(1500), path(9000), data(9000)]);
        assert_eq!(document["environment"]["differences"], serde_json::json!([]), "put back");
        let mss = |trial: usize| document["trials"][trial]["flows"][0]["tcp"][0]["mss"].as_u64().unwrap();
        assert_eq!((mss(1), mss(3)), (1460, 8960), "the connections saw it too");

        bad.tc("drop_large", 1);
        let begun = Instant::now();
        let done = desk.run(&sweep);
        bad.remove_tc();
        let document = done.json();
        let probes: Vec<_> = document["trials"].as_array().unwrap().iter().map(|trial| &trial["probe"]).collect();
        assert_eq!(probes, ["path", "path"], "1400 bytes pass, so that both MTUs are disproved");
        let doubts = document["run"]["doubts"].to_string();
        assert!(doubts.contains("mtu-disproved") && doubts.contains("MTU 9000 over IPv4"), "{doubts}");
        assert_eq!((done.status, &document["run"]["partial"]), (4, &true.into()), "{}", done.err);
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
        let without = desk.run(&[sweep.as_slice(), &["--protocol", "udp"]].concat()).json();
        assert_ne!(without["trials"][3]["limited_by"]["place"], "path MTU", "taken away, and still named");
    });
}
