//! The program's own words for other programs: schema, completions, man pages.

use std::{collections::BTreeMap, path::Path};

use anyhow::Context;
use clap_complete::Shell;
use report::{Lang, SHAPES};
use serde_json::Value;

use super::{complete, man, print_json};
use crate::{
    cli::{self, manual},
    exit::Exit,
    output::print_as_it_is,
    paths,
};

/// `wireproof schema NAME`
pub(super) fn schema(name: &str) -> anyhow::Result<Exit> {
    match SHAPES.iter().find(|shape| shape.name == name) {
        Some(shape) => print_json(&(shape.schema)())?,
        None => {
            let all: BTreeMap<&str, Value> = SHAPES.iter().map(|shape| (shape.name, (shape.schema)())).collect();
            print_json(&all)?;
        }
    }
    Ok(Exit::Done)
}

/// `wireproof completions SHELL`
pub(super) fn completions(shell: Shell) -> anyhow::Result<Exit> {
    let script = complete::script(shell).with_context(|| format!("cannot write completions for {shell}"))?;
    print_as_it_is(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

/// `wireproof man DIR`
pub(super) fn man(dir: &Path, lang: Lang) -> anyhow::Result<Exit> {
    paths::make_folder(dir)?;
    let mut command = cli::definition(lang);
    command.build();
    let pages = man::pages(&command, "", &manual::Words::of(lang));
    for (name, page) in pages.with_context(|| format!("cannot write man pages into {}", dir.display()))? {
        paths::write(&dir.join(name), page)?;
    }
    Ok(Exit::Done)
}
