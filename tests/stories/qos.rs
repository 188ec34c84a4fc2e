//! Quality of service: a router that prefers packets by their code point, and one that does not.

use crate::{
    planted::Bad,
    program::{Desk, Done, text},
};

const BED: &str = "qos";

/// The code point to the first band of a queue: by itself, Linux puts it beside the rest.
const PREFER: &str = "nft add table ip q; nft add chain ip q c '{ type filter hook postrouting priority 0; }'; \
                      nft add rule ip q c ip dscp ef meta priority set 0:6";

/// Puts a bottleneck at the router's output, with this queue.
fn bottleneck(bad: &Bad<'_>, queue: &str) {
    let shaper = "tc qdisc add dev to-b root handle 1: tbf rate 100mbit burst 32kb limit 300kb";
    let child = format!("tc qdisc add dev to-b parent 1:1 handle 10: {queue}");
    bad.script("router", &format!("tc qdisc del dev to-b root 2>/dev/null || true; {shaper}; {child}"));
}

fn measure(desk: &Desk) -> Done {
    // The bulk is one and a half of what fits.
    let plan = include_str!("../../plans/qos.toml").replace("10 s", "2 s").replace("flat out", "20 kpps");
    // The tests share their cores with others: the loss decides.
    let plan = plan.replace("5 ms", "100 ms");
    let plan = desk.plan(plan);
    desk.run(&["verify", text(&plan), "--bed", BED, "--json"])
}

#[test]
fn a_queue_by_priority_keeps_the_limits_and_a_plain_one_does_not() {
    let desk = Desk::new();
    let _bed = desk.bed(BED, &["--bed", "lab:router"]);
    let bad = Bad::new(&desk, BED);
    bad.script("router", PREFER);
    bottleneck(&bad, "pfifo_fast");
    let kept = measure(&desk);
    assert_eq!(kept.status, 0, "{} {}", kept.err, kept.out);
    bottleneck(&bad, "pfifo limit 200");
    let missed = measure(&desk);
    assert_eq!(missed.status, 3, "{} {}", missed.err, missed.out);
    let verdicts = missed.json()["limits"].to_string();
    assert!(verdicts.contains("priority_loss"), "{verdicts}");
}
