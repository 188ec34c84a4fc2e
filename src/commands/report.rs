//! Results of a run: the files of its report, and its summary on the terminal.

mod files;
mod pdf;
mod seal;

use std::path::Path;

use model::Run;
use report::{Document, Material, Notice};

pub(super) use self::pdf::{check as check_pdf, set as set_pdf};
use self::{files::Place, seal::Cover};
use super::{
    language, print, print_json, repeat,
    runs::{load, open},
};
use crate::{
    cli::{Common, Format, ReportFiles, ReportOptions},
    exit::Exit,
    identity,
    output::say,
    paths,
    references::{self, References},
    zone,
};

/// `wireproof report RUN`
pub(super) fn report(options: &ReportOptions, common: &Common) -> anyhow::Result<Exit> {
    if options.meta_template {
        print(report::meta_template(language(common)))?;
        return Ok(Exit::Done);
    }
    if let Some(folder) = &options.check {
        return seal::check(folder, options.key.as_deref(), common);
    }
    let mut references = references::read_and_say(common)?;
    references.check_chosen(&options.files.chosen())?;
    pdf::check(options.files.formats.contains(&Format::Pdf))?;
    let given = identity::read(&options.identify)?;
    let key = options.sign.as_deref().map(seal::read_key).transpose()?;
    let mut run = load(&open(common)?, &options.run)?;
    if let Some(given) = given {
        run.identity = Some(given.or(run.identity.unwrap_or_default()));
    }
    // Earlier versions stored the whole command line.
    run.command = repeat::command(&run.command);
    let mut name = run.id.0.clone();
    if options.redact {
        run = report::redacted(&run, references.own())?;
        // Not among files that mention the parts this report leaves out.
        name += "-redacted";
    }
    let store = paths::store(common.store.as_deref())?;
    let folder = paths::report(options.files.out.as_deref(), &store, &name);
    let cover = match &key {
        Some(key) => Cover::Signed(key),
        None if options.redact => Cover::Written,
        None => Cover::All,
    };
    let place = Place { folder: &folder, cover };
    let judged = tell_in(&place, &run, &options.files, &references, false, common)?;
    Ok(if options.check_limits { judged } else { Exit::Done })
}

/// Writes the report and prints the results of the run, as JSON unless it is one of a series; the exit status is that of its conclusions.
pub(super) fn tell(
    run: &Run,
    files: &ReportFiles,
    references: &References,
    store: &Path,
    is_in_series: bool,
    common: &Common,
) -> anyhow::Result<Exit> {
    let folder = paths::report(files.out.as_deref(), store, &run.id.0);
    tell_in(&Place { folder: &folder, cover: Cover::All }, run, files, references, is_in_series, common)
}

fn tell_in(
    place: &Place<'_>,
    run: &Run,
    files: &ReportFiles,
    references: &References,
    is_in_series: bool,
    common: &Common,
) -> anyhow::Result<Exit> {
    let run = &run.with_captures_beside();
    let assessment = verdict::assess(run, &references.known, &files.chosen());
    let zone = zone::of(run.identity.as_ref())?;
    let material = Material { zone: &zone, ..Material::of(run, &assessment) };
    let lang = language(common);
    if let Some((date, measured)) = report::issued_before(run, &zone) {
        say(&Notice::IssuedBefore { date: &date.to_string(), measured: &measured }.text(lang));
    }
    for (who, measured) in report::signed_before(run, &zone) {
        say(&Notice::SignedBefore { who: &who.to_string(), measured: &measured }.text(lang));
    }
    let written = files::write(&material, place, &files.formats, lang);
    // Also where no file could be written: it may be all that is left of the run.
    if common.json && is_in_series {
        // The series has one document.
    } else if common.json {
        print_json(&Document::of(&material))?;
    } else {
        print(&report::summary(&material, lang, files.histograms()))?;
    }
    if files.annotate {
        print(&report::annotations(&material))?;
    }
    let written = written?;
    if written.signature_removed {
        say(&Notice::SignatureRemoved { folder: &place.folder.display().to_string() }.text(lang));
    }
    super::tell(Notice::ReportWritten { path: &written.first.display().to_string() }, common);
    Ok(Exit::of_run(&assessment, run.partial))
}
