//! Holds the workspace to ARCHITECTURE.md: which floor may lean on which, and where `unsafe` may stand.

#[path = "architecture/modules.rs"]
mod modules;
#[path = "architecture/rings.rs"]
mod rings;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use self::modules::{Module, Modules};

/// From the bottom up; the program itself stands on top of all.
const FLOORS: [&str; 5] = ["base", "machine", "measure", "control", "result"];
/// Rooms that talk to the kernel or to another language.
const UNSAFE_ROOMS: [&str; 6] = ["kernel", "xdp", "grant", "stack", "adoption", "preload"];
/// Paths that make code depend on more than its arguments.
const IMPURE_CRATES: [&str; 6] = ["libc", "netlink-sys", "rusqlite", "rustix", "socket2", "tempfile"];
const IMPURE_CALLS: [&str; 4] = ["std::fs", "std::process", "Instant::now", "SystemTime::now"];
/// Words that begin a comment in place of its noun.
const NO_NOUNS: [&str; 11] = [
    "What ",
    "Whatever ",
    "Who ",
    "Whoever ",
    "Whose ",
    "Which ",
    "Of ",
    "Those ",
    "That of ",
    "By what ",
    "By which ",
];

/// Production files outside of a probe's own that name it; the numbers only go down.
const NAME_PACKETS: usize = 16;
const NAME_TRANSACTIONS: usize = 8;
/// Three are goodput's, which has a module of this name as well.
const NAME_TRANSFER: usize = 11;
/// Production files outside of a probe's own that tell probes apart: the registrations of the rooms.
const MATCH_PROBES: [&str; 3] = [
    "crates/control/run/src/probes/mod.rs",
    "crates/measure/probe/src/lib.rs",
    "crates/result/report/src/probes/mod.rs",
];
/// The same of results.
const MATCH_RESULTS: [&str; 2] = ["crates/result/report/src/probes/mod.rs", "crates/result/verdict/src/probes/mod.rs"];
/// The same by asking a spec or a result for one probe's. Tests of RFC 2544 are plans for numbered packets.
const DOWNCAST: [&str; 4] = [
    "crates/base/model/src/rfc2544.rs",
    "crates/measure/probe/src/lib.rs",
    "crates/result/report/src/probes/mod.rs",
    "crates/result/verdict/src/probes/mod.rs",
];
/// Production files that ask for the kind of a bed: where it is laid out and, for all others, where its value answers.
const ASK_FOR_KIND: [&str; 2] = ["crates/base/model/src/bed.rs", "crates/control/bed/src/topology.rs"];
/// Names of layouts and of their devices, by which a file could tell the kind of a bed.
const LAYOUTS: [&str; 11] = [
    "lab-switch",
    "lab-bridge",
    "lab-router",
    "lab-vswitch",
    "lab-ovs",
    "lab-xdp-router",
    "hosts-several",
    "hosts-one-kernel",
    "ovs",
    "vswitch",
    "xdp-router",
];

/// A crate of the workspace.
struct Room {
    name: String,
    floor: usize,
    folder: PathBuf,
    manifest: toml::Table,
}

#[test]
fn rooms_lean_only_on_their_own_floor_and_those_below() {
    let rooms = rooms();
    for room in &rooms {
        for used in used_rooms(room, &rooms) {
            assert!(
                used.floor <= room.floor,
                "{} (floor {}) must not depend on {} (floor {}, above it)",
                room.name,
                FLOORS[room.floor],
                used.name,
                FLOORS[used.floor]
            );
        }
    }
}

#[test]
fn only_the_agent_measures_and_changes_the_machine() {
    let (rooms, control) = (rooms(), floor("control"));
    let above = rooms.iter().filter(|room| room.floor >= control && room.name != "agent");
    for user in above.chain([&program()]) {
        for used in used_rooms(user, &rooms) {
            let measures = used.floor == floor("measure");
            let changes = ["host", "ledger"].contains(&used.name.as_str());
            assert!(!measures && !changes, "{} must not depend on {}: only agent may", user.name, used.name);
        }
    }
}

#[test]
fn control_reaches_the_machine_through_messages_alone() {
    let (rooms, machine) = (rooms(), floor("machine"));
    for room in rooms.iter().filter(|room| ["run", "bed", "protocol"].contains(&room.name.as_str())) {
        for used in used_rooms(room, &rooms) {
            assert_ne!(used.floor, machine, "{} must not depend on {}: an agent does that", room.name, used.name);
        }
    }
}

#[test]
fn only_the_program_depends_on_the_agent() {
    for room in rooms() {
        assert!(!dependencies(&room.manifest).contains(&"agent".to_owned()), "{} must not depend on agent", room.name);
    }
}

