//! Sums over the files of a report, signatures over the sums, and the check of both.

use std::{
    env, fs,
    io::{self, Read},
    path::Path,
};

use anyhow::Context;
use model::plain::one_line;
use report::CheckDocument;
use seal::{Checked, SIGNATURE_FILE, SUMS_FILE, SigningKey, Sums};

use super::super::answer;
use crate::{
    cli::Common,
    exit::{Exit, Words},
    paths,
};

/// Source of a key's password without a terminal.
const PASSWORD: &str = "WIREPROOF_KEY_PASSWORD";

/// Bytes that are read of a key, which has some hundred.
const LONGEST_KEY: u64 = 1 << 16;

/// Reads a secret key, and asks for its password if it has one.
pub(super) fn read_key(path: &Path) -> anyhow::Result<SigningKey> {
    let text = read(path)?;
    let password = || match env::var(PASSWORD) {
        Ok(password) => Ok(password),
        Err(_) => rpassword::prompt_password(format!("Password of {}: ", path.display()))
            .with_context(|| format!("cannot ask for the password of {}; set {PASSWORD}", path.display())),
    };
    SigningKey::read(&text, password).with_context(|| format!("cannot sign with {}", path.display()))
}

/// Scope of a seal.
#[derive(Clone, Copy)]
pub(super) enum Cover<'a> {
    /// Files written now, and unchanged files of an earlier report here.
    All,
    /// Files written now: nothing else may lie in the folder.
    Written,
    /// The same, signed.
    Signed(&'a SigningKey),
}

impl Cover<'_> {
    /// The same without a signature.
    pub(super) fn unsigned(self) -> Self {
        if let Self::Signed(_) = self { Self::Written } else { self }
    }

    /// Refuses a folder with other files than this report's: a signature would vouch for them, and a redacted report may not
    /// lie beside files with the replaced words.
    pub(super) fn check(self, folder: &Path, names: &[String]) -> anyhow::Result<()> {
        if matches!(self, Self::All) {
            return Ok(());
        }
        let others = seal::others(folder, names.iter().map(String::as_str))?;
        let Some(first) = others.first() else { return Ok(()) };
        let more = if others.len() > 1 { format!(" and {} more", others.len() - 1) } else { String::new() };
        let (folder, first) = (folder.display(), one_line(first));
        Err(Words(format!(
            "{folder} holds {first}{more}, which this report does not write and cannot answer for; name an empty folder with \
             --out, or have that form written too with --format"
        ))
        .into())
    }
}

/// Writes the sums of what was written, and signs them with a key; `comment` is signed too. Says whether that took the
/// signature of an earlier report away.
pub(super) fn write(folder: &Path, written: Sums, cover: Cover<'_>, comment: &str) -> anyhow::Result<bool> {
    let sums = if let Cover::All = cover { written.and_unchanged_in(folder) } else { written }.to_string();
    paths::write(&folder.join(SUMS_FILE), &sums)?;
    let signature = folder.join(SIGNATURE_FILE);
    match cover {
        Cover::Signed(key) => paths::write(&signature, key.sign(&sums, comment)?).map(|()| false),
        Cover::All | Cover::Written => remove(&signature),
    }
}

/// A signature over sums that are no more would only look like forgery. Says whether there was one.
fn remove(path: &Path) -> anyhow::Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).with_context(|| format!("cannot remove the outdated {}", path.display())),
    }
}

/// `wireproof report --check DIR`: whose signature there is, and a line for each file that does not agree with the list.
pub(super) fn check(folder: &Path, key: Option<&Path>, common: &Common) -> anyhow::Result<Exit> {
    let key = key.map(read).transpose()?;
    let checked = seal::check(folder, key.as_deref())?;
    let in_order = checked.findings.is_empty();
    let findings: Vec<String> = checked.findings.iter().map(ToString::to_string).collect();
    let document = CheckDocument::of(findings, checked.signed.clone());
    answer(&document, || said(&checked), common)?;
    Ok(if in_order { Exit::Done } else { Exit::Failed })
}

fn said(checked: &Checked) -> String {
    let mut lines: Vec<String> = Vec::new();
    if let Some(comment) = &checked.signed {
        lines.push(format!("The signature is that of the key. Trusted comment: {}", one_line(comment)));
    }
    lines.extend(checked.findings.iter().map(ToString::to_string));
    match (checked.findings.as_slice(), &checked.signed) {
        ([], Some(_)) => lines.push("Every file is as it was signed, and there are no others.".to_owned()),
        ([], None) => lines.push(format!(
            "Every file agrees with {SUMS_FILE}, and there are no others. No signature was verified, and anybody can rewrite \
             {SUMS_FILE}: whether the report is as it was handed over, only a signature shows (give the public key with --key)."
        )),
        _ => {}
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// It may come from a pipe.
fn read(path: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    let read = fs::File::open(path).and_then(|file| file.take(LONGEST_KEY).read_to_string(&mut text));
    read.with_context(|| format!("cannot read the key {}", path.display()))?;
    Ok(text)
}
