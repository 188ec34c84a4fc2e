//! Runs whose processes are killed, by their bed.

use std::process::Child;

use crate::{
    bypass::Lab,
    hosts::Story,
    kills::{REPEATS, Scene},
    machine::Snapshot,
    ports::{self, Machine},
    program::{Desk, Done, KeptBed, MANY, WIREPROOF, text},
};

/// Two ports of a machine.
pub(super) struct Ports<'a> {
    machine: Machine<'a>,
    seen: Vec<String>,
    before: Snapshot,
}

impl<'a> Ports<'a> {
    pub(super) fn new(desk: &'a Desk) -> Self {
        let machine = Machine::new(desk);
        let seen = machine.settled();
        Self { machine, seen, before: Snapshot::take() }
    }
}

impl Scene for Ports<'_> {
    fn desk(&self) -> &Desk {
        self.machine.desk
    }

    fn start(&self) -> Child {
        let (plan, out) = (self.desk().plan(MANY), self.desk().path("out"));
        let words = ["verify", text(&plan), "--repeats", REPEATS, "--quiet", "--out", text(&out), "--bed", ports::BED];
        self.machine.start(&words)
    }

    fn clean(&self) -> Done {
        self.machine.run(&["clean"])
    }

    fn assert_same(&self) {
        self.before.assert_same();
        assert_eq!(self.machine.settled(), self.seen, "the machine is not as it was");
    }
}

/// Two hosts.
pub(super) struct Hosts(Story);

impl Hosts {
    pub(super) fn new() -> Self {
        Self(Story::new())
    }
}

impl Scene for Hosts {
    fn desk(&self) -> &Desk {
        &self.0.desk
    }

    fn start(&self) -> Child {
        let plan = self.desk().plan(MANY);
        let words = ["verify", text(&plan), "--repeats", REPEATS, "--quiet", "--ssh", &self.0.host.ssh()];
        self.0.start(&words)
    }

    fn clean(&self) -> Done {
        self.0.clean()
    }

    fn lasts(&self) -> u64 {
        4_000
    }

    fn assert_same(&self) {
        self.0.assert_same();
    }
}

/// Two hosts, of which the connections are killed.
pub(super) struct Cuts(pub(super) Hosts);

impl Scene for Cuts {
    fn desk(&self) -> &Desk {
        self.0.desk()
    }

    fn start(&self) -> Child {
        self.0.start()
    }

    fn victims(&self, _: u32) -> Vec<u32> {
        self.0.0.host.connections()
    }

    fn clean(&self) -> Done {
        self.0.clean()
    }

    fn lasts(&self) -> u64 {
        4_000
    }

    fn assert_same(&self) {
        self.0.assert_same();
    }
}

/// A bypassed program, in a bed that stands.
pub(super) struct Past<'a> {
    _bed: KeptBed<'a>,
    lab: Lab<'a>,
    before: Snapshot,
}

/// Sends itself datagrams for a second.
const TO_ITSELF: &str = "
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind((sys.argv[1], 0)); s.connect(s.getsockname()); s.settimeout(1)
end = time.monotonic() + 1
while time.monotonic() < end:
    s.send(b'x'); s.recv(9)
";

impl<'a> Past<'a> {
    pub(super) fn new(desk: &'a Desk) -> Self {
        Self { _bed: desk.bed("by", &[]), lab: Lab { desk }, before: Snapshot::take() }
    }
}

impl Scene for Past<'_> {
    fn desk(&self) -> &Desk {
        self.lab.desk
    }

    fn start(&self) -> Child {
        let address = self.lab.address("b");
        let words = [WIREPROOF, "bypass", "--", "python3", "-c", TO_ITSELF, &address];
        self.lab.desk.start(&Lab::words("b", &words))
    }

    fn lasts(&self) -> u64 {
        1_500
    }

    fn assert_same(&self) {
        self.before.assert_same();
        self.lab.waits_until_no_xdp("b");
    }
}
