//! The command line, as it is written and explained to people.

mod bypass;
mod compare;
mod files;
mod identify;
mod inspect;
pub(crate) mod manual;
mod measure;
mod numbers;
mod packets;
mod probes;
mod reach;
mod report;
mod rfc2544;
mod router;
mod schema;
mod translated;
mod tune;
mod watch;

use std::{env, ffi::OsString, path::PathBuf, process};

use ::report::Lang;
use bed::BedRef;
use clap::{
    Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum,
    error::{ContextKind, ContextValue, ErrorKind},
};
use clap_complete::Shell;
use model::{Mtu, RunId};
use ratatui::crossterm;

use crate::{
    exit::failure,
    output::{print, print_json_line, say},
};

pub(crate) use bypass::BypassOptions;
pub(crate) use compare::{BaselineAction, Compared, ComparedFormat};
pub(crate) use files::{Format, ReportFiles};
pub(crate) use identify::Identify;
pub(crate) use inspect::InspectOptions;
pub(crate) use measure::{Measure, TakePorts, Wrap};
pub(crate) use packets::{CaptureOptions, PacketsAction, ReceiveOptions, SendOptions};
pub(crate) use probes::{GOODPUT, PROBES, PacketsOptions, PathOptions, ProbeCommand, apply};
pub(crate) use reach::{Reach, StandsFor};
pub(crate) use report::ReportOptions;
pub(crate) use rfc2544::{ClassifyOptions, KNOWN as RFC2544, Rfc2544Action, Rfc2544Options, TableFormat, TableOptions};
pub(crate) use router::{RouterAction, RouterOptions};
pub(crate) use translated::language;
pub(crate) use tune::{TuneAction, TuneAsked, TuneHost};
pub(crate) use watch::WatchOptions;

/// Measure a network path, with the uncertainty of each figure, and write a report.
#[derive(Debug, Parser)]
#[command(name = "wireproof", version, propagate_version = true, disable_help_subcommand = true)]
#[command(after_help = "Exit status: 0 done and every limit passed; 1 could not do it; 2 wrong words on the command \
    line or in the plan; 3 a limit failed, or a comparison shows something worse; 4 inconclusive, not comparable or not run; 130 interrupted, what was measured is kept.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Options that every command understands.
#[derive(Clone, Debug, Args)]
pub(crate) struct Common {
    /// Print one JSON document on standard output, and nothing else there (bypass: on standard error, at the end).
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Language of report, progress and advice: en or ja (default: from LANG).
    #[arg(long, global = true, value_name = "LANG")]
    pub(crate) lang: Option<Lang>,
    /// Database of runs (default: wireproof/runs.db in the user's data directory).
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) store: Option<PathBuf>,
    /// No progress (bypass: nothing of what goes through the kernel).
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

