//! One probe's full description, the same in plans, messages, trials and reports.
//!
//! # A new probe
//!
//! A probe is a module in each of these places, and a line or two in the file beside it. Nothing else names it:
//!
//! | module | says | registered in |
//! |---|---|---|
//! | `model::probe::NAME` | its parameters, and what [`Probe`] asks | `ProbeSpec` and [`ProbeSpec::probe`], here |
//! | `model::trial::NAME` | its result and figures ([`crate::Measures`]) | `Measured`, `SideFigures`, `SoFar`, in `model::trial` |
//! | `model::plan::NAME` | its section of a plan | `Plan` and `Plan::items`, in `model::plan` |
//! | `probe::NAME` | its two sides | `probe::prepare` |
//! | `run::probes::NAME` | whether a bed can have it, its trial, its doubts | `run::probes::of` |
//! | `verdict::probes::NAME` | what limited it | `verdict::probes` |
//! | `report::probes::NAME` | method, tables, figures | `report::probes` |
//! | `src/cli/probes/NAME.rs` | options of its command | `src/cli/probes.rs` |
//!
//! These are eight files that exist. Its plan is `plans/NAME.toml`, its texts a file of `report/texts/en` and one of `ja`; examples of
//! its command stand in `src/cli/manual.rs`. A quantity, a metric or a limiting place that it needs first is a vocabulary of all
//! probes: `model::units`, `model::figure`, `model::limited`. Limits, comparison, references and the conduct of a run go by profile,
//! selectors, conditions and figures.

mod conditions;
mod forwarding;
mod goodput;
mod latency;
mod packets;
mod path;
mod profile;
mod transactions;
mod transfer;

use std::{any::Any, fmt, net::IpAddr, net::SocketAddr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use conditions::Conditions;
pub use forwarding::ForwardingSpec;
pub use goodput::{Batch, GoodputSpec, KERNELS_DEFAULT, LAB_CONGESTION, ReceiveMethod, SendMethod};
pub use latency::{LATENCY_LEAST_PAYLOAD, LatencySpec, MOST_OUT, ONE_WAY_LEAST_PAYLOAD};
pub use packets::{Engine, PacketsSpec};
pub use path::{LARGEST_PATH_MTU, PathSpec};
pub use profile::{Amount, FarService, Probe, Profile, Selectors};
pub use transactions::{Exchange, HttpPath, HttpPathError, HttpServer, TransactionsSpec};
pub use transfer::{ORDINARY_TRANSFER, SMALL_FILE, SMALL_FILES, TransferContents, TransferMethod, TransferSpec};

pub use crate::network::{Direction, IpVersion, Protocol, Stack, WaitMode};
use crate::units::{Mtu, Nanos, PacketRate};

/// Longest trial. A longer one cannot be meant, and would only look like a program that hangs.
pub(crate) const LONGEST: Nanos = Nanos::from_secs(7 * 24 * 3600);

/// One probe with all its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "probe", rename_all = "lowercase")]
pub enum ProbeSpec {
    /// Round-trip time.
    Latency(LatencySpec),
    /// Goodput of bulk data.
    Goodput(GoodputSpec),
    /// Largest packet that passes, each way.
    Path(PathSpec),
    /// Numbered packets at a rate.
    Packets(PacketsSpec),
    /// Requests and their responses.
    Transactions(TransactionsSpec),
    /// Correctness of a forwarding device.
    Forwarding(ForwardingSpec),
    /// A file from one end to the other.
    Transfer(TransferSpec),
}

/// Messages or datagrams a second that a schedule can have. Ten nanoseconds between two of them are less than a clock takes
/// to be read.
pub const FASTEST: PacketRate = PacketRate(100_000_000);

/// Duration of a self-test.
const SELF_TEST: Nanos = Nanos::from_secs(1);

/// A side of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The one that connects, and decides when the probe is over: the client.
    Near,
    /// The one that listens: the server.
    Far,
}

/// Setup of one side of a probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SideSetup {
    /// Name of the endpoint.
    pub endpoint: String,
    /// Address, of the probe's IP version.
    pub local: IpAddr,
    /// Address at which the far side listens; `None` for the far side itself.
    pub peer: Option<SocketAddr>,
    /// Interface.
    pub interface: String,
    /// MTU of the interface.
    pub mtu: Mtu,
    /// Cores for its threads, the most important thread's first; empty if not pinned.
    pub cpus: Vec<usize>,
    /// Number of cores of the other side for its threads; 0 where it is not pinned.
    #[serde(default)]
    pub peer_cpus: usize,
    /// Whether both sides' stamps come from one clock, so that they may be subtracted.
    pub same_clock: bool,
    /// Whether a program of the far host takes the place of the far side.
    #[serde(default)]
    pub agentless_peer: bool,
    /// Congestion control for TCP where the spec names none; `None` leaves the kernel's default.
    #[serde(default)]
    pub congestion: Option<String>,
    /// Drawn for each trial, the same at both sides: by it a side tells the other from a stranger.
    pub token: u32,
    /// Index of the trial's sender that it is, or has as its counterpart, from 0.
    #[serde(default)]
    pub sender: usize,
    /// Number of senders of the trial.
    #[serde(default)]
    pub senders: usize,
    /// Highest load of the ladder that the trial is on, for which its engine is chosen; `None` where it is on none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub highest: Option<Box<ProbeSpec>>,
}

impl ProbeSpec {
    /// The probe, whichever it is: the one place that tells them apart.
    pub fn probe(&self) -> &dyn Probe {
        match self {
            Self::Latency(spec) => spec,
            Self::Goodput(spec) => spec,
            Self::Path(spec) => spec,
            Self::Packets(spec) => spec,
            Self::Transactions(spec) => spec,
            Self::Forwarding(spec) => spec,
            Self::Transfer(spec) => spec,
        }
    }

    /// Properties that the conduct of a trial depends on.
    pub fn profile(&self) -> Profile {
        self.probe().profile()
    }

    /// Parameters, if it is a probe of this kind.
    pub fn of<S: Probe>(&self) -> Option<&S> {
        (self.probe() as &dyn Any).downcast_ref()
    }
}

impl fmt::Display for ProbeSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let probe = self.probe();
        write!(f, "{} {probe}", probe.name())
    }
}
