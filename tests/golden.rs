//! Stores of earlier days and what the program says of them: each document byte for byte.
//!
//! A folder of `tests/golden` has a store `runs.db.gz`, as its `make_store.py` once made it: `everything` has runs of every probe, bed, doubt
//! and failure of its day, `transactions` and `transfer` those of these probes, `doubts` doubts and places that came later, `devices` and
//! `order` doubts about devices under test, `agentless` those about far ends without wireproof. A file of its `said` has what the program says of one run: its summary, the
//! report as Markdown, CSV and JSON, and of longer forms a digest of each part; those of [`WHOLE`] runs are there whole. The program alone is
//! asked, so that this test outlives how it is built.
//!
//! A change on purpose is accepted by `WIREPROOF_ACCEPT=1 cargo test --test golden`, and the commit says what changed and why.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
};

use serde_json::Value;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");

/// Runs whose long documents are kept whole.
const WHOLE: [&str; 3] = ["every-doubt", "identified", "served"];

const EVERYTHING: &str = "everything";

const TRANSACTIONS: &str = "transactions";

const TRANSFER: &str = "transfer";

const FILES: &str = "files";

const DOUBTS: &str = "doubts";

const DEVICES: &str = "devices";

const ORDER: &str = "order";

const AGENTLESS: &str = "agentless";

const LANGUAGES: [&str; 2] = ["en", "ja"];

/// Placeholder in documents for the folder that they were made in.
const HERE: &str = "HERE";

/// A copy of a store, and the program beside one that gives the source of a PDF back as it is.
struct Desk {
    /// Name of the store's folder.
    store: &'static str,
    folder: PathBuf,
}

/// Output about one thing: parts with their names, in order.
#[derive(Default)]
struct Said(Vec<(String, String)>);

impl Desk {
    fn new(store: &'static str, name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("golden-{store}-{name}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("references")).unwrap();
        fs::hard_link(env!("CARGO_BIN_EXE_wireproof"), folder.join("wireproof")).unwrap();
        let unpacked = fs::File::create(folder.join("runs.db")).unwrap();
        let packed = Path::new(GOLDEN).join(store).join("runs.db.gz");
        assert!(Command::new("gzip").arg("-dc").arg(packed).stdout(unpacked).status().unwrap().success());
        let mine = Path::new(GOLDEN).join(EVERYTHING).join("references/mine.toml");
        fs::copy(mine, folder.join("references/mine.toml")).unwrap();
        let setter = folder.join("wireproof-pdf");
        fs::write(&setter, "#!/bin/sh\nexec cat\n").unwrap();
        assert!(Command::new("chmod").arg("755").arg(&setter).status().unwrap().success());
        Self { store, folder }
    }

    /// Output of a command, with its exit status and its errors.
    fn run(&self, words: &[&str]) -> String {
        self.run_in("UTC", words)
    }

    /// The same for a user in this time zone.
    fn run_in(&self, zone: &str, words: &[&str]) -> String {
        let mut command = Command::new(self.folder.join("wireproof"));
        // The only parts of the environment are those that no document may depend on.
        command.env_clear().envs([("LANG", "C.UTF-8"), ("TZ", zone), ("HOME", "/nowhere"), ("PATH", "/usr/bin:/bin")]);
        command.args(["--store", self.folder.join("runs.db").to_str().unwrap(), "--quiet"]).args(words);
        let done = command.stdin(Stdio::null()).output().unwrap();
        let [out, err] = [done.stdout, done.stderr].map(|said| String::from_utf8(said).unwrap());
        let status = done.status.code().map_or_else(|| "killed".to_owned(), |code| code.to_string());
        assert!(!err.contains("panicked"), "{words:?}: {err}");
        let all = if err.is_empty() { out } else { format!("{out}--- on standard error:\n{err}") };
        let all = if status == "0" { all } else { format!("{all}--- exit status {status}\n") };
        all.replace(self.folder.to_str().unwrap(), HERE)
    }

