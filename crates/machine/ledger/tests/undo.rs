//! Changes made and undone on the real kernel. Needs root, and fails without.

use std::{
    fs::{self, File},
    io::{Read, Write},
    os::unix::{
        fs::{PermissionsExt, chown, symlink},
        net::UnixListener,
    },
    path::Path,
    process::Command,
};

use kernel::{interface, link, namespace, process, sysctl};
use model::{Change, LinkEnd, Mtu, change};
use tempfile::TempDir;
use wireproof_ledger::{Error, Ledger, UndoErrors, Undone, kept, stale, undo_stale};

const SETTING: &str = "net.ipv4.tcp_timestamps";

/// A ledger directory, and two namespaces that do not exist yet and are deleted at the end.
struct Bench {
    dir: TempDir,
    a: String,
    b: String,
}

impl Bench {
    fn new(test: &str) -> Self {
        let name = |end| format!("wptest{}{test}-{end}", std::process::id());
        Self { dir: TempDir::new().expect("a directory"), a: name("a"), b: name("b") }
    }

    fn dir(&self) -> &Path {
        self.dir.path()
    }

    fn file(&self) -> String {
        fs::read_to_string(self.dir().join("owner.jsonl")).expect("readable")
    }

    fn open(&self) -> Ledger {
        Ledger::open(self.dir(), "owner").expect("a new ledger")
    }

    /// One change of each kind that a lab needs.
    fn changes(&self) -> Vec<Change> {
        let (a, b) = (self.a.clone(), self.b.clone());
        let end = |namespace: &str| LinkEnd { namespace: namespace.to_owned(), interface: "wire".into() };
        vec![
            Change::Namespace(change::Namespace { name: a.clone() }),
            Change::Namespace(change::Namespace { name: b.clone() }),
            Change::Sysctl(change::Sysctl { namespace: a.clone(), key: SETTING.into(), value: "0".into() }),
            Change::Veth(change::Veth { a: end(&a), b: end(&b), mtu: Mtu(1500) }),
            self.address(24),
            Change::LinkUp(change::LinkUp { namespace: a, interface: "wire".into() }),
        ]
    }

    fn address(&self, prefix: u8) -> Change {
        let address = "198.18.0.1".parse().expect("an address");
        Change::Address(change::Address { namespace: self.a.clone(), interface: "wire".into(), address, prefix })
    }

    fn set_up(&self) -> Ledger {
        let mut ledger = self.open();
        for change in self.changes() {
            ledger.apply(change).expect("this test needs root");
        }
        ledger
    }

    fn is_clean(&self) -> bool {
        !namespace::exists(&self.a)
            && !namespace::exists(&self.b)
            && fs::read_dir(self.dir()).expect("ours").count() == 0
    }
}

/// Undoes the changes of dead owners; an error for unknown lines.
fn cleaned(dir: &Path) -> Result<Vec<Undone>, UndoErrors> {
    undo_stale(dir).map(|cleaned| {
        assert!(cleaned.unknown.is_empty(), "{cleaned:?}");
        cleaned.undone
    })
}

impl Drop for Bench {
    fn drop(&mut self) {
        for name in [&self.a, &self.b] {
            // A failed test may have left it; nothing to add to that test's message.
            let _ = namespace::delete(name);
        }
    }
}

#[test]
fn all_changes_are_undone_in_reverse_order() {
    let bench = Bench::new("all");
    let mut ledger = bench.set_up();
    assert!(link::is_up(&bench.a, "wire").expect("it exists"));
    assert_eq!(namespace::within(&bench.a, || sysctl::read(SETTING)).expect("it exists").expect("readable"), "0");
    assert_eq!(bench.file().lines().count(), 6);
    let undone = ledger.undo_all().expect("all can be undone");
    assert!(undone.iter().eq(bench.changes().iter().rev()), "{undone:?}");
    assert!(ledger.undo_all().expect("nothing left").is_empty());
    drop(ledger);
    assert!(bench.is_clean());
}

#[test]
fn settings_and_addresses_return_to_what_was_there() {
    let bench = Bench::new("before");
    namespace::create(&bench.a).expect("this test needs root");
    let read = || namespace::within(&bench.a, || sysctl::read(SETTING)).expect("it exists").expect("readable");
    let before = read();
    let other = if before == "0" { "1" } else { "0" };
    let up = Change::LinkUp(change::LinkUp { namespace: bench.a.clone(), interface: "lo".into() });
    let mut ledger = bench.open();
    ledger
        .apply(Change::Sysctl(change::Sysctl { namespace: bench.a.clone(), key: SETTING.into(), value: other.into() }))
        .expect("writable");
    ledger.apply(up.clone()).expect("it exists");
    // Already up: undoing this one changes nothing.
    ledger.apply(up.clone()).expect("it exists");
    assert_eq!(read(), other);
    let undone = ledger.undo_all().expect("all can be undone");
    assert_eq!((undone.len(), &undone[0]), (2, &up));
    assert_eq!(read(), before);
    assert!(!link::is_up(&bench.a, "lo").expect("it exists"));
    assert!(namespace::exists(&bench.a), "not made by the ledger, not its to delete");
}