/// The command.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure a plan on a bed and write the report: the main command.
    Verify {
        /// A plan file, or the name of a plan that comes with wireproof: quick, certify, loopback, bufferbloat,
        /// card, soak, qos, dut, rfc2544, or a probe's, like goodput.
        #[arg(default_value = "quick")]
        plan: PathBuf,
        #[command(flatten)]
        options: Measure,
        #[command(flatten)]
        identify: Identify,
        /// Measure what a tuning of this machine brings: before it, with it, and after its undoing. GOAL is latency, throughput, router or
        /// bypass (default: by what the plan measures), FILE a profile of your own. All is undone at the end, also after a crash.
        #[arg(long, value_name = "GOAL|FILE", require_equals = true, conflicts_with_all = ["dry_run", "histogram", "references"])]
        tune: Option<Option<String>>,
    },
    #[command(flatten)]
    Probe(ProbeCommand),
    /// Create and list beds that stay, and run programs at their ends.
    Bed {
        #[command(subcommand)]
        action: BedAction,
    },
    /// Run a program whose UDP goes past the kernel (AF_XDP), on any interface whose driver has native XDP; the program
    /// needs no change. The exit status is the program's own; 127 where there is no such program, 126 where it cannot be run.
    Bypass {
        #[command(flatten)]
        options: BypassOptions,
    },
    /// Route packets between interfaces by XDP, as the kernel's routes say.
    Router {
        #[command(subcommand)]
        action: RouterAction,
    },
    /// List the runs; --json and --csv export the history with verdicts and figures.
    Runs {
        /// Print the history as CSV: a row for each figure of each configuration of each run.
        #[arg(long, conflicts_with = "json")]
        csv: bool,
    },
    /// Write the report of a run again, or check a report's files.
    Report {
        #[command(flatten)]
        options: ReportOptions,
    },
    /// Import another tool's output as a reference: iperf3 -J, sockperf, netperf, qperf, TRex statistics as JSON.
    Import {
        /// The tool's output, saved to a file.
        file: PathBuf,
        /// Name of the reference (default: that of the tool, and the date where the file has one).
        #[arg(long)]
        name: Option<String>,
        /// A condition that the file does not contain, like frame_size=64, mtu=1500 or simulated=true; can be given again.
        #[arg(long, value_name = "KEY=VALUE")]
        condition: Vec<String>,
    },
    /// List references: published figures that come with wireproof, and your own files.
    References,
    /// Compare runs; flag regressions and improvements. Exit status 3 if something is worse.
    Compare {
        #[command(flatten)]
        compared: Compared,
    },
    /// Set or list the baselines that later runs are compared with.
    Baseline {
        #[command(subcommand)]
        action: BaselineAction,
    },
    /// Test a device by RFC 2544, RFC 5180 (IPv6) and RFC 9004: throughput, latency, frame loss and back-to-back frames at each frame
    /// size; for isolated beds only (RFC 6815).
    #[command(args_conflicts_with_subcommands = true)]
    Rfc2544 {
        #[command(subcommand)]
        action: Option<Rfc2544Action>,
        #[command(flatten)]
        tests: Box<Rfc2544Options>,
        #[command(flatten)]
        options: Box<Measure>,
    },
    /// Continue an interrupted run: keep the finished trials, measure the rest.
    Resume {
        /// A run, the beginning of its name, or "last".
        #[arg(default_value = "last")]
        run: RunId,
        /// The bed of the run, in the same words. Needed unless the run was begun with lab or lab:…, because the store does not decide
        /// which ports are taken or which hosts are reached.
        #[arg(long)]
        bed: Option<BedRef>,
        #[command(flatten)]
        files: ReportFiles,
        #[command(flatten)]
        reach: Reach,
        #[command(flatten)]
        ports: TakePorts,
        #[command(flatten)]
        wrap: Wrap,
    },
    /// Check a host's settings for a goal: cards, PCI Express, interrupts, drivers, processor, TCP and MTUs, with the command that
    /// mends each finding; exit status 3 where something is wrong.
    Inspect {
        #[command(flatten)]
        options: Box<InspectOptions>,
    },
    /// Set a machine up for a goal, reversibly: each value with its reason and source, and all of it undone exactly.
    Tune {
        #[command(subcommand)]
        action: TuneAction,
    },
    /// Check what this kernel and this user can do, and what each missing piece costs.
    Doctor {
        /// Say instead which idle ports of this machine are cabled together: each is set up for a moment, and sends a few frames
        /// that no switch passes on.
        #[arg(long)]
        cabling: bool,
    },
    /// Show live rates of interfaces, those inside beds too: bit/s, packets/s, share of the line, drops, errors, queues, XDP, mean,
    /// peak and totals. q or Ctrl-C ends it with a summary and status 0; --json prints a document a line.
    Watch {
        #[command(flatten)]
        options: WatchOptions,
    },
    /// Undo the changes that a crash left behind, and a router that was kept.
    Clean,
    /// Print the JSON Schema of the JSON output.
    Schema {
        /// The document.
        #[arg(default_value = "run", value_name = "NAME", value_parser = schema::parser())]
        of: String,
    },
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
        /// Remove the program's own file and folder first: it was copied for this agent.
        #[arg(long)]
        remove_self: bool,
        #[command(flatten)]
        stands_for: Option<StandsFor>,
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
    /// Whether it reads or writes files of the calling user instead of the machine's.
    pub(crate) fn keeps_files(&self) -> bool {
        !matches!(
            self,
            Self::Bed { .. }
                | Self::Bypass { .. }
                | Self::Router { .. }
                | Self::Tune { .. }
                | Self::Watch { .. }
                | Self::Clean
                | Self::Agent { .. }
                | Self::InNamespace { .. }
        )
    }
}