    fn json(&self, words: &[&str]) -> Value {
        let said = self.run(words);
        serde_json::from_str(&said).unwrap_or_else(|error| panic!("{words:?}: {error}: {said}"))
    }

    /// Each run with a name: that of its plan, with a number where several have it.
    fn runs(&self) -> Vec<(String, String)> {
        let listed = self.json(&["runs", "--json"]);
        let mut runs: Vec<_> =
            listed["runs"].as_array().unwrap().iter().map(|run| [&run["id"], &run["plan"]]).collect();
        runs.sort_by_key(|[id, _]| id.as_str().unwrap());
        let mut seen = BTreeMap::<String, usize>::new();
        let name = |[id, plan]: [&Value; 2]| {
            let (id, plan) = (id.as_str().unwrap(), plan.as_str().unwrap());
            let times = seen.entry(plan.to_owned()).or_default();
            *times += 1;
            let name = if *times == 1 { plan.to_owned() } else { format!("{plan}-{times}") };
            (name, id.to_owned())
        };
        runs.into_iter().map(name).collect()
    }

    /// The files that a command writes, in both languages, and what it prints.
    fn documents(&self, words: &[&str], name: &str) -> Said {
        let mut said = Said::default();
        for lang in LANGUAGES {
            let out = self.folder.join("out").join(format!("{name}.{lang}"));
            let printed = self.run(&[words, &["--lang", lang, "--out", out.to_str().unwrap()]].concat());
            said.add(&format!("printed, {lang}"), printed);
            let mut files = files_in(&out);
            files.sort();
            for file in files {
                said.add_file(&out, &file, lang, WHOLE.contains(&name));
            }
        }
        said
    }
}

impl Said {
    fn add(&mut self, name: &str, text: String) {
        self.0.push((name.to_owned(), text));
    }

    /// One file of a report or a comparison.
    fn add_file(&mut self, folder: &Path, file: &Path, lang: &str, whole: bool) {
        let name = file.strip_prefix(folder).unwrap().to_str().unwrap();
        let once = name.starts_with("raw/") || [".json", ".csv"].iter().any(|ending| name.ends_with(ending));
        // The sums follow from the files.
        if name == "SHA256SUMS" || once && lang != LANGUAGES[0] {
            return;
        }
        let content = fs::read(file).unwrap();
        assert!(!tells_of_folders(&content), "{}", file.display());
        let title = if once { name.to_owned() } else { format!("{name}, {lang}") };
        match name.rsplit_once('.').unwrap().1 {
            "md" => {
                let whole = whole || lang == LANGUAGES[0];
                self.add_document(&title, String::from_utf8(content).unwrap(), "\n#", whole);
            }
            "csv" | "toml" => self.add(&title, String::from_utf8(content).unwrap()),
            "html" => {
                let whole = whole && lang == LANGUAGES[0];
                self.add_document(&title, String::from_utf8(content).unwrap(), "<h2", whole);
            }
            "pdf" => {
                let source: Value = serde_json::from_slice(&content).unwrap();
                let source = source["source"].as_str().unwrap().to_owned();
                self.add_document(&format!("source of {title}"), source, "#heading", whole && lang == LANGUAGES[0]);
            }
            _ if name == "report.json" || name == "compare.json" => {
                self.add_long(&title, String::from_utf8(content).unwrap(), "\n  \"", whole);
            }
            _ => self.add(&title, digest(&content)),
        }
    }

    /// A document that people read.
    fn add_document(&mut self, name: &str, text: String, part: &str, whole: bool) {
        let numbered = check_numbers(&text);
        assert!(numbered > 0 || name.contains("compare"), "{name}");
        self.add_long(name, text, part, whole);
    }