#[test]
fn an_interface_that_was_down_keeps_its_addresses_and_a_route_of_somebody_else_stays() {
    let bench = Bench::new("down");
    let changes = bench.changes();
    let mut ledger = bench.open();
    changes[..5].iter().for_each(|change| ledger.apply(change.clone()).expect("this test needs root"));
    ledger.keep(&"a bed").expect("writable");
    let address = |text: &str| text.parse().expect("an address");
    let (own, ours) = (address("2001:2::9"), address("2001:2::1"));
    link::add_address(&bench.a, "wire", own, 64).expect("added");

    let mut other = Ledger::open(bench.dir(), "other").expect("a new ledger");
    let (namespace, interface) = (bench.a.clone(), "wire".to_owned());
    let named = || (namespace.clone(), interface.clone());
    let ((a, b), (c, d)) = (named(), named());
    other
        .apply(Change::Address(change::Address { namespace: a, interface: b, address: ours, prefix: 64 }))
        .expect("added");
    other.apply(Change::LinkUp(change::LinkUp { namespace: c, interface: d })).expect("set up");
    let route = |to: &str, via: &str| {
        let (namespace, interface) = named();
        Change::Route(change::Route { namespace, interface, to: address(to), prefix: 24, via: address(via), count: 3 })
    };
    let (there, missing) = (("198.19.0.0", "198.18.0.9"), ("198.19.1.0", "198.18.0.9"));
    kernel::route::add(&namespace, &interface, (address(there.0), 24), address(there.1)).expect("somebody else's");
    [there, missing].into_iter().for_each(|(to, via)| other.apply(route(to, via)).expect("there now"));
    let exists = |(to, via): (&str, &str)| {
        kernel::route::exists(&namespace, &interface, (address(to), 24), address(via)).expect("rtnetlink")
    };
    assert!(exists(there) && exists(missing));
    other.undo_last(2).expect("undone");
    assert!(exists(there) && !exists(missing));

    other.undo_all().expect("undone");
    let has = |address| link::has_address(&bench.a, "wire", address).expect("it exists");
    assert!(!link::is_up(&bench.a, "wire").expect("it exists") && has(own) && !has(ours));
    ledger.undo_all().expect("undone");
}

#[test]
fn a_change_is_on_disk_before_it_is_made() {
    let bench = Bench::new("first");
    let mut ledger = bench.set_up();
    ledger.undo_all().expect("all can be undone");
    for change in bench.changes().into_iter().take(4) {
        ledger.apply(change).expect("possible");
    }
    // An invalid IPv4 prefix: the kernel refuses it after the change was recorded.
    let error = ledger.apply(bench.address(99)).expect_err("no such prefix").to_string();
    assert!(error.starts_with("cannot make address 198.18.0.1/99 on"), "{error}");
    let file = bench.file();
    let last = file.lines().last().expect("a line");
    assert!(last.contains("\"prefix\":99") && last.contains("\"before\":\"absent\""), "{last}");
    assert_eq!(ledger.undo_all().expect("all can be undone").len(), 4);
}

#[test]
fn whoever_comes_next_undoes_what_a_crash_left() {
    let bench = Bench::new("crash");
    let living = bench.set_up();
    assert!(stale(bench.dir()).expect("readable").is_empty());
    assert!(cleaned(bench.dir()).expect("nothing to do").is_empty(), "its owner lives");
    // A crash writes nothing more, and may have interrupted a line.
    drop(living);
    let path = bench.dir().join("owner.jsonl");
    fs::write(&path, bench.file() + "{\"entry\":{\"seq\":7,\"boo").expect("ours");
    assert_eq!(stale(bench.dir()).expect("readable"), ["owner"]);
    assert!(matches!(Ledger::open(bench.dir(), "owner"), Err(Error::NotUndone(_))));
    let undone = cleaned(bench.dir()).expect("all can be undone");
    assert_eq!(undone.len(), 6);
    assert!(undone[0].to_string().ends_with("/wire up (left by \"owner\")"), "{}", undone[0]);
    assert!(bench.is_clean());
}

#[test]
fn a_crash_between_record_and_change_leaves_nothing_to_undo() {
    let bench = Bench::new("between");
    let mut ledger = bench.set_up();
    let recorded = bench.file();
    ledger.undo_all().expect("all can be undone");
    drop(ledger);
    fs::write(bench.dir().join("owner.jsonl"), recorded).expect("ours");
    assert!(cleaned(bench.dir()).expect("all is gone").is_empty());
    assert!(bench.is_clean());
}

