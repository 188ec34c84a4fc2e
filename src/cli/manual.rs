//! Additions of a man page to the help of a command: examples and exit status. Their Japanese stands in `report/texts/ja/manual.toml`.

use std::collections::BTreeMap;

use ::report::Lang;

/// An example: the words behind `wireproof`, and what they do.
pub(crate) type Example = (&'static str, &'static str);

/// An exit status and its meaning.
pub(crate) type Status = (&'static str, &'static str);

const DONE: Status = ("0", "It was done.");
const COULD_NOT: Status = ("1", "It could not be done; the message says what, where, and what to do.");
const USAGE: Status = ("2", "The command line, or a file that it names, is wrong.");
const PASSED: Status = ("0", "Every limit passed, or the plan has none.");
const FAILED: Status = ("3", "A limit, or an item verified by hand, failed.");
const OPEN: Status = ("4", "No limit failed, but one is inconclusive, not comparable or was not run.");
const CARD_FINE: Status = ("0", "Every limit passed, or the plan has none; with the plan \"card\", the card is fine.");
const CARD_NOT_FINE: Status = (
    "3",
    "A limit, or an item verified by hand, failed; with the plan \"card\", the card is not fine or needs another slot.",
);
const CARD_OPEN: Status = (
    "4",
    "No limit failed, but one is inconclusive, not comparable or was not run; with the plan \"card\", whether the card is fine was not decided.",
);
const INTERRUPTED: Status = ("130", "It was interrupted; finished trials are stored and reported.");

const PLAIN: &[Status] = &[DONE, COULD_NOT, USAGE];
const JUDGED: &[Status] = &[PASSED, COULD_NOT, USAGE, FAILED, OPEN, INTERRUPTED];
const VERIFIED: &[Status] = &[CARD_FINE, COULD_NOT, USAGE, CARD_NOT_FINE, CARD_OPEN, INTERRUPTED];
const ENDED: &[Status] =
    &[DONE, COULD_NOT, USAGE, ("130", "It was interrupted; what was counted until then is printed.")];
const REPORTED: &[Status] = &[
    CARD_FINE,
    COULD_NOT,
    USAGE,
    (
        "3",
        "A limit, or an item verified by hand, failed; with the plan \"card\", the card is not fine or needs another slot; with --check, a file was changed.",
    ),
    CARD_OPEN,
];
const COMPARED: &[Status] = &[
    ("0", "Nothing is worse by more than is tolerated."),
    COULD_NOT,
    USAGE,
    ("3", "Something is worse by more than is tolerated."),
    ("4", "Nothing is shown to be worse, but something could not be decided."),
];
const INSPECTED: &[Status] =
    &[DONE, COULD_NOT, USAGE, ("3", "A card gives no interface, or a check found something wrong.")];
const UNDONE: &[Status] = &[
    DONE,
    COULD_NOT,
    USAGE,
    ("4", "Something was left, as somebody else has changed it since; --force undoes it, --forget leaves it for good."),
];
const CHECKED: &[Status] =
    &[("0", "This machine can measure."), ("1", "It cannot, or this could not be found out."), USAGE];
const WATCHED: &[Status] = &[
    ("0", "It ended as asked: by q, Ctrl-C, --count or --duration."),
    COULD_NOT,
    USAGE,
    ("130", "Another signal ended it."),
];
const OF_PROGRAM: &[Status] = &[
    ("N", "The status of the program."),
    ("1", "The program was not started: the bed or the endpoint is not there."),
    USAGE,
];
const OF_BYPASSED: &[Status] = &[
    ("N", "The status of the program; 128 and the number of the signal that ended it."),
    ("1", "The program was not started: the interfaces could not be taken."),
    USAGE,
    ("126", "The program cannot be run."),
    ("127", "There is no such program."),
];
const ANY: &[Status] = &[
    ("0", "It was done, and every limit passed."),
    COULD_NOT,
    USAGE,
    ("3", "A limit failed, or a comparison shows something worse."),
    ("4", "Something is inconclusive, not comparable or was not run."),
    INTERRUPTED,
];

