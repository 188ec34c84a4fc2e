//! Completions that know what is here: plans, runs, beds, references, interfaces and namespaces.

use std::{
    collections::BTreeSet,
    env,
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
};

use clap::{Arg, Command, ValueEnum};
use clap_complete::{
    CompleteEnv, Shell,
    engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter},
    env::Shells,
};
use kernel::{namespace, privilege};
use model::RunId;
use store::Store;

use super::{bed, plans};
use crate::{
    cli::{self, ComparedFormat, Format},
    paths, references,
};

/// By it a shell asks for completions; it names the shell.
const VARIABLE: &str = "WIREPROOF_COMPLETE";

const PROGRAM: &str = "wireproof";

/// Runs that are offered: the latest.
const MOST_RUNS: usize = 20;

/// Answers a shell that asks for completions, and ends then.
pub(crate) fn answer_shell() {
    CompleteEnv::with_factory(|| completing(cli::definition(cli::language(None)))).var(VARIABLE).complete();
}

/// The script by which a shell asks for completions.
pub(super) fn script(shell: Shell) -> std::io::Result<Vec<u8>> {
    let mut script = Vec::new();
    let unknown = || std::io::Error::other(format!("no completions for {shell}"));
    let shells = Shells::builtins();
    let shell = shells.completer(&shell.to_string()).ok_or_else(unknown)?;
    shell.write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script)?;
    Ok(script)
}

/// The command line with completers.
fn completing(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let complete = |arg: Arg| match candidates(&name, arg.get_id().as_str()) {
        // A word includes all before its last comma, so that nothing is offered twice.
        Some(candidates) => arg.value_delimiter(None).add(ArgValueCompleter::new(candidates)),
        None => arg,
    };
    command.mut_args(complete).mut_subcommands(completing)
}

type Candidates = fn(&OsStr) -> Vec<CompletionCandidate>;

/// Candidates for an argument of a command.
fn candidates(command: &str, argument: &str) -> Option<Candidates> {
    Some(match (command, argument) {
        ("verify", "plan") => plans_and_files,
        ("down" | "exec", "name") | ("watch", "bed") => |current| these(beds(), current),
        ("exec", "endpoint") => |current| these(["a", "b", "bridge", "router"], current),
        (_, "bed") => beds_and_layouts,
        ("watch", "namespace") => |current| these(namespace::list().unwrap_or_default(), current),
        ("compare", "runs") => compared,
        ("table", "runs") => runs,
        (_, "run") => runs,
        (_, "references") => references,
        (_, "lang") => |current| these(["en", "ja"], current),
        ("compare", "formats") => |current| listed(forms::<ComparedFormat>(), current),
        (_, "formats") => |current| listed(forms::<Format>(), current),
        (_, "interface" | "interfaces" | "dev") => |current| these(interfaces(), current),
        _ => return None,
    })
}

/// Plans of the program, and files that may be plans.
fn plans_and_files(current: &OsStr) -> Vec<CompletionCandidate> {
    let files = PathCompleter::any().filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
    these(plans::names(), current).into_iter().chain(files.complete(current)).collect()
}

/// Baselines and runs.
fn compared(current: &OsStr) -> Vec<CompletionCandidate> {
    these(baselines(), current).into_iter().chain(runs(current)).collect()
}

/// Candidates that begin with the word so far.
fn these(all: impl IntoIterator<Item: Into<String>>, current: &OsStr) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    let fit = all.into_iter().map(Into::into).filter(|it: &String| it.starts_with(&*current));
    fit.map(CompletionCandidate::new).collect()
}

/// Forms of a report.
fn forms<F: ValueEnum>() -> Vec<String> {
    F::value_variants().iter().filter_map(|form| Some(form.to_possible_value()?.get_name().to_owned())).collect()
}

