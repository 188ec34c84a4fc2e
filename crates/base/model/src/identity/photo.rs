//! Photos for the report, stored as given.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One photo, or the issuer's logo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Photo {
    /// File name in the report's folder; items refer to it.
    pub name: String,
    /// Format.
    pub kind: PhotoKind,
    /// SHA-256 of its content, 64 hexadecimal digits.
    pub sha256: String,
    /// The file, byte for byte; Base64 where it is written as text.
    #[serde(with = "crate::base64")]
    #[schemars(with = "String")]
    pub content: Vec<u8>,
}

impl Photo {
    /// The name of the photo of this number, from 1.
    pub fn name_of(number: usize, kind: PhotoKind) -> String {
        format!("photo-{number}.{}", kind.ending())
    }

    /// The name of a logo.
    pub fn name_of_logo(kind: PhotoKind) -> String {
        format!("logo.{}", kind.ending())
    }

    /// Logos have a name of their own.
    pub fn is_logo(&self) -> bool {
        self.name == Self::name_of_logo(self.kind)
    }

    /// A name of photos or logos, which leads nowhere but into the report's folder.
    pub fn has_own_name(&self) -> bool {
        let number = self.name.strip_prefix("photo-").and_then(|rest| rest.split_once('.')?.0.parse().ok());
        self.is_logo() || number.is_some_and(|number| self.name == Self::name_of(number, self.kind))
    }
}

/// Format of a photo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PhotoKind {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
    /// SVG, for logos.
    Svg,
}

impl PhotoKind {
    /// Type of a photo's content, whatever the file's name.
    pub fn of(content: &[u8]) -> Option<Self> {
        if content.starts_with(b"\x89PNG\r\n\x1a\n") {
            return Some(Self::Png);
        }
        // Start of image, and the first byte of the marker that has to follow (ITU-T T.81, B.1.1.3).
        content.starts_with(b"\xff\xd8\xff").then_some(Self::Jpeg)
    }

    /// Ending of a file's name.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpg",
            Self::Svg => "svg",
        }
    }
}