#[test]
fn a_crash_while_a_namespace_was_being_named_is_undone() {
    let bench = Bench::new("naming");
    drop(bench.set_up());
    namespace::delete(&bench.a).expect("it exists");
    fs::write(format!("/run/netns/{}", bench.a), "").expect("root");
    cleaned(bench.dir()).expect("all can be undone");
    assert!(bench.is_clean());
}

#[test]
fn somebody_elses_namespace_of_the_same_name_is_left_alone() {
    let bench = Bench::new("foreign");
    drop(bench.set_up());
    namespace::delete(&bench.a).expect("it exists");
    namespace::create(&bench.a).expect("free now");
    let theirs = namespace::identity(&bench.a).expect("it exists");
    namespace::within(&bench.a, || sysctl::write(SETTING, "2")).expect("it exists").expect("writable");
    let undone = cleaned(bench.dir()).expect("nothing fails");
    assert!(undone.iter().all(|undone| !undone.change.to_string().contains("-a up")), "{undone:?}");
    assert_eq!(namespace::identity(&bench.a).expect("still there"), theirs);
    assert_eq!(namespace::within(&bench.a, || sysctl::read(SETTING)).expect("it exists").expect("readable"), "2");
    assert!(!namespace::exists(&bench.b));
}

#[test]
fn a_taken_name_is_refused_and_nothing_recorded() {
    let bench = Bench::new("taken");
    namespace::create(&bench.a).expect("this test needs root");
    namespace::create(&bench.b).expect("this test needs root");
    let mut ledger = bench.open();
    let error = ledger.apply(bench.changes()[0].clone()).expect_err("taken").to_string();
    let expected = format!(
        "namespace {a} exists already, and is not wireproof's; remove it with \"ip netns delete {a}\", or choose \
         another name",
        a = bench.a
    );
    assert_eq!(error, expected);
    let veth = |namespace: &str, interface: &str| LinkEnd { namespace: namespace.into(), interface: interface.into() };
    link::create_veth(&veth(&bench.b, "wire"), &veth(&bench.b, "peer"), Mtu(1500)).expect("free names");
    let error = ledger.apply(bench.changes()[3].clone()).expect_err("taken").to_string();
    assert!(error.contains(&format!("remove it with \"ip -netns {} link delete wire\"", bench.b)), "{error}");
    assert_eq!(bench.file(), "");
    drop(ledger);
    assert!(namespace::exists(&bench.a) && link::exists(&bench.b, "wire").expect("readable"));
}

#[test]
fn processes_left_in_a_namespace_are_ended() {
    let bench = Bench::new("procs");
    let mut ledger = bench.open();
    ledger.apply(bench.changes()[0].clone()).expect("this test needs root");
    let spawn = || std::process::Command::new("sleep").arg("60").spawn();
    let mut child = namespace::within(&bench.a, spawn).expect("it exists").expect("a program");
    ledger.undo_all().expect("all can be undone");
    assert!(child.try_wait().expect("ours").is_some());
    drop(ledger);
    assert!(bench.is_clean());
}

#[test]
fn kept_changes_stand_until_their_owner_takes_them_down() {
    let bench = Bench::new("kept");
    bench.set_up().keep(&"bed demo").expect("writable");
    assert_eq!(kept::<String>(bench.dir(), |_| true).expect("readable"), ["bed demo"]);
    assert!(stale(bench.dir()).expect("readable").is_empty());
    assert!(cleaned(bench.dir()).expect("nothing to do").is_empty());
    assert!(link::is_up(&bench.a, "wire").expect("still there"));
    assert!(matches!(Ledger::open(bench.dir(), "owner"), Err(Error::NotUndone(_))));
    assert!(matches!(kept::<u32>(bench.dir(), |_| true), Err(Error::Kept { .. })));

    let mut ledger = Ledger::reopen(bench.dir(), "owner").expect("kept");
    assert!(matches!(Ledger::reopen(bench.dir(), "owner"), Err(Error::InUse(_))));
    assert_eq!(ledger.undo_all().expect("all can be undone").len(), 6);
    drop(ledger);
    assert!(bench.is_clean());
    assert!(matches!(Ledger::reopen(bench.dir(), "owner"), Err(Error::Nothing { .. })));
}

#[test]
fn a_folder_of_programs_is_removed_with_all_that_is_in_it() {
    let (bench, folders) = (Bench::new("programs"), TempDir::new().expect("a directory"));
    let folder = folders.path().join("ours/one");
    let change = || Change::PinnedPrograms(change::PinnedPrograms { namespace: String::new(), folder: folder.clone() });
    let mut ledger = bench.open();
    ledger.apply(change()).expect("a new folder");
    fs::write(folder.join("port-1"), "").expect("writable");
    assert!(matches!(ledger.apply(change()), Err(Error::AlreadyExists { .. })));
    assert_eq!(ledger.undo_all().expect("ours"), [change()]);
    assert_eq!(fs::read_dir(folders.path()).expect("readable").count(), 0);
}