/// Uses of beds that stay.
#[derive(Debug, Subcommand)]
pub(crate) enum BedAction {
    /// Create a bed that stays.
    Up {
        /// Its name, for --bed and for "bed down".
        name: String,
        /// Kind: "lab" (two namespaces on this machine), "lab:bridge" or "lab:router" (a bridge or a router of the kernel between
        /// them), "lab:vswitch" (a router behind two virtual switches), or "ports:eth1,eth2" (two of its ports).
        #[arg(long, default_value = "lab")]
        bed: BedRef,
        #[command(flatten)]
        ports: TakePorts,
        /// MTU of its interfaces, in bytes.
        #[arg(long, value_parser = measure::parse_mtu)]
        mtu: Option<Mtu>,
    },
    /// Take a bed down and undo its changes.
    Down {
        /// Its name.
        name: String,
    },
    /// List the beds that stay.
    List,
    /// Run a program at one end of a bed.
    Exec {
        /// The bed's name.
        name: String,
        /// The end, a or b, or the device between them, bridge or router.
        endpoint: String,
        /// The program and its arguments.
        #[arg(required = true, last = true)]
        program: Vec<OsString>,
    },
}

/// Reads the command line; wrong words end the program with status 2.
pub(crate) fn read() -> Cli {
    let words: Vec<OsString> = env::args_os().collect();
    let (json, lang) = (asks_for_json(&words), language(translated::asked(&words)));
    parse(words, lang).unwrap_or_else(|error| {
        if json && error.use_stderr() {
            // Nobody is left to be told where that fails.
            let _ = print_json_line(&failure::of_words(&error.to_string()));
        }
        let is_help =
            matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand);
        if is_help && lang == Lang::Ja {
            let columns = crossterm::terminal::size().map_or(100, |(columns, _)| columns);
            let help = translated::folded(&error.to_string(), columns.into());
            if error.use_stderr() {
                say(help.trim_end());
            } else {
                let _ = print(&help);
            }
            process::exit(error.exit_code());
        }
        error.exit()
    })
}

/// Whether `--json` is among the words of ours.
fn asks_for_json(words: &[OsString]) -> bool {
    words.iter().take_while(|word| *word != "--").any(|word| word == "--json")
}

fn parse(words: Vec<OsString>, lang: Lang) -> Result<Cli, clap::Error> {
    let matches = definition(lang).try_get_matches_from(&words).map_err(|error| with_hint(error, &words))?;
    Cli::from_arg_matches(&matches)
}

/// An error without hidden commands, and with a hint where all that is wrong is how a word is separated from the one before it.
fn with_hint(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    if let Some(ContextValue::Strings(names)) = error.get(ContextKind::ValidSubcommand) {
        let program = definition(Lang::En);
        let is_shown = |name: &&String| program.find_subcommand(name).is_none_or(|command| !command.is_hide_set());
        let shown = names.iter().filter(is_shown).cloned().collect();
        error.insert(ContextKind::ValidSubcommand, ContextValue::Strings(shown));
    }
    let Some(ContextValue::String(wrong)) = error.get(ContextKind::InvalidArg) else { return error };
    let is_it = |at: &usize| words[*at].to_string_lossy() == *wrong && !wrong.starts_with('-');
    let hint = (1..words.len()).filter(is_it).find_map(|at| unseparated(words, at).or_else(|| unjoined(words, at)));
    if let Some(hint) = hint.or_else(|| unchanged(words, wrong)) {
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
    }
    error
}

fn is_right(words: &[OsString]) -> bool {
    definition(Lang::En).try_get_matches_from(words).is_ok()
}

/// A hint where no "--" stands in front of a program.
fn unseparated(words: &[OsString], at: usize) -> Option<String> {
    let right = [&words[..at], &["--".into()], &words[at..]].concat();
    let line: Vec<String> = right[1..].iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let hint = || format!("write \"--\" in front of the program: wireproof {}", ::report::command(&line));
    is_right(&right).then(hint)
}

/// A hint where an option takes its value behind "=" only, because it may stand alone.
fn unjoined(words: &[OsString], at: usize) -> Option<String> {
    let option = [&words[at - 1], &words[at]].map(|word| word.to_string_lossy()).join("=");
    let right = [&words[..at - 1], &[OsString::from(&option)], &words[at + 1..]].concat();
    (option.starts_with("--") && is_right(&right)).then(|| format!("write it with \"=\": {option}"))
}

