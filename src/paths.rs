//! Folders of the program: the calling user's, also through sudo.

use std::{
    env, fs,
    io::{self, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use anyhow::Context;
use kernel::{file, privilege};
use model::Privilege;

/// The store of runs: the given path, or in the calling user's data directory.
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

/// Reads a regular file of at most this many MiB; `what` is for the message, like "a plan".
pub(crate) fn read(path: &Path, what: &str, longest: u64) -> Result<Vec<u8>, String> {
    let content = file::read_regular(path, longest << 20).map_err(|error| error.to_string())?;
    content.ok_or_else(|| format!("{what} is a file of at most {longest} MiB"))
}

/// Reads a text file of at most this many MiB.
pub(crate) fn read_text(path: &Path, what: &str, longest: u64) -> Result<String, String> {
    let bytes = read(path, what, longest)?;
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..good].iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("line {line} is not UTF-8 text; save the file as UTF-8")
    })
}

/// Makes a folder with its parents.
pub(crate) fn make_folder(folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}; name another place", folder.display()))
}

/// Makes the folder of a report. A link of another user in its place would lead files of root, who is nobody's sudo, wherever that
/// user wants.
pub(crate) fn make_folder_of_report(folder: &Path) -> anyhow::Result<()> {
    let is_root = privilege::current() == Privilege::Root && privilege::sudo_user().is_ok_and(|user| user.is_none());
    let is_strangers = |link: fs::Metadata| link.is_symlink() && link.uid() != 0;
    let mut places = folder.ancestors().filter(|_| is_root);
    if let Some(link) = places.find(|place| fs::symlink_metadata(place).is_ok_and(is_strangers)) {
        anyhow::bail!(
            "{} is a link of another user, and leads files elsewhere; remove it, or name another folder with --out",
            link.display()
        );
    }
    make_folder(folder)
}

/// Makes a folder that is none elsewhere: a link in its place is refused.
pub(crate) fn make_folder_here(folder: &Path) -> anyhow::Result<()> {
    if fs::symlink_metadata(folder).is_ok_and(|about| about.is_symlink()) {
        anyhow::bail!(
            "{} is a link, and leads files elsewhere; remove it, or name another folder with --out",
            folder.display()
        );
    }
    make_folder(folder)
}

/// Writes a file of its own in the place of whatever has this name: a link is replaced and never followed, and what was there
/// stays until all of the new one is written.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) -> anyhow::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    let replace = || {
        write_new(&part, content.as_ref())?;
        fs::rename(&part, path)
    };
    let written = replace();
    if written.is_err() {
        // A part of a file is useless; the error of writing is reported.
        let _ = fs::remove_file(&part);
    }
    written.with_context(|| format!("cannot write {}", path.display()))
}

fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    // Left by a crash, or planted by another user.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => {
            let mut file = fs::File::create_new(path)?;
            // On the disk before it replaces the earlier file.
            file.write_all(content).and_then(|()| file.sync_all())
        }
    }
}

fn data() -> anyhow::Result<PathBuf> {
    if let Some(user) = privilege::sudo_user()? {
        return Ok(user.home.join(".local/share/wireproof"));
    }
    let set = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let share = set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share")));
    let share =
        share.context("no home folder is known (HOME is not set); name a place for the store with --store PATH")?;
    Ok(share.join("wireproof"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_that_somebody_laid_is_replaced_and_leads_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("precious"), "precious").unwrap();
        symlink(path("precious"), path("report.html")).unwrap();
        symlink(path("precious"), path("report.html.part")).unwrap();
        write(&path("report.html"), "report").unwrap();
        assert_eq!(fs::read_to_string(path("precious")).unwrap(), "precious");
        assert_eq!(fs::read_to_string(path("report.html")).unwrap(), "report");
        let names = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!((names, fs::symlink_metadata(path("report.html")).unwrap().is_file()), (2, true));
        write(&path("report.html"), "again").unwrap();
        assert_eq!(fs::read_to_string(path("report.html")).unwrap(), "again");
        assert!(write(&path("absent/report.html"), "").unwrap_err().to_string().contains("cannot write"));
    }

    #[test]
    fn a_folder_that_is_a_link_is_refused() {
        let [folder, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let raw = folder.path().join("raw");
        symlink(other.path(), &raw).unwrap();
        assert!(make_folder_here(&raw).unwrap_err().to_string().contains("is a link"));
        fs::remove_file(&raw).unwrap();
        make_folder_here(&raw).unwrap();
        make_folder_here(&raw).unwrap();
    }
}