#[test]
fn filters_are_undone_after_a_crash_and_taken_names_are_refused() {
    let bench = Bench::new("filters");
    let listed = || {
        let mut nft = Command::new("ip");
        nft.args(["netns", "exec", &bench.a, "nft", "list", "ruleset"]);
        String::from_utf8_lossy(&nft.output().expect("ip").stdout).into_owned()
    };
    let filters = |bridge| {
        Change::Filters(change::Filters { namespace: bench.a.clone(), bridge, ip: model::IpVersion::V4, count: 25 })
    };
    let mut ledger = bench.open();
    // A namespace that cannot be looked into is none without filters.
    ledger.apply(filters(false)).expect_err("there is no such namespace");
    assert_eq!(bench.file(), "");
    ledger.apply(bench.changes()[0].clone()).expect("this test needs root");
    for bridge in [false, true] {
        ledger.apply(filters(bridge)).expect("this test needs the package nftables");
    }
    assert_eq!(listed().matches("saddr 198.18.0.124").count(), 2, "{}", listed());
    assert!(matches!(ledger.apply(filters(false)), Err(Error::AlreadyExists { .. })));
    assert_eq!(ledger.undo_last(1).expect("undone"), [filters(true)]);
    drop(ledger);
    let undone = cleaned(bench.dir()).expect("all can be undone");
    assert!(undone[0].to_string().starts_with("25 filters in "), "{undone:?}");
    assert_eq!(undone.len(), 2);
    assert!(bench.is_clean());
}

#[test]
fn what_an_earlier_boot_kept_is_forgotten() {
    let bench = Bench::new("boot");
    bench.set_up().keep(&"bed demo").expect("writable");
    let boot_id = sysctl::read("kernel.random.boot_id").expect("readable");
    fs::write(bench.dir().join("owner.jsonl"), bench.file().replace(&boot_id, "an earlier boot")).expect("ours");
    assert!(kept::<String>(bench.dir(), |_| true).expect("readable").is_empty());
    assert!(cleaned(bench.dir()).expect("nothing fails").is_empty());
    assert_eq!(fs::read_dir(bench.dir()).expect("ours").count(), 0);
    assert!(namespace::exists(&bench.a), "another boot's record says nothing of this one's namespaces");
}

#[test]
fn one_failure_does_not_stop_the_rest_from_being_undone() {
    let bench = Bench::new("fail");
    let mut ledger = bench.set_up();
    let text = bench.file();
    drop(ledger);
    // A value that the kernel rejects stands for any failure.
    let bad = text.replace("{\"before\":\"value\",\"value\":\"1\"}", "{\"before\":\"value\",\"value\":\"nonsense\"}");
    assert_ne!(bad, text);
    fs::write(bench.dir().join("owner.jsonl"), bad).expect("ours");
    ledger = Ledger::reopen(bench.dir(), "owner").expect("readable");
    let failed = ledger.undo_all().expect_err("one fails");
    let record = bench.dir().join("owner.jsonl").display().to_string();
    assert!(failed.to_string().ends_with(&format!("remove {record}")), "{failed}");
    let UndoErrors(errors) = failed;
    assert_eq!(errors.len(), 1);
    assert!(errors[0].to_string().starts_with(&format!("cannot undo {SETTING} = 0 in {}", bench.a)), "{}", errors[0]);
    assert!(!namespace::exists(&bench.a) && !namespace::exists(&bench.b));
    // Its namespace no longer exists, and the setting with it.
    assert!(ledger.undo_all().expect("nothing left to do").is_empty());
}

#[test]
fn where_nothing_can_be_recorded_it_is_said_that_nothing_is_changed() {
    let bench = Bench::new("readonly");
    let mount = |words: &[&str]| Command::new(words[0]).args(&words[1..]).arg(bench.dir()).status().expect("starts");
    assert!(mount(&["mount", "-t", "tmpfs", "-o", "ro", "none"]).success(), "this test needs root");
    let opened = Ledger::open(bench.dir(), "owner").map(drop);
    assert!(mount(&["umount"]).success());
    let error = opened.expect_err("it is read-only").to_string();
    assert!(error.contains(": Read-only file system") && error.contains("nothing is changed"), "{error}");
}

