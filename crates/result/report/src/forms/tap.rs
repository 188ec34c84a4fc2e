//! A run in the Test Anything Protocol, version 14.

use super::cases::{Case, Cases, Ending};
use crate::material::Material;

/// The criteria of a run as tests of the Test Anything Protocol. English always.
pub fn tap(material: &Material<'_>) -> String {
    let Cases { cases, doubts } = Cases::of(material);
    let heading = [format!("TAP version 14\n1..{}", cases.len())];
    let doubts = doubts.iter().map(|doubt| format!("# doubt: {doubt}"));
    let lines = heading.into_iter().chain(cases.iter().zip(1..).map(|(case, number)| test(case, number))).chain(doubts);
    model::plain::plain(&(lines.collect::<Vec<_>>().join("\n") + "\n"))
}

fn test(case: &Case, number: u32) -> String {
    let name = escaped(&case.name);
    match &case.ending {
        Ending::Passed if case.figure.is_empty() => format!("ok {number} - {name}"),
        Ending::Passed => format!("ok {number} - {name}\n{}", diagnostic("result", &case.figure)),
        Ending::Failed(why) => format!("not ok {number} - {name}\n{}", diagnostic("message", why)),
        Ending::Skipped(why) => format!("ok {number} - {name} # SKIP {}", escaped(why)),
    }
}

/// A block of YAML with one value. A string of JSON is one of YAML, too.
fn diagnostic(key: &str, value: &str) -> String {
    format!("  ---\n  {key}: {}\n  ...", serde_json::Value::from(value))
}

/// Words in which no `#` begins a directive.
fn escaped(words: &str) -> String {
    words.replace('\\', "\\\\").replace('#', "\\#")
}
