//! A run without what tells strangers whose machines these are: names of hosts and users, MAC addresses, serial numbers and
//! UUIDs, disks, IP addresses of any network but a laboratory's. The same word becomes the same word everywhere.
//!
//! Deliberate entries of the document stay: people, customer, site. Photos are left out, as their content is unknown.

mod patterns;
mod substitutes;

use std::net::IpAddr;

use model::{Json, Reference, Run};
use serde_json::{Map, Value};

use self::{
    patterns::{digits_of_mac, domains, users},
    substitutes::{Known, Substitutes},
};

/// Keys whose text is the program's own, and must stay: a host may be named like one of its words.
const OWN_WORDS: &str = "batch congestion connector date direction driver endpoint endpoint_from endpoint_to figures finished from \
    host id interface kind metric mode namespace of paper place privilege probe procedure protocol read_at receive \
    relation send source started state timezone to verdict why engine_why";
/// The same for keys with another meaning elsewhere, with the object that holds them.
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

/// Parts of a run in which the program measured and counted: a serial number there is none.
const FIGURES: &[&str] = &["plan", "trials", "bed"];

/// Kind of a place in the run, which decides how its text is redacted.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// The part of the run.
    part: &'a str,
    /// The list or table it is in.
    parent: &'a str,
    key: &'a str,
}

/// A run whose words cannot be replaced.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot replace the words of {what}: {source}; the name of a machine or a serial number is like a value that has to stay. \
     Write the report without --redact, or name the machine otherwise"
)]
pub struct RedactError {
    what: String,
    source: serde_json::Error,
}

/// The run with every such word replaced, and the same words in these references. Fails only where a word is like a value that
/// the program reads.
pub fn redacted(run: &Run, references: &mut [Reference]) -> Result<Run, RedactError> {
    let what = format!("run {}", run.id);
    let value = without_photos(run).to_value();
    let values: Vec<_> = references.iter().map(Json::to_value).collect();
    let mut substitutes = Substitutes::new(&known(run, values.iter().chain([&value])));
    let run = replaced_in(value, &mut substitutes, &what)?;
    for (reference, value) in references.iter_mut().zip(values) {
        *reference = replaced_in(value, &mut substitutes, &name(reference))?;
    }
    Ok(run)
}

fn name(reference: &Reference) -> String {
    format!("reference {}", reference.id)
}

fn replaced_in<T: Json>(mut value: Value, substitutes: &mut Substitutes, what: &str) -> Result<T, RedactError> {
    replace(&mut value, Place { part: "", parent: "", key: "" }, substitutes);
    T::from_json(&value.to_string()).map_err(|source| RedactError { what: what.to_owned(), source })
}

fn known<'a>(run: &Run, values: impl Iterator<Item = &'a Value>) -> Known {
    let mut known = Known { hosts: hosts(run), serials: serials(run), ..Known::default() };
    known.users.extend(reached(&run.bed.name).filter_map(|(user, _)| user).map(str::to_owned));
    for value in values {
        known.macs.extend(macs(value));
        each_text(value, &mut |text| {
            known.users.extend(users(text));
            known.domains.extend(domains(text, &known.hosts));
        });
    }
    known
}

fn each_text(value: &Value, see: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => see(text),
        Value::Array(values) => values.iter().for_each(|value| each_text(value, see)),
        Value::Object(table) => table.values().for_each(|value| each_text(value, see)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Digits of the MAC addresses that the facts name as such.
fn macs(value: &Value) -> Vec<String> {
    match value {
        Value::Array(values) => values.iter().flat_map(macs).collect(),
        Value::Object(table) => {
            let own = table.get("mac").and_then(Value::as_str).and_then(digits_of_mac);
            own.into_iter().chain(table.values().flat_map(macs)).collect()
        }
        _ => vec![],
    }
}

fn without_photos(run: &Run) -> Run {
    let mut run = run.clone();
    if let Some(identity) = &mut run.identity {
        identity.photos.clear();
        identity.items.iter_mut().for_each(|item| item.photos.clear());
        identity.issuer.iter_mut().for_each(|issuer| issuer.logo = None);
    }
    run
}

/// Names of the machines, the long ones and their first parts.
fn hosts(run: &Run) -> Vec<String> {
    let environments = std::iter::once(&run.before).chain(&run.after);
    let names = environments.flat_map(|environment| &environment.hosts).map(|host| host.hostname.as_str());
    let ends = run.bed.endpoints.iter().map(|end| end.machine.as_str());
    let ends = ends.chain(run.bed.dut.iter().map(|dut| dut.machine.as_str()));
    let names = names.chain(ends).chain(reached(&run.bed.name).map(|(_, host)| host));
    let parts = names.flat_map(|name| [Some(name), name.split_once('.').map(|(first, _)| first)]).flatten();
    // An address is replaced as such.
    let is_name = |name: &&str| !name.is_empty() && *name != "localhost" && name.parse::<IpAddr>().is_err();
    parts.filter(is_name).map(str::to_owned).collect()
}

/// Users and machines that a bed is named by, as in `hosts:ssh://me@far:22?dev=eth1,dut=ssh://me@router`.
fn reached(bed: &str) -> impl Iterator<Item = (Option<&str>, &str)> {
    bed.split("://").skip(1).filter_map(|url| {
        let machine = url.split(['?', '/', ',']).next()?;
        let (user, host) = machine.rsplit_once('@').map_or((None, machine), |(user, host)| (Some(user), host));
        Some((user, host.split(':').next()?))
    })
}

fn serials(run: &Run) -> Vec<String> {
    let devices = run.identity.iter().flat_map(|identity| &identity.devices);
    let environments = std::iter::once(&run.before).chain(&run.after);
    let interfaces = environments.flat_map(|environment| &environment.endpoints).flat_map(|end| &end.interfaces);
    let modules = interfaces.filter_map(|interface| interface.card.as_ref()?.module.known());
    let serials = devices.filter_map(|device| device.serial.clone()).chain(modules.map(|module| module.serial.clone()));
    serials.filter(|serial| !serial.trim().is_empty()).collect()
}

fn replace(value: &mut Value, place: Place<'_>, substitutes: &mut Substitutes) {
    match value {
        Value::String(text) => *text = replaced(text, place, substitutes),
        Value::Array(values) => values.iter_mut().for_each(|value| replace(value, place, substitutes)),
        Value::Object(table) => {
            let old: Map<String, Value> = std::mem::take(table);
            for (key, mut value) in old {
                let part = if place.part.is_empty() { &key } else { place.part };
                replace(&mut value, Place { part, parent: place.key, key: &key }, substitutes);
                table.insert(substitutes.addresses_in(&key), value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn replaced(text: &str, Place { part, parent, key }: Place<'_>, substitutes: &mut Substitutes) -> String {
    if VERSIONS.contains(&key) {
        return substitutes.names_in(text);
    }
    if key == "serial" && [("identity", "device"), ("before", "module"), ("after", "module")].contains(&(part, parent))
    {
        return substitutes.serial(text);
    }
    let text = substitutes.addresses_in(text);
    if OWN_WORDS.split(' ').any(|word| word == key) || OWN_WORDS_OF.contains(&(parent, key)) {
        return text;
    }
    let text = if FIGURES.contains(&part) { text } else { substitutes.serials_in(&text, part == "identity") };
    substitutes.names_in(&text)
}

#[cfg(test)]
mod tests;
