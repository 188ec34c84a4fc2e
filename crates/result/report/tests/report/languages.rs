//! Both languages: neither leaks into the other, and no text is missing.

use std::{fs, path::Path};

use model::{
    Assessment, Mtu, Nanos, PathConclusion, PathMethod, PathTo, TcpPackets,
    check::Finding as DoctorFinding,
    inspection::{Check, Finding, Goal, Read, Severity},
    trial::{Hop, Leg, PathDevice, Refusal},
    tuning::{ByHand, Kept, LeftOut, TuningPlan, WhyLeftOut},
};
use wireproof_report::{self as report, Lang, Material};

use super::{fixture, page, runs, shown, summary, texts};

/// The strings of the report on paper, single words left out: some are Typst's. Its looks have none that is read.
fn literals(material: &Material<'_>, lang: Lang) -> Vec<String> {
    let source = report::typst(material, lang).source;
    let (looks, said) = source.rsplit_once("#show: report.with").expect("the report begins");
    assert!(!looks.contains("p. "), "a word that every language would get");
    let strings = said.replace("\\\"", "'");
    strings.split('"').skip(1).step_by(2).filter(|string| string.contains(' ')).map(str::to_owned).collect()
}

/// Every text file of a language.
fn all_texts(lang: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("texts").join(lang);
    let files = fs::read_dir(folder).expect("the texts are there").map(|entry| entry.expect("a file").path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "ftl"));
    files.map(|path| fs::read_to_string(path).expect("it is text")).collect()
}

/// The fixed words of a text file, values cut out, that are long enough to be told from names and units.
fn phrases(ftl: &str) -> Vec<String> {
    let mut phrases = Vec::new();
    for value in ftl.lines().filter_map(|line| line.split_once(" = ").map(|(_, value)| value)) {
        for piece in value.split('{').flat_map(|piece| piece.split('}').next_back()) {
            phrases.push(piece.trim_matches(|c: char| c.is_whitespace() || ":.,;/()、".contains(c)).to_owned());
        }
    }
    phrases
}

pub(super) fn is_japanese(c: char) -> bool {
    matches!(c, '\u{3000}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ff00}'..='\u{ffef}')
}

#[test]
fn no_language_leaks_into_the_other() {
    let english = phrases(&all_texts("en"));
    let japanese = phrases(&all_texts("ja"));
    let only_english: Vec<_> = english.iter().filter(|phrase| phrase.len() > 2 && !japanese.contains(phrase)).collect();
    for (run, outcomes) in runs() {
        let comparisons = fixture::comparisons(&run);
        let assessment = Assessment { comparisons: Some(comparisons), ..fixture::assessed(&run, &outcomes) };
        let material = Material::of(&run, &assessment);
        for text in texts(&shown(&material, Lang::En)).iter().chain(&literals(&material, Lang::En)) {
            assert!(!text.contains(is_japanese), "Japanese in the English report: {text}");
        }
        for text in texts(&shown(&material, Lang::Ja)).iter().chain(&literals(&material, Lang::Ja)) {
            for phrase in &only_english {
                let leaks = if phrase.contains(' ') { text.contains(phrase.as_str()) } else { text == *phrase };
                assert!(!leaks, "English in the Japanese report: {text} (from \"{phrase}\")");
            }
        }
        assert!(!report::summary(&material, Lang::En, None).contains(is_japanese));
    }
}

#[test]
fn every_text_and_every_value_of_it_is_there() {
    for (run, outcomes) in runs() {
        for lang in [Lang::En, Lang::Ja] {
            for output in [page(&run, &outcomes, lang), summary(&run, &outcomes, lang)] {
                assert!(!output.contains('⟦'), "{}", &output[output.find('⟦').unwrap_or(0)..][..80]);
            }
        }
    }
}

/// Latin words that Japanese text may have: names of the field, of programs and of the kernel, and units.
const LATIN: &str = include_str!("../latin-words.txt");

/// Values of the made-up machines, runs and plans.
const MADE_UP: &str = "Automatic Enhanced Example Mitigation Model Not RcvbufErrors Systems Udp affected bookworm bridge cron cubic \
    kvm live meltdown quick quiet ro snmp wide";

/// Words of Latin letters, those of values and of code left out: what is joined by `_`, `-`, `.` or `/`, begins with `--` or stands in
/// capitals is a name to be typed.
fn latin_words(text: &str) -> Vec<String> {
    let without_values: String = text
        .split('{')
        .enumerate()
        .map(|(at, part)| if at == 0 { part } else { part.split_once('}').map_or("", |it| it.1) })
        .collect();
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-./=<>+,:'".contains(c);
    let tokens = without_values.split(|c: char| !is_part(c)).map(|token| token.trim_matches([',', '.', ':', '\'']));
    let is_word = |token: &&str| token.len() > 1 && token.chars().all(|c| c.is_ascii_alphabetic());
    let is_name = |token: &str| token.chars().all(|c| c.is_ascii_uppercase());
    tokens.filter(is_word).filter(|token| !is_name(token)).map(str::to_owned).collect()
}

