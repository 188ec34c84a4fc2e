//! A failure at an agent, as a value that the controller can classify.

use std::fmt;

use model::{counters::Event, plain::one_line};
use serde::{Deserialize, Serialize};

/// A failed request or task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// Kind of failure.
    pub kind: FailureKind,
    /// Object, like an address, a change or a file; empty for the agent's machine as a whole.
    pub object: String,
    /// The attempt, its object and its outcome.
    pub what: String,
    /// Advice, unless `what` includes it.
    pub advice: Option<String>,
    /// Changes at the agent's end before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
}

/// Kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// The controller cancelled it; no error.
    Cancelled,
    /// A measurement could not be made.
    Measurement,
    /// A change could not be made, recorded or undone.
    Change,
    /// The kernel refused a call.
    Kernel,
    /// The user lacks the privilege.
    Privilege,
    /// A fault in wireproof.
    Bug,
}

impl Failure {
    /// A failure without advice.
    pub fn new(kind: FailureKind, object: impl Into<String>, what: impl fmt::Display) -> Self {
        Self { kind, object: object.into(), what: what.to_string(), advice: None, events: Vec::new() }
    }

    /// The same with this advice.
    pub fn advised(self, advice: impl Into<String>) -> Self {
        Self { advice: Some(advice.into()), ..self }
    }
}

/// Words of an agent, which may be another host's, on one line of bounded length. Its lines, like those of the kernel's verifier, are
/// parted by semicolons.
fn bounded(words: &str) -> String {
    const MOST: usize = 2_000;
    let end = words.char_indices().nth(MOST);
    let kept = end.map_or_else(|| words.to_owned(), |(end, _)| format!("{}…", &words[..end]));
    let lines = kept.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(one_line).collect::<Vec<_>>().join("; ")
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&bounded(&self.what))?;
        self.advice.as_ref().map_or(Ok(()), |advice| write!(f, "; {}", bounded(advice)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_an_agent_stay_on_one_line_of_bounded_length() {
        let failure = Failure::new(FailureKind::Change, "", "x\n\n\tVerdict: PASS".to_owned() + &"é".repeat(10_000));
        let words = failure.advised("\u{1b}[2J").to_string();
        assert!(words.starts_with("x; Verdict: PASS") && words.ends_with("…; \\u{1b}[2J"), "{words}");
        assert!(words.chars().count() < 2_100);
    }
}
