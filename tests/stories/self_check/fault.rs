//! A fault: how it is planted and taken away, and its right names.

use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::last_trial;
use crate::{
    planted::{Bad, Busy, SmallTable},
    program::{Desk, Done, done},
    waiting::soon,
};

/// Probes, with options for short runs.
pub(super) const TCP: &[&str] = &["goodput", "--duration", "3 s"];
pub(super) const UDP: &[&str] = &["goodput", "--duration", "2 s", "--protocol", "udp", "--rate", "300 Mbit/s"];
pub(super) const PACKETS: &[&str] = &["packets", "--duration", "2 s", "--rate", "20 kpps"];
pub(super) const LATENCY: &[&str] = &["latency", "--count", "5000", "--frame-sizes", "128"];
pub(super) const PACED_LATENCY: &[&str] = &["latency", "--duration", "2 s", "--rate", "5 kpps", "--frame-sizes", "128"];
pub(super) const TRANSACTIONS: &[&str] = &["transactions", "--duration", "2 s", "--connections", "4"];
pub(super) const PATH: &[&str] = &["path", "--ip", "4"];

const BED: &str = "planted";

type Plant = Box<dyn Fn(&Bad)>;

/// A fault of the path, planted before a measurement or during it.
pub(super) struct Fault {
    pub(super) name: &'static str,
    probe: Vec<&'static str>,
    bed: &'static [&'static str],
    /// Script that runs on the router of `lab:router` once it is there, instead of a kept bed.
    router: Option<&'static str>,
    cpus: &'static str,
    plants: Vec<Plant>,
    busy: Vec<usize>,
    /// Most connections that the kernel tracks.
    tracked: Option<u32>,
    /// Node, and a script that runs there in the middle of the traffic.
    meanwhile: Option<(&'static str, &'static str)>,
    expected: Vec<&'static str>,
    wrong: Vec<&'static str>,
}

/// Names given, and whether they are right.
pub(super) struct Found {
    pub(super) names: Vec<String>,
    pub(super) right: bool,
}

/// A fault that this probe meets. Its names come last: [`named`](Fault::named).
pub(super) fn fault(name: &'static str, probe: &[&'static str]) -> Fault {
    Fault {
        name,
        probe: probe.to_vec(),
        bed: &[],
        router: None,
        cpus: "0,1",
        plants: Vec::new(),
        busy: Vec::new(),
        tracked: None,
        meanwhile: None,
        expected: Vec::new(),
        wrong: Vec::new(),
    }
}

impl Fault {
    /// More options of the probe, or other values of those that it has.
    pub(super) fn with(mut self, words: &[&'static str]) -> Self {
        for option in words.chunks(2) {
            match self.probe.iter().position(|word| *word == option[0]) {
                Some(at) => self.probe[at + 1] = option[1],
                None => self.probe.extend(option),
            }
        }
        self
    }

    pub(super) fn on_bed(self, bed: &'static [&'static str]) -> Self {
        Self { bed, ..self }
    }

    /// Measures through a router that runs this script.
    pub(super) fn through_router(self, script: &'static str) -> Self {
        Self { router: Some(script), ..self }
    }

    pub(super) fn on_cpus(self, cpus: &'static str) -> Self {
        Self { cpus, ..self }
    }

    /// Runs a command at an end before.
    pub(super) fn at(mut self, end: &'static str, command: &'static str) -> Self {
        self.plants.push(Box::new(move |bad| bad.at(end, command)));
        self
    }

    /// Runs a script at an end before.
    pub(super) fn script(mut self, end: &'static str, script: &'static str) -> Self {
        self.plants.push(Box::new(move |bad| bad.script(end, script)));
        self
    }

    /// Each `every`-th datagram meets this fault of planted/faults.bpf.c at the output of `a`.
    pub(super) fn tc(mut self, fault: &'static str, every: u64) -> Self {
        self.plants.push(Box::new(move |bad| bad.tc(fault, every)));
        self
    }

    /// The same at the input of `b`.
    pub(super) fn xdp(mut self, fault: &'static str, every: u64) -> Self {
        self.plants.push(Box::new(move |bad| bad.xdp(fault, every)));
        self
    }

    pub(super) fn busy(mut self, cpus: &[usize]) -> Self {
        self.busy.extend(cpus);
        self
    }

    /// Lets the kernel track so many connections alone, in all namespaces.
    pub(super) fn tracked(self, connections: u32) -> Self {
        Self { tracked: Some(connections), ..self }
    }

    /// Runs a script at an end or on the bridge in the middle of the traffic.
    pub(super) fn meanwhile(self, node: &'static str, script: &'static str) -> Self {
        Self { meanwhile: Some((node, script)), ..self }
    }

