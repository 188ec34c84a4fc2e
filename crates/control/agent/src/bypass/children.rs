//! Programs that the program starts, by a shell for example, and that cannot be bypassed.

use std::{
    collections::HashSet,
    fs,
    os::unix::fs::MetadataExt,
    path::Path,
    sync::mpsc::{Receiver, RecvTimeoutError::Timeout},
    time::Duration,
};

use kernel::process;
use model::bypass::Obstacle;

use super::obstacle;

/// Time before the first look. It doubles up to a limit.
const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(1);

/// Tells of each such program once, until `is_over` ends; returns the first one. A program that ends before a look is
/// missed.
pub(super) fn find_obstacles(
    library: &Path,
    known: Option<&Obstacle>,
    is_over: &Receiver<()>,
    tell: impl Fn(Obstacle),
) -> Option<Obstacle> {
    let mut seen: HashSet<_> = known.and_then(|known| identity(&known.program)).into_iter().collect();
    let (mut pause, mut first) = (FIRST, None);
    while is_over.recv_timeout(pause) == Err(Timeout) {
        pause = LONGEST.min(2 * pause);
        for pid in process::descendants() {
            let is_new = identity(format!("/proc/{pid}/exe").as_ref()).is_some_and(|file| seen.insert(file));
            if let Some(obstacle) = is_new.then(|| obstacle::of_process(pid, library)).flatten() {
                first.get_or_insert_with(|| obstacle.clone());
                tell(obstacle);
            }
        }
    }
    first
}

/// Identity of a file, whatever its name.
fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}
