//! Man pages: what the help says of a command, examples, and its exit status.

use std::io;

use clap::Command;
use clap_mangen::{
    Man,
    roff::{Roff, bold, roman},
};

use crate::cli::manual::{self, Manual, Words};

/// The pages of a command and of those below it, each with the name of its file. `path` is the command as one writes it.
pub(super) fn pages(command: &Command, path: &str, words: &Words) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut pages = Vec::new();
    for below in shown(command) {
        let path = format!("{path} {}", below.get_name());
        pages.extend(self::pages(below, path.trim_start(), words)?);
    }
    pages.push(page(command, manual::of(path), words)?);
    Ok(pages)
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|below| !below.is_hide_set())
}

fn page(command: &Command, manual: Option<&Manual>, words: &Words) -> io::Result<(String, Vec<u8>)> {
    let man = Man::new(command.clone());
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if shown(command).next().is_some() {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(manual) = manual {
        added(manual, words).to_writer(&mut page)?;
    }
    man.render_version_section(&mut page)?;
    Ok((man.get_filename(), headed(&page, words)))
}

/// The page with headings in the reader's language: clap has them in English alone.
fn headed(page: &[u8], words: &Words) -> Vec<u8> {
    let line = |line: &str| {
        let heading = line.strip_prefix(".SH ").map(|heading| heading.trim_matches('"'));
        let translated = heading.map(|heading| words.of_text(heading)).filter(|text| Some(*text) != heading);
        translated.map_or_else(|| format!("{line}\n"), |text| format!(".SH {text}\n"))
    };
    String::from_utf8_lossy(page).lines().map(line).collect::<String>().into_bytes()
}

/// Sections that the help does not have.
fn added(Manual { examples, statuses, .. }: &Manual, words: &Words) -> Roff {
    let mut roff = Roff::new();
    let mut section = |title: &str, items: Vec<(String, &str)>| {
        roff.control("SH", [title]);
        for (term, meaning) in items {
            roff.control("TP", []);
            roff.text([bold(term)]);
            roff.text([roman(words.of_text(meaning))]);
        }
    };
    section("EXIT STATUS", statuses.iter().map(|(status, meaning)| ((*status).to_owned(), *meaning)).collect());
    section("EXAMPLES", examples.iter().map(|(line, meaning)| (format!("wireproof {line}"), *meaning)).collect());
    roff
}
