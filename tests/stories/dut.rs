//! A router between two ports of this machine: its required configuration is printed, its forwarding checked, and its
//! counters read.

use std::{
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::{
    machine::Snapshot,
    other_host::{ADDRESS, NEAR, OtherHost},
    program::{Desk, Done, done, text},
};

struct Story {
    before: Snapshot,
    router: OtherHost,
    desk: Desk,
}

const BED: &str = "ports:port1,port2,routed";

impl Story {
    fn new() -> Self {
        let desk = Desk::new();
        let router = OtherHost::router();
        Self { before: Snapshot::take(), router, desk }
    }

    /// Configured by the program's commands.
    fn configured() -> Self {
        let story = Self::new();
        for line in story.commands() {
            let line = line.split('#').next().unwrap().replace("PORT", "router");
            story.router.set(&line);
        }
        story
    }

    /// The program's commands for configuring the device.
    fn commands(&self) -> Vec<String> {
        let dry = self.run(&["latency", "--bed", BED, "--dry-run", "--json"]);
        assert_eq!(dry.status, 0, "{}", dry.err);
        let commands = dry.json()["dut_commands"].clone();
        commands.as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned()).collect()
    }

    fn run(&self, words: &[&str]) -> Done {
        // Not through "ip netns exec", whose own mounts lack the names of namespaces.
        let mut command = Command::new("nsenter");
        let program = self.router.program(&self.desk, words);
        let mut words: Vec<_> = program.get_args().skip(3).collect();
        if words.contains(&"bed".as_ref()) {
            // Beds have no report.
            words.truncate(words.len() - 2);
        }
        command.arg(format!("--net=/run/netns/{NEAR}")).args(words).env("LANG", "C.UTF-8");
        done(command.stdin(Stdio::null()).output().unwrap())
    }

    /// A transfer through the router, whose counters are read as this user.
    fn goodput(&self, user: &str, more: &[&str]) -> Value {
        let bed = format!("{BED},dut=ssh://{user}@{ADDRESS}");
        let ssh = self.router.ssh();
        let words = ["goodput", "--bed", &bed, "--ssh", &ssh, "--duration", "2 s", "--repeats", "1", "--json"];
        let done = self.run(&[&words, more].concat());
        assert_eq!(done.status, 0, "{}", done.err);
        done.json()
    }
}

#[test]
fn a_router_is_configured_as_it_is_said_and_named_while_it_is_not() {
    let story = Story::new();
    let look = ["latency", "--bed", BED, "--count", "200", "--frame-sizes", "128", "--repeats", "1", "--json"];
    let commands = story.commands();
    let set = |line: &String| story.router.set(&line.split('#').next().unwrap().replace("PORT", "router"));
    commands.iter().filter(|line| line.starts_with("ip link")).for_each(set);
    let bare = story.run(&look);
    bare.fails(1, &["does not forward", "no device has 198.18.0.1", "ip address add 198.18.0.1/24 dev PORT1"]);
    assert!(bare.err.contains("ip address add 2001:2:0:1::1/64 dev PORT2"), "{}", bare.err);

    let (forward, rest): (Vec<&String>, Vec<&String>) = commands.iter().partition(|line| line.starts_with("sysctl"));
    rest.into_iter().for_each(set);
    story.router.set("sysctl -qw net.ipv4.ip_forward=0");
    story.run(&look).fails(1, &["does not forward", "nothing comes through it; is forwarding on"]);

    story.router.set("sysctl -qw net.ipv4.ip_forward=1");
    let many = story.run(&["rfc2544", "--networks", "256", "--bed", BED, "--dry-run", "--json"]);
    let told = many.json()["dut_commands"].to_string();
    assert!(told.contains("for n in $(seq 1 255); do ip route add 198.19.$n.0/24 via 198.19.0.2; done"), "{told}");
    let half = story.run(&look);
    assert_eq!(half.status, 0, "{}", half.err);
    assert!(half.err.contains("IPv6 does not get through the device under test"), "{}", half.err);
    assert_eq!(half.json()["bed"]["endpoints"][0]["addresses"], serde_json::json!(["198.18.0.2"]));

    forward.into_iter().for_each(set);
    let both = story.run(&[&look[..], &["--ip", "6"]].concat());
    assert_eq!(both.status, 0, "{}", both.err);
    let bed = &both.json()["bed"];
    assert_eq!(bed["endpoints"][1]["addresses"], serde_json::json!(["198.19.0.2", "2001:2:0:1::2"]));
    assert_eq!(bed["dut"]["gateways"][0]["address"], "198.18.0.1");
    let path = story.run(&["path", "--bed", BED, "--ip", "4", "--json"]).json();
    assert_eq!(path["trials"][0]["mtu"]["forward"], 1500, "{}", path["trials"][0]);
    story.before.assert_same();
}

