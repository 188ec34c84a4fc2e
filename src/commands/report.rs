//! What came of a run: the files of its report, and what the terminal shows of it.

use std::path::{Path, PathBuf};

use anyhow::Context;
use model::Run;
use report::{Document, Lang, Material, Notice};
use verdict::Chosen;

use super::{language, print, print_json};
use crate::{
    cli::{Common, Format, ReportFiles},
    exit::{Exit, say},
    paths,
    references::References,
};

/// Writes the report and says on standard output what came of the run.
pub(super) fn tell(
    run: &Run,
    files: &ReportFiles,
    references: &References,
    store: &Path,
    common: &Common,
) -> anyhow::Result<Exit> {
    let outcomes = verdict::judge(run, &references.known);
    let chosen = files.chosen();
    let comparisons = verdict::beside_references(run, &references.known, &chosen);
    let wanted = chosen != Chosen::None;
    let material = Material { comparisons: wanted.then_some(comparisons.as_slice()), ..Material::of(run, &outcomes) };
    let lang = language(common);
    let folder = paths::report(files.out.as_deref(), store, &run.id);
    let first = write(&material, &folder, &files.formats, lang)?;
    if common.json {
        print_json(&Document::of(&material))?;
    } else {
        print(&report::summary(&material, lang))?;
    }
    if !common.quiet {
        say(&Notice::ReportWritten { path: &first.display().to_string() }.text(lang));
    }
    Ok(verdict::overall(&outcomes, run.identity.as_ref()).into())
}

/// Writes a file for each form; gives the path of the first one.
fn write(material: &Material<'_>, folder: &Path, formats: &[Format], lang: Lang) -> anyhow::Result<PathBuf> {
    paths::make_folder(folder)?;
    for format in formats {
        paths::write(&folder.join(format.file_name()), &text(*format, material, lang)?)?;
    }
    Ok(formats.first().map_or_else(|| folder.to_owned(), |format| folder.join(format.file_name())))
}

fn text(format: Format, material: &Material<'_>, lang: Lang) -> anyhow::Result<String> {
    Ok(match format {
        Format::Html => report::html(material, lang),
        Format::Md => report::markdown(material, lang),
        Format::Csv => report::csv(material).context("cannot write the figures as CSV")?,
        Format::Json => serde_json::to_string_pretty(&Document::of(material))?,
    })
}
