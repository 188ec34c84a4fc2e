//! Differences between two values of one shape, in words.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::json::Json;

/// Each leaf that differs, like `hosts 1 kernel: "6.1" → "6.12"`; empty when nothing does. Items of a list count from 1.
pub fn differences(before: &impl Json, after: &impl Json) -> Vec<String> {
    let (before, after) = (leaves_of(before.to_value()), leaves_of(after.to_value()));
    let paths: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let none = "–".to_owned();
    let differing = paths.into_iter().filter(|path| before.get(*path) != after.get(*path));
    differing
        .map(|path| {
            let (was, is) = (before.get(path).unwrap_or(&none), after.get(path).unwrap_or(&none));
            if path.is_empty() { format!("{was} → {is}") } else { format!("{path}: {was} → {is}") }
        })
        .collect()
}

fn leaves_of(value: Value) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    leaves("", &value, &mut found);
    found
}

fn leaves(path: &str, value: &Value, found: &mut BTreeMap<String, String>) {
    let join = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path} {key}") };
    match value {
        Value::Object(table) => table.iter().for_each(|(key, value)| leaves(&join(key), value, found)),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                leaves(&join(&format!("{}", index + 1)), item, found);
            }
        }
        Value::Null => {}
        leaf => {
            found.insert(path.to_owned(), leaf.to_string());
        }
    }
}
