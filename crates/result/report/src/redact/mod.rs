//! A run without what tells strangers whose machines these are: names of hosts and users, MAC addresses, serial numbers and
//! UUIDs, IP addresses of any network but a laboratory's. The same word becomes the same word everywhere.
//!
//! What the document itself says on purpose stays: people, customer, site. Photos go: nobody knows what is to be read on them.

mod patterns;
mod substitutes;

use std::collections::BTreeSet;

use model::Run;
use serde_json::{Map, Value};

use self::{patterns::users, substitutes::Substitutes};

/// Keys whose text is the program's own, and must stay: a host may be named like one of its words.
const OWN_WORDS: &[&str] = &[
    "batch",
    "congestion",
    "direction",
    "driver",
    "endpoint",
    "endpoint_from",
    "endpoint_to",
    "figures",
    "finished",
    "from",
    "host",
    "id",
    "interface",
    "kind",
    "metric",
    "mode",
    "namespace",
    "of",
    "place",
    "privilege",
    "probe",
    "protocol",
    "read_at",
    "receive",
    "relation",
    "send",
    "source",
    "started",
    "state",
    "to",
    "verdict",
    "why",
];
/// The same for keys that mean something else elsewhere, with what they stand in.
const OWN_WORDS_OF: &[(&str, &str)] = &[
    ("endpoints", "name"),
    ("interfaces", "name"),
    ("devices", "name"),
    ("deltas", "name"),
    ("stages", "name"),
    ("resumed", "at"),
];
/// Keys whose text is a version, which may look like an address.
const VERSIONS: &[&str] = &["bios", "driver_version", "firmware_version", "kernel", "microcode", "wireproof"];

/// What stands at a place of the run, and so what may be done with its text.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// The list or table it is in.
    parent: &'a str,
    key: &'a str,
}

/// The run with every such word replaced. Fails only where a run cannot be written as JSON and read back.
pub fn redacted(run: &Run) -> Result<Run, serde_json::Error> {
    let mut value = serde_json::to_value(without_photos(run))?;
    let mut substitutes = Substitutes::new(&hosts(run), &serials(run), &found_users(&value));
    replace(&mut value, Place { parent: "", key: "" }, &mut substitutes);
    serde_json::from_value(value)
}

fn without_photos(run: &Run) -> Run {
    let mut run = run.clone();
    if let Some(identity) = &mut run.identity {
        identity.photos.clear();
        identity.items.iter_mut().for_each(|item| item.photos.clear());
    }
    run
}

/// Names of the machines, the long ones and their first parts.
fn hosts(run: &Run) -> Vec<String> {
    let environments = std::iter::once(&run.before).chain(&run.after);
    let names = environments.flat_map(|environment| &environment.hosts).map(|host| host.hostname.as_str());
    let parts = names.flat_map(|name| [Some(name), name.split_once('.').map(|(first, _)| first)]).flatten();
    parts.filter(|name| !name.is_empty() && *name != "localhost").map(str::to_owned).collect()
}

fn serials(run: &Run) -> Vec<String> {
    let devices = run.identity.iter().flat_map(|identity| &identity.devices);
    devices.filter_map(|device| device.serial.clone()).collect()
}

/// Users whose home folders are named anywhere.
fn found_users(value: &Value) -> BTreeSet<String> {
    match value {
        Value::String(text) => users(text),
        Value::Array(values) => values.iter().flat_map(found_users).collect(),
        Value::Object(table) => table.values().flat_map(found_users).collect(),
        _ => BTreeSet::new(),
    }
}

fn replace(value: &mut Value, place: Place<'_>, substitutes: &mut Substitutes) {
    match value {
        Value::String(text) => *text = replaced(text, place, substitutes),
        Value::Array(values) => values.iter_mut().for_each(|value| replace(value, place, substitutes)),
        Value::Object(table) => {
            let old: Map<String, Value> = std::mem::take(table);
            for (key, mut value) in old {
                replace(&mut value, Place { parent: place.key, key: &key }, substitutes);
                table.insert(substitutes.addresses_in(&key), value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn replaced(text: &str, Place { parent, key }: Place<'_>, substitutes: &mut Substitutes) -> String {
    if VERSIONS.contains(&key) {
        return substitutes.words_in(text);
    }
    let text = substitutes.addresses_in(text);
    let is_own = OWN_WORDS.contains(&key) || OWN_WORDS_OF.contains(&(parent, key));
    if is_own { text } else { substitutes.words_in(&text) }
}

#[cfg(test)]
mod tests;
