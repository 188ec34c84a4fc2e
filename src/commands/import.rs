//! Other tools' results, kept as references of the user's own.

use std::{
    fs::File,
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::Context;
use import::Given;
use model::{Reference, reference::Conditions};
use report::ImportDocument;

use super::answer;
use crate::{
    cli::Common,
    exit::{Exit, Words},
    output::say,
    paths, references,
};

/// Logs with a line for each message are this long, in MiB.
const LONGEST: u64 = 256;

/// `wireproof import FILE`
pub(super) fn import(
    file: &Path,
    name: Option<String>,
    conditions: &[String],
    common: &Common,
) -> anyhow::Result<Exit> {
    let words = |why: String| Words(format!("{}: {why}", file.display()));
    let given = Given { id: name, conditions: parse(conditions)? };
    let text = paths::read_text(file, "a tool's output", LONGEST).map_err(words)?;
    let reference = import::read(&text, &given).map_err(|error| words(error.to_string()))?;
    if references::read(common)?.known.iter().any(|known| known.id == reference.id) {
        return Err(Words(format!("there is a reference \"{}\" already; give another --name", reference.id)).into());
    }
    let path = keep(&reference, common)?;
    let words = || format!("{}: {} figures of {}\n", reference.id, reference.figures.len(), reference.title.en);
    answer(&ImportDocument::of(&reference, path.display().to_string()), words, common)?;
    if !common.quiet {
        say(&format!("Kept as {}; \"--references {}\" puts a run beside it.", path.display(), reference.id));
    }
    Ok(Exit::Done)
}

/// Conditions as they stand in a reference file: numbers and words of TOML, or text.
fn parse(conditions: &[String]) -> Result<Conditions, Words> {
    let mut table = toml::Table::new();
    for condition in conditions {
        let (key, value) = condition
            .split_once('=')
            .ok_or_else(|| Words(format!("--condition {condition}: write it as KEY=VALUE, for example mtu=1500")))?;
        let as_toml = toml::from_str::<toml::Table>(&format!("value = {value}")).ok();
        let as_text = || toml::Value::String(value.trim().to_owned());
        let value = as_toml.and_then(|mut table| table.remove("value")).unwrap_or_else(as_text);
        table.insert(key.trim().to_owned(), value);
    }
    table.try_into().map_err(|error: toml::de::Error| Words(format!("--condition: {}", error.message())))
}

/// Writes the reference into the user's folder, over no other file.
fn keep(reference: &Reference, common: &Common) -> anyhow::Result<PathBuf> {
    let folder = references::folder(common)?;
    paths::make_folder(&folder)?;
    let path = folder.join(format!("{}.toml", reference.id));
    let text = toml::to_string(reference).context("the reference cannot be written as TOML")?;
    let write = || File::create_new(&path)?.write_all(text.as_bytes());
    write().with_context(|| format!("cannot write {}; give another --name", path.display()))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use model::{BitRate, Mtu, Protocol};

    use super::*;

    #[test]
    fn conditions_are_written_as_in_a_reference_file() {
        let written = ["mtu=1500", "simulated=true", "protocol=udp", "link_rate=10 Gbit/s"].map(str::to_owned);
        let conditions = parse(&written).unwrap();
        assert_eq!((conditions.mtu, conditions.simulated), (Some(Mtu(1500)), Some(true)));
        assert_eq!(conditions.protocol, Some(Protocol::Udp));
        assert_eq!(conditions.link_rate, Some(BitRate(10_000_000_000)));
        let error = |text: &str| parse(&[text.to_owned()]).unwrap_err().to_string();
        assert!(error("mtu").contains("KEY=VALUE"));
        assert!(error("mtus=1500").contains("unknown field `mtus`"), "{}", error("mtus=1500"));
    }
}