#[test]
fn what_limits_the_device_under_test_is_named_and_goes_with_its_cause() {
    let story = Story::configured();
    let clean = story.goodput("plain", &[]);
    let trial = &clean["trials"][0];
    assert_ne!(trial["limited_by"]["endpoint"], "DUT", "{}", trial["limited_by"]);
    let counted = trial["dut"]["deltas"].to_string();
    assert!(
        counted.contains("\"router1\"") && counted.contains("\"router2\"") && !counted.contains("control-f"),
        "{counted}"
    );
    assert!(!trial["dut"]["cpu"].as_array().unwrap().is_empty());
    let machines = clean["environment"]["before"]["hosts"].as_array().unwrap();
    assert_eq!((machines.len(), &machines[1]["hostname"]), (2, &"the-router".into()));
    assert_eq!(clean["environment"]["before"]["endpoints"][2]["endpoint"], "DUT");
    assert_eq!(clean["bed"]["dut"]["machine"], "the-router");

    story.router.set("tc qdisc add dev router2 root tbf rate 50mbit burst 100kb limit 300kb");
    let slow = story.goodput("plain", &[]);
    let limited = &slow["trials"][0]["limited_by"];
    assert_eq!((&limited["place"], &limited["endpoint"]), (&"qdisc".into(), &"DUT".into()), "{limited}");
    assert!(limited["evidence"].as_str().unwrap().contains("tbf"), "{limited}");
    let flood = story.goodput("plain", &["--protocol", "udp", "--rate", "100 Mbit/s"]);
    let trial = &flood["trials"][0];
    let limited = &trial["limited_by"];
    assert_eq!((&limited["place"], &limited["endpoint"]), (&"qdisc".into(), &"DUT".into()), "{limited}");
    let losses = trial["losses"].to_string();
    assert!(losses.contains("DUT") && losses.contains("drops"), "{losses}");

    story.router.set("tc qdisc del dev router2 root");
    let again = story.goodput("plain", &["--protocol", "udp", "--rate", "100 Mbit/s"]);
    let trial = &again["trials"][0];
    assert_ne!(trial["limited_by"]["endpoint"], "DUT", "taken away, and still named: {}", trial["limited_by"]);
    assert!(!trial["losses"].to_string().contains("DUT"), "{}", trial["losses"]);
    let report = std::fs::read_to_string(story.desk.path("out").join("report.html")).unwrap();
    assert!(report.contains("Device under test") && report.contains("the-router"));
    story.before.assert_same();
}

#[test]
fn the_tester_answers_for_each_of_its_addresses_on_both_sides() {
    let story = Story::configured();
    let up = story.run(&["bed", "up", "routed", "--bed", BED]);
    assert_eq!(up.status, 0, "{}", up.err);
    let at_end = |end: &str| {
        let namespace = format!("wprouted-{end}");
        move |words: &[&str]| done(Command::new("ip").args(["netns", "exec", &namespace]).args(words).output().unwrap())
    };
    for address in ["198.18.0.77/24", "2001:2::77/64"] {
        let nodad: &[&str] = if address.contains("::") { &["nodad"] } else { &[] };
        at_end("a")(&[&["ip", "address", "add", address, "dev", "port1"], nodad].concat());
    }
    // During duplicate address detection, the router sends from another address.
    let tentative = || !story.router.says(&["sh", "-c", "ip -6 -o address show tentative >&2"]).is_empty();
    for _ in 0..50 {
        if !tentative() {
            break;
        }
        thread::sleep(Duration::from_millis(100));
    }
    // Only the owner of the address refuses a closed port.
    let knock = |address: &str| format!("exec 3<>/dev/tcp/{address}/9");
    let mut answered = Vec::new();
    for address in ["198.18.0.2", "198.18.0.77", "2001:2::2", "2001:2::77"] {
        answered.push((address, "the router", story.router.says(&["timeout", "3", "bash", "-c", &knock(address)])));
        answered.push((address, "beyond it", at_end("b")(&["timeout", "3", "bash", "-c", &knock(address)]).err));
    }
    let used = story.run(&["latency", "--bed", "routed", "--count", "100", "--frame-sizes", "128", "--repeats", "1"]);
    let down = story.run(&["bed", "down", "routed"]);
    assert_eq!((used.status, down.status), (0, 0), "{} {}", used.err, down.err);
    for (address, who, said) in answered {
        assert!(said.contains("Connection refused"), "{address} asked by {who}: {said}");
    }
    story.before.assert_same();
}

#[test]
fn a_device_that_cannot_be_read_is_told_before_anything_is_changed() {
    let story = Story::configured();
    let refused = |bed: &str, status: i32, says: &[&str]| {
        let ssh = story.router.ssh();
        story.run(&["latency", "--count", "10", "--bed", bed, "--ssh", &ssh]).fails(status, says);
    };
    refused("ports:port1,port2,routed,dut=the-router", 2, &["reached by ssh"]);
    refused("ports:port1,port2,via=198.18.0.1/24", 2, &["two gateways"]);
    refused("ports:port1,port2,routed,rooted", 2, &["\"rooted\" is none of"]);
    std::fs::remove_file(story.router.path("bin/wireproof")).unwrap();
    refused(
        &format!("{BED},dut=ssh://plain@{ADDRESS}"),
        1,
        &["no wireproof on the path of the user at plain@", "--push"],
    );
    let plan = story.desk.plan("name = \"t\"\n[[latency]]\nprotocol = \"udp\"\nframe_sizes = [64]\ncount = 100\n");
    let (bed, ssh) = (format!("{BED},dut=ssh://plain@{ADDRESS}"), story.router.ssh());
    let pushed = story.run(&["verify", text(&plan), "--bed", &bed, "--ssh", &ssh, "--push", "--json"]);
    assert_eq!(pushed.status, 0, "{}", pushed.err);
    assert!(pushed.json()["trials"][0]["dut"]["deltas"].to_string().contains("router1"));
    story.before.assert_same();
}