/// The last word of a list, without those that stand in it already.
fn listed(all: Vec<String>, current: &OsStr) -> Vec<CompletionCandidate> {
    let text = current.to_string_lossy();
    let before = text.rsplit_once(',').map_or("", |(before, _)| before);
    let left = all.into_iter().filter(|word| !before.split(',').any(|known| known == word));
    these(left.map(|word| if before.is_empty() { word } else { format!("{before},{word}") }), current)
}

/// Interfaces for a bed of ports: without the loopback one, and that of a default route, which a bed only takes when told to.
fn ports() -> Vec<String> {
    let uplinks = uplinks(&fs::read_to_string("/proc/net/route").unwrap_or_default());
    interfaces().into_iter().filter(|name| name != "lo" && !uplinks.contains(name)).collect()
}

/// Interfaces of default routes in the kernel's table: the second field is the destination, in hexadecimal.
fn uplinks(table: &str) -> Vec<String> {
    let fields = table.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    let default = fields.filter(|fields| fields.get(1) == Some(&"00000000"));
    default.filter_map(|fields| fields.first().map(|name| (*name).to_owned())).collect()
}

fn interfaces() -> Vec<String> {
    let entries = fs::read_dir("/sys/class/net").into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Beds that have namespaces here.
fn beds() -> BTreeSet<String> {
    let all = namespace::list().unwrap_or_default();
    all.iter().filter_map(|name| bed::of_namespace(name)).map(str::to_owned).collect()
}

/// Kinds of beds, the beds that stand, and interfaces behind `ports:`.
fn beds_and_layouts(current: &OsStr) -> Vec<CompletionCandidate> {
    let text = current.to_string_lossy();
    let Some(ports) = text.strip_prefix("ports:") else {
        return these(::bed::layout_names().map(str::to_owned).chain(beds()), current);
    };
    let with_prefix = |it: CompletionCandidate| it.add_prefix("ports:");
    match ports.matches(',').count() {
        0 | 1 => listed(self::ports(), OsStr::new(ports)).into_iter().map(with_prefix).collect(),
        _ => vec![],
    }
}

/// The store that the line so far names, or that of the calling user; `None` where there is none, or it cannot be read.
fn store() -> Option<Store> {
    Store::open_to_read(&store_path()?).ok()
}

fn store_path() -> Option<PathBuf> {
    privilege::reach_files_as_sudo_user().ok()?;
    paths::store(named_store(env::args_os()).as_deref()).ok()
}

/// The value of `--store` among these words.
fn named_store(words: impl IntoIterator<Item = OsString>) -> Option<PathBuf> {
    let mut words = words.into_iter();
    let named = words.find_map(|word| Some(word.to_str()?.strip_prefix("--store")?.to_owned()))?;
    named.strip_prefix('=').map(PathBuf::from).or_else(|| words.next().map(PathBuf::from))
}

fn runs(current: &OsStr) -> Vec<CompletionCandidate> {
    let runs = store().and_then(|store| store.runs().ok()).unwrap_or_default();
    let named = |run: store::RunSummary| {
        let RunId(id) = run.id;
        CompletionCandidate::new(id).help(Some(format!("{} on {}, {}", run.plan, run.bed, run.started).into()))
    };
    let current = current.to_string_lossy();
    let fit = runs.into_iter().take(MOST_RUNS).filter(|run| run.id.0.starts_with(&*current));
    these(["last"], OsStr::new(&*current)).into_iter().chain(fit.map(named)).collect()
}

/// `baseline`, and each that has a name.
fn baselines() -> BTreeSet<String> {
    let known = store().and_then(|store| store.baselines().ok()).unwrap_or_default();
    let named = known.into_iter().filter(|baseline| !baseline.name.is_empty());
    named.map(|baseline| format!("baseline:{}", baseline.name)).chain(["baseline".to_owned()]).collect()
}

/// All, none, or a list: the last of it is completed.
fn references(current: &OsStr) -> Vec<CompletionCandidate> {
    let text = current.to_string_lossy();
    let before = text.rsplit_once(',').map_or(String::new(), |(before, _)| format!("{before},"));
    let ids = known_references().into_iter().map(|id| format!("{before}{id}"));
    let words = ["all", "none"].into_iter().filter(|_| before.is_empty()).map(str::to_owned);
    these(words.chain(ids), current)
}

fn known_references() -> Vec<String> {
    let folder = store_path().map(|store| paths::references(&store));
    references::read_from(folder.as_deref().unwrap_or(Path::new(""))).ids()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(candidates: &[CompletionCandidate]) -> Vec<String> {
        candidates.iter().map(|it| it.get_value().to_string_lossy().into_owned()).collect()
    }

    fn offered(command: &str, argument: &str, current: &str) -> Vec<String> {
        words(&candidates(command, argument).expect("it is completed")(OsStr::new(current)))
    }

    /// Each argument of each command, as (command, argument).
    fn arguments(command: &Command) -> Vec<(String, String)> {
        let own = command.get_arguments().map(|it| (command.get_name().to_owned(), it.get_id().to_string()));
        own.chain(command.get_subcommands().flat_map(arguments)).collect()
    }

    #[test]
    fn what_has_candidates_is_an_argument_of_a_command() {
        let all = arguments(&cli::definition(report::Lang::En));
        let completed = |argument: &str| {
            all.iter().filter(|(command, it)| it == argument && candidates(command, it).is_some()).count()
        };
        for (argument, times) in [("plan", 1), ("runs", 2), ("endpoint", 1), ("namespace", 1), ("interfaces", 2)] {
            assert_eq!(completed(argument), times, "{argument}");
        }
        assert!(completed("run") >= 3 && completed("bed") >= 7 && completed("references") >= 7);
        assert!(completed("interface") >= 3 && completed("dev") >= 2 && completed("name") == 2);
    }

    #[test]
    fn plans_references_and_ports_are_completed() {
        assert_eq!(offered("verify", "plan", "cer"), ["certify"]);
        assert_eq!(offered("report", "references", "a"), ["all"]);
        assert_eq!(offered("report", "references", "mine,trex"), ["mine,trex-vyos"]);
        assert_eq!(offered("verify", "bed", "po"), ["ports:"]);
        let no_words: [&str; 0] = [];
        assert_eq!(offered("verify", "bed", "ports:l"), no_words, "the loopback interface has no cable");
        assert_eq!(offered("watch", "interfaces", "l"), ["lo"]);
        assert_eq!(offered("verify", "lang", ""), ["en", "ja"]);
    }

    #[test]
    fn the_store_is_the_one_that_the_line_names() {
        let named =
            |line: &str| named_store(line.split(' ').map(OsString::from)).map(|path| path.display().to_string());
        let there = Some("/tmp/runs.db".to_owned());
        assert_eq!(named("wireproof report --store /tmp/runs.db la"), there);
        assert_eq!(named("wireproof --store=/tmp/runs.db report la"), there);
        assert_eq!([named("wireproof report la"), named("wireproof report --store")], [None, None]);
    }

    #[test]
    fn a_word_of_a_list_is_offered_once() {
        assert_eq!(offered("verify", "formats", "h"), ["html"]);
        assert_eq!(
            offered("verify", "formats", "html,"),
            ["html,pdf", "html,md", "html,csv", "html,json", "html,junit", "html,sarif", "html,tap"]
        );
        let compared = offered("compare", "formats", "html,");
        assert!(
            compared.contains(&"html,pdf".to_owned()) && !compared.contains(&"html,csv".to_owned()),
            "{compared:?}"
        );
        let ports = ["eth1", "eth2"].map(str::to_owned).to_vec();
        assert_eq!(words(&listed(ports, OsStr::new("eth1,"))), ["eth1,eth2"]);
        let table = "Iface\tDestination\tGateway\neth0\t00000000\t0102A8C0\neth1\t0002A8C0\t00000000\n";
        assert_eq!(uplinks(table), ["eth0"]);
    }
}
