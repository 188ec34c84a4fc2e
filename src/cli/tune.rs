//! Options of `wireproof tune`.

use std::path::PathBuf;

use bed::InspectedRef;
use clap::{ArgGroup, Args, Subcommand, builder::NonEmptyStringValueParser};
use model::{BitRate, Mtu, Nanos, inspection::Goal};

use super::{
    inspect::{parse_rtt, parse_speed},
    measure::parse_mtu,
    reach::Reach,
};

/// Uses of tuning.
#[derive(Debug, Subcommand)]
pub(crate) enum TuneAction {
    /// Show what would be changed, with the reason and the source of each value; change nothing.
    Plan {
        #[command(flatten)]
        asked: TuneAsked,
    },
    /// Change it, and keep that until "tune undo". Where a change could cut the way by which you came, all is undone after a
    /// minute unless you say "tune confirm".
    Apply {
        #[command(flatten)]
        asked: TuneAsked,
        /// Undo all after this time unless it is confirmed with "tune confirm": 5 s to 1 h (1 min where a change could cut your way).
        #[arg(long, value_name = "TIME", value_parser = parse_confirm)]
        confirm_within: Option<Nanos>,
        /// Also write files below /etc that make the same at each boot.
        #[arg(long)]
        persist: bool,
    },
    /// Undo a tuning, and the files that it wrote.
    Undo {
        #[command(flatten)]
        host: TuneHost,
        /// Also undo what somebody else has changed again since.
        #[arg(long)]
        force: bool,
        /// Leave what somebody else has changed again since, and forget it.
        #[arg(long, conflicts_with = "force")]
        forget: bool,
    },
    /// Show the tuning that stands, and what somebody else has changed again since.
    Status {
        #[command(flatten)]
        host: TuneHost,
    },
    /// Keep a tuning that waits to be confirmed.
    Confirm {
        #[command(flatten)]
        host: TuneHost,
    },
    /// Hold a tuning until it is confirmed (used by wireproof itself).
    #[command(hide = true)]
    Hold,
}

/// A machine.
#[derive(Clone, Debug, Args)]
pub(crate) struct TuneHost {
    /// Another machine, by ssh: USER@HOST:PORT (USER and PORT may be left out; default: this one).
    pub(crate) host: Option<InspectedRef>,
    #[command(flatten)]
    pub(crate) reach: Reach,
}

/// A machine and what it is tuned for.
#[derive(Clone, Debug, Args)]
#[command(group = ArgGroup::new("wanted").required(true).args(["goal", "profile", "from"]))]
pub(crate) struct TuneAsked {
    #[command(flatten)]
    pub(crate) host: TuneHost,
    /// Goal: latency, throughput, router or bypass.
    #[arg(long)]
    pub(crate) goal: Option<Goal>,
    /// A profile of your own, a TOML file.
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,
    /// A profile of another program: tuned:NAME.
    #[arg(long, value_name = "tuned:NAME")]
    pub(crate) from: Option<String>,
    /// An interface to tune; can be given again (default: settings of the machine alone).
    #[arg(long, value_name = "IF", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) dev: Vec<String>,
    /// Also this MTU, for the interfaces and for each device above and below them: bridges with their members, VLANs, bonds.
    #[arg(long, value_parser = parse_mtu, requires = "dev")]
    pub(crate) mtu: Option<Mtu>,
    /// Rate of the path, like 10G or "10 Gbit/s", for the size of buffers and values for fast links (default: that of the interfaces).
    #[arg(long, value_name = "RATE", allow_hyphen_values = true, value_parser = parse_speed)]
    pub(crate) speed: Option<BitRate>,
    /// Round-trip time of the path, for the size of buffers, like "20 ms" (default: that of the profile, 100 ms).
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = parse_rtt)]
    rtt: Option<Nanos>,
}

impl TuneAsked {
    /// Round-trip time in seconds.
    pub(crate) fn rtt_s(&self) -> Option<f64> {
        self.rtt.map(|rtt| rtt.0 as f64 / 1e9)
    }
}

const SECOND: u64 = 1_000_000_000;

fn parse_confirm(text: &str) -> Result<Nanos, String> {
    let time: Nanos = text.parse().map_err(|error| format!("{error}"))?;
    let fits = (5 * SECOND..=3600 * SECOND).contains(&time.0);
    if fits { Ok(time) } else { Err("use 5 s to 1 h".to_owned()) }
}