/// A disk of one page, nearly filled by the ledger.
#[test]
fn all_is_undone_also_where_there_is_no_room_to_say_so() {
    const PAGE: usize = 4096;
    let bench = Bench::new("full");
    let mount = |words: &[&str]| Command::new(words[0]).args(&words[1..]).arg(bench.dir()).status().expect("starts");
    assert!(mount(&["mount", "-t", "tmpfs", "-o", "size=4k", "none"]).success(), "this test needs root");
    let mut ledger = bench.set_up();
    let setting = |spaces: usize| {
        Change::Sysctl(change::Sysctl {
            namespace: bench.a.clone(),
            key: SETTING.into(),
            value: " ".repeat(spaces) + "0",
        })
    };
    let before = bench.file().len();
    ledger.apply(setting(0)).expect("there is room");
    let line = bench.file().len() - before;
    let spaces = PAGE - bench.file().len() - line - 5;
    ledger.apply(setting(spaces)).expect("there is room still");
    assert!((PAGE - 6..PAGE).contains(&bench.file().len()), "{}", bench.file().len());
    let undone = ledger.undo_all().expect("all of it");
    assert_eq!((undone.len(), ledger.standing()), (8, 0));
    drop(ledger);
    let is_clean = bench.is_clean();
    assert!(mount(&["umount"]).success());
    assert!(is_clean);
}

/// All ways to a ledger of this folder, with what they are refused by.
fn refused(dir: &Path) -> [String; 5] {
    [
        Ledger::open(dir, "owner").map(drop).expect_err("refused").to_string(),
        Ledger::reopen(dir, "owner").map(drop).expect_err("refused").to_string(),
        kept::<String>(dir, |_| true).expect_err("refused").to_string(),
        stale(dir).expect_err("refused").to_string(),
        undo_stale(dir).expect_err("refused").to_string(),
    ]
}

#[test]
fn what_is_no_file_of_ours_is_named_and_neither_read_nor_waited_for() {
    let bench = Bench::new("trust");
    let path = bench.dir().join("owner.jsonl");
    let make = |what: &str| match what {
        "a FIFO" => assert!(Command::new("mkfifo").arg(&path).status().expect("coreutils").success()),
        "a link" => symlink("/dev/zero", &path).expect("a link"),
        "a socket" => drop(UnixListener::bind(&path).expect("a socket")),
        "a file of 1024 MiB" => File::create(&path).and_then(|file| file.set_len(1 << 30)).expect("a sparse file"),
        _ => File::create(&path).and_then(|_| chown(&path, Some(65_534), None)).expect("this test needs root"),
    };
    for what in ["a FIFO", "a link", "a socket", "a file of 1024 MiB", "a file of user 65534"] {
        make(what);
        for error in refused(bench.dir()) {
            let named = error.contains(&format!("open {}: it is {what}, and only a regular", path.display()));
            assert!(named && error.contains("then move it away"), "{error}");
        }
        assert!(fs::symlink_metadata(&path).is_ok(), "it stays");
        fs::remove_file(&path).expect("ours");
    }
    fs::create_dir(&path).expect("a folder");
    assert!(refused(bench.dir()).iter().all(|error| error.contains("it is a folder")));
}

#[test]
fn the_folder_of_ledgers_is_roots_alone() {
    let bench = Bench::new("folder");
    let (above, real, link) = (bench.dir().join("above"), bench.dir().join("above/real"), bench.dir().join("link"));
    drop(Ledger::open(&real, "owner").expect("a new ledger"));
    for folder in [&above, &real] {
        assert_eq!(fs::metadata(folder).expect("made").permissions().mode() & 0o777, 0o700);
    }
    let mode = || fs::metadata(&real).expect("made").permissions().mode() & 0o777;
    fs::set_permissions(&real, fs::Permissions::from_mode(0o755)).expect("ours");
    drop(Ledger::open(&real, "owner").expect("a new ledger"));
    assert_eq!(mode(), 0o700, "an earlier version let others read it");
    fs::write(real.join("owner.jsonl"), "").expect("ours");
    symlink(&real, &link).expect("a link");
    for error in refused(&link) {
        assert!(error.contains(&format!("{}: it is a link, and only a folder", link.display())), "{error}");
    }
    chown(&real, Some(65_534), None).expect("this test needs root");
    assert!(refused(&real).iter().all(|error| error.contains("it is a folder of user 65534")));
}

#[test]
fn an_unreadable_ledger_is_named_and_stops_nobody() {
    let bench = Bench::new("bad");
    drop(bench.set_up());
    let broken = bench.dir().join("broken.jsonl");
    fs::write(&broken, "nonsense\n").expect("ours");
    for undone in [6, 0] {
        let cleaned = undo_stale(bench.dir()).expect("the rest can be undone");
        assert_eq!((cleaned.undone.len(), cleaned.unknown.len()), (undone, 1));
        let error = cleaned.unknown[0].to_string();
        assert!(error.starts_with("cannot read line 1 of ") && error.contains("broken.jsonl ("), "{error}");
        assert!(error.contains("then remove the file: wireproof then forgets"), "{error}");
    }
    assert!(!namespace::exists(&bench.a) && !bench.dir().join("owner.jsonl").exists() && broken.exists());
    fs::write(&broken, "nonsense\nand\nmore\n").expect("ours");
    let cleaned = undo_stale(bench.dir()).expect("nothing else is left");
    assert_eq!(cleaned.unknown.len(), 1, "one of a file");
    assert!(cleaned.unknown[0].to_string().starts_with("cannot read lines 1, 2, 3 of "), "{cleaned:?}");
    Ledger::open(bench.dir(), "another").expect("it stands in nobody's way");
    assert!(matches!(Ledger::open(bench.dir(), "broken"), Err(Error::NotUndone(_))));
}

