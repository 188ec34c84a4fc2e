//! Enums that people choose from by a word: one place for reading, writing and refusing.

use crate::nearest::did_you_mean;

/// A word that names none of the choices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{word}\" is not {what}: use {choices}{meant}")]
pub struct ChoiceError {
    word: String,
    what: &'static str,
    choices: String,
    /// The word that may be meant, as a question.
    meant: String,
}

impl ChoiceError {
    pub(crate) fn new(word: &str, what: &'static str, words: &[&str]) -> Self {
        let (last, others) = words.split_last().unwrap_or((&"nothing", &[]));
        let choices = if others.is_empty() { (*last).to_owned() } else { format!("{} or {last}", others.join(", ")) };
        Self { word: word.to_owned(), what, choices, meant: did_you_mean(word, words.iter().copied()) }
    }
}

/// An enum by its words, also in JSON; or reading and writing by words of one that has other names in JSON.
macro_rules! choice {
    ($(#[$meta:meta])* $type:ident, $what:literal, { $($(#[$of:meta])+ $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum $type {
            $($(#[$of])+ #[serde(rename = $word)] $variant,)+
        }

        $crate::choice::choice!($type, $what, { $($variant = $word),+ });
    };
    ($type:ident, $what:literal, { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $type {
            /// All choices, as they are written.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word for it, as in plans and on the command line.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::choice::ChoiceError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err($crate::choice::ChoiceError::new(text, $what, Self::WORDS)),
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}

pub(crate) use choice;

#[cfg(test)]
mod tests {
    use crate::WaitMode;

    #[test]
    fn words_are_read_back_and_others_refused_with_all_choices() {
        for word in WaitMode::WORDS {
            assert_eq!(word.parse::<WaitMode>().map(WaitMode::word), Ok(*word));
        }
        let error = "sleep".parse::<WaitMode>().unwrap_err().to_string();
        assert_eq!(error, "\"sleep\" is not a way to wait: use spin, block or busy-poll");
        let error = "spinn".parse::<WaitMode>().unwrap_err().to_string();
        assert_eq!(error, "\"spinn\" is not a way to wait: use spin, block or busy-poll; did you mean spin?");
    }
}
