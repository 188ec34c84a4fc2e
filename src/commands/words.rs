//! The program's own words for other programs: schema, completions, man pages.

use std::path::Path;

use anyhow::Context;
use clap_complete::Shell;

use super::print_json;
use crate::{
    cli::{self, Shape},
    exit::Exit,
    output::print_as_it_is,
    paths,
};

/// `wireproof schema`
pub(super) fn schema(of: Shape) -> anyhow::Result<Exit> {
    print_json(&match of {
        Shape::Run => report::schema(),
        Shape::Compare => report::comparison_schema(),
        Shape::Inspect => report::cards_schema(),
        Shape::PacketsSend => report::sent_schema(),
        Shape::PacketsReceive => report::heard_schema(),
        Shape::Watch => report::watch_schema(),
    })?;
    Ok(Exit::Done)
}

/// `wireproof completions SHELL`
pub(super) fn completions(shell: Shell) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut cli::definition(), "wireproof", &mut script);
    print_as_it_is(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

/// `wireproof man DIR`
pub(super) fn man(dir: &Path) -> anyhow::Result<Exit> {
    paths::make_folder(dir)?;
    clap_mangen::generate_to(cli::definition(), dir)
        .with_context(|| format!("cannot write man pages into {}", dir.display()))?;
    Ok(Exit::Done)
}
