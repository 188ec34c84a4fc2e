//! Typst source to PDF.
//!
//! The document sees what is handed in and the fonts compiled in: no disk, no network, no clock, no fonts of the machine. So
//! the same input gives the same bytes everywhere.

mod confine;
mod fonts;
mod world;

use std::fmt::Write as _;

pub use confine::confine;
pub use fonts::{FAMILY, MONOSPACED, without_glyph};
use model::Typeset;
use typst::{
    WorldExt,
    diag::{Severity, SourceDiagnostic},
    ecow::EcoVec,
    foundations::Smart,
};
use typst_layout::PagedDocument;
use typst_pdf::{PdfOptions, PdfStandard, PdfStandards};
use world::Document;

/// Why there is no PDF.
#[derive(Debug, thiserror::Error)]
#[error("the document could not be set:\n{0}This is a fault of wireproof; the HTML report says the same")]
pub struct PdfError(String);

/// The document of a Typst source, tagged for screen readers as PDF/UA-1 asks for. Its date comes from the source (`set document(date: …)`).
///
/// # Errors
///
/// Errors of Typst in the source, with their lines.
pub fn pdf(typeset: Typeset) -> Result<Vec<u8>, PdfError> {
    let document = Document::new(typeset);
    let said = |diagnostics| PdfError(describe(&document, diagnostics));
    let paged: PagedDocument = typst::compile(&document).output.map_err(said)?;
    let accessible = typst_pdf::pdf(&paged, &options(&[PdfStandard::Ua_1]));
    // PDF/UA has no room for a character that no font here has, and a customer's name may hold one.
    accessible.or_else(|_| typst_pdf::pdf(&paged, &options(&[]))).map_err(said)
}

fn options(standards: &[PdfStandard]) -> PdfOptions {
    PdfOptions {
        creator: Smart::Custom(Some(concat!("wireproof ", env!("CARGO_PKG_VERSION")).to_owned())),
        standards: PdfStandards::new(standards).unwrap_or_default(),
        ..PdfOptions::default()
    }
}

/// A line for each fault: where, what, and the text there.
fn describe(document: &Document, diagnostics: EcoVec<SourceDiagnostic>) -> String {
    let mut text = String::new();
    for fault in diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error) {
        let there = document.range(fault.span).and_then(|range| document.text().get(range)).unwrap_or_default();
        let line = there.lines().next().unwrap_or_default();
        let _ = writeln!(text, "  {}, at: {line}", fault.message);
    }
    text
}