/// Additions of the man page of one command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manual {
    /// The command, like `bed up`; empty for the program itself.
    command: &'static str,
    pub(crate) examples: &'static [Example],
    pub(crate) statuses: &'static [Status],
}

/// Additions for a command.
pub(crate) fn of(command: &str) -> Option<&'static Manual> {
    MANUALS.iter().find(|manual| manual.command == command)
}

/// Texts of the man pages in a language, by the English ones.
pub(crate) struct Words(BTreeMap<String, String>);

impl Words {
    pub(crate) fn of(lang: Lang) -> Self {
        Self(match lang {
            Lang::En => BTreeMap::new(),
            Lang::Ja => toml::from_str(::report::MANUAL_JA).unwrap_or_default(),
        })
    }

    pub(crate) fn of_text<'t>(&'t self, english: &'t str) -> &'t str {
        self.0.get(english).map_or(english, String::as_str)
    }
}

const fn manual(command: &'static str, statuses: &'static [Status], examples: &'static [Example]) -> Manual {
    Manual { command, examples, statuses }
}

const MANUALS: [Manual; 47] = [
    manual(
        "",
        ANY,
        &[
            ("verify", "Measure the plan \"quick\" between two namespaces of this machine and write a report."),
            ("report last --format pdf", "Write the report of the last run as a PDF."),
            ("doctor", "See what this machine can do."),
        ],
    ),
    manual(
        "verify",
        VERIFIED,
        &[
            ("verify", "Measure the plan \"quick\" on the lab bed."),
            (
                "verify my-plan.toml --format html,pdf --lang ja",
                "Measure a plan of your own; report in Japanese, also as a PDF.",
            ),
            ("verify bufferbloat --bed hosts:ssh://root@10.0.0.2?dev=eth1", "Grade the latency of a full path."),
            ("verify card --bed ports:enp1s0f0,enp1s0f1", "Find out whether a card is healthy."),
            ("verify dut --bed lab:router", "Test a device by RFC 2544 in under five minutes."),
            ("verify certify --bed ports:enp1s0f0,enp1s0f1", "Measure between two ports of this machine."),
            ("verify --dry-run", "Print the steps, the changes and the time needed, and do nothing."),
            (
                "verify latency --repeats 8 --bed ports:eth1,eth2 --tune=latency",
                "Measure what a tuning for latency brings, and undo it.",
            ),
        ],
    ),
    manual(
        "latency",
        JUDGED,
        &[
            ("latency --mode busy-poll --frame-sizes 64,1518", "RTT of two frame sizes with busy polling."),
            ("latency --rate \"100 kpps\"", "RTT under load, by an open-loop schedule."),
        ],
    ),
    manual(
        "goodput",
        JUDGED,
        &[
            ("goodput --protocol tcp --streams 4 --duration \"10 s\"", "Four TCP streams for ten seconds."),
            ("goodput --mtus 1500,9000 --direction both", "Two MTUs, data both ways at once."),
        ],
    ),
    manual(
        "packets",
        JUDGED,
        &[
            ("packets --rate 1Mpps..10Mpps", "Ten loads of 64-byte frames."),
            (
                "packets --imix --rate \"2 Gbit/s L1 poisson\" --flows 1000",
                "A mix of sizes with random gaps in 1000 flows.",
            ),
        ],
    ),
    manual(
        "packets send",
        ENDED,
        &[(
            "packets send eth1 --to 198.18.0.2 --rate \"1 Mpps\" --duration \"10 s\"",
            "Send packets that \"packets receive\" counts.",
        )],
    ),
    manual(
        "packets receive",
        ENDED,
        &[("packets receive eth1 --duration \"1 min\"", "Count the packets of \"packets send\" for a minute.")],
    ),
    manual(
        "packets capture",
        ENDED,
        &[(
            "packets capture eth1 dns.pcapng --filter \"udp port 53\" --time \"10 s\"",
            "Capture the DNS of ten seconds.",
        )],
    ),
    manual(
        "transactions",
        JUDGED,
        &[
            ("transactions --kind crr", "A connection for each request."),
            ("transactions --kind http --rate \"10 ktps\"", "HTTP at a fixed rate."),
        ],
    ),
    manual(
        "transfer",
        JUDGED,
        &[
            ("transfer --methods tcp,nc,scp --size \"256 MiB\"", "Three methods, and a smaller file."),
            ("transfer --mtus 1500,9000", "All methods, with two MTUs."),
            ("transfer --contents small-files --methods rsync,scp", "10,000 files of 4 KiB, by two methods."),
            ("transfer --file /srv/image.iso", "A file from disk to disk."),
        ],
    ),
    manual(
        "forwarding",
        JUDGED,
        &[
            ("forwarding --bed lab:router", "A Linux router between two namespaces."),
            (
                "forwarding --bed ports:eth1,eth2,via=198.18.0.1/24,198.19.0.1/24",
                "A router between two ports of this machine, before its rates are measured.",
            ),
        ],
    ),
    manual(
        "path",
        JUDGED,
        &[
            ("path --ip 4 --bed ports:enp1s0f0,enp1s0f1", "The largest IPv4 packet that passes, each way."),
            ("path 198.18.0.2 --hops", "The largest packet that arrives at a host without wireproof, and each router."),
        ],
    ),
    manual(
        "bed",
        ANY,
        &[
            ("bed up mybed", "Make a bed of two namespaces that stays."),
            ("verify --bed mybed", "Measure on it."),
            ("bed down mybed", "Take it down."),
        ],
    ),
    manual(
        "bed up",
        PLAIN,
        &[
            ("bed up mybed --mtu 9000", "Two namespaces with jumbo frames."),
            (
                "bed up cards --bed ports:enp1s0f0,enp1s0f1",
                "Two ports of this machine, each in a namespace of its own.",
            ),
        ],
    ),
    manual("bed down", PLAIN, &[("bed down mybed", "Take the bed down and undo its changes.")]),
    manual("bed list", PLAIN, &[("bed list --json", "The beds that stay, for a script.")]),
    manual(
        "bed exec",
        OF_PROGRAM,
        &[
            ("bed exec mybed b -- iperf3 -s", "Run a server at end b."),
            ("bed exec routed router -- tc -s qdisc", "Look into the router of a bed made of lab:router."),
        ],
    ),
    manual(
        "bypass",
        OF_BYPASSED,
        &[
            ("bypass -- sockperf server -i 198.18.0.2", "Run a server whose UDP goes past the kernel."),
            (
                "bypass --spin --dev eth1 --stats -- ./my-program --its --options",
                "Poll without pause, and account for each socket at the end.",
            ),
        ],
    ),
    manual(
        "router",
        PLAIN,
        &[
            ("router up eth1 eth2", "Forward between two interfaces, as the routes say."),
            ("router stats", "See how many packets it forwarded."),
            ("router down", "Take it down."),
        ],
    ),
    manual(
        "router up",
        PLAIN,
        &[
            ("router up eth1 eth2 eth3", "Forward between three interfaces."),
            ("router up eth1 eth2 --keep", "Keep it without a process, until it is taken down."),
        ],
    ),
    manual("router down", PLAIN, &[("router down", "Take the router down and undo its changes.")]),
    manual("router stats", PLAIN, &[("router stats --json", "Counters of each port, for a script.")]),
    manual(
        "runs",
        PLAIN,
        &[
            ("runs", "List the runs."),
            ("runs --csv", "Print the history with verdicts and figures, for a spreadsheet."),
        ],
    ),
    manual(
        "report",
        REPORTED,
        &[
            ("report last --format html,pdf,md,csv,json", "Write every form of the last run's report."),
            ("report last --meta identity.toml --sign my.key", "Add names and dates, and sign it."),
            ("report --check report-folder --key my.pub", "Check the files of a report and its signature."),
        ],
    ),
    manual(
        "import",
        PLAIN,
        &[(
            "import iperf3.json --name by-iperf3 --condition mtu=9000",
            "Keep the output of \"iperf3 -J\" as a reference.",
        )],
    ),
    manual("references", PLAIN, &[("references", "List the references and the folder of your own.")]),
    manual(
        "compare",
        COMPARED,
        &[
            ("compare last --tolerance 5%", "Compare the last run with the baseline of its plan and bed."),
            ("compare 20261120 last --out compared --format html", "Compare two runs, and write a page."),
        ],
    ),
    manual(
        "baseline",
        PLAIN,
        &[("baseline set last", "Later runs of this plan on this bed are compared with the last run.")],
    ),
    manual("baseline set", PLAIN, &[("baseline set last --name \"release 1\"", "Keep a baseline under a name.")]),
    manual("baseline show", PLAIN, &[("baseline show", "List the baselines.")]),
    manual(
        "resume",
        VERIFIED,
        &[
            ("resume last", "Keep the finished trials of the last run, and measure the rest."),
            ("resume last --bed ports:eth1,eth2", "The same for a run on two ports, which are named again."),
        ],
    ),
    manual(
        "rfc2544",
        JUDGED,
        &[
            (
                "rfc2544 --bed ports:enp1s0f0,enp1s0f1,routed --rate \"10 Gbit/s L1\"",
                "Test a router between two ports with the durations of the RFC.",
            ),
            (
                "rfc2544 --tests throughput,loss --frame-sizes 64,1518 --duration \"5 s\" --directions both --bed lab:router",
                "Two tests with short trials, both ways at once, on a router of the kernel.",
            ),
            (
                "rfc2544 --tests throughput --bed lab:router --dut-cpus 1,2,4 --modifiers 25-filters",
                "The throughput over cores of a router, without filters and with them, in one table.",
            ),
            ("rfc2544 classify --goals goals.toml --trials trials.csv", "Classify the loads of recorded trials."),
        ],
    ),
    manual(
        "rfc2544 table",
        PLAIN,
        &[
            ("rfc2544 table 20261128-101500-3fa9 last", "One table of the throughputs of two runs."),
            ("rfc2544 table last --format md", "The same of the last run, for a wiki."),
        ],
    ),
    manual(
        "rfc2544 classify",
        PLAIN,
        &[
            ("rfc2544 classify --goals goals.toml --trials trials.csv", "Print each goal with its loads and bounds."),
            ("rfc2544 classify --goals goals.toml --trials trials.csv --json", "Print the same for a script."),
            ("rfc2544 classify --goals goals.toml --run last", "Classify the loads of the last run."),
        ],
    ),
    manual(
        "inspect",
        INSPECTED,
        &[
            ("inspect --dev eth1 --goal latency", "Look this host over for low latency by one interface."),
            ("inspect root@bench2 --speed 10G --rtt \"20 ms\"", "Look another host over for a rate and a distance."),
            ("inspect root@bench1 root@bench2", "Show what differs between two hosts."),
            ("inspect --since last", "Show what has changed since the last run."),
        ],
    ),
    manual(
        "tune",
        PLAIN,
        &[
            ("tune plan --goal latency --dev eth1", "See what would be changed for low latency, and why."),
            ("tune apply --goal latency --dev eth1", "Change it."),
            ("tune undo", "Change it back."),
        ],
    ),
    manual(
        "tune plan",
        PLAIN,
        &[
            ("tune plan --goal throughput --dev eth1 --mtu 9000", "Also for jumbo frames on each device of the path."),
            ("tune plan --goal throughput --rtt \"20 ms\" --speed 10G", "For buffers of a path of another length."),
            ("tune plan --from tuned:network-latency", "See what a profile of tuned would change here."),
            ("tune plan root@192.0.2.7 --goal router --dev eth1 --dev eth2", "Look at another machine."),
        ],
    ),
    manual(
        "tune apply",
        PLAIN,
        &[
            ("tune apply --goal throughput --dev eth1 --persist", "Also write files that make the same at each boot."),
            (
                "tune apply --goal latency --dev eth1 --confirm-within \"2 min\"",
                "Undo all after two minutes unless it is confirmed.",
            ),
        ],
    ),
    manual("tune undo", UNDONE, &[("tune undo", "Undo the tuning and remove its files.")]),
    manual("tune status", PLAIN, &[("tune status --json", "The tuning that stands, for a script.")]),
    manual("tune confirm", PLAIN, &[("tune confirm", "Keep a tuning that waits to be confirmed.")]),
    manual(
        "doctor",
        CHECKED,
        &[
            ("doctor --json", "The findings as values, for a script."),
            ("doctor --cabling", "Which idle ports are cabled together."),
        ],
    ),
    manual(
        "watch",
        WATCHED,
        &[
            ("watch", "All interfaces, also those inside beds."),
            ("watch eth1 --plain --duration \"1 min\"", "A line each second for a minute."),
        ],
    ),
    manual("clean", PLAIN, &[("clean", "Undo what a crash left behind.")]),
    manual(
        "schema",
        PLAIN,
        &[("schema runs", "The schema of \"runs --json\"."), ("schema all", "All schemas by name.")],
    ),
    manual(
        "completions",
        PLAIN,
        &[("completions bash", "Print what bash has to read, as in: source <(wireproof completions bash)")],
    ),
    manual("man", PLAIN, &[("man /usr/local/share/man/man1", "Write the man pages where man(1) finds them.")]),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{super::parse, *};

    /// The commands that people see, like `bed up`.
    fn commands(command: &clap::Command, path: &str) -> Vec<String> {
        let shown = command.get_subcommands().filter(|it| !it.is_hide_set());
        let below = shown.flat_map(|it| commands(it, format!("{path} {}", it.get_name()).trim_start()));
        below.chain([path.to_owned()]).collect()
    }

    /// Words of a line, of which quotes may hold several together.
    fn words(line: &str) -> Vec<std::ffi::OsString> {
        let pieces = line.split('"').enumerate().flat_map(|(number, piece)| match number % 2 {
            0 => piece.split_whitespace().collect(),
            _ => vec![piece],
        });
        ["wireproof"].into_iter().chain(pieces).map(Into::into).collect()
    }

    #[test]
    fn each_text_has_its_japanese_and_none_is_left_over() {
        let examples = MANUALS.iter().flat_map(|manual| manual.examples).map(|(_, meaning)| *meaning);
        let statuses = MANUALS.iter().flat_map(|manual| manual.statuses).map(|(_, meaning)| *meaning);
        let headings = ["NAME", "SYNOPSIS", "DESCRIPTION", "VERSION", "EXIT STATUS", "EXAMPLES"];
        let wanted: BTreeSet<&str> = examples.chain(statuses).chain(headings).collect();
        let words = Words::of(Lang::Ja);
        let there: BTreeSet<&str> = words.0.keys().map(String::as_str).collect();
        assert_eq!(wanted.symmetric_difference(&there).collect::<Vec<_>>(), [&""; 0]);
    }

    #[test]
    fn every_command_has_examples_that_are_right_and_its_exit_status() {
        let commands = commands(&super::super::definition(report::Lang::En), "");
        for command in &commands {
            let manual = of(command).unwrap_or_else(|| panic!("{command:?} has no examples"));
            assert!(!manual.examples.is_empty() && manual.statuses.len() >= 3, "{command:?}");
        }
        assert_eq!(commands.len(), MANUALS.len(), "a command that is no more has examples");
        for (line, _) in MANUALS.iter().flat_map(|manual| manual.examples) {
            parse(words(line), report::Lang::En).unwrap_or_else(|error| panic!("{line}: {error}"));
        }
    }
}
