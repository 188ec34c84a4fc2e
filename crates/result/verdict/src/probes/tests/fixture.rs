//! One trial with room for faults.

use model::{
    CoreUse, Delta, EndCounters, Flow, GoodputReceived, GoodputResult, GoodputSent, GoodputSpec, LimitedBy, Measured,
    Mtu, PayloadSize, Place, Plan, Protocol, Run, Source, Trial,
    environment::{EndpointFacts, InterfaceFacts},
    fixture,
    trial::{DatagramsReceived, DatagramsSent, TcpSeconds, TcpState},
};

use super::super::assess;

/// A run on two machines with one trial.
pub(super) struct Story {
    pub(super) run: Run,
    pub(super) trial: Trial,
}

/// From a to b, 10 s of 1 Gbit/s (and one of warm-up), all cores at half their time.
pub(super) fn story(protocol: Protocol) -> Story {
    let flow = Flow {
        from: "a".into(),
        to: "b".into(),
        sent: GoodputSent {
            counted_bytes: 1_250_000_000,
            counted_s: Some(10.0),
            total_bytes: 1_375_000_000,
            ..sent(protocol)
        },
        received: GoodputReceived {
            counted_bytes: 1_250_000_000,
            counted_s: 10.0,
            total_bytes: 1_375_000_000,
            datagrams: (protocol == Protocol::Udp)
                .then(|| DatagramsReceived { received: 934_000, ..DatagramsReceived::default() }),
            ..GoodputReceived::default()
        },
    };
    let measured = Measured::Goodput {
        spec: fixture::goodput(protocol),
        result: GoodputResult { mtu: Mtu(1500), flows: vec![flow] },
    };
    Story { run: run(), trial: trial(measured) }
}

fn sent(protocol: Protocol) -> GoodputSent {
    match protocol {
        Protocol::Udp => GoodputSent {
            datagrams: Some(DatagramsSent {
                payload_size: PayloadSize(1472),
                sent: 934_000,
                through_kernel: None,
                zero_copy: None,
                intended_bps: None,
                pacing: None,
            }),
            ..GoodputSent::default()
        },
        Protocol::Tcp => GoodputSent { tcp: vec![connection()], ..GoodputSent::default() },
    }
}

/// A connection that never waited, over 1 ms.
fn connection() -> TcpState {
    TcpState {
        congestion: "cubic".into(),
        rtt_us: 1000,
        rtt_var_us: 20,
        min_rtt_us: 900,
        cwnd_segments: 200,
        mss: 1460,
        path_mtu: Mtu(1500),
        retransmits: 0,
        warmup_retransmits: None,
        reorderings: 0,
        busy_us: 11_000_000,
        receive_window_limited_us: 0,
        send_buffer_limited_us: 0,
        timestamps: false,
        seconds: TcpSeconds::default(),
    }
}

pub(super) fn trial(measured: Measured) -> Trial {
    Trial {
        duration_s: 10.0,
        cpus: [vec![1], vec![2]],
        counters: [counters(4), counters(4)],
        ..fixture::trial(measured)
    }
}

/// Facts of a machine with so many cores, which have half their time.
fn counters(cores: usize) -> EndCounters {
    let half = |cpu| CoreUse { cpu, busy: 50.0, softirq: 10.0, ..CoreUse::default() };
    EndCounters { seconds: 10.0, cpu: (0..cores).map(half).collect(), ..EndCounters::default() }
}

pub(crate) fn run() -> Run {
    let plan = "name = \"t\"\n[[goodput]]\nprotocol = \"tcp\"\nduration = \"10 s\"\n";
    let mut run = fixture::run(Plan::parse(plan, &[]).unwrap());
    for end in &mut run.bed.endpoints {
        (end.interface, end.driver) = ("eth0".into(), "ixgbe".into());
    }
    run
}

pub(super) fn counter(source: Source, of: &str, name: &str, delta: u64) -> Delta {
    Delta { source, of: of.into(), name: name.into(), delta }
}

pub(super) const A: usize = 0;
pub(super) const B: usize = 1;

