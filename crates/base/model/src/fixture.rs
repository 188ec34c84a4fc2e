//! Values for the tests of every room, each to be changed where a test needs another.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::{
    Batch, Bed, BedKind, ClockRelation, Direction, Endpoint, Engine, Environment, FrameSize, GoodputSpec, IpVersion,
    Measured, Mtu, Nanos, PacketStream, PacketsReceived, PacketsSent, Plan, Privilege, Protocol, ReceiveMethod, Run,
    RunId, SendMethod, SideSetup, Stack, Trial,
};

/// When the run and its trials began.
pub const STARTED: &str = "2026-11-21T10:15:00Z";

/// A lab with an IPv4 address at each end, and no cores.
pub fn lab() -> Bed {
    Bed {
        kind: BedKind::Lab,
        layout: String::new(),
        name: "lab".to_owned(),
        simulated: true,
        privilege: Privilege::Root,
        clocks: ClockRelation::Same,
        wrap: vec![],
        dut: None,
        endpoints: vec![endpoint("a", 1), endpoint("b", 2)],
    }
}

fn endpoint(name: &str, host: u8) -> Endpoint {
    Endpoint {
        name: name.to_owned(),
        machine: String::new(),
        namespace: format!("wp1f-{name}"),
        interface: format!("lab-{name}"),
        driver: "veth".into(),
        mtu: Mtu(1500),
        agentless: false,
        addresses: vec![IpAddr::from(Ipv4Addr::new(198, 18, 0, host))],
        cpus: vec![],
        cpus_why: String::new(),
    }
}

/// One stream from the first end to the second: 10 s after one of warm-up, all else ordinary.
pub fn goodput(protocol: Protocol) -> GoodputSpec {
    GoodputSpec {
        protocol,
        ip: IpVersion::V4,
        stack: Stack::Kernel,
        direction: Direction::Forward,
        streams: 1,
        duration: Nanos::from_secs(10),
        warmup: Nanos::from_secs(1),
        mtu: None,
        window: None,
        congestion: None,
        send: SendMethod::Write,
        receive: ReceiveMethod::Read,
        datagram: None,
        batch: Batch::Mmsg,
        rate: None,
    }
}

/// One stream of the smallest frames from a to b, flat out: so many sent and received in a second.
pub fn packet_stream(sent: u64, received: u64) -> PacketStream {
    let sent = PacketsSent {
        stream: "stream".to_owned(),
        engine: Engine::Live,
        engine_why: String::new(),
        frame_size: FrameSize(64),
        flows: 1,
        frames: sent,
        bytes: 64 * sent,
        seconds: 1.0,
        intended_pps: None,
        refused: 0,
        pacing: None,
        cpus: vec![0],
    };
    let received =
        PacketsReceived { frames: received, bytes: 64 * received, seconds: Some(1.0), ..PacketsReceived::default() };
    PacketStream { from: "a".to_owned(), to: "b".to_owned(), sent, received, cut_off: false }
}

/// A run of this plan that has just begun.
pub fn run(plan: Plan) -> Run {
    Run {
        id: RunId("20261121-101500-3fa9".to_owned()),
        started: STARTED.to_owned(),
        finished: None,
        command: vec!["wireproof".to_owned(), "verify".to_owned()],
        wireproof: "wireproof 0.1.0 (a)".to_owned(),
        identity: None,
        plan,
        bed: lab(),
        partial: false,
        before: Environment::default(),
        after: None,
        doubts: vec![],
        resumed: vec![],
        self_tests: vec![],
        tester: vec![],
        trials: vec![],
    }
}

/// The first trial of a run, one second long, from the first end to the second.
pub fn trial(measured: Measured) -> Trial {
    Trial {
        number: 1,
        origin: None,
        repeat: 1,
        started: STARTED.to_owned(),
        duration_s: 1.0,
        endpoint_from: "a".to_owned(),
        endpoint_to: "b".to_owned(),
        cpus: [vec![], vec![]],
        measured,
        counters: Default::default(),
        others: vec![],
        dut: None,
        doubts: vec![],
    }
}

/// The loopback address of this IP version.
pub fn loopback(ip: IpVersion) -> IpAddr {
    match ip {
        IpVersion::V4 => Ipv4Addr::LOCALHOST.into(),
        IpVersion::V6 => Ipv6Addr::LOCALHOST.into(),
    }
}

/// An end on loopback, with its whole MTU and no core of its own.
pub fn setup(ip: IpVersion, peer: Option<SocketAddr>) -> SideSetup {
    SideSetup {
        endpoint: "a".to_owned(),
        local: loopback(ip),
        peer,
        interface: "lo".to_owned(),
        mtu: Mtu(65_536),
        cpus: vec![],
        peer_cpus: 0,
        same_clock: true,
        agentless_peer: false,
        congestion: None,
        token: 7,
        sender: 0,
        senders: 1,
        highest: None,
    }
}
