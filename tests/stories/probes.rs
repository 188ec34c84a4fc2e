//! Each probe, from the command line to the JSON.

use serde_json::Value;

use crate::program::Desk;

fn trials(desk: &Desk, words: &[&str]) -> Vec<Value> {
    let done = desk.undisturbed(|| desk.run(&[words, &["--repeats", "1", "--json"]].concat()));
    assert_eq!(done.status, 0, "{words:?}: {}", done.err);
    done.json()["trials"].as_array().unwrap().clone()
}

#[test]
fn latency_in_each_mode_and_for_a_time() {
    Desk::tell_alone(|desk| {
        for mode in ["spin", "block", "busy-poll"] {
            let words = ["latency", "--mode", mode, "--frame-sizes", "64,1518", "--duration", "500 ms"];
            let both = trials(desk, &words);
            for trial in &both {
                assert_eq!((&trial["mode"], &trial["lost"]), (&mode.into(), &0.into()), "{trial}");
                let seconds = trial["duration_s"].as_f64().unwrap();
                assert!((0.5..1.0).contains(&seconds), "{seconds}");
                assert!(trial["ipdv_ns"]["rtt_ns"]["p50"].as_u64().is_some(), "{trial}");
            }
            // 18 bytes of payload have no room for the far side's timestamps, 1472 have.
            assert_eq!(both[0]["one_way_ns"], Value::Null);
            // In ping-pong, both one-way times add up to the round trip, message by message.
            let mean = |way: &Value| way["mean"].as_f64().unwrap();
            let (there, back) = (&both[1]["one_way_ns"]["forward_ns"], &both[1]["one_way_ns"]["reverse_ns"]);
            let (sum, rtt) = (mean(there) + mean(back), mean(&both[1]["rtt_ns"]));
            assert!((sum / rtt - 1.0).abs() < 0.001, "{sum} of {rtt}");
        }
    });
}

/// Datagrams in the kernel's UDP counters at both ends.
fn datagrams_of_the_kernel(trial: &Value) -> i64 {
    let ends = trial["counters"].as_array().unwrap().iter();
    let deltas = ends.flat_map(|end| end["deltas"].as_array().unwrap());
    let of_udp = deltas.filter(|it| ["InDatagrams", "OutDatagrams"].contains(&it["name"].as_str().unwrap()));
    of_udp.map(|it| it["delta"].as_i64().unwrap()).sum()
}

#[test]
fn datagrams_pass_the_kernel_by_beside_those_that_do_not() {
    Desk::tell_alone(|desk| {
        let ping_pong = ["latency", "--frame-sizes", "64,1518", "--count", "2000"].as_slice();
        let bulk = ["goodput", "--protocol", "udp", "--duration", "1 s", "--rate", "200 Mbit/s"].as_slice();
        let both_ways = [
            "goodput",
            "--protocol",
            "udp",
            "--duration",
            "1 s",
            "--rate",
            "20 Mbit/s",
            "--direction",
            "both",
            "--streams",
            "2",
        ]
        .as_slice();
        for ip in ["4", "6"] {
            for words in [ping_pong, bulk, both_ways] {
                let trials = trials(desk, &[words, &["--stack", "kernel,bypass", "--ip", ip]].concat());
                let (kernel, bypass): (Vec<&Value>, Vec<&Value>) =
                    trials.iter().partition(|trial| trial["stack"] == "kernel");
                assert_eq!(kernel.len(), bypass.len(), "{trials:?}");
                for (kernel, bypass) in kernel.iter().zip(bypass) {
                    let (through, past) = (datagrams_of_the_kernel(kernel), datagrams_of_the_kernel(bypass));
                    assert!(through > 4000 && past < 100, "{words:?}: {through}, and {past} past it");
                    let lost = |trial: &Value| {
                        trial["lost"].as_u64().unwrap_or_else(|| {
                            trial["flows"].as_array().unwrap().iter().map(|flow| flow["lost"].as_u64().unwrap()).sum()
                        })
                    };
                    assert_eq!((lost(kernel), lost(bypass)), (0, 0), "{words:?}");
                    assert!(!bypass["doubts"].to_string().contains("through-kernel"), "{}", bypass["doubts"]);
                }
            }
        }
    });
}

