//! Options of the commands that measure, and the keys of a plan that they change.

use std::path::PathBuf;

use bed::{BedRef, Taking};
use clap::Args;
use model::{
    Batch, BitRate, Bytes, Direction, Engine, IpVersion, Mtu, Nanos, PacketRate, Protocol, ReceiveWay, SendWay, Stack,
    WaitMode,
    plan::Ladder,
    stream::{Load, Rate, Sizes},
};

use super::{files::ReportFiles, reach::Reach};

/// Where and how to measure.
#[derive(Clone, Debug, Args)]
pub(crate) struct Measure {
    /// Where: "lab" (two namespaces on this machine), "lab:senders=2" (several that send to one), "ports:eth1,eth2" (two of its ports, given back afterwards;
    /// ",routed" or ",via=GATEWAY1/LEN,GATEWAY2/LEN" where a router is between them, ",dut=ssh://USER@HOST" to read its counters),
    /// "hosts:ssh://USER@HOST:PORT?dev=IF&addr=ADDR/LEN" (this machine and another one; USER, PORT and addr may be left
    /// out; several other machines that all send to this one are joined by commas: "hosts:ssh://A?…,ssh://B?…"; what is between
    /// them comes last, as with ports), or the name of a bed made with "bed up".
    #[arg(long, default_value = "lab")]
    pub(crate) bed: BedRef,
    #[command(flatten)]
    pub(crate) reach: Reach,
    #[command(flatten)]
    pub(crate) ports: TakePorts,
    #[command(flatten)]
    pub(crate) files: ReportFiles,
    /// Print the steps, what is set up on the machine, and the duration; do nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// MTU of the bed's interfaces, in bytes.
    #[arg(long, value_parser = parse_mtu)]
    pub(crate) mtu: Option<Mtu>,
    /// Frame sizes with FCS, in bytes, like 64,512,1518.
    #[arg(long, value_delimiter = ',', value_name = "SIZES")]
    pub(crate) frame_sizes: Vec<u32>,
    /// Time that counts for each goodput trial, like "10 s"; with "latency" and "packets" for each of theirs.
    #[arg(long, value_name = "TIME")]
    pub(crate) duration: Option<Nanos>,
    /// Messages that count for each latency trial.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,
    /// Connections or flows at the same time.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=128))]
    pub(crate) streams: Option<u16>,
    /// How often the plan is gone through.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) repeats: Option<u32>,
    /// Cores of the two ends, like 2,3; several for each end like 2-5,6-9.
    #[arg(long, value_parser = parse_cpus, value_name = "CLIENT,SERVER")]
    pub(crate) cpus: Option<Cpus>,
    /// Run the measuring processes under another program, like "onload" or "nice -n -5" (words are split at spaces).
    #[arg(long, value_name = "PROGRAM ARGS", allow_hyphen_values = true)]
    pub(crate) wrap: Option<String>,
    /// Change any key of the plan, like repeats=6 or latency.timeout="200 ms"; can be given again.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

/// Which ports of the machine may be taken.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct TakePorts {
    /// With --bed ports:…: take ports that have addresses or routes; all is put back afterwards.
    #[arg(long)]
    take_ports_in_use: bool,
    /// Take the port of the default route, or that of an ssh session (--bed ports:…), or change it (--bed hosts:…).
    #[arg(long)]
    i_know_this_is_my_uplink: bool,
}

impl TakePorts {
    /// As a bed is told.
    pub(crate) fn taking(self) -> Taking {
        Taking { in_use: self.take_ports_in_use, uplink: self.i_know_this_is_my_uplink }
    }

    /// What a command line with these words let be taken.
    pub(crate) fn told(words: &[String]) -> Taking {
        let said = |option: &str| words.iter().any(|word| word == option);
        Taking { in_use: said("--take-ports-in-use"), uplink: said("--i-know-this-is-my-uplink") }
    }
}

/// Cores of both ends.
pub(crate) type Cpus = [Vec<usize>; 2];

/// How to measure round-trip times.
#[derive(Clone, Debug, Args)]
pub(crate) struct LatencyOptions {
    /// udp or tcp.
    #[arg(long)]
    protocol: Option<Protocol>,
    /// 4 or 6.
    #[arg(long)]
    ip: Option<IpVersion>,
    /// Network stacks at both ends, one after the other: kernel, bypass (UDP, past the kernel by AF_XDP).
    #[arg(long, value_delimiter = ',', value_name = "STACKS")]
    stack: Vec<Stack>,
    /// How both ends wait: spin, block or busy-poll.
    #[arg(long)]
    mode: Option<WaitMode>,
    /// Under load: messages a second by a schedule, like "100 kpps". Latency then counts from the scheduled time.
    #[arg(long, value_name = "RATE")]
    rate: Option<PacketRate>,
    /// Have the kernel stamp each message, to split the RTT into program, stack and wire.
    #[arg(long)]
    stamps: bool,
}