    /// A document that is long: whole, or a digest of each part, which begins like this.
    fn add_long(&mut self, name: &str, text: String, part: &str, whole: bool) {
        if whole {
            return self.add(name, text);
        }
        let mut begins: Vec<usize> = text.match_indices(part).map(|(at, _)| at).collect();
        begins.insert(0, 0);
        begins.push(text.len());
        let line = |bounds: &[usize]| {
            let part = &text[bounds[0]..bounds[1]];
            let title: String = part.trim_start().lines().next().unwrap_or_default().chars().take(70).collect();
            format!("{} {title}\n", digest(part.as_bytes()).trim_end())
        };
        self.add(name, begins.windows(2).map(line).collect());
    }

    fn text(&self) -> String {
        self.0
            .iter()
            .map(|(name, text)| format!("===== {name}\n{text}{}", if text.ends_with('\n') { "" } else { "\n" }))
            .collect()
    }

    /// Compares with what was said before; `None` where it is the same.
    fn difference(&self, name: &str, desk: &Desk) -> Option<String> {
        let before = Path::new(GOLDEN).join(desk.store).join(format!("said/{name}.txt"));
        let now = desk.folder.join(format!("{name}.txt"));
        let text = self.text();
        if fs::read_to_string(&before).is_ok_and(|before| before == text) {
            return None;
        }
        if env::var_os("WIREPROOF_ACCEPT").is_some() {
            fs::create_dir_all(before.parent().unwrap()).unwrap();
            fs::write(before, text).unwrap();
            return None;
        }
        fs::write(&now, text).unwrap();
        let diff = Command::new("diff").args(["-u", "--new-file"]).args([before, now]).output().unwrap();
        let diff = String::from_utf8_lossy(&diff.stdout);
        let cut = |line: &str| line.chars().take(200).chain(['\n']).collect::<String>();
        let shown: String = diff.lines().take(30).map(cut).collect();
        Some(format!("{shown}… {} lines of difference\n", diff.lines().count()))
    }
}

/// Holds tables and figures to numbers in order, those of the annex in theirs; how many there are.
fn check_numbers(document: &str) -> usize {
    // Words of the three forms before a number.
    let marks = ["class=\"number\">", "\n**", "#tabular(\"", "#facts(\"", "#drawing(\""];
    let ends = |mark: &'static str| document.match_indices(mark).map(|(at, mark)| at + mark.len());
    let mut places: Vec<usize> = marks.into_iter().flat_map(ends).collect();
    places.sort_unstable();
    let mut last = BTreeMap::<&str, usize>::new();
    for named in places.into_iter().map(|place| &document[place..]) {
        let kinds = ["Table A.", "Table ", "表A.", "表", "Figure A.", "Figure ", "図A.", "図"];
        let Some(kind) = kinds.into_iter().find(|kind| named.starts_with(kind)) else { continue };
        let number: String = named[kind.len()..].chars().take_while(char::is_ascii_digit).collect();
        let last = last.entry(kind).or_default();
        *last += 1;
        assert_eq!(number, last.to_string(), "{}", named.chars().take(80).collect::<String>());
    }
    last.into_values().sum()
}

/// Whether it names a folder of the person who measured.
fn tells_of_folders(content: &[u8]) -> bool {
    String::from_utf8_lossy(content).contains("/home/")
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return vec![] };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files_in(&path) } else { vec![path] }).collect()
}

/// Length and FNV-1a.
fn digest(content: &[u8]) -> String {
    let hash = content
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{:>7} {hash:016x}\n", content.len())
}

/// Says all of it, on as many cores as there are, and fails with what is different.
fn compare(desk: &Desk, names: &[String], say: impl Fn(&str) -> Said + Sync) {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut different = Vec::new();
        while let Some(name) = names.get(next.fetch_add(1, Relaxed)) {
            different.extend(say(name).difference(name, desk).map(|diff| format!("{name}:\n{diff}")));
        }
        different
    };
    let different: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> =
            (0..thread::available_parallelism().map_or(2, usize::from)).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    if different.is_empty() {
        let _ = fs::remove_dir_all(&desk.folder);
        return;
    }
    let first: String = different.iter().take(4).cloned().collect();
    panic!(
        "{} documents are not as they were:\n\n{first}\nAll that is said now is in {}. If it is meant: WIREPROOF_ACCEPT=1 cargo test --test golden",
        different.len(),
        desk.folder.display(),
    );
}

