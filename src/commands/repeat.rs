//! The command line that repeats a run, as somebody else can type it: without files and folders of the person who measured.

use std::iter;

use clap::{Args, Command};
use report::Lang;

use super::plans;
use crate::cli::{self, Identify};

/// Options that say where something is stored, how it is reported, or how machines are reached from here.
const LEFT_OUT: [&str; 6] = ["out", "store", "ssh", "quiet", "json", "color"];

/// Options that mean the same beside a plan that has all changes to it.
const BESIDE_PLAN: [&str; 10] = [
    "bed",
    "mtu",
    "cpus",
    "dut-cpus",
    "wrap",
    "push",
    "take-ports-in-use",
    "i-know-this-is-my-uplink",
    "references",
    "format",
];

/// A part of a command line.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    /// A command, or a plan or the like.
    Word(String),
    /// An option by its name, and all its words.
    Option(String, Vec<String>),
}

/// The command line that repeats a run, from the one that made it. A plan in a file is called [`report::PLAN_FILE`], which the report
/// has in it, with all that options changed.
pub(super) fn command(words: &[String]) -> Vec<String> {
    let Some((program, rest)) = words.split_first() else { return Vec::new() };
    let parts = parts(rest);
    let own: Vec<String> = Identify::augment_args(Command::new("")).get_arguments().filter_map(long).collect();
    let is_kept = |name: &str| !LEFT_OUT.contains(&name) && !own.iter().any(|own| own == name);
    let from_file = is_from_file(&parts);
    let start = match from_file {
        true => [program, "verify", report::PLAN_FILE].map(str::to_owned).to_vec(),
        false => vec![program.clone()],
    };
    let kept = parts.into_iter().flat_map(|part| match part {
        Part::Word(_) if from_file => vec![],
        Part::Word(word) => vec![word],
        Part::Option(name, words) if is_kept(&name) && (!from_file || BESIDE_PLAN.contains(&&*name)) => words,
        Part::Option(..) => vec![],
    });
    start.into_iter().chain(kept).collect()
}

/// The words of this command line, as they were typed.
pub(super) fn typed() -> Vec<String> {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    iter::once("wireproof".to_owned()).chain(words).collect()
}

/// The same command line with these options in place of all that have one of these names.
pub(super) fn with(words: &[String], names: &[&str], options: Vec<String>) -> Vec<String> {
    let Some((program, rest)) = words.split_first() else { return Vec::new() };
    let kept = parts(rest).into_iter().flat_map(|part| match part {
        Part::Word(word) => vec![word],
        Part::Option(name, _) if names.contains(&&*name) => vec![],
        Part::Option(_, words) => words,
    });
    iter::once(program.clone()).chain(kept).chain(options).collect()
}

/// Whether a run with this command was made while a tuning stood.
pub(super) fn is_of_tuning(words: &[String]) -> bool {
    words.iter().any(|word| word == "--tune" || word.starts_with("--tune="))
}

/// Plans, streams, captures and goals in files of the person who measured.
fn is_from_file(parts: &[Part]) -> bool {
    let mut words = parts.iter().filter_map(|part| match part {
        Part::Word(word) => Some(word.as_str()),
        Part::Option(..) => None,
    });
    let of_plan =
        words.next() == Some("verify") && words.next().is_some_and(|plan| !plans::names().any(|it| it == plan));
    let files = ["stream-file", "replay", "goals"];
    let is_file = |part: &Part| matches!(part, Part::Option(name, _) if files.contains(&&**name));
    of_plan || parts.iter().any(is_file)
}

