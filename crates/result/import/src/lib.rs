//! Other tools' results as references: iperf3, sockperf, netperf, qperf and TRex, recognised by what is in the file.
//!
//! Everything here takes text and returns values. What a file does not say of its conditions is left out, for the user to
//! add; whatever is in a file, the answer is a reference or an error.

mod figures;
mod iperf3;
mod netperf;
mod qperf;
mod sockperf;
mod trex;

use model::{
    Reference, ReferenceFigure,
    reference::{Conditions, Measurer, Words, is_id},
};

/// The user's description of a file, which replaces its own.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// Name of the reference; without it the tool's and the date, as far as it is known.
    pub id: Option<String>,
    /// Conditions that the file does not say, or says wrongly.
    pub conditions: Conditions,
}

/// A file that gives no reference.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// Not the output of a tool that is known.
    #[error(
        "this is no output that can be imported: give what iperf3 -J, sockperf (its text, or the file of --full-log), \
        netperf or qperf print, or TRex's statistics as JSON"
    )]
    Unknown,
    /// JSON, but broken off or damaged.
    #[error("this begins like JSON, but is none: {0}; the file may have been cut off")]
    Json(String),
    /// The tool itself says that it failed.
    #[error("{tool} reports an error instead of a result: {message}")]
    Failed {
        /// The tool.
        tool: &'static str,
        /// Message of the parser.
        message: String,
    },
    /// Something that every complete output has is not there.
    #[error(
        "this {tool} output has no {what}; it may have been cut off, or come from a version or test not known here"
    )]
    Missing {
        /// The tool.
        tool: &'static str,
        /// The missing part.
        what: String,
    },
    /// A value that cannot be one.
    #[error("{value} is no {what}")]
    Value {
        /// The tool that it was taken for.
        what: &'static str,
        /// As it stands in the file.
        value: String,
    },
    /// The name cannot be one.
    #[error("\"{0}\" names no reference; use small letters, digits and hyphens")]
    Name(String),
}

/// Figures and conditions of a tool's output.
struct Imported {
    /// Name, as in names of references.
    tool: &'static str,
    /// With its version, where that is known.
    version: String,
    date: Option<String>,
    conditions: Conditions,
    notes: Vec<Words>,
    figures: Vec<ReferenceFigure>,
}

/// Reads a tool's output as a reference.
pub fn read(text: &str, given: &Given) -> Result<Reference, ImportError> {
    let imported = recognised(text)?;
    if imported.figures.is_empty() {
        return Err(ImportError::Missing { tool: imported.tool, what: "result".to_owned() });
    }
    let dated = || {
        let date = imported.date.as_ref().map(|date| format!("-{date}")).unwrap_or_default();
        format!("{}{date}", imported.tool)
    };
    let id = given.id.clone().unwrap_or_else(dated);
    if !is_id(&id) {
        return Err(ImportError::Name(id));
    }
    let tool = Conditions { tool: Some(imported.version.clone()), ..Conditions::default() };
    Ok(Reference {
        id,
        title: Words { en: imported.version, ja: None },
        source: None,
        date: imported.date,
        measured_by: None,
        kind: Measurer::Tool,
        conditions: given.conditions.clone().or(&imported.conditions).or(&tool),
        notes: imported.notes,
        figures: imported.figures,
    })
}

fn recognised(text: &str) -> Result<Imported, ImportError> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.starts_with('{') {
        let json = serde_json::from_str(text).map_err(|error| ImportError::Json(error.to_string()))?;
        return iperf3::read(&json).or_else(|| trex::read(&json)).unwrap_or(Err(ImportError::Unknown));
    }
    sockperf::read(text)
        .or_else(|| netperf::read(text))
        .or_else(|| qperf::read(text))
        .unwrap_or(Err(ImportError::Unknown))
}
