//! Texts in the languages of a report.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A text in English, and in Japanese where there is one. Read from a plain string too, where one language is enough.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Written")]
pub struct Words {
    /// English, or the only language there is.
    pub en: String,
    /// Japanese.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ja: Option<String>,
}

/// Words of a source for its values.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a text, or { en = \"...\", ja = \"...\" }")]
enum Written {
    Once(String),
    Each(Both),
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Both {
    en: String,
    ja: Option<String>,
}

impl From<Written> for Words {
    fn from(written: Written) -> Self {
        match written {
            Written::Once(en) => Self { en, ja: None },
            Written::Each(Both { en, ja }) => Self { en, ja },
        }
    }
}