#[test]
fn a_change_of_another_version_stays_recorded_and_those_around_it_are_undone() {
    let bench = Bench::new("version");
    drop(bench.set_up());
    let record = bench.dir().join("owner.jsonl");
    let text = bench.file().replace("\"change\":\"sysctl\"", "\"change\":\"daemon\"");
    fs::write(&record, &text).expect("ours");
    let part = undo_stale(bench.dir()).expect("the rest can be undone");
    assert_eq!((part.undone.len(), part.unknown.len()), (5, 1));
    assert!(!namespace::exists(&bench.a) && !namespace::exists(&bench.b) && record.exists());
    let failed = Ledger::reopen(bench.dir(), "owner").expect("readable").undo_all().expect_err("one is unknown");
    assert!(failed.to_string().contains("line 3 of "), "{failed}");
    // A reboot has undone it, whatever it was.
    let boot_id = sysctl::read("kernel.random.boot_id").expect("readable");
    fs::write(&record, text.replace(&boot_id, "an earlier boot")).expect("ours");
    assert!(cleaned(bench.dir()).expect("nothing fails").is_empty() && bench.is_clean());
}

#[test]
fn owners_name_files_in_the_directory_only() {
    let bench = Bench::new("name");
    for owner in ["", "../x", "a/b", "ü"] {
        assert!(matches!(Ledger::open(bench.dir(), owner), Err(Error::OwnerName(_))), "{owner}");
    }
    let missing = bench.dir().join("missing");
    assert!(cleaned(&missing).expect("nothing there").is_empty());
    let file = bench.dir().join("file");
    fs::write(&file, "").expect("ours");
    let error = Ledger::open(&file.join("x"), "owner").expect_err("not a directory").to_string();
    assert!(error.contains("cannot make "), "{error}");
}

#[test]
fn the_last_changes_are_undone_and_the_others_stay() {
    let bench = Bench::new("last");
    let mut ledger = bench.set_up();
    let mtu = || link::mtu(&bench.a, "wire").expect("it exists");
    ledger
        .apply(Change::Mtu(change::InterfaceMtu {
            namespace: bench.a.clone(),
            interface: "wire".into(),
            mtu: Mtu(9000),
        }))
        .expect("root");
    ledger
        .apply(Change::Mtu(change::InterfaceMtu {
            namespace: bench.a.clone(),
            interface: "wire".into(),
            mtu: Mtu(1280),
        }))
        .expect("root");
    assert_eq!(mtu(), Mtu(1280));
    ledger.undo_last(1).expect("undone");
    assert_eq!(mtu(), Mtu(9000));
    ledger.undo_last(1).expect("undone");
    assert_eq!(mtu(), Mtu(1500), "as the pair was made");
    assert!(link::is_up(&bench.a, "wire").expect("it exists"));
    ledger.undo_all().expect("all can be undone");
    drop(ledger);
    assert!(bench.is_clean());
}

#[test]
fn changes_in_the_owners_own_namespace_are_undone_there_and_from_nowhere_else() {
    let bench = Bench::new("own");
    namespace::create(&bench.a).expect("this test needs root");
    let inside = |undo: &(dyn Fn() + Sync)| namespace::within(&bench.a, undo).expect("it exists");
    let up = Change::LinkUp(change::LinkUp { namespace: String::new(), interface: "lo".into() });
    inside(&|| bench.open().apply(up.clone()).expect("ours"));
    assert!(bench.file().contains("\"namespace\":\"\"") && link::is_up(&bench.a, "lo").expect("it exists"));
    assert!(cleaned(bench.dir()).expect("not ours").is_empty(), "our own loopback is another one");
    assert!(link::is_up(&bench.a, "lo").expect("it exists"));
    inside(&|| assert_eq!(cleaned(bench.dir()).expect("undone").len(), 1));
    assert!(!link::is_up(&bench.a, "lo").expect("it exists"));
    assert_eq!(fs::read_dir(bench.dir()).expect("ours").count(), 0);
}

