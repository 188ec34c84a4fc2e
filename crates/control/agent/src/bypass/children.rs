//! Programs that the program starts, by a shell for example, and that cannot be bypassed.

use std::{
    collections::HashSet,
    env, fs, iter,
    os::{fd::AsRawFd, unix::fs::MetadataExt},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use kernel::{
    executions::Executions,
    process::{descendants, parent},
};
use model::bypass::{Kind, Obstacle};

use super::obstacle;

/// Time before the first look. It doubles up to a limit.
const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(1);
/// Folders of programs, besides those of the PATH.
const FOLDERS: [&str; 6] = ["/", "/usr", "/opt", "/home", "/tmp", "."];

/// Such programs so far.
struct Found<'a, T> {
    library: &'a Path,
    tell: T,
    /// Files that need no further look.
    seen: HashSet<(u64, u64)>,
    first: Option<Obstacle>,
}

/// Folders whose file systems have the programs.
pub(super) fn folders() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    FOLDERS.into_iter().map(PathBuf::from).chain(env::split_paths(&path)).collect()
}

/// Tells of each such program once, until the wait for executions ends; returns the first one.
///
/// The kernel tells of executions. Where it does not, a program that ends before a look is missed.
pub(super) fn find_obstacles(
    library: &Path,
    known: Option<&Obstacle>,
    executions: &Executions,
    tell: impl Fn(Obstacle),
) -> Option<Obstacle> {
    let seen = known.and_then(|known| identity(&known.program)).into_iter().collect();
    let mut found = Found { library, tell, seen, first: None };
    let (mut looked, mut pause) = (Instant::now(), FIRST);
    loop {
        let goes_on = executions.wait(pause.saturating_sub(looked.elapsed())).unwrap_or(false);
        for execution in executions.next().unwrap_or_default() {
            if is_ours(execution.process) {
                found.executed(format!("/proc/self/fd/{}", execution.file.as_raw_fd()).as_ref());
            }
        }
        if !goes_on {
            return found.first;
        }
        if looked.elapsed() >= pause {
            (looked, pause) = (Instant::now(), LONGEST.min(2 * pause));
            descendants().into_iter().for_each(|pid| found.runs(format!("/proc/{pid}/exe").as_ref()));
        }
    }
}

impl<T: Fn(Obstacle)> Found<'_, T> {
    /// A file that is executed. The loader of a program is as well, and looks like a static program, which a look tells of.
    fn executed(&mut self, file: &Path) {
        let Some(identity) = self.unseen(file) else { return };
        match obstacle::of_file(file, self.library) {
            Some(Obstacle { kind: Kind::Static, .. }) => {}
            obstacle => self.judged(identity, obstacle),
        }
    }

    /// The program of a process.
    fn runs(&mut self, file: &Path) {
        let Some(identity) = self.unseen(file) else { return };
        self.judged(identity, obstacle::of_file(file, self.library));
    }

    fn unseen(&self, file: &Path) -> Option<(u64, u64)> {
        identity(file).filter(|file| !self.seen.contains(file))
    }

    fn judged(&mut self, identity: (u64, u64), obstacle: Option<Obstacle>) {
        self.seen.insert(identity);
        if let Some(obstacle) = obstacle {
            self.first.get_or_insert_with(|| obstacle.clone());
            (self.tell)(obstacle);
        }
    }
}

/// Whether it is a descendant of this process.
fn is_ours(process: u32) -> bool {
    iter::successors(parent(process), |pid| parent(*pid)).any(|pid| pid == std::process::id())
}

/// Identity of a file, whatever its name.
fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}
