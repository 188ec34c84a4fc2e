//! The machine, which the tests have to leave unchanged.
//!
//! Each story has its own ground: its thread, and every program that it starts, have a network, mounts (`/run`,
//! `/var/lib/wireproof` and `/dev/shm` are empty) and IPC that no other story sees.
//!
//! So names of namespaces, interfaces and beds may be the same in two stories, a [`Snapshot`] shows only this story's
//! changes, and three stories run at a time, as most of them wait. They share process numbers, `/tmp`, the cores, and
//! the settings in `/proc/sys` outside of `net`.
//!
//! A story begins with `Desk::new()`, or with [`turn`] if it needs no desk. A result may depend on the use of the
//! cores: a limit of a figure, a rate to be kept, the absence of a doubt.
//!
//! Such a story uses `Desk::tell_alone` or begins with [`turn_alone`]: it waits until all others have ended, and they
//! wait for it. It measures by [`Turn::undisturbed`], as other programs may use the cores. Threads of a story inherit
//! its ground.

use std::{
    cell::Cell,
    collections::BTreeSet,
    fs::{self, File},
    io::{self, Write},
    path::Path,
    process::{Command, Stdio},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use kernel::namespace;

use crate::planted::Busy;
use crate::waiting::within;

/// A story takes one place, or all of them; more stories would only wait for the cores. The places are machine-wide,
/// because stories of two test programs must not disturb each other either.
///
/// `/proc/self` is the main thread, which sees the machine's own `/run`; a story sees another one.
const PLACES: [&str; 3] = [
    "/proc/self/root/run/wireproof-tests.lock",
    "/proc/self/root/run/wireproof-tests.second.lock",
    "/proc/self/root/run/wireproof-tests.third.lock",
];
/// Held while waiting for places: in order of arrival, so a story that needs all of them does not starve.
const QUEUE: &str = "/proc/self/root/run/wireproof-tests.queue";

thread_local! {
    static HAS_TURN: Cell<bool> = const { Cell::new(false) };
}

/// A running story. It ends when this is dropped.
pub(crate) struct Turn {
    places: Vec<File>,
}

/// The turn of a story that may run beside others.
pub(crate) fn turn() -> Turn {
    Turn::take(1)
}

/// The turn of a story that has to run alone.
pub(crate) fn turn_alone() -> Turn {
    Turn::take(PLACES.len())
}

impl Turn {
    fn take(wanted: usize) -> Self {
        assert!(is_root(), "these tests make network namespaces and need root: run them with sudo ./x test");
        let has_turn = HAS_TURN.replace(true);
        assert!(
            !has_turn,
            "this story has its turn already, by turn() or a Desk, and would wait for itself: take one of them"
        );
        let queue = File::create(QUEUE).unwrap();
        queue.lock().unwrap();
        let mut others: Vec<File> = PLACES.map(|path| File::create(path).unwrap()).into();
        let mut places = Vec::new();
        while places.len() < wanted {
            match others.iter().position(|place| place.try_lock().is_ok()) {
                Some(free) => places.push(others.swap_remove(free)),
                None => thread::sleep(Duration::from_millis(20)),
            }
        }
        take_own_ground();
        Self { places }
    }
}

/// Share of a core's time that other programs may use while a story measures alone, small enough to raise no doubt.
const DISTURBED: f64 = 0.15;
/// Total time for repeated measurements of all stories, in milliseconds: on a machine that is never calm they are
/// useless.
const AGAIN: u64 = 180_000;

impl Turn {
    /// Measures; a story that runs alone repeats this, four times at most, if others used the cores meanwhile (another
    /// program, the hypervisor, the kernel's cleanup after a story). The last result counts.
    ///
    /// Processes that `measure` starts have to end with it, or count as others.
    pub(crate) fn undisturbed<T>(&self, measure: impl FnMut() -> T) -> T {
        static LEFT: AtomicU64 = AtomicU64::new(AGAIN);
        self.undisturbed_within(&LEFT, measure)
    }

    fn undisturbed_within<T>(&self, left: &AtomicU64, mut measure: impl FnMut() -> T) -> T {
        let repeats = if self.places.len() == PLACES.len() { 4 } else { 0 };
        for _ in 0..repeats {
            let (begun, before) = (Instant::now(), used_by_others());
            let measured = measure();
            let (took, others) = (begun.elapsed(), used_by_others() - before);
            let share = others / took.as_secs_f64();
            if share < DISTURBED || left.load(Relaxed) == 0 {
                return measured;
            }
            left.store(left.load(Relaxed).saturating_sub(took.as_millis() as u64), Relaxed);
            say_again(&format!("something else used {:.0} % of a core", 100.0 * share));
        }
        measure()
    }
}

/// For observers, and for the count at the end of `./x test`. Not by a macro, whose output only a failed story shows.
pub(crate) fn say_again(why: &str) {
    let story = thread::current().name().unwrap_or("a story").to_owned();
    let said = format!("{story} measures again: {why}\n");
    io::stderr().write_all(said.as_bytes()).unwrap();
    fs::create_dir_all(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let counted = Path::new(env!("CARGO_TARGET_TMPDIR")).join("measured-again");
    // One write each, as two stories may write at a time.
    File::options()
        .create(true)
        .append(true)
        .open(counted)
        .unwrap()
        .write_all(format!("{story}\n").as_bytes())
        .unwrap();
}

/// CPU seconds used neither by this program nor by its ended children. Soft interrupts during our own system calls may
/// be in our sum only: then others' use is underestimated, never overestimated.
fn used_by_others() -> f64 {
    // proc_stat(5): user, nice, system and, as the eighth, stolen time. proc_pid_stat(5): from the 14th on, our own and
    // our children's times; the 2nd ends here with ")". All in ticks of 10 ms.
    let sum = |fields: &[&str]| fields.iter().map(|ticks| ticks.parse::<f64>().unwrap() / 100.0).sum::<f64>();
    let (all, own) = (fs::read_to_string("/proc/stat").unwrap(), fs::read_to_string("/proc/self/stat").unwrap());
    let all: Vec<&str> = all.lines().next().unwrap().split_whitespace().skip(1).collect();
    let own: Vec<&str> = own[own.rfind(')').unwrap()..].split_whitespace().collect();
    sum(&all[..3]) + sum(&all[7..8]) - sum(&own[12..16])
}

impl Drop for Turn {
    fn drop(&mut self) {
        HAS_TURN.set(false);
    }
}

fn take_own_ground() {
    namespace::isolate_thread().unwrap();
    // Names of namespaces are mounts, and others' names would disappear when they are deleted.
    while Command::new("umount").args(["--lazy", "/run/netns"]).stderr(Stdio::null()).status().unwrap().success() {}
    for (folder, mode) in [("/run", "755"), ("/var/lib/wireproof", "755"), ("/dev/shm", "1777")] {
        fs::create_dir_all(folder).unwrap();
        let mode = format!("mode={mode}");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &mode, "none", folder]).status();
        assert!(mounted.unwrap().success(), "{folder}");
    }
    share_namespace_directory();
}

