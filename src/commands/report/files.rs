//! The files of a report: its forms, what it was made from, and the sums of all of them.

use std::path::{Path, PathBuf};

use anyhow::Context;
use model::Run;
use report::{Document, Lang, Material, RawFile, Typeset};
use seal::{Sum, Sums, sha256};

use crate::{cli::Format, paths};

/// Writes a file for each form, what it was made from, and SHA256SUMS, signed if there is a key; gives the path of the first
/// form.
pub(super) fn write(
    material: &Material<'_>,
    folder: &Path,
    formats: &[Format],
    key: Option<&seal::SigningKey>,
    lang: Lang,
) -> anyhow::Result<PathBuf> {
    paths::make_folder(&folder.join("raw"))?;
    let raw = raw(material.run);
    let listed: Vec<RawFile> = raw.iter().map(listed).collect();
    let material = Material { files: &listed, ..*material };
    let forms = formats.iter().map(|format| Ok((format.file_name().to_owned(), form(*format, &material, lang)?)));
    let files = raw.into_iter().map(Ok).chain(forms).collect::<anyhow::Result<Vec<_>>>()?;
    for (name, content) in &files {
        paths::write(&folder.join(name), content)?;
    }
    let sum = |(name, content): &(String, Vec<u8>)| Sum { name: name.clone(), sha256: sha256(content) };
    super::seal::write(folder, Sums(files.iter().map(sum).collect()), key, &material.run.id.0)?;
    Ok(formats.first().map_or_else(|| folder.to_owned(), |format| folder.join(format.file_name())))
}

fn form(format: Format, material: &Material<'_>, lang: Lang) -> anyhow::Result<Vec<u8>> {
    let text = match format {
        Format::Html => report::html(material, lang),
        Format::Pdf => return pdf(report::typst(material, lang)),
        Format::Md => report::markdown(material, lang),
        Format::Csv => report::csv(material).context("cannot write the figures as CSV")?,
        Format::Json => json(material)?,
    };
    Ok(text.into_bytes())
}

fn pdf(Typeset { source, files }: Typeset) -> anyhow::Result<Vec<u8>> {
    pdf::pdf(&source, files).context("cannot write the report as PDF")
}

fn json(material: &Material<'_>) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(&Document::of(material))?)
}

/// What the report was made from, each file with its name in the folder: the run as it is stored, its plan, whose document it
/// is, and photos. Plan and identity can be given to wireproof again.
fn raw(run: &Run) -> Vec<(String, Vec<u8>)> {
    let identity = run.identity.as_ref();
    let run_without_photos = Run { identity: identity.map(model::Identity::without_photos), ..run.clone() };
    let texts = [
        ("run.json", serde_json::to_string(&run_without_photos).ok()),
        ("plan.toml", Some(run.plan.to_toml())),
        ("identity.toml", identity.map(|identity| identity.without_photos().to_toml())),
    ];
    let texts = texts.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?.into_bytes())));
    let photos = identity.into_iter().flat_map(|it| &it.photos).map(|it| (it.name.clone(), it.content.clone()));
    texts.chain(photos).map(|(name, content)| (format!("raw/{name}"), content)).collect()
}

fn listed((name, content): &(String, Vec<u8>)) -> RawFile {
    RawFile { name: name.clone(), bytes: content.len(), sha256: sha256(content) }
}