fn all_runs(store: &'static str) {
    let desk = Desk::new(store, "runs");
    let runs: BTreeMap<String, String> = desk.runs().into_iter().collect();
    let names: Vec<String> = runs.keys().cloned().collect();
    let formats = "html,md,csv,json,pdf";
    compare(&desk, &names, |name| desk.documents(&["report", &runs[name], "--format", formats], name));
}

#[test]
fn runs_of_an_earlier_day_are_reported_as_they_were() {
    all_runs(EVERYTHING);
}

#[test]
fn runs_of_transactions_are_reported_as_they_were() {
    all_runs(TRANSACTIONS);
}

#[test]
fn runs_of_transfers_are_reported_as_they_were() {
    all_runs(TRANSFER);
}

#[test]
fn runs_of_small_files_and_from_disk_are_reported_as_they_were() {
    all_runs(FILES);
}

#[test]
fn newer_doubts_and_places_are_reported_as_they_were() {
    all_runs(DOUBTS);
}

#[test]
fn doubts_about_devices_are_reported_as_they_were() {
    all_runs(DEVICES);
}

#[test]
fn doubts_about_the_order_of_packets_are_reported_as_they_were() {
    all_runs(ORDER);
}

#[test]
fn doubts_about_far_ends_without_wireproof_are_reported_as_they_were() {
    all_runs(AGENTLESS);
}

/// Variants of a type, by the schema of the document of a run.
fn variants(schema: &Value, of: &str) -> BTreeSet<String> {
    let alternatives = schema["$defs"][of]["oneOf"].as_array().unwrap_or_else(|| panic!("{of}: {schema}"));
    let tags = |alternative: &Value| -> Vec<Value> {
        let tagged = alternative["properties"].as_object().into_iter().flatten().map(|(_, field)| &field["const"]);
        let listed = alternative["enum"].as_array().into_iter().flatten();
        [&alternative["const"]].into_iter().chain(tagged).chain(listed).cloned().collect()
    };
    let tags = alternatives.iter().flat_map(tags);
    tags.filter_map(|tag| Some(tag.as_str()?.to_owned())).collect()
}

/// Variant of a place that a document names by its word, like `receiver's socket`.
fn variant(word: &str) -> String {
    word.to_lowercase().replace("'s", "").replace("number of ", "").replace(' ', "-")
}

/// Each table of a document, with the name that it or its list has.
fn tables(name: &str, value: &Value, visit: &mut impl FnMut(&str, &serde_json::Map<String, Value>)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| tables(name, item, visit)),
        Value::Object(table) => {
            visit(name, table);
            table.iter().for_each(|(name, value)| tables(name, value, visit));
        }
        _ => {}
    }
}

/// Something new gets a run in a store of its own, so that no document of it changes unseen.
#[test]
fn every_doubt_place_and_failure_stands_in_a_store() {
    let mut found: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut schema = Value::Null;
    for store in [EVERYTHING, TRANSACTIONS, TRANSFER, FILES, DOUBTS, DEVICES, ORDER, AGENTLESS] {
        let desk = Desk::new(store, "variants");
        schema = desk.json(&["schema", "run"]);
        for (name, id) in desk.runs() {
            let out = desk.folder.join("out").join(&name);
            let said = desk.run(&["report", &id, "--format", "json", "--out", out.to_str().unwrap()]);
            let text =
                fs::read_to_string(out.join("report.json")).unwrap_or_else(|error| panic!("{name}: {error}: {said}"));
            tables("", &serde_json::from_str(&text).unwrap(), &mut |list, table| {
                let (of, tag) = match list {
                    "doubts" => ("DoubtEntry", "kind"),
                    "failed" => ("FailureKind", "kind"),
                    _ => ("Place", "place"),
                };
                found.entry(of).or_default().extend(table.get(tag).and_then(Value::as_str).map(variant));
            });
        }
        let _ = fs::remove_dir_all(&desk.folder);
    }
    for (of, found) in found {
        let missing: Vec<String> = variants(&schema, of).difference(&found).cloned().collect();
        assert!(missing.is_empty(), "no golden run has these of {of}: {missing:?}");
    }
}

