//! Where the program keeps things. What sudo made belongs to the user who called sudo.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use kernel::privilege;
use model::RunId;

/// The store of runs: as given, or in the data directory of the user who called.
pub(crate) fn store(given: Option<&Path>) -> PathBuf {
    given.map_or_else(|| data().join("runs.db"), Path::to_owned)
}

/// Folder of a run's report: as given, or beside the store.
pub(crate) fn report(given: Option<&Path>, store: &Path, run: &RunId) -> PathBuf {
    let beside = || store.parent().unwrap_or(Path::new(".")).join("reports").join(&run.0);
    given.map_or_else(beside, Path::to_owned)
}

/// Makes a folder with its parents; those it made belong to the user who called sudo.
pub(crate) fn make_folder(folder: &Path) -> anyhow::Result<()> {
    let missing: Vec<&Path> =
        folder.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists()).collect();
    fs::create_dir_all(folder).with_context(|| {
        format!("cannot make the folder {}; name another one with --out or --store", folder.display())
    })?;
    missing.into_iter().for_each(give_to_caller);
    Ok(())
}

/// Writes a file that belongs to the user who called sudo.
pub(crate) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    give_to_caller(path);
    Ok(())
}

/// Gives a file to the user who called sudo. Where that fails, the file is root's, which harms nothing measured.
pub(crate) fn give_to_caller(path: &Path) {
    let _ = privilege::give_to_sudo_user(path);
}

fn data() -> PathBuf {
    if let Some(user) = privilege::sudo_user() {
        return user.home.join(".local/share/wireproof");
    }
    let set = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let share = set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share")));
    share.unwrap_or_else(|| PathBuf::from("/var/lib")).join("wireproof")
}