#[test]
fn settings_of_an_interface_return_also_where_their_owner_was_killed() {
    const SETTINGS: [(&str, &str); 2] = [("napi_defer_hard_irqs", "2"), ("gro_flush_timeout", "50000")];
    let bench = Bench::new("napi");
    let mut standing = bench.open();
    bench.changes().into_iter().take(4).for_each(|change| standing.apply(change).expect("this test needs root"));
    let read = || {
        let read = || SETTINGS.map(|(setting, _)| interface::read("wire", setting).expect("readable"));
        namespace::within(&bench.a, read).expect("it exists")
    };
    let changes = SETTINGS.map(|(setting, value)| {
        Change::InterfaceSetting(change::InterfaceSetting {
            namespace: bench.a.clone(),
            interface: "wire".to_owned(),
            setting: setting.to_owned(),
            value: value.to_owned(),
        })
    });
    let before = read();
    let mut ledger = Ledger::open(bench.dir(), "killed").expect("a new ledger");
    ledger.apply_all(changes.to_vec()).expect("writable");
    // Already as requested: undoing this one changes nothing.
    ledger.apply(changes[0].clone()).expect("writable");
    assert_eq!(read(), SETTINGS.map(|(_, value)| value));
    drop(ledger);
    let undone = cleaned(bench.dir()).expect("all can be undone");
    assert_eq!((undone.len(), read()), (2, before));
    standing.undo_all().expect("all can be undone");
}

#[test]
fn a_card_that_gathers_no_packets_is_left_alone_and_one_that_takes_no_rules_says_so() {
    let bench = Bench::new("card");
    let mut ledger = bench.open();
    bench.changes().into_iter().take(4).for_each(|change| ledger.apply(change).expect("this test needs root"));
    let (namespace, interface) = (bench.a.clone(), "wire".to_owned());
    let prompt = Change::PromptInterrupts(change::PromptInterrupts {
        namespace: namespace.clone(),
        interface: interface.clone(),
    });
    ledger.apply(prompt).expect("nothing is to be done");
    let to = "198.18.0.1:7".parse().expect("an address");
    let error = ledger
        .apply(Change::Steering(change::Steering { namespace, interface, to, queue: 0 }))
        .expect_err("veth takes none");
    let error = error.to_string();
    assert!(error.contains("198.18.0.1:7 to queue 0: ioctl(ETHTOOL_GRXCLSRLCNT)"), "{error}");
    let undone = ledger.undo_all().expect("all can be undone");
    assert_eq!(undone.len(), 4, "{undone:?}");
}

#[test]
fn receive_work_returns_from_threads_to_soft_interrupts() {
    let bench = Bench::new("threads");
    let (namespace, interface) = (bench.a.clone(), "wire".to_owned());
    let mut changes = bench.changes();
    changes.push(Change::Gro(change::Gro { namespace: namespace.clone(), interface: interface.clone() }));
    let mut ledger = bench.open();
    changes.into_iter().for_each(|change| ledger.apply(change).expect("this test needs root"));
    let cpus = vec![kernel::cpu::allowed().expect("readable")[0]];
    let threads = Change::NapiThreads(change::NapiThreads { namespace: namespace.clone(), interface, cpus });
    ledger.apply(threads.clone()).expect("a veth polls with GRO");
    let read = || namespace::within(&namespace, || interface::read("wire", "threaded")).expect("there").expect("read");
    assert_eq!(read(), "1");
    assert_eq!(ledger.undo_last(1).expect("undone"), [threads]);
    assert_eq!(read(), "0");
    ledger.undo_all().expect("undone");
    drop(ledger);
    assert!(bench.is_clean());
}

/// An Open vSwitch at the first end of the wire.
fn open_vswitch(bench: &Bench, folder: &Path, cpus: Vec<usize>) -> Change {
    Change::OpenVswitch(change::OpenVswitch {
        namespace: bench.a.clone(),
        interface: "ovs".to_owned(),
        ports: vec!["wire".to_owned()],
        folder: folder.to_owned(),
        cpus,
    })
}

#[test]
fn an_open_vswitch_has_a_folder_and_an_environment_of_its_own_and_no_port() {
    let (bench, folders) = (Bench::new("ovsown"), TempDir::new().expect("a directory"));
    let folder = folders.path().join("wireproof/ovs/own");
    let mut ledger = bench.open();
    bench.changes().into_iter().take(4).for_each(|change| ledger.apply(change).expect("this test needs root"));
    let switch = open_vswitch(&bench, &folder, Vec::new());
    ledger.apply(switch).expect("this test needs the package openvswitch-switch");
    let mode = fs::metadata(&folder).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "{mode:o}");
    let pids = process::of_programs(&["ovsdb-server", "ovs-vswitchd"], folder.to_str().expect("plain"));
    assert_eq!(pids.len(), 2, "{pids:?}");
    for pid in pids {
        let of = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}")).expect("it runs");
        let variables = of("environ");
        let mut names: Vec<_> = variables.split_terminator('\0').filter_map(|it| Some(it.split_once('=')?.0)).collect();
        names.sort_unstable();
        assert_eq!(names, ["OVS_DBDIR", "OVS_LOGDIR", "OVS_RUNDIR", "PATH"]);
        // One line names the columns.
        assert_eq!(of("net/tcp").lines().count(), 1, "{}", of("net/tcp"));
    }
    ledger.undo_all().expect("undone");
    drop(ledger);
    assert!(bench.is_clean());
}