#[test]
fn what_cannot_pass_the_kernel_by_is_said() {
    let desk = Desk::new();
    let says = "wireproof: TCP does not go past the kernel yet, only UDP does: write --protocol udp";
    desk.run(&["latency", "--protocol", "tcp", "--stack", "bypass"]).fails(2, &[says]);
    desk.run(&["goodput", "--protocol", "tcp", "--stack", "kernel,bypass"]).fails(2, &[says]);
    // Goodput uses TCP by default.
    desk.run(&["goodput", "--stack", "bypass"]).fails(2, &[says]);
    desk.run(&["goodput", "--set", "goodput.stacks=[\"bypass\"]"])
        .fails(2, &["[[goodput]] number 1: only UDP goes past the kernel so far; write protocol = \"udp\""]);
    desk.run(&["latency", "--stack", "pass"]).fails(2, &["\"pass\" is not a network stack: use kernel or bypass"]);
    desk.run(&["latency", "--stack", "bypass", "--mode", "busy-poll"]).fails(2, &["busy-poll is the kernel's"]);
}

/// The hypervisor's doubts are beyond our control; there must be no others.
#[test]
fn a_clean_measurement_has_no_doubts() {
    Desk::tell_alone(|desk| {
        for words in [
            ["latency", "--duration", "1 s", "--frame-sizes", "128", "--mode", "spin"],
            ["latency", "--duration", "1 s", "--frame-sizes", "128", "--mode", "block"],
            ["goodput", "--duration", "1 s", "--protocol", "tcp", "--streams", "1"],
            ["goodput", "--duration", "1 s", "--protocol", "udp", "--rate", "100 Mbit/s"],
        ] {
            for trial in trials(desk, &words) {
                let doubts = trial["doubts"].as_array().unwrap();
                assert!(doubts.iter().all(|doubt| doubt["kind"] == "steal"), "{words:?}: {doubts:?}");
            }
        }
    });
}

#[test]
fn what_the_tester_does_alone_stands_beside_its_load() {
    let desk = Desk::new();
    let words = ["--duration", "1 s", "--repeats", "1", "--json"];
    let datagrams = ["goodput", "--protocol", "udp"].as_slice();
    let messages = ["latency", "--rate", "5 kpps", "--frame-sizes", "64"].as_slice();
    for load in [datagrams, messages] {
        let document = desk.run(&[load, words.as_slice()].concat()).json();
        let alone = document["self_tests"].as_array().unwrap();
        assert_eq!((alone.len(), &alone[0]["probe"]), (1, &load[0].into()), "{load:?}");
        let interface = &alone[0]["counters"][0]["deltas"].to_string();
        assert!(interface.contains("\"lo\""), "over loopback, not over the path: {interface}");
    }
    // The path limits the rate of these.
    let document = desk.run(&[["goodput", "--protocol", "tcp"].as_slice(), words.as_slice()].concat()).json();
    assert_eq!(document["self_tests"], serde_json::json!([]));
}

#[test]
fn sizes_are_those_on_the_wire() {
    let desk = Desk::new();
    for (ip, protocol, sizes) in [("4", "tcp", [64, 128]), ("6", "udp", [70, 128]), ("6", "tcp", [82, 128])] {
        let words = ["latency", "--ip", ip, "--protocol", protocol, "--frame-sizes", "64,128", "--count", "200"];
        for (trial, (asked, size)) in trials(&desk, &words).iter().zip([64, 128].into_iter().zip(sizes)) {
            assert_eq!((&trial["frame_size_asked"], &trial["frame_size"]), (&asked.into(), &size.into()), "{trial}");
            let headers = if ip == "4" { 20 } else { 40 } + if protocol == "tcp" { 20 } else { 8 };
            assert_eq!(trial["payload_size"], size - 18 - headers);
        }
    }
    let jumbo = trials(&desk, &["latency", "--mtu", "9000", "--frame-sizes", "9018", "--count", "200"]);
    assert_eq!((&jumbo[0]["frame_size"], &jumbo[0]["payload_size"]), (&9018.into(), &8972.into()));
}

