//! Differences between two values of one shape, in words.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::json::Json;

/// Each leaf that differs, like `hosts 1 kernel: "6.1" → "6.12"`; empty when nothing does. Items of a list count from 1. A
/// [`crate::Reading`] that either side could not read tells of no difference.
pub fn differences(before: &impl Json, after: &impl Json) -> Vec<String> {
    let [before, after] = [before.to_value(), after.to_value()].map(|value| Leaves::of(&value));
    let paths: BTreeSet<_> = before.known.keys().chain(after.known.keys()).collect();
    let none = "–".to_owned();
    let differing = paths.into_iter().filter(|path| before.known.get(*path) != after.known.get(*path));
    let readable = differing.filter(|path| !before.is_unreadable(path) && !after.is_unreadable(path));
    readable
        .map(|path| {
            let (was, is) = (before.known.get(path).unwrap_or(&none), after.known.get(path).unwrap_or(&none));
            if path.is_empty() { format!("{was} → {is}") } else { format!("{path}: {was} → {is}") }
        })
        .collect()
}

/// Leaves of a value by their paths.
#[derive(Default)]
struct Leaves {
    known: BTreeMap<String, String>,
    /// Paths of readings that failed.
    unreadable: BTreeSet<String>,
}

impl Leaves {
    fn of(value: &Value) -> Self {
        let mut leaves = Self::default();
        leaves.add("", value);
        leaves
    }

    fn add(&mut self, path: &str, value: &Value) {
        let join = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path} {key}") };
        match value {
            Value::Object(table) if is_failed_reading(table) => {
                self.unreadable.insert(path.to_owned());
            }
            Value::Object(table) => table.iter().for_each(|(key, value)| self.add(&join(key), value)),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.add(&join(&format!("{}", index + 1)), item);
                }
            }
            Value::Null => {}
            leaf => {
                self.known.insert(path.to_owned(), leaf.to_string());
            }
        }
    }

    /// Whether the leaf belongs to a reading that failed. A known value may have parts.
    fn is_unreadable(&self, path: &str) -> bool {
        let is_above = |above: &String| {
            path.strip_prefix(above.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        self.unreadable.iter().any(is_above)
    }
}

/// Whether it is a [`crate::Reading`] that says why it failed.
fn is_failed_reading(table: &Map<String, Value>) -> bool {
    table.len() == 2 && ["unreadable", "why"].iter().all(|key| table.get(*key).is_some_and(Value::is_string))
}
