//! The languages a report can be written in.

use std::{fmt, str::FromStr};

/// A language of reports, progress and advice. Errors and JSON are English always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Japanese.
    Ja,
}

/// The help of the command line in Japanese: TOML, by the English texts.
pub const HELP_JA: &str = include_str!("../texts/ja/help.toml");

/// Japanese texts of the man pages beyond the help, by their English ones.
pub const MANUAL_JA: &str = include_str!("../texts/ja/manual.toml");

/// A word that names no language of ours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a language of the report: use en or ja")]
pub struct LangError(String);

impl Lang {
    /// The language that a value of `LANG` or `LC_ALL` asks for, like `ja_JP.UTF-8`; English for all but Japanese.
    pub fn from_env_value(value: &str) -> Self {
        let language = value.split(['_', '.', '@']).next().unwrap_or_default();
        if language == "ja" { Self::Ja } else { Self::En }
    }
}

impl FromStr for Lang {
    type Err = LangError;

    fn from_str(text: &str) -> Result<Self, LangError> {
        match text {
            "en" => Ok(Self::En),
            "ja" => Ok(Self::Ja),
            _ => Err(LangError(text.to_owned())),
        }
    }
}

impl fmt::Display for Lang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::En => "en",
            Self::Ja => "ja",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_read_from_words_and_from_the_environment() {
        assert_eq!("ja".parse(), Ok(Lang::Ja));
        assert_eq!("de".parse::<Lang>().map_err(|e| e.to_string()), Err(LangError("de".into()).to_string()));
        assert_eq!(Lang::from_env_value("ja_JP.UTF-8"), Lang::Ja);
        assert_eq!(Lang::from_env_value("ja"), Lang::Ja);
        assert_eq!(Lang::from_env_value("jam_JM"), Lang::En);
        assert_eq!(Lang::from_env_value("C.UTF-8"), Lang::En);
        assert_eq!(Lang::from_env_value(""), Lang::En);
    }
}