/// The Japanese page of a comparison.
fn compared_page() -> String {
    let [run, slower] = fixture::compared_runs();
    let comparison = verdict::compare(&run, std::slice::from_ref(&slower), 0.05);
    let [of_run, of_slower] = [&run, &slower].map(|run| fixture::assessed(run, &[]));
    report::comparison_html(&comparison, &[Material::of(&run, &of_run), Material::of(&slower, &of_slower)], Lang::Ja)
}

/// Findings of the doctor that hold words of errors, in Japanese.
fn doctor_findings() -> Vec<String> {
    let why = || "somebody else uses it".to_owned();
    let findings = [
        DoctorFinding::NoNamespaces { why: why() },
        DoctorFinding::NoEngine { engine: "af-packet".to_owned(), why: why() },
        DoctorFinding::LeftAlone { port: "eth1".to_owned(), why: why() },
    ];
    findings.iter().map(|finding| report::finding_text(finding, Lang::Ja)).collect()
}

/// Findings of all checks as a terminal shows them, in Japanese, without sources and commands.
fn inspected() -> String {
    let finding = |check: &Check| {
        let read = if *check == Check::Hypervisor { "of unknown kind" } else { "7" };
        let names = [
            "better", "card", "device", "has", "link", "lower", "master", "needs", "packets", "peer", "ports",
            "queues", "rate", "rtt", "slot",
        ];
        let finding = Finding::of(*check, "", Read::of(read, "/proc"), "8", &[]);
        names.iter().fold(finding, |finding, name| finding.with(name, "7")).unless(false, Severity::Warn, None)
    };
    let findings: Vec<Finding> = Check::ALL.iter().map(finding).collect();
    report::inspected("h", Goal::Throughput, &findings, Lang::Ja)
}

/// The path to a host whose port is closed, in Japanese.
fn path_to_host() -> String {
    let address = [198, 18, 0, 1].into();
    let path = PathTo {
        address,
        interface: "eth1".to_owned(),
        source: address,
        gateway: None,
        method: PathMethod::Udp,
        leg: Leg { mtu: Some(Mtu(1500)), refusal: Refusal::Interface, routers: Some(1) },
        hops: vec![Hop { number: 1, addresses: vec![], sent: 3, answered: 0, times: None }],
        devices: vec![PathDevice {
            host: "h".to_owned(),
            name: "eth1".to_owned(),
            kind: String::new(),
            mtu: Mtu(1500),
            master: None,
            on_path: true,
        }],
        route_mtu: Some(Mtu(1400)),
        tcp: Some(TcpPackets::No { port: 9, why: "Connection refused".to_owned() }),
        tcp_mtu_probing: None,
        no_discovery: None,
        packets: 9,
        took: Nanos::from_secs(1),
    };
    report::path_to("198.18.0.1", &[(path, PathConclusion::default())], Lang::Ja)
}

/// A plan of tuning that leaves settings out, in Japanese.
fn tuning() -> String {
    let setting = || "ring-rx".parse().expect("a setting");
    let plan = TuningPlan {
        profile: "p".to_owned(),
        interfaces: vec!["eth1".to_owned()],
        kept: vec![Kept { setting: setting(), interface: None, value: "0".to_owned() }],
        left_out: vec![LeftOut {
            setting: setting(),
            interface: Some("eth1".to_owned()),
            why: WhyLeftOut::OutOfRange { range: "0-512".to_owned() },
        }],
        by_hand: vec![ByHand {
            parameter: "nohz_full=2".to_owned(),
            why: "no-tick".to_owned(),
            source: "7".to_owned(),
        }],
        ..TuningPlan::default()
    };
    report::tuning_plan(&plan, Lang::Ja)
}

/// A text without the words that it quotes.
fn without_quotations(text: &str) -> String {
    text.split('「').map(|part| part.split_once('」').map_or(part, |(_, rest)| rest)).collect()
}

#[test]
fn japanese_text_has_no_latin_words_but_those_of_the_list() {
    let known: Vec<&str> = LATIN.split_whitespace().chain(MADE_UP.split_whitespace()).collect();
    let japanese = all_texts("ja");
    let values = japanese.lines().filter_map(|line| line.split_once(" = ").map(|(_, value)| value));
    let mut strangers: Vec<String> =
        values.flat_map(latin_words).filter(|word| !known.contains(&word.as_str())).collect();
    for (mut run, outcomes) in runs() {
        run.identity = None;
        let assessment = fixture::assessed(&run, &outcomes);
        let page = texts(&shown(&Material::of(&run, &assessment), Lang::Ja));
        strangers.extend(page.iter().flat_map(|text| latin_words(text)).filter(|word| !known.contains(&word.as_str())));
    }
    let others = texts(&compared_page()).into_iter().chain(doctor_findings());
    let others = others.chain([inspected(), path_to_host(), tuning()]);
    let others = others.flat_map(|text| latin_words(&without_quotations(&text)));
    strangers.extend(others.filter(|word| !known.contains(&word.as_str())));
    strangers.sort();
    strangers.dedup();
    assert!(strangers.is_empty(), "write these in Japanese, or add them to tests/latin-words.txt: {strangers:?}");
    assert_eq!(latin_words("ネットワーク path の MTU は { $mtu } (ip -s link)"), ["path", "ip", "link"]);
}