fn parts(words: &[String]) -> Vec<Part> {
    let program = cli::definition(Lang::En);
    let mut command = &program;
    let mut words = words.iter();
    let mut next = || {
        let word = words.next()?;
        let Some(name) = word.strip_prefix('-') else {
            command = command.find_subcommand(word).unwrap_or(command);
            return Some(Part::Word(word.clone()));
        };
        let name = name.trim_start_matches('-');
        if let Some((name, _)) = name.split_once('=') {
            return Some(Part::Option(name.to_owned(), vec![word.clone()]));
        }
        let of_both = || command.get_arguments().chain(program.get_arguments());
        let named =
            of_both().find(|it| it.get_long() == Some(name) || it.get_short().is_some_and(|it| name == it.to_string()));
        let takes_next = |it: &clap::Arg| it.get_action().takes_values() && !it.is_require_equals_set();
        let value = named.is_some_and(takes_next).then(|| words.next()).flatten();
        let name = named.and_then(long).unwrap_or_else(|| name.to_owned());
        Some(Part::Option(name, iter::once(word).chain(value).cloned().collect()))
    };
    iter::from_fn(&mut next).collect()
}

fn long(argument: &clap::Arg) -> Option<String> {
    argument.get_long().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn repeated(line: &str) -> String {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let repeated = command(&words);
        assert!(cli::Cli::try_parse_from(&repeated).is_ok(), "{repeated:?}");
        assert_eq!(command(&repeated), repeated, "it repeats itself");
        repeated.join(" ")
    }

    #[test]
    fn a_plan_of_the_program_is_told_by_its_name_with_all_that_changes_it() {
        for (line, expected) in [
            ("verify", "verify"),
            ("verify quick --out there --out=here --set repeats=6", "verify quick --set repeats=6"),
            ("--store /home/x/runs.db -q verify certify --json", "verify certify"),
            ("verify --meta meta.toml --meta title=x --customer ACME --made-by=me quick", "verify quick"),
            ("--lang ja latency --frame-sizes 64,512 --store=/home/x/s", "--lang ja latency --frame-sizes 64,512"),
            (
                "packets --rate 10kpps --bed ports:a,b --take-ports-in-use",
                "packets --rate 10kpps --bed ports:a,b --take-ports-in-use",
            ),
            ("goodput --bed hosts:ssh://far?dev=e --ssh ssh_-F_/home/x/config", "goodput --bed hosts:ssh://far?dev=e"),
            ("verify --format html,pdf --references all quick", "verify --format html,pdf --references all quick"),
            ("verify --tune quick --repeats 6", "verify --tune quick --repeats 6"),
            ("rfc2544 --tests loss,latency --out o --bed lab:router", "rfc2544 --tests loss,latency --bed lab:router"),
        ] {
            assert_eq!(repeated(&format!("wireproof {line}")), format!("wireproof {expected}"));
        }
    }

    #[test]
    fn a_plan_in_a_file_is_told_as_the_one_in_the_report_and_nothing_changes_it_again() {
        for (line, expected) in [
            ("verify rack.toml", "verify plan.toml"),
            (
                "--store /home/x/runs.db verify /home/x/rack.toml --quiet --set repeats=6 --repeats 2",
                "verify plan.toml",
            ),
            ("verify --bed stand ../rack.toml --cpus 0,1 --out o", "verify plan.toml --bed stand --cpus 0,1"),
            ("packets --stream-file /home/x/s.toml --duration 500ms --mtu 9000", "verify plan.toml --mtu 9000"),
            ("packets --replay=/home/x/c.pcap --rate 2kpps --wrap onload", "verify plan.toml --wrap onload"),
            ("rfc2544 --goals /home/x/g.toml --tests loss --mtu 9000", "verify plan.toml --mtu 9000"),
        ] {
            assert_eq!(repeated(&format!("wireproof {line}")), format!("wireproof {expected}"));
        }
    }

    #[test]
    fn options_take_the_place_of_those_of_their_names() {
        let line = "wireproof --store s resume last --bed lab --wrap=x --json --ssh ssh_-F_f";
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let options = vec!["--bed".to_owned(), "ports:a,b".to_owned()];
        let expected = "wireproof --store s resume last --json --ssh ssh_-F_f --bed ports:a,b";
        assert_eq!(with(&words, &["bed", "wrap"], options).join(" "), expected);
    }

    #[test]
    fn words_of_another_version_are_kept() {
        let words = ["wireproof", "verify", "quick", "--newer", "--bed", "lab"].map(str::to_owned);
        assert_eq!(command(&words), words);
        assert_eq!(command(&[]), Vec::<String>::new());
    }
}
