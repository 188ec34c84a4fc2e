//! BPF programs that outlive their process.

use std::{fs, io, path::Path};

use model::change::PinnedPrograms;

use super::Kind;
use crate::{failure::Failure, record::Namespaces};

impl Kind for PinnedPrograms {
    type Before = ();

    const BEFORE: &'static str = "absent";

    fn namespaces(&self) -> Vec<&str> {
        vec![&self.namespace]
    }

    fn read(&self) -> Result<Option<()>, Failure> {
        absent(&self.folder).map(Some)
    }

    /// Makes the folder; the programs are put into it afterwards.
    fn make(&self, (): ()) -> Result<(), Failure> {
        fs::create_dir_all(&self.folder).map_err(|io| Failure::File { path: self.folder.clone(), io })
    }

    /// Removes the folder, also if its namespace no longer exists: it is ours by its path.
    fn undo(&self, (): (), _: &Namespaces) -> Result<bool, Failure> {
        let was_there = removed(&self.folder).map_err(|io| Failure::File { path: self.folder.clone(), io })?;
        // Folders of other routers are in the same one.
        let _ = self.folder.parent().map(fs::remove_dir);
        Ok(was_there)
    }
}

/// A folder that somebody else made is not ours to remove later.
pub(super) fn absent(folder: &Path) -> Result<(), Failure> {
    if !folder.exists() {
        return Ok(());
    }
    let folder = folder.display();
    Err(Failure::AlreadyExists { what: format!("the folder {folder}"), remove: format!("rm -r {folder}") })
}

/// Removes a folder of files; whether it was there.
pub(super) fn removed(folder: &Path) -> io::Result<bool> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        removed => removed.map(|()| true),
    }
}
