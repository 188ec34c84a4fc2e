//! Options of the commands about RFC 2544.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use model::RunId;

/// Actions on trials of a device.
#[derive(Debug, Subcommand)]
pub(crate) enum Rfc2544Action {
    /// Classify recorded trials by RFC 9971: for each goal, each load as lower bound, upper bound or undecided, the relevant
    /// bounds and the conditional throughput.
    Classify(ClassifyOptions),
}

/// Trials to classify, and goals to classify them by.
#[derive(Clone, Debug, Args)]
pub(crate) struct ClassifyOptions {
    /// File of goals: TOML tables named goal, each with name, final_trial_duration, duration_sum, loss_ratio, exceed_ratio and
    /// width.
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) goals: PathBuf,
    /// File of trials: CSV with the columns load, duration (in seconds) and loss_ratio.
    #[arg(long, value_name = "FILE.csv", required_unless_present = "run", conflicts_with = "run")]
    pub(crate) trials: Option<PathBuf>,
    /// Instead: the trials of a stored run that have a load, as "packets --rate 1Mpps..10Mpps" makes them. A name, its
    /// beginning, or "last".
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<RunId>,
}