/// A hint where an option would change the plan of a run that goes on.
fn unchanged(words: &[OsString], wrong: &str) -> Option<String> {
    let command = words.iter().skip(1).find(|word| !word.to_string_lossy().starts_with('-'))?;
    let program = definition(Lang::En);
    let mut options = program.find_subcommand("verify")?.get_arguments().filter_map(clap::Arg::get_long);
    let is_of_plan = command == "resume" && options.any(|option| wrong.strip_prefix("--") == Some(option));
    is_of_plan.then(|| {
        format!("a run goes on with the plan and the machine that it was begun with; to change them, begin another: wireproof verify {wrong} …")
    })
}

/// The whole command line as clap knows it, explained in this language.
pub(crate) fn definition(lang: Lang) -> clap::Command {
    let hide = |command: clap::Command, probe: &&probes::Known| {
        command.mut_subcommand(probe.name, |command| {
            probe.refused.iter().fold(command, |command, option| command.mut_arg(option, |option| option.hide(true)))
        })
    };
    translated::explained(PROBES.iter().chain([&&RFC2544]).fold(Cli::command(), hide), lang)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        definition(Lang::En).debug_assert();
        definition(Lang::Ja).debug_assert();
    }

    #[test]
    fn who_forgot_what_stands_in_front_of_a_program_is_told() {
        let said = |line: &[&str]| {
            let words = [&["wireproof"], line].concat().into_iter().map(OsString::from).collect();
            parse(words, Lang::En).map(drop).map_err(|error| error.to_string()).expect_err("wrong words")
        };
        let hint = "tip: write \"--\" in front of the program: wireproof ";
        for (line, right) in [
            (["bypass", "true"].as_slice(), "bypass -- true"),
            (&["bypass", "--dev", "nc", "nc", "-lu", "7"], "bypass --dev nc -- nc -lu 7"),
            (&["bypass", "sh", "-c", "it's one"], "bypass -- sh -c 'it'\\''s one'"),
            (&["bed", "exec", "mybed", "a", "ping", "x"], "bed exec mybed a -- ping x"),
        ] {
            assert!(said(line).contains(&format!("{hint}{right}\n")), "{}", said(line));
        }
        for wrong in [["latency", "true"].as_slice(), &["bypass", "--spni", "true"], &["bypass"], &["bypas", "true"]] {
            assert!(!said(wrong).contains("in front of the program"), "{}", said(wrong));
        }
        let joined = said(&["path", "--hops", "3", "--ip", "4"]);
        assert!(joined.contains("--hops is written with \"=\": --hops=3"), "{joined}");
        let resumed = said(&["resume", "last", "--set", "repeats=2"]);
        assert!(resumed.contains("begin another: wireproof verify --set"), "{resumed}");
        assert!(!resumed.contains("-- --set") && !resumed.contains("--store"), "{resumed}");
        assert!(!said(&["resume", "--sett"]).contains("begin another"));
        let unknown = said(&["path", "--json", "3"]);
        assert!(!unknown.contains("write it with"), "{unknown}");
    }

    #[test]
    fn a_quantity_with_a_sign_is_told_with_what_is_right() {
        for (line, right) in [
            (["goodput", "--duration", "-5s"], "write it like \"10 s\""),
            (["watch", "--interval", "-1 s"], "write it like \"10 s\""),
            (["goodput", "--rate", "-1 Gbit/s"], "write it like \"9.4 Gbit/s\""),
            (["latency", "--rate", "-1 kpps"], "write it like \"100 kpps\""),
            (["goodput", "--window", "-1 MiB"], "write it like \"4 MiB\""),
            (["rfc2544", "--rate", "-1 Mpps"], "write it like \"100 kpps\""),
            (["rfc2544", "--latency-duration", "-1 s"], "write it like \"10 s\""),
        ] {
            let words = ["wireproof"].iter().chain(&line).map(OsString::from).collect();
            let said = parse(words, Lang::En).map(drop).map_err(|error| error.to_string()).expect_err("wrong words");
            assert!(said.contains(right), "{said}");
        }
    }

    #[test]
    fn hidden_commands_are_not_offered() {
        let words = ["wireproof", "--quiet"].map(OsString::from).to_vec();
        let said = parse(words, Lang::En).map(drop).map_err(|error| error.to_string()).expect_err("no command");
        assert!(said.contains("verify, ") && !said.contains("in-namespace"), "{said}");
    }
}
