//! Verdicts as people write them.

use serde::{Deserialize, Deserializer, de::Error};

use crate::verdict::Verdict;

/// An item that nobody ticked.
pub(super) fn not_run() -> Verdict {
    Verdict::NotRun
}

/// `pass`, `PASS`, `not-run`, `NOT RUN`, …
pub(super) fn verdict<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Verdict, D::Error> {
    let word = String::deserialize(deserializer)?;
    match word.to_lowercase().replace([' ', '_'], "-").as_str() {
        "pass" => Ok(Verdict::Pass),
        "fail" => Ok(Verdict::Fail),
        "inconclusive" => Ok(Verdict::Inconclusive),
        "not-run" => Ok(Verdict::NotRun),
        _ => Err(D::Error::custom(format!("\"{word}\" is no verdict: use pass, fail, inconclusive or not-run"))),
    }
}