#[test]
fn runs_of_transactions_are_compared_as_they_were() {
    let desk = Desk::new(TRANSACTIONS, "compared");
    let runs: BTreeMap<String, String> = desk.runs().into_iter().collect();
    let pairs = [["served", "served-2"], ["served", "short"], ["served", "hosts"]];
    let of = |pair: [&str; 2]| format!("compare-{}-{}", pair[0], pair[1]);
    let cases: BTreeMap<String, [&str; 2]> = pairs.into_iter().map(|pair| (of(pair), pair)).collect();
    let names: Vec<String> = cases.keys().cloned().collect();
    compare(&desk, &names, |name| {
        let [first, second] = cases[name].map(|run| runs[run].as_str());
        desk.documents(&["compare", first, second, "--format", "html,md,json,pdf"], name)
    });
}

#[test]
fn runs_of_an_earlier_day_are_listed_and_compared_as_they_were() {
    let desk = Desk::new(EVERYTHING, "compared");
    let empty = desk.folder.join("empty.toml");
    fs::write(&empty, "").unwrap();
    let runs: BTreeMap<String, String> = desk.runs().into_iter().collect();
    let id = |name: &'static str| runs.get(name).map_or(name, String::as_str);
    let mut cases: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for pair in [
        ["watched", "watched-2"],
        ["watched-2", "watched"],
        ["watched", "watched-3"],
        ["each", "ports"],
        ["goodput-tcp", "goodput-udp"],
        ["stacks", "zero-copy"],
        ["packets-ladder", "ladder-with-loss"],
        ["path", "path-peer"],
        ["senders", "hosts-senders"],
        ["limits", "limits-few"],
        ["baseline:release 1", "watched-2"],
    ] {
        let name = format!("compare-{}-{}", pair[0].replace([':', ' '], "-"), pair[1]);
        cases.insert(name, vec!["compare", id(pair[0]), id(pair[1]), "--format", "html,md,json,pdf"]);
    }
    let three = ["compare", id("watched"), id("watched-2"), id("watched-3"), "--tolerance", "50%"];
    cases.insert("compare-three".to_owned(), [&three[..], &["--format", "html,md,json,pdf"]].concat());
    cases.insert("redacted".to_owned(), vec!["report", id("hosts"), "--redact", "--format", "md,csv,json"]);
    let all = [
        "report",
        id("identified"),
        "--references",
        "all",
        "--meta",
        empty.to_str().unwrap(),
        "--title",
        "Other",
        "--format",
        "html,md,pdf",
    ];
    cases.insert("references-all".to_owned(), all.to_vec());
    cases.insert(
        "references-mine".to_owned(),
        vec!["report", id("each"), "--references", "mine", "--format", "md,csv,json"],
    );
    cases.insert("histogram".to_owned(), vec!["report", id("latency"), "--histogram", "--format", "csv"]);
    let names: Vec<String> = cases.keys().cloned().collect();
    compare(&desk, &names, |name| desk.documents(&cases[name], name));
}