/// The first named namespace makes /run/netns a mount, as "ip netns add" does, and it stays one.
fn share_namespace_directory() {
    for action in ["add", "del"] {
        assert!(Command::new("ip").args(["netns", action, "wptest-first"]).status().unwrap().success());
    }
}

fn is_root() -> bool {
    fs::read_to_string("/proc/self/status").unwrap().lines().any(|line| line.starts_with("Uid:\t0\t0"))
}

/// Everything that wireproof could leave behind.
#[derive(PartialEq, Eq)]
pub(crate) struct Snapshot {
    namespaces: BTreeSet<String>,
    links: BTreeSet<String>,
    mounts: BTreeSet<String>,
    sysctls: BTreeSet<String>,
    agents: BTreeSet<u32>,
    ledger: BTreeSet<String>,
}

impl Snapshot {
    pub(crate) fn take() -> Self {
        Self {
            namespaces: names_in("/run/netns"),
            links: lines_of(Command::new("ip").args(["-o", "-d", "link"]))
                .iter()
                .map(|it| without_timers(it))
                .collect(),
            mounts: fs::read_to_string("/proc/thread-self/mountinfo")
                .unwrap()
                .lines()
                .map(mount_without_number)
                .collect(),
            sysctls: sysctls(),
            agents: agents(),
            ledger: names_in("/var/lib/wireproof/ledger"),
        }
    }

    /// The machine is as before; processes and namespaces may take a moment to end.
    pub(crate) fn assert_same(&self) {
        let mut now = Self::take();
        let is_same = within(Duration::from_secs(15), || {
            now = Self::take();
            *self == now
        });
        assert!(is_same, "the machine is not as it was:{}", self.differences(&now));
    }