/// How to measure goodput.
#[derive(Clone, Debug, Args)]
pub(crate) struct GoodputOptions {
    /// tcp or udp.
    #[arg(long)]
    protocol: Option<Protocol>,
    /// 4 or 6.
    #[arg(long)]
    ip: Option<IpVersion>,
    /// Network stacks at both ends, one after the other: kernel, bypass (UDP, past the kernel by AF_XDP).
    #[arg(long, value_delimiter = ',', value_name = "STACKS")]
    stack: Vec<Stack>,
    /// Which way the data goes: forward (client to server), reverse or both.
    #[arg(long)]
    direction: Option<Direction>,
    /// Size of each socket's send and receive buffer, like "4 MiB".
    #[arg(long, value_name = "SIZE")]
    window: Option<Bytes>,
    /// TCP congestion control, like cubic or bbr.
    #[arg(long, value_name = "NAME")]
    congestion: Option<String>,
    /// How TCP data is handed over: write, zerocopy or sendfile.
    #[arg(long, value_name = "WAY")]
    send: Option<SendWay>,
    /// How TCP data is taken: read, or truncate (the kernel throws it away).
    #[arg(long, value_name = "WAY")]
    receive: Option<ReceiveWay>,
    /// UDP payload offered each way, like "1 Gbit/s"; without it flat out.
    #[arg(long, value_name = "RATE")]
    rate: Option<BitRate>,
    /// Payload of each UDP datagram in bytes; without it they fill the MTU.
    #[arg(long, value_name = "BYTES")]
    datagram: Option<u32>,
    /// How UDP datagrams are batched: mmsg (each by itself in the kernel) or gso (segmentation offload).
    #[arg(long)]
    batch: Option<Batch>,
    /// MTUs that both ends are set to, one after the other, like 1500,9000; proved, and put back afterwards.
    #[arg(long, value_delimiter = ',', value_name = "MTUS")]
    mtus: Vec<u32>,
}

/// What packets to send, and how fast.
#[derive(Clone, Debug, Args)]
pub(crate) struct PacketsOptions {
    /// 4 or 6.
    #[arg(long)]
    ip: Option<IpVersion>,
    /// Which way the packets go: forward (sender to receiver), reverse or both.
    #[arg(long)]
    direction: Option<Direction>,
    /// Load offered each way: "1 Mpps", "5 Gbit/s L1", "10 %" of the line, with "poisson" or "burst 32" behind it; several
    /// loads one after the other like 1Mpps..10Mpps, "10 %..100 %" or "1 Mpps..10 Mpps step 500 kpps"; without it flat out.
    #[arg(long, value_name = "LOAD")]
    rate: Option<Ladder>,
    /// Frame sizes that the packets of one trial have in turn, like "64, 128, 1518", "64..1518 step 2" or "genome aaafg"
    /// (RFC 6985); with --frame-sizes each size has a trial of its own.
    #[arg(long, value_name = "SIZES", conflicts_with = "frame_sizes")]
    sizes: Option<Sizes>,
    /// The simple Internet mix: 7 frames of 64 bytes, 4 of 594, 1 of 1518.
    #[arg(long, conflicts_with_all = ["sizes", "frame_sizes"])]
    imix: bool,
    /// Flows that the packets take turns in, up to 1000000.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    flows: Option<u32>,
    /// What sends the packets: live, xsk, af_packet, udp or pktgen; without it what fits best.
    #[arg(long)]
    engine: Option<Engine>,
    /// TOML file with a table "stream" for each of several streams at the same time, with headers and loads of their own.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sizes", "imix", "frame_sizes", "flows", "rate", "ip"])]
    pub(crate) stream_file: Option<PathBuf>,
    /// Send the frames of a capture (pcap or pcapng) as they are, round after round: with the times between them that they had, or at
    /// --rate. They carry no number: where they arrive they are known by their bytes.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sizes", "imix", "frame_sizes", "flows", "stream_file", "ip"])]
    pub(crate) replay: Option<PathBuf>,
}

/// How to look for the path MTU.
#[derive(Clone, Debug, Args)]
pub(crate) struct PathOptions {
    /// 4 or 6; both without it.
    #[arg(long)]
    pub(crate) ip: Option<IpVersion>,
    /// MTUs that both ends are set to, one after the other, like 1500,9000; put back afterwards.
    #[arg(long, value_delimiter = ',', value_name = "MTUS")]
    mtus: Vec<u32>,
}

impl Measure {
    /// The wrapper's words.
    pub(crate) fn wrap_words(&self) -> Vec<String> {
        self.wrap.iter().flat_map(|words| words.split_whitespace()).map(str::to_owned).collect()
    }