#[test]
fn lists_and_schemas_are_as_they_were() {
    let desk = Desk::new(EVERYTHING, "lists");
    let said = |commands: &[&[&str]]| {
        let mut said = Said::default();
        for words in commands {
            match words[0] {
                "schema" => said.add_long(&words.join(" "), desk.run(words), "\n    \"", false),
                "runs" if words.len() > 1 => said.add_long(&words.join(" "), desk.run(words), "\n    {", false),
                _ => said.add(&words.join(" "), desk.run(words)),
            }
        }
        said
    };
    let all = desk.json(&["schema", "all"]);
    let schemas: Vec<_> = all.as_object().unwrap().keys().map(|of| ["schema", of.as_str()]).collect();
    compare(&desk, &["lists".to_owned(), "schemas".to_owned()], |name| match name {
        "schemas" => said(&schemas.iter().map(|words| &words[..]).collect::<Vec<_>>()),
        _ => said(&[
            &["runs"],
            &["runs", "--json"],
            &["baseline", "show"],
            &["baseline", "show", "--lang", "ja"],
            &["baseline", "show", "--json"],
            &["references", "--lang", "en"],
            &["references", "--lang", "ja"],
            &["report", "20", "--json"],
            &["report", "nonsense"],
            &["compare", "goodput-tcp"],
            &["report", "--meta-template", "--lang", "en"],
            &["report", "--meta-template", "--lang", "ja"],
        ]),
    });
}

#[test]
fn a_list_of_runs_is_the_same_drawn_anew_and_kept() {
    for store in [EVERYTHING, TRANSACTIONS] {
        let desk = Desk::new(store, "kept");
        let [drawn, kept] = [(); 2].map(|()| desk.run(&["runs", "--json"]));
        assert!(drawn.contains("\"median\"") && drawn == kept, "{store}");
        let _ = fs::remove_dir_all(&desk.folder);
    }
}

#[test]
fn people_read_times_of_their_zone_and_programs_utc() {
    let desk = Desk::new(TRANSACTIONS, "zone");
    let (runs, out) = (desk.runs(), desk.folder.join("out"));
    let (_, id) = runs.iter().find(|(name, _)| name == "served").unwrap();
    let out = out.to_str().unwrap();
    let report = |zone: &str, more: &[&str]| {
        let words = [&["report", id, "--format", "html,md,json,pdf", "--out", out], more].concat();
        let said = desk.run_in(zone, &words);
        let read = |name: &str| {
            fs::read_to_string(format!("{out}/{name}")).unwrap_or_else(|error| panic!("{name}: {error}: {said}"))
        };
        ["report.html", "report.md", "report.pdf", "report.json"].map(read)
    };
    let check = |zone: &str, more: &[&str], shown: &str| {
        let [html, markdown, pdf, json] = report(zone, more);
        for form in [html, markdown.replace('\\', ""), pdf] {
            assert!(form.contains(shown), "{zone} {more:?}");
        }
        assert!(!json.contains(shown) && json.contains("Z\""), "{zone} {more:?}");
    };
    check("Asia/Tokyo", &[], " JST (UTC+09:00)");
    check("UTC", &["--meta", "timezone=Asia/Tokyo"], " JST (UTC+09:00)");
    check("JST-9", &["--meta", "timezone=Asia/Kathmandu"], " UTC+05:45");
    let listed = desk.run_in("Asia/Tokyo", &["runs"]);
    assert!(listed.lines().skip(1).all(|line| line.contains(" JST  ")), "{listed}");
    let unknown = desk.run_in("Asia/Tokio", &["runs"]);
    assert!(unknown.contains("TZ is “Asia/Tokio”") && unknown.contains("times are in UTC"), "{unknown}");
    let wrong = desk.run_in("UTC", &["report", id, "--meta", "timezone=Asia/Tokio"]);
    assert!(wrong.contains("did you mean Asia/Tokyo?") && wrong.contains("exit status 2"), "{wrong}");
    let _ = fs::remove_dir_all(&desk.folder);
}

#[test]
fn no_report_tells_where_somebody_kept_files() {
    for store in [EVERYTHING, TRANSACTIONS] {
        for file in files_in(&Path::new(GOLDEN).join(store).join("said")) {
            assert!(!tells_of_folders(&fs::read(&file).unwrap()), "{}", file.display());
        }
    }
}