    /// Names that have to be given.
    pub(super) fn named(mut self, expected: &[&'static str]) -> Self {
        self.expected.extend(expected);
        self
    }

    /// Names that must not be given.
    pub(super) fn not_named(mut self, wrong: &[&'static str]) -> Self {
        self.wrong.extend(wrong);
        self
    }

    pub(super) fn expected(&self) -> String {
        let not = self.wrong.iter().map(|wrong| format!("not {wrong}"));
        self.expected.iter().map(|&name| name.to_owned()).chain(not).collect::<Vec<_>>().join("; ")
    }

    /// Plants it in a lab of its own, measures, and compares.
    pub(super) fn tell(&self, desk: &Desk) -> Found {
        if let Some(script) = self.router {
            let words =
                [&self.probe[..], &["--bed", "lab:router", "--repeats", "1", "--cpus", self.cpus, "--json"]].concat();
            let measuring = desk.start(&words);
            at_router(script);
            return self.found(&done(measuring.wait_with_output().unwrap()));
        }
        let _bed = desk.bed(BED, self.bed);
        let bad = Bad::new(desk, BED);
        self.plants.iter().for_each(|plant| plant(&bad));
        let busy: Vec<Busy> = self.busy.iter().map(|&cpu| Busy::on(cpu)).collect();
        let table = self.tracked.map(SmallTable::of);
        let meanwhile = self.meanwhile.map(|(node, script)| later(node, script));
        let words = [&self.probe[..], &["--bed", BED, "--repeats", "1", "--cpus", self.cpus, "--json"]].concat();
        let measured = desk.run(&words);
        drop((busy, table));
        if let Some(meanwhile) = meanwhile {
            let done = done(meanwhile.wait_with_output().unwrap());
            assert_eq!(done.status, 0, "{}: {}", self.name, done.err);
        }
        self.found(&measured)
    }

    fn found(&self, measured: &Done) -> Found {
        let names = names(measured);
        let is_named = |name: &&str| names.iter().any(|named| named.contains(*name));
        let right = self.expected.iter().all(is_named) && !self.wrong.iter().any(is_named);
        Found { names, right }
    }
}

/// Runs a script on the router of the only `lab:router`, as soon as it has its interfaces.
fn at_router(script: &str) {
    let router = || {
        let listed = Command::new("ip").args(["netns", "list"]).output().unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        listed.split_whitespace().find(|name| name.ends_with("-router")).map(str::to_owned)
    };
    let runs = |script: &str| {
        let Some(name) = router() else { return false };
        let words = ["netns", "exec", &name, "sh", "-ec", script];
        Command::new("ip").args(words).stderr(Stdio::null()).status().unwrap().success()
    };
    assert!(soon(|| runs("ip -o -4 address | grep -q 198.19.")), "there is no router");
    assert!(runs(script), "{script}");
}

/// A script that runs at an end or on the bridge once traffic flows there, as root of its namespace: a second after it began.
fn later(node: &str, script: &str) -> Child {
    let interface = if node == "bridge" { "to-b".to_owned() } else { format!("lab-{node}") };
    let counts = format!("/sys/class/net/{interface}/statistics");
    let packets = format!("$(($(cat {counts}/rx_packets) + $(cat {counts}/tx_packets)))");
    let wait = format!("before={packets}; until [ {packets} -gt $((before + 1000)) ]; do sleep 0.05; done; sleep 1");
    let mut command = Command::new("ip");
    let script = format!("{wait}; {script}");
    command.args(["netns", "exec", &format!("wp{BED}-{node}"), "timeout", "30", "sh", "-c", &script]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// All that a run names: limit, places of loss, counts that are not 0, doubts, and an error's first sentence.
pub(super) fn names(measured: &Done) -> Vec<String> {
    let Some(trial) = last_trial(measured) else {
        return vec![error(measured)];
    };
    let mut names = Vec::new();
    let limited = &trial["limited_by"];
    if let Some(place) = limited["place"].as_str() {
        let at = limited["endpoint"].as_str().map(|end| format!(" ({end})")).unwrap_or_default();
        names.push(format!("limited by {place}{at}"));
    }
    let loss = trial["loss_at"].as_object();
    names.extend(loss.iter().flat_map(|places| places.keys()).map(|place| format!("lost at {place}")));
    for count in ["lost", "duplicated", "reordered", "corrupt", "damaged"] {
        if trial[count].as_u64() > Some(0) {
            names.push(count.to_owned());
        }
    }
    if let Some(kind) = trial["culprit"]["kind"].as_str() {
        names.push(format!("culprit {kind}"));
    }
    let doubts = trial["doubts"].as_array();
    names.extend(doubts.into_iter().flatten().filter_map(doubt));
    if measured.status != 0 {
        names.push(error(measured));
    }
    names
}

/// The last error; advice how to go on may follow it.
fn error(measured: &Done) -> String {
    let lines = || measured.err.lines().rev();
    let said = lines().find(|line| line.starts_with("wireproof:")).or_else(|| lines().next());
    format!("error: {}", said.unwrap_or_default())
}

fn doubt(doubt: &Value) -> Option<String> {
    let kind = doubt["doubt"].as_str().or_else(|| doubt["kind"].as_str())?;
    Some(format!("doubt {kind}"))
}