#[test]
fn the_report_shows_conclusions_and_draws_none() {
    let rooms = rooms();
    let report = rooms.iter().find(|room| room.name == "report").expect("a room");
    assert!(report.manifest["dependencies"].get("verdict").is_none(), "report must not depend on verdict");
}

#[test]
fn the_base_floor_is_pure() {
    for room in rooms().iter().filter(|room| room.floor == floor("base")) {
        for dependency in dependencies(&room.manifest) {
            assert!(!IMPURE_CRATES.contains(&dependency.as_str()), "{} must not depend on {dependency}", room.name);
        }
        for (file, text) in sources(&room.folder) {
            for call in IMPURE_CALLS {
                assert!(!text.contains(call), "{} uses {call}: base has no clock and no I/O", file.display());
            }
        }
    }
}

/// The workspace denies `unsafe`, so that the compiler finds it: here is only to see that nobody lifts the ban.
#[test]
fn unsafe_stays_in_the_rooms_meant_for_it() {
    let lints = &program().manifest["workspace"]["lints"]["rust"];
    assert_eq!(lints["unsafe_code"].as_str(), Some("deny"));
    for room in rooms().into_iter().chain([program()]) {
        assert_eq!(
            room.manifest["lints"]["workspace"].as_bool(),
            Some(true),
            "{}: [lints] workspace = true",
            room.name
        );
        if UNSAFE_ROOMS.contains(&room.name.as_str()) {
            continue;
        }
        for (file, text) in sources(&room.folder) {
            assert!(!text.contains(concat!("(unsafe", "_code")), "{} lifts the ban on unsafe code", file.display());
        }
    }
}

#[test]
fn comments_begin_with_their_noun() {
    let folders = ["crates", "src", "tests", "benches", "fuzz"].map(|folder| root().join(folder));
    let mut riddles = Vec::new();
    for (file, text) in folders.iter().flat_map(|folder| sources(folder)) {
        let mut goes_on = false;
        for (number, line) in (1..).zip(text.lines()) {
            let comment = ["//! ", "/// ", "// "].iter().find_map(|mark| line.trim_start().strip_prefix(mark));
            let begins =
                comment.filter(|_| !goes_on).is_some_and(|text| NO_NOUNS.iter().any(|it| text.starts_with(it)));
            riddles.extend(begins.then(|| format!("{}:{number}: {}", file.display(), line.trim())));
            goes_on = comment.is_some();
        }
    }
    assert!(riddles.is_empty(), "comments begin with a noun:\n{}", riddles.join("\n"));
}

#[test]
fn each_boundary_has_the_tests_that_the_manual_names() {
    let manual = read(&root().join("docs/security.md"));
    let cells = manual.lines().filter(|line| line.starts_with("| ")).filter_map(|line| line.rsplit('|').nth(1));
    let words = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    let is_name = |word: &&str| word.contains('_') && word.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let named: BTreeSet<&str> = words.filter(is_name).collect();
    assert!(named.len() > 30, "{named:?}");
    let folders = ["crates", "src", "tests"].map(|folder| root().join(folder));
    let sources: String = folders.iter().flat_map(|folder| sources(folder)).map(|(_, text)| text).collect();
    let absent: Vec<_> = named.iter().filter(|name| !sources.contains(&format!("fn {name}("))).collect();
    assert!(absent.is_empty(), "docs/security.md names tests that are not there: {absent:?}");
}

#[test]
fn modules_beside_each_other_form_no_ring() {
    let rings = rooms()
        .iter()
        .chain([&program()])
        .flat_map(|room| rings::rings(&room.name, &Modules::of(&root_file(room))))
        .map(|ring| format!("{}: {:?} form a ring\n{}", ring.within, ring.members, ring.references.join("\n")))
        .collect::<Vec<_>>();
    assert!(rings.is_empty(), "{}", rings.join("\n\n"));
}

/// The next probe should not have to be named in many places.
#[test]
fn few_files_outside_of_its_folders_name_a_probe() {
    // A doubt of any probe's is called PacketsDisagree; a rate of transactions is a unit, one of a transfer a metric.
    hold_to_names("Packets", "packets", &["PacketsDisagree"], NAME_PACKETS);
    hold_to_names("Transactions", "transactions", &[], NAME_TRANSACTIONS);
    hold_to_names("Transfer", "transfer", &["TransferRate"], NAME_TRANSFER);
}

/// Whether a file is one probe's own.
fn is_of_a_probe(file: &Path) -> bool {
    ["forwarding", "goodput", "latency", "packets", "path", "transactions", "transfer"]
        .iter()
        .any(|probe| is_of(probe, file))
}

/// Whether a file or a folder around it has this name.
fn is_of(module: &str, file: &Path) -> bool {
    // The folder of the sources may have any name.
    let file = file.strip_prefix(root()).unwrap_or(file);
    file.components().any(|part| Path::new(part.as_os_str()).file_stem() == Some(module.as_ref()))
}