    /// Missing entries (-) and new ones (+), a line each.
    fn differences(&self, now: &Self) -> String {
        let numbers = |all: &BTreeSet<u32>| all.iter().map(ToString::to_string).collect();
        let agents: [BTreeSet<String>; 2] = [numbers(&self.agents), numbers(&now.agents)];
        [
            (&self.namespaces, &now.namespaces),
            (&self.links, &now.links),
            (&self.mounts, &now.mounts),
            (&self.sysctls, &now.sysctls),
            (&agents[0], &agents[1]),
            (&self.ledger, &now.ledger),
        ]
        .iter()
        .flat_map(|(before, after)| {
            let gone = before.difference(after).map(|line| format!("\n- {line}"));
            gone.chain(after.difference(before).map(|line| format!("\n+ {line}")))
        })
        .collect()
    }
}

/// Processes of this story that are agents of wireproof.
pub(crate) fn agents() -> BTreeSet<u32> {
    processes("agent\0--stdio\0")
}

/// Processes of this story whose command line holds these words, each with its end.
pub(crate) fn processes(words: &str) -> BTreeSet<u32> {
    let ground = |process: &str| fs::read_link(Path::new("/proc").join(process).join("ns/ipc")).ok();
    let own = ground("thread-self");
    let is_meant = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(words) && ground(&pid.to_string()) == own
    };
    pids().filter(is_meant).collect()
}

/// Children of a process, in order of start.
pub(crate) fn children(parent: u32) -> Vec<u32> {
    let of_parent = |pid: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The command's name, in parentheses, may contain spaces. Behind it: state, PPID, …, start time as the 20th
        // field.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let started: u64 = fields.get(19)?.parse().ok()?;
        (fields.get(1)?.parse() == Ok(parent)).then_some((started, pid))
    };
    // PIDs wrap at 32,768, so they do not show the order.
    let mut children: Vec<(u64, u32)> = pids().filter_map(of_parent).collect();
    children.sort_unstable();
    children.into_iter().map(|(_, pid)| pid).collect()
}

fn pids() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn names_in(folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Mount and parent IDs differ for each mount.
fn mount_without_number(line: &str) -> String {
    line.splitn(3, ' ').nth(2).unwrap_or_default().to_owned()
}

fn sysctls() -> BTreeSet<String> {
    // Counters and volatile values are no settings.
    let moving = [
        "random",
        "pty.nr",
        "inode-",
        "file-nr",
        "dentry",
        "ns_last_pid",
        "sched_domain",
        "route.gc",
        "tcp_mem",
        "conntrack",
        "aio-nr",
        "max_sample_rate",
        // Counters of quotas, which any sync changes.
        "fs.quota.",
    ];
    let all = lines_of(Command::new("sysctl").args(["-a", "--pattern", "^(net|kernel|vm|fs)\\."]));
    all.into_iter().filter(|line| !moving.iter().any(|word| line.contains(word))).collect()
}

/// A link without the timers of a bridge, which run.
pub(crate) fn without_timers(link: &str) -> String {
    let mut words = link.split_whitespace();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        if word.ends_with("_timer") {
            words.next();
        } else {
            kept.push(word);
        }
    }
    kept.join(" ")
}

fn lines_of(command: &mut Command) -> BTreeSet<String> {
    let output = command.output().unwrap();
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

#[test]
#[should_panic(expected = "this story has its turn already")]
fn a_story_that_asks_for_a_second_turn_is_told_so() {
    let _first = turn();
    turn();
}

#[test]
fn what_a_story_makes_is_seen_by_itself_alone() {
    let _turn = turn();
    let before = Snapshot::take();
    let other = thread::spawn(|| {
        namespace::isolate_thread().unwrap();
        assert!(Command::new("ip").args(["link", "add", "wptest0", "type", "veth"]).status().unwrap().success());
        Snapshot::take()
    });
    assert!(other.join().unwrap() != before);
    before.assert_same();
}

#[test]
fn what_something_else_disturbed_is_measured_again_where_a_story_is_alone() {
    let turn = turn_alone();
    let mut times = 0;
    turn.undisturbed_within(&AtomicU64::new(AGAIN), || {
        times += 1;
        if times < 3 {
            // Still running when the cores' use is read, and so not ours.
            let busy = Busy::on(0);
            thread::sleep(Duration::from_millis(500));
            return Some(busy);
        }
        thread::sleep(Duration::from_millis(500));
        None
    });
    assert!(times >= 3, "{times}");
}
