//! The list of references.

use report::{LeftOut, ReferencesDocument};

use super::{print, print_json};
use crate::{cli::Common, exit::Exit, output::say, references};

/// `wireproof references`; wrong words where a file of the user's cannot be used.
pub(super) fn list(common: &Common) -> anyhow::Result<Exit> {
    let references = references::read(common)?;
    if common.json {
        let left_out = references
            .broken
            .iter()
            .map(|broken| LeftOut { file: broken.file.display().to_string(), error: broken.error.clone() });
        print_json(&ReferencesDocument::of(&references.known, left_out.collect()))?;
    } else {
        print(&format!("{:<22} {:>7}  {:<10} {:<10} {}\n", "reference", "figures", "measured", "by", "what"))?;
        for it in &references.known {
            let date = it.date.as_deref().unwrap_or("?");
            let (by, figures) = (it.measured_by.as_deref().unwrap_or("?"), it.figures.len());
            print(&format!("{:<22} {figures:>7}  {date:<10} {by:<10} {}\n", it.id, it.title.en))?;
        }
        print(&format!("Files of your own are read from {}\n", references::folder(common)?.display()))?;
    }
    references.broken.iter().for_each(|broken| say(&broken.to_string()));
    Ok(if references.broken.is_empty() { Exit::Done } else { Exit::Words })
}
