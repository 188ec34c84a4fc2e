//! Options that all commands which measure have.

use bed::{BedRef, NicConsent};
use clap::Args;
use model::{Mtu, Nanos};

use super::{
    files::ReportFiles,
    numbers::{at_least_1, from_to, whole},
    reach::Reach,
};

/// Where and how to measure.
#[derive(Clone, Debug, Args)]
pub(crate) struct Measure {
    /// Where: "lab" (two namespaces on this machine), "lab:senders=2" (several that send to one), "lab:bridge" and "lab:router" (a bridge or a router of the
    /// kernel between them), "lab:vswitch" (a router behind two virtual switches), "lab:ovs" (an Open vSwitch), "lab:xdp-router" (wireproof's XDP router), "ports:eth1,eth2" (two of its ports, given back afterwards;
    /// ",routed" or ",via=GATEWAY1/LEN,GATEWAY2/LEN" where a router is between them, ",dut=ssh://USER@HOST" to read its counters),
    /// "hosts:ssh://USER@HOST:PORT?dev=IF&addr=ADDR/LEN" (this machine and another one; USER, PORT and addr may be left
    /// out; "&agent=none" where its own nc shall take part, as it does on FreeBSD; several other machines that all send to this one are joined by commas: "hosts:ssh://A?…,ssh://B?…"; what is between
    /// them comes last, as with ports), or the name of a bed made with "bed up".
    #[arg(long, default_value = "lab")]
    pub(crate) bed: BedRef,
    #[command(flatten)]
    pub(crate) reach: Reach,
    #[command(flatten)]
    pub(crate) ports: TakePorts,
    #[command(flatten)]
    pub(crate) files: ReportFiles,
    /// Print the steps, the changes to the machine and the duration; do nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// MTU of the bed's interfaces, in bytes.
    #[arg(long, value_parser = parse_mtu)]
    pub(crate) mtu: Option<Mtu>,
    /// Frame sizes with FCS, in bytes, like 64,512,1518.
    #[arg(long, value_delimiter = ',', value_name = "SIZES", allow_negative_numbers = true, value_parser = whole::<u32>("1518"))]
    pub(crate) frame_sizes: Vec<u32>,
    /// Counted time of each goodput trial, like "10 s"; with "latency", "packets" and "transactions" of each of their trials;
    /// with "rfc2544" of the trials of throughput and loss.
    #[arg(long, allow_hyphen_values = true, value_name = "TIME")]
    pub(crate) duration: Option<Nanos>,
    /// Counted messages of each latency trial.
    #[arg(long, allow_negative_numbers = true, value_parser = at_least_1)]
    pub(crate) count: Option<u64>,
    /// Connections or flows at the same time.
    #[arg(long, allow_negative_numbers = true, value_parser = from_to(1_u16..=128))]
    pub(crate) streams: Option<u16>,
    /// Repeats of the whole plan.
    #[arg(long, allow_negative_numbers = true, value_parser = from_to(1_u32..=10_000))]
    pub(crate) repeats: Option<u32>,
    /// Cores of the two ends, like 2,3; several for each end like 2-5,6-9.
    #[arg(long, value_parser = parse_cpus, value_name = "CLIENT,SERVER")]
    pub(crate) cpus: Option<Cpus>,
    /// Number of cores reserved for the device under test of a lab, like 1 (default: none; it then works inside the sender's
    /// system calls). With tests of RFC 2544 also several, like 1,2,4: a run with each, and one table of their throughputs.
    #[arg(long, value_name = "N,N…", value_delimiter = ',', allow_negative_numbers = true, value_parser = from_to(1_usize..=MOST_CORES))]
    pub(crate) dut_cpus: Vec<usize>,
    #[command(flatten)]
    pub(crate) wrap: Wrap,
    /// Change any key of the plan, like repeats=6 or latency.timeout="200 ms"; can be given again.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

/// Ports of the machine that may be taken.
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
    /// Names of its options.
    pub(crate) const IN_USE: &str = "take-ports-in-use";
    pub(crate) const UPLINK: &str = "i-know-this-is-my-uplink";

    /// Options as the bed takes them.
    pub(crate) fn taking(self) -> NicConsent {
        NicConsent { in_use: self.take_ports_in_use, uplink: self.i_know_this_is_my_uplink }
    }

    /// The permissions of a command line with these words.
    pub(crate) fn in_words(words: &[String]) -> NicConsent {
        let has = |option: &str| words.iter().any(|word| word.strip_prefix("--") == Some(option));
        NicConsent { in_use: has(Self::IN_USE), uplink: has(Self::UPLINK) }
    }
}

/// Wrapper of the measuring processes.
#[derive(Clone, Debug, Args)]
pub(crate) struct Wrap {
    /// Run the measuring processes under another program, like "onload" or "nice -n -5" (words are split at spaces).
    #[arg(long, value_name = "PROGRAM ARGS", allow_hyphen_values = true)]
    wrap: Option<String>,
}

impl Wrap {
    /// Its words.
    pub(crate) fn words(&self) -> Vec<String> {
        self.wrap.iter().flat_map(|words| words.split_whitespace()).map(str::to_owned).collect()
    }
}

/// Cores of both ends.
pub(crate) type Cpus = [Vec<usize>; 2];

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