    /// Each option that changes a plan, as the key it changes. `timed` is the section that --duration speaks of.
    pub(crate) fn sets(&self, timed: &str) -> Vec<String> {
        let sets = [
            set("repeats", self.repeats),
            set_list(&format!("{}.frame_sizes", if timed == "packets" { timed } else { "latency" }), &self.frame_sizes),
            set("latency.count", self.count),
            set(&format!("{timed}.duration"), self.duration),
            set("goodput.streams", self.streams),
        ];
        sets.into_iter().flatten().collect()
    }
}

impl LatencyOptions {
    /// Each option as the key of the plan that it changes.
    pub(crate) fn sets(&self) -> Vec<String> {
        let sets = [
            set("latency.protocol", self.protocol),
            set("latency.ip", self.ip.map(u8::from)),
            set_words("latency.stacks", &self.stack),
            set("latency.mode", self.mode),
            set("latency.rate", self.rate),
            set("latency.stamps", self.stamps.then_some(true)),
        ];
        sets.into_iter().flatten().collect()
    }
}

impl GoodputOptions {
    /// Each option as the key of the plan that it changes.
    pub(crate) fn sets(&self) -> Vec<String> {
        let sets = [
            set("goodput.protocol", self.protocol),
            set("goodput.ip", self.ip.map(u8::from)),
            set_words("goodput.stacks", &self.stack),
            set("goodput.direction", self.direction),
            set("goodput.window", self.window),
            set("goodput.congestion", self.congestion.as_ref()),
            set("goodput.send", self.send),
            set("goodput.receive", self.receive),
            set("goodput.rate", self.rate),
            set("goodput.datagram", self.datagram),
            set("goodput.batch", self.batch),
            set_list("goodput.mtus", &self.mtus),
        ];
        sets.into_iter().flatten().collect()
    }
}

impl PacketsOptions {
    /// The loads that a capture is sent at, one after the other: without any, as it was captured.
    pub(crate) fn replay_loads(&self) -> Vec<Load> {
        let captured = Load { rate: Rate::Captured, ..Load::default() };
        self.rate.as_ref().map_or_else(|| vec![captured], |ladder| ladder.loads().to_vec())
    }

    /// Each option as the key of the plan that it changes; a stream file is no key.
    pub(crate) fn sets(&self) -> Vec<String> {
        let sizes = if self.imix { Some(Sizes::Imix) } else { self.sizes.clone() };
        let sets = [
            set("packets.ip", self.ip.map(u8::from)),
            set("packets.direction", self.direction),
            set("packets.rate", self.rate.as_ref().filter(|_| self.replay.is_none())),
            set("packets.sizes", sizes.map(|sizes| format!("\"{sizes}\""))),
            set("packets.flows", self.flows),
            set("packets.engine", self.engine),
        ];
        sets.into_iter().flatten().collect()
    }
}

impl PathOptions {
    /// Each option as the key of the plan that it changes; the IP version selects among the plan's items instead.
    pub(crate) fn sets(&self) -> Vec<String> {
        set_list("path.mtus", &self.mtus).into_iter().collect()
    }
}

fn set(key: &str, value: Option<impl std::fmt::Display>) -> Option<String> {
    value.map(|value| format!("{key}={value}"))
}

fn set_list(key: &str, values: &[u32]) -> Option<String> {
    (!values.is_empty()).then(|| format!("{key}={values:?}"))
}

fn set_words(key: &str, words: &[impl std::fmt::Display]) -> Option<String> {
    let quoted: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
    (!words.is_empty()).then(|| format!("{key}=[{}]", quoted.join(", ")))
}

pub(super) fn parse_mtu(text: &str) -> Result<Mtu, String> {
    text.parse().map(Mtu).map_err(|_| "an MTU is a number of bytes, like 1500 or 9000".to_owned())
}

fn parse_cpus(text: &str) -> Result<Cpus, String> {
    let ends: Option<Vec<Vec<usize>>> = text.split(',').map(|range| parse_range(range.trim())).collect();
    let pair = ends.and_then(|ends| ends.try_into().ok());
    pair.ok_or_else(|| "write a core or a range of cores for each end, like 0,1 or 0-3,4-7".to_owned())
}

/// More than any machine has.
const MOST_CORES: usize = 4096;

fn parse_range(text: &str) -> Option<Vec<usize>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last && last - first < MOST_CORES).then(|| (first..=last).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_has_a_core_or_a_range() {
        assert_eq!(parse_cpus("2, 3"), Ok([vec![2], vec![3]]));
        assert_eq!(parse_cpus("0-2,5-6"), Ok([vec![0, 1, 2], vec![5, 6]]));
        for wrong in ["2", "2,x", "1,2,3", "3-1,0", "0-99999999999,1"] {
            assert!(parse_cpus(wrong).is_err(), "{wrong}");
        }
    }
}
