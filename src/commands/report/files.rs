//! The files of a report: its forms, its sources, and the sums of all of them.

use std::path::{Path, PathBuf};

use anyhow::Context;
use jiff::Timestamp;
use model::{Json, Run, json::pretty, plain::plain_json};
use report::{Document, Lang, Material, RawFile};
use seal::{Sum, Sums, sha256};

use super::{pdf, seal::Cover};
use crate::{cli::Format, identity, paths};

/// Folder of the files, and the key that signs them.
pub(super) struct Place<'a> {
    pub(super) folder: &'a Path,
    pub(super) cover: Cover<'a>,
}

/// The written files.
pub(super) struct Written {
    /// The first form, or the folder where there is none.
    pub(super) first: PathBuf,
    /// Whether the folder held a signature, which is none over these files.
    pub(super) signature_removed: bool,
}

/// Writes the report's sources, a file for each form, and SHA256SUMS, signed if there is a key. A form that fails does not
/// stop the others: its error is returned once they are written, and nothing is signed then.
pub(super) fn write(
    material: &Material<'_>,
    place: &Place<'_>,
    formats: &[Format],
    lang: Lang,
) -> anyhow::Result<Written> {
    let Place { folder, cover } = *place;
    let raw = raw(material.run)?;
    let names = raw.iter().map(|(name, _)| name.clone()).chain(formats.iter().map(|it| it.file_name()));
    cover.check(folder, &names.collect::<Vec<_>>())?;
    paths::make_folder_of_report(folder)?;
    paths::make_folder_here(&folder.join("raw"))?;
    let listed: Vec<RawFile> = raw.iter().map(listed).collect();
    let material = Material { files: &listed, ..*material };
    let forms = formats.iter().map(|format| Ok((format.file_name(), form(*format, &material, lang)?)));
    let (sums, failed) = write_each(folder, raw.into_iter().map(Ok).chain(forms))?;
    let cover = if failed.is_some() { cover.unsigned() } else { cover };
    let signature_removed = super::seal::write(folder, sums, cover, &comment(material.run))?;
    let first = formats.first().map_or_else(|| folder.to_owned(), |format| folder.join(format.file_name()));
    failed.map_or(Ok(Written { first, signature_removed }), Err)
}

/// Writes each file that could be made; gives their sums, and why the first other one could not.
fn write_each(
    folder: &Path,
    files: impl Iterator<Item = anyhow::Result<(String, Vec<u8>)>>,
) -> anyhow::Result<(Sums, Option<anyhow::Error>)> {
    let (mut sums, mut failed) = (Sums::default(), None);
    for file in files {
        match file {
            Ok((name, content)) => {
                paths::write(&folder.join(&name), &content)?;
                sums.0.push(Sum { name, sha256: sha256(&content) });
            }
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    Ok((sums, failed))
}

/// Comment signed with the sums, so that no other signed report can pass for this one.
fn comment(run: &Run) -> String {
    let now = jiff::fmt::temporal::DateTimePrinter::new().precision(Some(0)).timestamp_to_string(&Timestamp::now());
    format!("wireproof report of run {}, begun {}, signed {now}", run.id, run.started)
}

fn form(format: Format, material: &Material<'_>, lang: Lang) -> anyhow::Result<Vec<u8>> {
    let text = match format {
        Format::Html => report::html(material, lang),
        Format::Pdf => return pdf::set(&report::typst(material, lang)),
        Format::Md => report::markdown(material, lang),
        Format::Csv => report::csv(material).context("cannot write the figures as CSV")?,
        Format::Json => json(material)?,
        Format::Junit => report::junit(material),
        Format::Sarif => report::sarif(material),
        Format::Tap => report::tap(material),
    };
    Ok(text.into_bytes())
}

fn json(material: &Material<'_>) -> anyhow::Result<String> {
    Ok(plain_json(&pretty(&serde_json::to_string(&Document::of(material))?)))
}

/// Sources of the report, each file with its name in the folder: the stored run, its plan, its identity, and
/// photos. Plan and identity can be given to wireproof again.
fn raw(run: &Run) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let identity = run.identity.as_ref();
    let run_without_photos = Run { identity: identity.map(model::Identity::without_photos), ..run.clone() };
    let texts = [
        ("run.json", Some(plain_json(&run_without_photos.to_json()))),
        ("plan.toml", Some(run.plan.to_toml())),
        ("identity.toml", identity.map(|identity| identity.without_photos().to_toml())),
    ];
    let texts = texts.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?.into_bytes())));
    let photos = identity.map_or(&[][..], |it| &it.photos);
    // A foreign store must not choose another place for files.
    if let Some(photo) = photos.iter().find(|photo| !photo.has_own_name()) {
        anyhow::bail!(
            "run {}: a photo is called {:?}, not like photo-1.png; the store was changed by hand",
            run.id,
            photo.name
        );
    }
    for photo in photos {
        identity::check_stored(photo)
            .map_err(|why| anyhow::anyhow!("run {}: {}: {why}; the store was changed by hand", run.id, photo.name))?;
    }
    let photos = photos.iter().map(|it| (it.name.clone(), it.content.clone()));
    Ok(texts.chain(photos).map(|(name, content)| (format!("raw/{name}"), content)).collect())
}

fn listed((name, content): &(String, Vec<u8>)) -> RawFile {
    RawFile { name: name.clone(), bytes: content.len(), sha256: sha256(content) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_that_cannot_be_made_costs_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| Ok((name.to_owned(), b"it".to_vec()));
        let files = [file("a"), Err(anyhow::anyhow!("no paper")), Err(anyhow::anyhow!("no ink")), file("b")];
        let (sums, failed) = write_each(folder.path(), files.into_iter()).unwrap();
        assert_eq!(failed.map(|error| error.to_string()).as_deref(), Some("no paper"));
        assert_eq!(sums.0.iter().map(|sum| sum.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert!(folder.path().join("b").exists());
    }
}