#[test]
fn daemons_of_an_open_vswitch_are_ended_after_a_crash() {
    const DAEMONS: [&str; 2] = ["ovsdb-server", "ovs-vswitchd"];
    let (bench, folders) = (Bench::new("ovs"), TempDir::new().expect("a directory"));
    let folder = folders.path().join("wireproof/ovs/one");
    let running = || process::of_programs(&DAEMONS, folder.to_str().expect("plain"));
    let core = kernel::cpu::allowed().expect("readable")[0];
    let mut ledger = bench.open();
    bench.changes().into_iter().take(4).for_each(|change| ledger.apply(change).expect("this test needs root"));
    let switch = open_vswitch(&bench, &folder, vec![core]);
    ledger.apply(switch.clone()).expect("this test needs the package openvswitch-switch");
    let pids = running();
    assert_eq!(pids.len(), 2, "{pids:?}");
    let there = namespace::processes_in(&bench.a).expect("it exists");
    assert!(pids.iter().all(|pid| there.contains(pid)), "{there:?}");
    for pid in &pids {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
        assert!(status.lines().any(|line| line == format!("Cpus_allowed_list:\t{core}")), "{status}");
    }
    assert!(link::exists(&bench.a, "ovs").expect("it exists"), "the bridge's own interface");
    assert!(matches!(ledger.apply(switch), Err(Error::AlreadyExists { .. })));
    drop(ledger);
    let undone = cleaned(bench.dir()).expect("all can be undone");
    assert!(undone[0].to_string().starts_with("Open vSwitch "), "{undone:?}");
    assert_eq!((undone.len(), running()), (5, vec![]));
    assert_eq!(fs::read_dir(folders.path()).expect("ours").count(), 0);
    assert!(bench.is_clean());
}

/// An irqbalance that keeps its ban list and answers until its socket is removed.
fn irqbalance(socket: &Path, mut banned: Vec<u32>) {
    let listener = UnixListener::bind(socket).expect("ours");
    std::thread::spawn(move || {
        for peer in listener.incoming() {
            let (mut peer, mut request) = (peer.expect("a caller"), String::new());
            peer.read_to_string(&mut request).expect("text");
            if let Some(list) = request.strip_prefix("settings ban irqs ") {
                banned = list.split(' ').filter_map(|number| number.parse().ok()).collect();
            }
            let shown: Vec<String> = banned.iter().map(|irq| format!("IRQ {irq} LOAD 0 DIFF 0 CLASS 5 ")).collect();
            peer.write_all(format!("SLEEP 10 {}BANNED 0", shown.concat()).as_bytes()).expect("it reads");
        }
    });
}

#[test]
fn irqbalance_leaves_interrupts_alone_until_the_undoing() {
    namespace::isolate_thread().expect("this test needs root");
    let mounted = Command::new("mount").args(["-t", "tmpfs", "none", "/run"]).status().expect("mount");
    assert!(mounted.success());
    let banned = || kernel::irqbalance::banned().expect("it answers").map(|all| all.into_iter().collect::<Vec<_>>());
    let ban = |irqs: &[u32]| Change::from(change::BannedInterrupts { interrupts: irqs.iter().copied().collect() });
    let bench = Bench::new("ban");
    let mut ledger = bench.open();
    ledger.apply(ban(&[40])).expect("nobody moves it");
    assert_eq!(banned(), None);

    fs::create_dir("/run/irqbalance").expect("ours");
    let socket = Path::new("/run/irqbalance/irqbalance1.sock");
    irqbalance(socket, vec![9, 41]);
    ledger.apply(ban(&[40, 41])).expect("it takes them");
    ledger.apply(ban(&[42])).expect("it takes them");
    assert_eq!(banned(), Some(vec![9, 40, 41, 42]));
    kernel::irqbalance::ban(&[7, 9, 40, 41, 42].into()).expect("somebody else");
    ledger.undo_all().expect("it takes them");
    assert_eq!(banned(), Some(vec![7, 9, 41]), "what others banned stays");

    ledger.apply(ban(&[40])).expect("it takes it");
    fs::remove_file(socket).expect("ours");
    irqbalance(&socket.with_file_name("irqbalance2.sock"), vec![5]);
    ledger.undo_all().expect("it was started again, and has forgotten it");
    assert_eq!(banned(), Some(vec![5]));
}