#[test]
fn latency_under_load_keeps_its_schedule() {
    Desk::tell_alone(|desk| {
        for protocol in ["udp", "tcp"] {
            let words =
                ["latency", "--protocol", protocol, "--rate", "5 kpps", "--frame-sizes", "128", "--duration", "1 s"];
            let trial = &trials(desk, &words)[0];
            assert_eq!(trial["intended_pps"], 5000.0, "{trial}");
            let achieved = trial["achieved_pps"].as_f64().unwrap();
            assert!((4000.0..5100.0).contains(&achieved), "{achieved}");
            assert_eq!(trial["pacing"]["intended_gap_ns"], 200_000.0);
            let gap = trial["pacing"]["gap_ns"]["p50"].as_f64().unwrap();
            assert!((150_000.0..250_000.0).contains(&gap), "inter-departure time, measured: {gap}");
            let (least, most) = (&trial["pacing"]["gap_ns"]["min"], &trial["pacing"]["gap_ns"]["max"]);
            assert!(least.as_u64() < most.as_u64(), "no clock keeps every gap alike: {trial}");
            assert_eq!(trial["rtt_ns"]["n"], 5000, "each message the schedule asked for is in the sample");
        }
    });
}

#[test]
fn stamps_split_the_round_trip() {
    let desk = Desk::new();
    let trial = &trials(&desk, &["latency", "--stamps", "--frame-sizes", "128", "--count", "3000"])[0];
    let stages = trial["stages"].as_array().unwrap();
    let names: Vec<_> = stages.iter().map(|stage| stage["stage"].as_str().unwrap()).collect();
    assert_eq!(names, ["near-send", "wire-and-far", "near-receive"]);
    let sum: u64 = stages.iter().map(|stage| stage["time_ns"]["p50"].as_u64().unwrap()).sum();
    let rtt = trial["rtt_ns"]["p50"].as_u64().unwrap();
    assert!(sum > rtt / 2 && sum < 2 * rtt, "{sum} of {rtt}");
    assert_eq!(trial["hardware_stamps"], false, "a veth has none");
}

#[test]
fn tcp_goodput_each_way_and_with_each_choice() {
    let desk = Desk::new();
    for choice in [
        ["--direction", "reverse"],
        ["--direction", "both"],
        ["--send", "zerocopy"],
        ["--send", "sendfile"],
        ["--receive", "truncate"],
        ["--congestion", "reno"],
        ["--window", "1 MiB"],
        ["--ip", "6"],
    ] {
        let trial =
            &trials(&desk, &[&["goodput", "--duration", "1 s", "--streams", "2"], choice.as_slice()].concat())[0];
        let flows = trial["flows"].as_array().unwrap();
        assert_eq!(flows.len(), if choice[1] == "both" { 2 } else { 1 }, "{choice:?}");
        for flow in flows {
            assert!(flow["goodput_bps"]["mean"].as_f64().unwrap() > 1e8, "{choice:?} {flow}");
            let states = flow["tcp"].as_array().unwrap();
            assert_eq!(states.len(), 2, "one for each stream: {flow}");
            for state in states {
                assert_eq!(
                    (&state["mss"], &state["path_mtu"]),
                    (&if choice[0] == "--ip" { 1440 } else { 1460 }.into(), &1500.into())
                );
                assert!(state["cwnd_segments"].as_u64() > Some(0) && state["rtt_us"].as_u64() > Some(0), "{state}");
                // A lab has this one, whatever the machine's choice is.
                let congestion = if choice[0] == "--congestion" { "reno" } else { "cubic" };
                assert_eq!(state["congestion"], congestion);
            }
        }
        if choice[1] == "reverse" {
            assert_eq!((&flows[0]["from"], &flows[0]["to"]), (&"b".into(), &"a".into()));
        }
    }
}

