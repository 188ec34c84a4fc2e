//! Options of the path MTU.

use clap::Args;
use model::{IpVersion, Mtu, PathMethod, Plan, plan::PlanError};

use super::{super::numbers::whole, Known, ProbeOptions, each, shared::latency_sizes, some};

pub(super) const KNOWN: Known = Known {
    name: "path",
    plan: include_str!("../../../plans/path.toml"),
    sizes: latency_sizes,
    duration: |options, plan| {
        each("--duration", "goodput", options.duration, &mut plan.goodput, |item, duration| item.duration = *duration)
    },
    refused: &["frame_sizes", "duration", "count", "streams", "histogram"],
};

/// Options of a measurement between two ends, which a path to a host is not.
const NOT_OF_A_HOST: [&str; 11] =
    ["bed", "dry_run", "mtu", "repeats", "cpus", "wrap", "set", "out", "formats", "take_ports_in_use", "mtus"];

/// How to look for the path MTU.
#[derive(Clone, Debug, Args)]
pub(crate) struct PathOptions {
    /// A host, by name or address, that needs no wireproof: the largest packet that arrives there, the routers before it, and the cause
    /// of a small one. With "ssh://USER@HOST:PORT", its devices with their MTUs, too. Nothing is stored or reported.
    #[arg(value_name = "DEST", conflicts_with_all = NOT_OF_A_HOST, value_parser = host)]
    pub(crate) destination: Option<String>,
    /// Packets that DEST answers: echo (ICMP echo requests) or udp (datagrams to a closed port) (default: echo, else udp).
    #[arg(long, requires = "destination")]
    pub(crate) method: Option<PathMethod>,
    /// Also connect to this TCP port of DEST, and show the size of its segments.
    #[arg(long, requires = "destination", value_name = "PORT", value_parser = whole::<u16>("443"))]
    pub(crate) tcp: Option<u16>,
    /// 4 or 6; both without it.
    #[arg(long)]
    pub(crate) ip: Option<IpVersion>,
    /// MTUs to set at both ends, in turn, like 1500,9000; the old one is restored.
    #[arg(long, value_delimiter = ',', value_name = "MTUS", allow_negative_numbers = true, value_parser = whole::<u32>("1500"))]
    mtus: Vec<u32>,
    /// Also ask each router on the way, and the far end: address, answers, round-trip times. So many packets to each, one a
    /// second (10).
    #[arg(long, value_name = "PACKETS", num_args = 0..=1, require_equals = true, default_missing_value = "10", value_parser = whole::<u32>("10"))]
    pub(crate) hops: Option<u32>,
}

/// A bare number is a slip: that of `--hops` without its sign.
fn host(text: &str) -> Result<String, String> {
    let is_number = text.chars().all(|letter| letter.is_ascii_digit());
    if is_number {
        return Err(format!(
            "a host is an address or a name; the number of --hops is written with \"=\": --hops={text}"
        ));
    }
    Ok(text.to_owned())
}

/// The IP version selects among the items instead, once the plan is read.
impl ProbeOptions for PathOptions {
    fn known(&self) -> &'static Known {
        &KNOWN
    }

    fn apply(&self, plan: &mut Plan) -> Result<(), PlanError> {
        each("--mtus", "path", some(&self.mtus), &mut plan.path, |item, mtus| {
            item.mtus = mtus.iter().copied().map(Mtu).collect();
        })?;
        each("--hops", "path", self.hops, &mut plan.path, |item, hops| item.hops = Some(*hops))
    }
}
