//! Options for the names and dates in the head of a report.

use std::path::PathBuf;

use clap::Args;
use model::{Date, Identity, Signatory};

/// Identity of the report. These options override the entries of `--meta`, these the files, and all of them the store.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Identity of the document")]
pub(crate) struct Identify {
    /// File with all that identifies the document: people, issuer, scope, devices, items verified by hand, photos; or one entry
    /// of it, like conclusion="…" or timezone=Asia/Tokyo. Can be given again. "wireproof report --meta-template" prints an example.
    #[arg(long, value_name = "FILE|KEY=VALUE")]
    pub(crate) meta: Vec<PathBuf>,
    /// Title of the document.
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Document number.
    #[arg(long, value_name = "TEXT")]
    pub(crate) document_number: Option<String>,
    /// Document revision.
    #[arg(long, value_name = "TEXT")]
    pub(crate) revision: Option<String>,
    /// Document date, like 2026-11-21.
    #[arg(long, value_name = "DAY")]
    pub(crate) date: Option<Date>,
    /// Customer.
    #[arg(long, value_name = "TEXT")]
    pub(crate) customer: Option<String>,
    /// Site of the measurement.
    #[arg(long, value_name = "TEXT")]
    pub(crate) site: Option<String>,
    /// Author, like "H. Sato" or "H. Sato, 2026-11-21"; the next two alike.
    #[arg(long, value_name = "NAME[, DATE]")]
    pub(crate) made_by: Option<Signatory>,
    /// Checker.
    #[arg(long, value_name = "NAME[, DATE]")]
    pub(crate) checked_by: Option<Signatory>,
    /// Approver.
    #[arg(long, value_name = "NAME[, DATE]")]
    pub(crate) approved_by: Option<Signatory>,
}

impl Identify {
    /// The options other than `--meta`.
    pub(crate) fn said(&self) -> Identity {
        Identity {
            title: self.title.clone(),
            document_number: self.document_number.clone(),
            revision: self.revision.clone(),
            date: self.date,
            customer: self.customer.clone(),
            site: self.site.clone(),
            made_by: self.made_by.clone(),
            checked_by: self.checked_by.clone(),
            approved_by: self.approved_by.clone(),
            ..Identity::default()
        }
    }
}