/// Holds the number of files that name a probe, by its variants and types, or by its module.
fn hold_to_names(type_name: &str, module_name: &str, others: &[&str], most: usize) {
    let is_type = |name: &str| {
        let rest = name.strip_prefix(type_name).filter(|_| !others.contains(&name));
        rest.is_some_and(|rest| rest.starts_with(char::is_uppercase))
    };
    let names_it = |module: &Module| {
        let is_variant = |two: &[String]| {
            ["ProbeSpec", "Measured", "SideFigures", "SoFar", "ProbeCommand"].contains(&two[0].as_str())
                && two[1] == type_name
        };
        let leads_through =
            |path: &[String]| path.split_last().is_some_and(|(_, before)| before.contains(&module_name.to_owned()));
        let through = |path: &Vec<String>| leads_through(path) || path.windows(2).any(is_variant);
        module.names.iter().any(|name| is_type(name))
            || module.has_child(module_name)
            || module.paths.iter().any(through)
    };
    hold(
        &format!("name the probe \"{module_name}\""),
        most,
        &files(|module| !is_of(module_name, &module.file) && names_it(module)),
    );
}

/// A file that no module names is not compiled, and nobody notices.
#[test]
fn every_source_file_is_a_module() {
    for room in rooms().iter().chain([&program()]) {
        let roots = root_file(room).parent().map(Path::to_owned).unwrap_or_default();
        for (file, _) in sources(&roots) {
            let (folder, stem) = (file.parent().unwrap_or(&file), file.file_stem().unwrap_or_default());
            let (folder, stem) = match stem.to_str() {
                Some("lib" | "main") if folder == roots => continue,
                Some("mod") => (folder.parent().unwrap_or(folder), folder.file_name().unwrap_or_default()),
                _ => (folder, stem),
            };
            let parents = match folder == roots {
                true => [folder.join("lib.rs"), folder.join("main.rs")],
                false => [folder.with_extension("rs"), folder.join("mod.rs")],
            };
            let declares = format!("mod {};", stem.to_string_lossy());
            let is_declared =
                parents.iter().filter(|parent| parent.exists()).any(|parent| read(parent).contains(&declares));
            assert!(is_declared, "{}: no module declares it", file.display());
        }
    }
}

#[test]
fn few_files_tell_probes_apart() {
    let matches = |what: &'static str| {
        let has = move |path: &Vec<String>| {
            path.windows(2).any(|two| two[0] == what && two[1].starts_with(char::is_uppercase))
        };
        files(move |module| !is_of_a_probe(&module.file) && module.paths.iter().any(has))
    };
    let known = |files: &[&str]| files.iter().map(PathBuf::from).collect::<BTreeSet<_>>();
    assert_eq!(matches("ProbeSpec"), known(&MATCH_PROBES), "files that name a variant of ProbeSpec");
    assert_eq!(matches("Measured"), known(&MATCH_RESULTS), "files that name a variant of Measured");
    let downcasts = files(|module| !is_of_a_probe(&module.file) && module.asks_for_one_probe);
    assert_eq!(downcasts, known(&DOWNCAST), "files that ask for one probe's parameters");
}

#[test]
fn two_files_ask_for_the_kind_of_a_bed() {
    let is_kind = |path: &Vec<String>| path.windows(2).any(|two| two[0] == "BedKind");
    let is_known_by_name = |module: &Module| LAYOUTS.iter().any(|layout| module.texts.contains(*layout));
    let layouts = Path::new("crates/control/bed/src/layouts");
    let asking = files(|module| {
        let file = module.file.strip_prefix(root()).unwrap_or(&module.file);
        (module.paths.iter().any(is_kind) || is_known_by_name(module)) && !file.starts_with(layouts)
    });
    assert_eq!(asking, ASK_FOR_KIND.map(PathBuf::from).into(), "files that ask for the kind of a bed");
}

/// Production files that have a module of this kind.
fn files(of: impl Fn(&Module) -> bool) -> BTreeSet<PathBuf> {
    let all: Vec<Modules> = rooms().iter().chain([&program()]).map(|room| Modules::of(&root_file(room))).collect();
    let found = all.iter().flat_map(Modules::all).filter(|(_, module)| of(module));
    found.map(|(_, module)| module.file.strip_prefix(root()).unwrap_or(&module.file).to_owned()).collect()
}

/// No more than there were.
fn hold(what: &str, most: usize, files: &BTreeSet<PathBuf>) {
    let listed: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
    assert!(files.len() <= most, "{} files {what}, and {most} did:\n{}", files.len(), listed.join("\n"));
}