#[test]
fn udp_goodput_each_way_and_in_each_batch() {
    Desk::tell_alone(|desk| {
        for batch in ["mmsg", "gso"] {
            for direction in ["forward", "reverse", "both"] {
                let words = [
                    "goodput",
                    "--protocol",
                    "udp",
                    "--batch",
                    batch,
                    "--direction",
                    direction,
                    "--rate",
                    "200 Mbit/s",
                ];
                let trial = &trials(desk, &[words.as_slice(), &["--duration", "1 s"]].concat())[0];
                for flow in trial["flows"].as_array().unwrap() {
                    assert_eq!(
                        (&flow["lost"], &flow["duplicated"], &flow["corrupt"]),
                        (&0.into(), &0.into(), &0.into()),
                        "{flow}"
                    );
                    let mean = flow["goodput_bps"]["mean"].as_f64().unwrap();
                    assert!((1.8e8..2.1e8).contains(&mean), "{batch} {direction} {mean}");
                }
                assert_eq!(trial["datagram_size"], 1472);
            }
        }
    });
}

/// The kernel's own error for segmentation is an invalid argument or message, without advice.
#[test]
fn segments_that_a_narrower_path_does_not_take_are_said_to_be() {
    let desk = Desk::new();
    let _bed = desk.bed("narrow", &[]);
    for (ip, route, largest) in [
        ("4", "198.18.0.0/24 dev lab-a src 198.18.0.1 scope link", 1372),
        ("6", "2001:2::/64 dev lab-a proto kernel metric 256", 1352),
    ] {
        let words: Vec<&str> = ["-n", "wpnarrow-a", "route", "replace"].into_iter().chain(route.split(' ')).collect();
        let replaced = std::process::Command::new("ip").args(words).args(["mtu", "1400"]).status().unwrap();
        assert!(replaced.success());
        let words =
            ["goodput", "--bed", "narrow", "--protocol", "udp", "--batch", "gso", "--ip", ip, "--duration", "1 s"];
        desk.run(&[words.as_slice(), &["--repeats", "1"]].concat())
            .fails(1, &["the path MTU is 1400 now", &format!("--datagram {largest} or less"), "wireproof path"]);
    }
}

#[test]
fn a_wrapper_runs_the_measuring_processes() {
    let desk = Desk::new();
    let words = ["latency", "--count", "200", "--frame-sizes", "64", "--repeats", "1", "--json"];
    let noted = desk.path("noted");
    let script = desk.path("wrapper");
    std::fs::write(&script, format!("#!/bin/sh\necho \"$@\" >>{}\nexec \"$@\"\n", noted.display())).unwrap();
    std::process::Command::new("chmod").arg("+x").arg(&script).status().unwrap();
    let wrap = format!("{} nice -n 1", script.display());
    let done = desk.run(&[words.as_slice(), &["--wrap", &wrap]].concat());
    assert_eq!(done.status, 0, "{}", done.err);
    assert_eq!(done.json()["bed"]["wrap"].as_array().unwrap().len(), 4);
    let started = std::fs::read_to_string(&noted).unwrap();
    assert_eq!(
        started.lines().filter(|line| line.starts_with("nice -n 1 ") && line.ends_with("agent --stdio")).count(),
        2
    );
    desk.run(&[words.as_slice(), &["--wrap", "no-such-wrapper"]].concat()).fails(2, &["--wrap", "no-such-wrapper"]);
}
