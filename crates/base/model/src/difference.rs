//! What differs between two values of one shape, in words.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

/// Each leaf that differs, like `hosts 1 kernel: "6.1" → "6.12"`; empty when nothing does. Items of a list count from 1.
pub fn differences<T: Serialize>(before: &T, after: &T) -> Vec<String> {
    let (before, after) = (leaves_of(before), leaves_of(after));
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

fn leaves_of(value: &impl Serialize) -> BTreeMap<String, String> {
    // Any self-describing form would do; a value that serde cannot write would differ from everything.
    let value = toml::Value::try_from(value).unwrap_or(toml::Value::Boolean(false));
    let mut found = BTreeMap::new();
    leaves("", &value, &mut found);
    found
}

fn leaves(path: &str, value: &toml::Value, found: &mut BTreeMap<String, String>) {
    let join = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path} {key}") };
    match value {
        toml::Value::Table(table) => table.iter().for_each(|(key, value)| leaves(&join(key), value, found)),
        toml::Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                leaves(&join(&format!("{}", index + 1)), item, found);
            }
        }
        leaf => {
            found.insert(path.to_owned(), leaf.to_string());
        }
    }
}
