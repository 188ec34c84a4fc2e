//! The list of references.

use report::{LeftOut, ReferencesDocument};

use super::{language, print, print_json, table::table};
use crate::{cli::Common, exit::Exit, output::say, references};

/// Column of the number of figures.
const FIGURES: usize = 1;

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
        let lang = language(common);
        let rows: Vec<_> = references.known.iter().map(|it| report::reference_row(it, lang)).collect();
        let folder = references::folder(common)?.display().to_string();
        let listed = table(&report::references_head(lang), &rows, Some(FIGURES));
        print(&(listed + &report::references_folder(&folder, lang) + "\n"))?;
    }
    references.broken.iter().for_each(|broken| say(&broken.to_string()));
    Ok(if references.broken.is_empty() { Exit::Done } else { Exit::Words })
}
