//! The command line, as it is written and explained to people.

use std::{ffi::OsString, path::PathBuf};

use bed::BedRef;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use model::{IpVersion, Mtu, Nanos, Protocol, RunId, WaitMode};
use report::Lang;

/// Proves what a network path really does: measures, says how sure it is, and writes a report.
#[derive(Debug, Parser)]
#[command(name = "wireproof", version, propagate_version = true, disable_help_subcommand = true)]
#[command(after_help = "Exit status: 0 done and every limit passed; 1 could not do it; 2 wrong words on the command \
    line or in the plan; 3 a limit failed; 4 inconclusive or not run; 130 interrupted, what was measured is kept.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// What every command understands.
#[derive(Clone, Debug, Args)]
pub(crate) struct Common {
    /// Print one JSON document on standard output, and nothing else there.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Language of report, progress and advice: en or ja (default: from LANG).
    #[arg(long, global = true, value_name = "LANG")]
    pub(crate) lang: Option<Lang>,
    /// Database of runs (default: wireproof/runs.db in the user's data directory).
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) store: Option<PathBuf>,
    /// No progress.
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Colours on a terminal.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The main job: measure a plan on a bed and write the report.
    Verify {
        /// A plan file, or the name of a plan that comes with wireproof: quick, latency, goodput.
        #[arg(default_value = "quick")]
        plan: PathBuf,
        #[command(flatten)]
        options: Measure,
    },
    /// Measure round-trip times only.
    Latency {
        /// udp or tcp.
        #[arg(long)]
        protocol: Option<Protocol>,
        /// 4 or 6.
        #[arg(long)]
        ip: Option<IpVersion>,
        /// How both ends wait: spin or block.
        #[arg(long)]
        mode: Option<WaitMode>,
        #[command(flatten)]
        options: Measure,
    },
    /// Measure goodput only: what arrives of bulk data.
    Goodput {
        /// 4 or 6.
        #[arg(long)]
        ip: Option<IpVersion>,
        #[command(flatten)]
        options: Measure,
    },
    /// Another word for goodput, which says what RFC 1242 calls throughput.
    #[command(hide = true)]
    Throughput {
        /// 4 or 6.
        #[arg(long)]
        ip: Option<IpVersion>,
        #[command(flatten)]
        options: Measure,
    },
    /// Make a bed that stays, look at beds, run programs in them.
    Bed {
        #[command(subcommand)]
        action: BedAction,
    },
    /// List what was measured.
    Runs,
    /// Write the report of a run again.
    Report {
        /// A run, the beginning of its name, or "last".
        #[arg(default_value = "last")]
        run: RunId,
        /// Folder for report.html and report.json (default: beside the store).
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Say what this kernel and this user can do, and what each missing piece costs.
    Doctor,
    /// Undo whatever a crash left behind.
    Clean,
    /// Print the JSON Schema of the JSON output.
    Schema,
    /// Print completions for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Write the man pages into a folder.
    Man {
        /// The folder.
        dir: PathBuf,
    },
    /// Serve a controller (started by wireproof itself).
    #[command(hide = true)]
    Agent {
        /// Over standard input and output.
        #[arg(long, required = true)]
        stdio: bool,
    },
    /// Run a program in a network namespace (used by wireproof itself).
    #[command(hide = true)]
    InNamespace {
        /// The namespace.
        namespace: String,
        /// The program and its arguments.
        #[arg(required = true, last = true)]
        program: Vec<OsString>,
    },
}

impl Command {
    /// Whether it writes or reads files of the user who called, and not the machine's.
    pub(crate) fn keeps_files(&self) -> bool {
        !matches!(self, Self::Bed { .. } | Self::Clean | Self::Agent { .. } | Self::InNamespace { .. })
    }
}

/// Where and how to measure.
#[derive(Clone, Debug, Args)]
pub(crate) struct Measure {
    /// Where: "lab" (two namespaces on this machine), or the name of a bed made with "bed up".
    #[arg(long, default_value = "lab")]
    pub(crate) bed: BedRef,
    /// Folder for report.html and report.json (default: beside the store).
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the steps, what is set up on the machine, and the duration; do nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// MTU of the bed's interfaces, in bytes.
    #[arg(long, value_parser = parse_mtu)]
    pub(crate) mtu: Option<Mtu>,
    /// Frame sizes with FCS, in bytes, like 64,512,1518.
    #[arg(long, value_delimiter = ',', value_name = "SIZES")]
    pub(crate) frame_sizes: Vec<u32>,
    /// Time that counts for each goodput trial, like "10 s".
    #[arg(long, value_name = "TIME")]
    pub(crate) duration: Option<Nanos>,
    /// Round trips that count for each latency trial.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,
    /// TCP connections at the same time.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=128))]
    pub(crate) streams: Option<u16>,
    /// How often the plan is gone through.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) repeats: Option<u32>,
    /// Cores of the two ends, like 2,3.
    #[arg(long, value_parser = parse_cpus, value_name = "CLIENT,SERVER")]
    pub(crate) cpus: Option<[usize; 2]>,
    /// Change any key of the plan, like repeats=6 or latency.timeout="200 ms"; can be given again.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

/// What to do with beds that stay.
#[derive(Debug, Subcommand)]
pub(crate) enum BedAction {
    /// Make a lab bed and leave it standing.
    Up {
        /// Its name, for --bed and for "bed down".
        name: String,
        /// MTU of its interfaces, in bytes.
        #[arg(long, value_parser = parse_mtu)]
        mtu: Option<Mtu>,
    },
    /// Take a bed down, and undo all that it changed.
    Down {
        /// Its name.
        name: String,
    },
    /// List the beds that stand.
    List,
    /// Run a program at one end of a bed.
    Exec {
        /// The bed's name.
        name: String,
        /// The end: a or b.
        endpoint: String,
        /// The program and its arguments.
        #[arg(required = true, last = true)]
        program: Vec<OsString>,
    },
}

/// Reads the command line; wrong words end the program with status 2.
pub(crate) fn read() -> Cli {
    Cli::parse()
}

/// The whole command line as clap knows it, for completions and man pages.
pub(crate) fn definition() -> clap::Command {
    Cli::command()
}

fn parse_mtu(text: &str) -> Result<Mtu, String> {
    text.parse().map(Mtu).map_err(|_| "an MTU is a number of bytes, like 1500 or 9000".to_owned())
}

fn parse_cpus(text: &str) -> Result<[usize; 2], String> {
    let cpus: Option<Vec<usize>> = text.split(',').map(|cpu| cpu.trim().parse().ok()).collect();
    let pair = cpus.and_then(|cpus| cpus.try_into().ok());
    pair.ok_or_else(|| "write two core numbers with a comma between them, like 0,1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        definition().debug_assert();
    }

    #[test]
    fn cores_are_two_numbers() {
        assert_eq!(parse_cpus("2, 3"), Ok([2, 3]));
        assert!(parse_cpus("2").is_err() && parse_cpus("2,x").is_err() && parse_cpus("1,2,3").is_err());
    }
}
