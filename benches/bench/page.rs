//! The page of results: each benchmark writes its own part of it and leaves the others alone.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const HEAD: &str = "# Benchmarks\n\nWritten by `./x bench`. Each row that names a peer: ten alternating pairs on one lab bed (two namespaces, \
    one veth pair), both programs on the\nsame two cores; medians, and the median of the ratios pair by pair with its 95 % interval \
    (order statistics). A figure here holds for one\nmachine; what carries over is the ratio.\n";

/// From here on the page is nobody's but its authors'.
const BY_HAND: &str = "\n# Where the time goes\n";

/// Head of a table of comparisons.
#[allow(dead_code, reason = "not every benchmark has a peer")]
pub(crate) const COMPARISONS: &str =
    "| what | wireproof | peer | unit | ratio | 95 % interval | mark | |\n|---|---|---|---|---|---|---|---|\n";

/// Puts this text in the place of the benchmark's part.
pub(crate) fn write(benchmark: &str, peers: &[String], text: &str) {
    let file = page();
    let page = fs::read_to_string(&file).unwrap_or_default();
    let (page, by_hand) = page.split_at(page.find(BY_HAND).unwrap_or(page.len()));
    let title = |name: &str| format!("\n## `./x bench {name}`\n");
    let mut parts: Vec<(String, String)> = page
        .split("\n## `./x bench ")
        .skip(1)
        .filter_map(|part| part.split_once("`\n"))
        .filter(|(name, _)| *name != benchmark)
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .collect();
    let peers = if peers.is_empty() { String::new() } else { format!(" Peers: {}.", peers.join(", ")) };
    parts.push((benchmark.to_owned(), format!("\nMachine: {}.{peers}\n\n{text}", machine())));
    parts.sort();
    let mut page = HEAD.to_owned();
    for (name, text) in parts {
        writeln!(page, "{}{}", title(&name), text.trim_end()).unwrap();
    }
    fs::write(file, page + by_hand).unwrap();
}

/// First line of what a program says of itself.
#[allow(dead_code, reason = "not every benchmark has a peer")]
pub(crate) fn version(program: &str) -> String {
    let output = Command::new(program).arg("--version").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
}

/// Benchmarks of rooms have a folder of their own below.
fn page() -> PathBuf {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    folders.find_map(|folder| Some(folder.join("docs/benchmarks.md")).filter(|page| page.exists())).unwrap()
}

/// Processor, cores and kernel.
pub(crate) fn machine() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpuinfo = read("/proc/cpuinfo");
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    let cores = cpuinfo.lines().filter(|line| line.starts_with("processor")).count();
    format!(
        "{} ({cores} cores), Linux {}",
        model.trim_start_matches(['\t', ':', ' ']),
        read("/proc/sys/kernel/osrelease").trim()
    )
}
