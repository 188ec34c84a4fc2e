//! A document for paper: the form between the report and the PDF typesetter.

use serde::{Deserialize, Serialize};

/// A Typst document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Typeset {
    /// The source.
    pub source: String,
    /// Drawings and photos that the source names: SVG, PNG or JPEG.
    pub files: Vec<NamedFile>,
}

/// A file that the source names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedFile {
    /// The name that the source has for it.
    pub name: String,
    /// Bytes; Base64 where they are written as text.
    #[serde(with = "crate::base64")]
    pub content: Vec<u8>,
}
