//! Rows of a benchmark that takes long, measured in pieces: `WIREPROOF_BENCH_ROWS=kernel,many` measures these rows alone. Rows of earlier
//! pieces join them, if they come from this machine and this build.

use std::{
    collections::hash_map::DefaultHasher,
    env, fs,
    hash::{Hash, Hasher},
    path::PathBuf,
};

use crate::page::machine;

const ROWS: &str = "WIREPROOF_BENCH_ROWS";

/// Rows so far, each with its name.
pub(crate) struct Pieces {
    file: PathBuf,
    /// Machine and build.
    identity: String,
    wanted: Option<Vec<String>>,
    rows: Vec<(String, String)>,
}

impl Pieces {
    /// Rows that earlier pieces of this benchmark left. `names` are those of all rows.
    pub(crate) fn open(benchmark: &str, names: &[&str]) -> Self {
        let wanted = env::var(ROWS).ok().map(|rows| rows.split(',').map(str::to_owned).collect::<Vec<_>>());
        let unknown = wanted.iter().flatten().find(|row| !names.contains(&row.as_str()));
        assert!(unknown.is_none(), "{ROWS} names {unknown:?}, which is none of {}", names.join(", "));
        let program = env::current_exe().unwrap();
        // Beside the folders of the build, whose profile has one for benchmarks.
        let folder = program.ancestors().find(|folder| folder.ends_with("target")).unwrap().join("benches");
        fs::create_dir_all(&folder).unwrap();
        let mut hasher = DefaultHasher::new();
        fs::read(&program).unwrap().hash(&mut hasher);
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let identity = format!("{} {} {:016x}", host.trim(), machine(), hasher.finish());
        let file = folder.join(benchmark);
        let known = fs::read_to_string(&file).unwrap_or_default();
        let mut lines = known.lines();
        let is_ours = lines.next() == Some(identity.as_str());
        if !is_ours && !known.is_empty() {
            println!("Rows of earlier pieces are of another machine or build, and are left out.");
        }
        let row = |line: &str| line.split_once('\t').map(|(name, row)| (name.to_owned(), row.to_owned()));
        let rows = if is_ours { lines.filter_map(row).collect() } else { Vec::new() };
        Self { file, identity, wanted, rows }
    }

    /// Measures a row, unless others are asked for.
    pub(crate) fn row(&mut self, name: &str, measure: impl FnOnce() -> String) {
        if self.wanted.as_ref().is_some_and(|wanted| !wanted.iter().any(|it| it == name)) {
            return;
        }
        let line = measure();
        println!("{line}");
        self.rows.retain(|(known, _)| known != name);
        self.rows.push((name.to_owned(), line));
        let lines: String = self.rows.iter().map(|(name, row)| format!("{name}\t{row}\n")).collect();
        fs::write(&self.file, format!("{}\n{lines}", self.identity)).unwrap();
    }

    /// All rows in this order; one that was not measured yet says so.
    pub(crate) fn table(&self, names: &[&str]) -> String {
        let row = |name: &&str| {
            let known = self.rows.iter().find(|(known, _)| known == name);
            known.map_or_else(
                || format!("| {name} | not measured on this machine with this build | | | | | | |\n"),
                |(_, row)| format!("{row}\n"),
            )
        };
        names.iter().map(row).collect()
    }
}
