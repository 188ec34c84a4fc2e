//! Where the program keeps things: with the user who called, also through sudo.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use kernel::privilege;

/// The store of runs: as given, or in the data directory of the user who called.
pub(crate) fn store(given: Option<&Path>) -> anyhow::Result<PathBuf> {
    given.map_or_else(|| Ok(data()?.join("runs.db")), |given| Ok(given.to_owned()))
}

/// Folder of a run's report: as given, or beside the store.
pub(crate) fn report(given: Option<&Path>, store: &Path, run: &str) -> PathBuf {
    let beside = || store.parent().unwrap_or(Path::new(".")).join("reports").join(run);
    given.map_or_else(beside, Path::to_owned)
}

/// Folder of the user's own references, beside the store.
pub(crate) fn references(store: &Path) -> PathBuf {
    store.parent().unwrap_or(Path::new(".")).join("references")
}

/// No text that people write for this program is longer, in MiB.
pub(crate) const LONGEST: u64 = 1;

/// Reads a text file of at most this many MiB; `what` is for the message, like "a plan".
pub(crate) fn read_text(path: &Path, what: &str, longest: u64) -> Result<String, String> {
    let about = fs::metadata(path).map_err(|error| error.to_string())?;
    if !about.is_file() || about.len() > longest << 20 {
        return Err(format!("{what} is a file of at most {longest} MiB"));
    }
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..good].iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("line {line} is not UTF-8 text; save the file as UTF-8")
    })
}

/// Makes a folder with its parents.
pub(crate) fn make_folder(folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}; name another one with --out or --store", folder.display()))
}

/// Writes a file.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) -> anyhow::Result<()> {
    fs::write(path, content).with_context(|| format!("cannot write {}", path.display()))
}

fn data() -> anyhow::Result<PathBuf> {
    if let Some(user) = privilege::sudo_user() {
        return Ok(user.home.join(".local/share/wireproof"));
    }
    let set = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let share = set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share")));
    let share =
        share.context("no home folder is known (HOME is not set); name a place for the store with --store PATH")?;
    Ok(share.join("wireproof"))
}