/// `./x test` runs no tests of documentation. A block of code that names no language would be one.
#[test]
fn documentation_has_no_tests() {
    for room in rooms().iter().chain([&program()]) {
        for (file, text) in sources(&room.folder) {
            let fences = text.lines().filter_map(|line| {
                line.trim_start().strip_prefix("//")?.trim_start_matches(['/', '!', ' ']).strip_prefix("```")
            });
            for language in fences.step_by(2) {
                assert!(
                    !["", "rust"].contains(&language),
                    "{}: a block of code is to name its language",
                    file.display()
                );
            }
        }
    }
}

#[test]
fn every_room_has_a_line_in_architecture_md() {
    let page = read(&root().join("ARCHITECTURE.md"));
    let opens_with = |line: &str, name: &str| {
        let mut words = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.by_ref().take(3).any(|word| word == name)
    };
    for room in rooms() {
        assert!(page.lines().any(|line| opens_with(line, &room.name)), "ARCHITECTURE.md has no line on {}", room.name);
        assert_eq!(room.manifest["package"]["name"].as_str(), Some(format!("wireproof-{}", room.name).as_str()));
    }
}

/// The table of the rules in docs/measuring.md says which test holds each.
#[test]
fn every_rule_of_measuring_names_a_test_that_there_is() {
    let page = read(&root().join("docs/measuring.md"));
    let (_, table) = page.split_once("| rule | test |").expect("the table of rules");
    let rules: Vec<&str> = table.lines().filter(|line| line.starts_with('|') && line.contains('`')).collect();
    assert_eq!(rules.len(), 17);
    let named = rules.iter().flat_map(|line| line.split('`').skip(1).step_by(2));
    let mut code: Vec<(PathBuf, String)> = sources(&root().join("tests"));
    for room in rooms() {
        code.extend(sources(&room.folder));
    }
    for test in named {
        let is_there = |(_, text): &(PathBuf, String)| text.contains(&format!("fn {test}("));
        assert!(code.iter().any(is_there), "there is no test {test}");
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn floor(name: &str) -> usize {
    FLOORS.iter().position(|floor| *floor == name).expect("a folder of crates/ is one of the floors")
}

/// Each `crates/FLOOR/ROOM`.
fn rooms() -> Vec<Room> {
    let rooms: Vec<Room> = folders(&root().join("crates"))
        .iter()
        .flat_map(|floor_folder| folders(floor_folder).into_iter().map(|folder| (floor(&name(floor_folder)), folder)))
        .map(|(floor, folder)| Room { name: name(&folder), floor, manifest: manifest(&folder), folder })
        .collect();
    assert!(!rooms.is_empty());
    rooms
}

/// The root package, as if it were a room on top.
fn program() -> Room {
    Room { name: "wireproof".to_owned(), floor: FLOORS.len(), folder: root().join("src"), manifest: manifest(&root()) }
}

/// Root file of a room's modules.
fn root_file(room: &Room) -> PathBuf {
    let source = if room.folder.ends_with("src") { room.folder.clone() } else { room.folder.join("src") };
    ["lib.rs", "main.rs"]
        .map(|name| source.join(name))
        .into_iter()
        .find(|file| file.exists())
        .expect("a crate has a root")
}

fn used_rooms<'a>(user: &Room, rooms: &'a [Room]) -> Vec<&'a Room> {
    let names = dependencies(&user.manifest);
    rooms.iter().filter(|room| names.contains(&room.name)).collect()
}

/// Names in all dependency tables: normal, dev, build, and those for a target. Rooms by their short name.
fn dependencies(manifest: &toml::Table) -> Vec<String> {
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let tables = [manifest]
        .into_iter()
        .chain(targets.into_iter().flat_map(toml::Table::values).filter_map(toml::Value::as_table));
    tables
        .flat_map(|table| ["dependencies", "dev-dependencies", "build-dependencies"].map(|kind| table.get(kind)))
        .flatten()
        .filter_map(toml::Value::as_table)
        .flat_map(toml::Table::keys)
        .map(|name| name.strip_prefix("wireproof-").unwrap_or(name).to_owned())
        .collect()
}

fn manifest(folder: &Path) -> toml::Table {
    let file = folder.join("Cargo.toml");
    read(&file).parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Every Rust file under the folder, with its text.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    entries(folder)
        .into_iter()
        .flat_map(|path| match path {
            path if path.is_dir() => sources(&path),
            path if path.extension().is_some_and(|extension| extension == "rs") => {
                let text = read(&path);
                vec![(path, text)]
            }
            _ => Vec::new(),
        })
        .collect()
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    entries(folder).into_iter().filter(|path| path.is_dir()).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let listing = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    listing.map(|entry| entry.expect("a readable entry").path()).collect()
}

fn name(folder: &Path) -> String {
    folder.file_name().expect("a folder has a name").to_string_lossy().into_owned()
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