impl Story {
    /// The flow and its probe.
    pub(super) fn goodput(&mut self) -> (&mut GoodputSpec, &mut Flow) {
        let Measured::Goodput { spec, result } = &mut self.trial.measured else { panic!("a transfer") };
        (spec, &mut result.flows[0])
    }

    /// The connection.
    pub(super) fn tcp(&mut self) -> &mut TcpState {
        &mut self.goodput().1.sent.tcp[0]
    }

    /// The same with a congestion control that allowed so much by its window and by its pacing rate, in bit/s.
    pub(super) fn allowed(mut self, window_bps: f64, pacing_bps: u64) -> Self {
        let connection = self.tcp();
        let per_segment = f64::from(connection.mss) * 8e6 / f64::from(connection.rtt_us);
        connection.seconds = TcpSeconds {
            retransmits: vec![0; 10],
            rtt_us: vec![connection.rtt_us; 10],
            cwnd_segments: vec![(window_bps / per_segment) as u32; 10],
            pacing_bps: vec![pacing_bps; 10],
            delivery_bps: vec![1_000_000_000; 10],
        };
        self
    }

    /// The same with a counter of one end.
    pub(super) fn counted(mut self, end: usize, source: Source, of: &str, name: &str, delta: u64) -> Self {
        self.trial.counters[end].deltas.push(counter(source, of, name, delta));
        self
    }

    /// The same with a counter of the device under test, two of whose cores have half their time.
    pub(super) fn at_dut(mut self, source: Source, of: &str, name: &str, delta: u64) -> Self {
        self.dut().deltas.push(counter(source, of, name, delta));
        self
    }

    /// The same with a core of the device under test that receives all packets, and does nothing else.
    pub(super) fn dut_busy(mut self) -> Self {
        self.dut().cpu[1] = CoreUse { cpu: 1, busy: 99.0, softirq: 98.0, ..CoreUse::default() };
        self.at_dut(Source::Link, "in", "rx_packets", 900_000).at_dut(Source::Link, "out", "rx_packets", 30_000).at_dut(
            Source::Softnet,
            "cpu 1",
            "processed",
            925_000,
        )
    }

    fn dut(&mut self) -> &mut EndCounters {
        self.trial.dut.get_or_insert_with(|| counters(2))
    }

    /// The same with a core of one end that has no time left, this much of it (in percent) for soft interrupts.
    pub(super) fn busy(mut self, end: usize, softirq: f64) -> Self {
        let core = self.trial.cpus[end][0];
        self.trial.counters[end].cpu[core] = CoreUse { cpu: core, busy: 99.0, softirq, ..CoreUse::default() };
        self
    }

    /// The same with this load asked for.
    pub(super) fn asked(mut self, bps: f64) -> Self {
        self.goodput().1.sent.datagrams.as_mut().unwrap().intended_bps = Some(bps);
        self
    }

    /// The same with this many datagrams lost, and their payload missing from the goodput.
    pub(super) fn lost(mut self, datagrams: u64) -> Self {
        let received = &mut self.goodput().1.received;
        received.datagrams.as_mut().unwrap().received -= datagrams;
        received.counted_bytes -= datagrams * 1472;
        self
    }

    /// The same over a link of this speed.
    pub(super) fn link(mut self, speed_mbps: u32) -> Self {
        let interface = || InterfaceFacts { name: "eth0".into(), speed_mbps: speed_mbps.into(), ..Default::default() };
        let facts = |endpoint: &str| EndpointFacts {
            endpoint: endpoint.into(),
            interfaces: vec![interface()],
            ..EndpointFacts::default()
        };
        self.run.before.endpoints = vec![facts("a"), facts("b")];
        self
    }

    pub(super) fn limited_by(&self) -> LimitedBy {
        assess(&self.run, &self.trial).limited_by.expect("a transfer has a limit")
    }

    /// Place and end alone.
    pub(super) fn place(&self) -> (Place, Option<String>) {
        let limited = self.limited_by();
        (limited.place, limited.endpoint)
    }
}

pub(super) fn at(place: Place, endpoint: &str) -> (Place, Option<String>) {
    (place, Some(endpoint.to_owned()))
}
