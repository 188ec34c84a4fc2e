//! The path to a host without wireproof, behind a router whose second link is narrow.

use std::{
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{machine::Snapshot, program::Desk, router::ip, schemas::Schemas, waiting::within};

const PATIENCE: Duration = Duration::from_secs(15);
const ENDS: [&str; 2] = ["198.19.0.2", "2001:2:0:1::2"];
const ROUTER: [&str; 2] = ["198.18.0.2", "2001:2::2"];

/// Here, a router, and a host: the link between those has this MTU.
fn hosts(mtu: u32) {
    for name in ["mid", "end"] {
        ip(&format!("netns add {name}"));
    }
    ip("link add to-mid type veth peer name l netns mid");
    ip(&format!("-n mid link add r mtu {mtu} type veth peer name l mtu {mtu} netns end"));
    for (of, interface, network, last) in
        [("", "to-mid", 0, 1), ("-n mid ", "l", 0, 2), ("-n mid ", "r", 1, 1), ("-n end ", "l", 1, 2)]
    {
        ip(&format!("{of}address add 198.1{}.0.{last}/24 dev {interface}", 8 + network));
        ip(&format!("{of}address add 2001:2:0:{network}::{last}/64 dev {interface} nodad"));
        ip(&format!("{of}link set dev {interface} up"));
    }
    for setting in ["net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1"] {
        inside("mid", &["sysctl", "-qw", setting]);
    }
    for (of, end) in [("", 0), ("-n end ", 1)] {
        ip(&format!("{of}route add 198.1{}.0.0/24 via 198.1{}.0.{}", 9 - end, 8 + end, 2 - end));
        ip(&format!("{of}route add 2001:2:0:{}::/64 via 2001:2:0:{end}::{}", 1 - end, 2 - end));
    }
    let is_up = |of: &str| ip(&format!("{of}link show")).matches("state UP").count() > 0;
    assert!(within(PATIENCE, || is_up("") && is_up("-n mid ") && is_up("-n end ")));
}

fn inside(name: &str, words: &[&str]) {
    let done = Command::new("ip").args(["netns", "exec", name]).args(words).output().unwrap();
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
}

fn path(desk: &Desk, more: &[&str]) -> Value {
    let began = Instant::now();
    let done = desk.run(&[&["path", "--json"], more].concat());
    assert!(began.elapsed() < Duration::from_secs(25), "{more:?} took {:?}", began.elapsed());
    done.json()["paths"][0].clone()
}

#[test]
fn the_path_to_a_host_without_wireproof_is_found_to_the_byte_with_its_cause() {
    let desk = Desk::new();
    hosts(1300);
    let before = Snapshot::take();
    let schemas = Schemas::of(&desk);
    for (end, router) in ENDS.into_iter().zip(ROUTER) {
        for method in ["echo", "udp"] {
            let found = path(&desk, &[end, "--method", method]);
            assert_eq!((&found["leg"]["mtu"], &found["leg"]["routers"]), (&1300.into(), &1.into()), "{found:#}");
            assert_eq!(found["culprit"]["kind"], "middle-hop", "{found:#}");
            assert_eq!(found["culprit"]["host"], router);
            assert_eq!(found["advice"][0]["kind"], "ask-router");
            let hops: Vec<&Value> = found["hops"].as_array().unwrap().iter().map(|hop| &hop["addresses"][0]).collect();
            assert_eq!(hops, [router, end]);
        }
    }
    schemas.holds("path", &desk.run(&["path", ENDS[0], "--json"]).json());
    let shown = desk.run(&["path", ENDS[0], "--lang", "ja"]).out;
    assert!(shown.contains("1300 バイトまでのパケットが届きます") && shown.contains("ルーター 198.18.0.2"), "{shown}");

    // A server there: its MSS fits the narrow link.
    let mut server = Command::new("ip")
        .args(["netns", "exec", "end", "nc", "-l", "-k", "198.19.0.2", "7777"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let with_tcp = || path(&desk, &[ENDS[0], "--tcp", "7777"])["tcp"].clone();
    let packet = within(PATIENCE, || with_tcp()["packet"] == 1300);
    server.kill().and_then(|()| server.wait()).unwrap();
    assert!(packet, "{}", with_tcp());
    assert_eq!(with_tcp()["connected"], "no");
    before.assert_same();
}

#[test]
fn a_router_that_keeps_silent_and_a_host_that_answers_nothing_are_named() {
    let desk = Desk::new();
    hosts(1400);
    inside("mid", &["nft", "add table inet quiet; add chain inet quiet out { type filter hook output priority 0; }"]);
    inside("mid", &["nft", "add rule inet quiet out icmp type destination-unreachable drop"]);
    let hole = path(&desk, &[ENDS[0]]);
    assert_eq!((&hole["leg"]["mtu"], &hole["culprit"]["kind"]), (&1400.into(), &"black-hole".into()), "{hole:#}");
    let remedies: Vec<&Value> = hole["advice"].as_array().unwrap().iter().map(|advice| &advice["command"]).collect();
    assert_eq!(remedies[1], "ip route replace 198.19.0.2/32 via 198.18.0.2 dev to-mid mtu 1400");

    let rounds = path(&desk, &[ENDS[0], "--hops=3"]);
    assert_eq!(rounds["hops"][1]["sent"], 3);
    inside(
        "end",
        &["nft", "add table inet mute; add chain inet mute in { type filter hook input priority 0; policy drop; }"],
    );
    desk.run(&["path", ENDS[0]]).fails(1, &["answers neither echo requests nor datagrams", "packet filter"]);
    desk.run(&["path", "198.19.0.9", "--bed", "lab"]).fails(2, &["--bed"]);
    desk.run(&["path", "no-such-host.invalid"]).fails(2, &["no-such-host.invalid", "write an address"]);
}
