//! Sums over the files of a report, signatures over the sums, and the check of both.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use anyhow::Context;
use seal::{SIGNATURE_FILE, SUMS_FILE, SigningKey, Sums};

use super::{print, print_json};
use crate::{cli::Common, exit::Exit, paths};

/// Where the password of a key may stand, for those who have no terminal.
const PASSWORD: &str = "WIREPROOF_KEY_PASSWORD";

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

/// Writes the sums of what was written, with those of what an earlier report left here unchanged, and signs them.
pub(super) fn write(folder: &Path, written: Sums, key: Option<&SigningKey>, run: &str) -> anyhow::Result<()> {
    let sums = written.and_unchanged_in(folder).to_string();
    paths::write(&folder.join(SUMS_FILE), &sums)?;
    let signature = folder.join(SIGNATURE_FILE);
    match key {
        Some(key) => paths::write(&signature, key.sign(&sums, &format!("wireproof report of run {run}"))?),
        None => remove(&signature),
    }
}

/// A signature over sums that are no more would only look like forgery.
fn remove(path: &PathBuf) -> anyhow::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove the outdated {}", path.display()))
        }
        _ => Ok(()),
    }
}

/// `wireproof report --check DIR`: a line for each file that is not as it was written.
pub(super) fn check(folder: &Path, key: Option<&Path>, common: &Common) -> anyhow::Result<Exit> {
    let key = key.map(read).transpose()?;
    let findings: Vec<String> = seal::check(folder, key.as_deref())?.iter().map(ToString::to_string).collect();
    if common.json {
        print_json(
            &serde_json::json!({ "in_order": findings.is_empty(), "signed_by_key": key.is_some() && findings.is_empty(), "findings": findings }),
        )?;
    } else if findings.is_empty() {
        let signature = match key {
            Some(_) => "the signature is that of the key".to_owned(),
            None => "no signature was verified (give the public key with --key)".to_owned(),
        };
        print(&format!("Every file is as it was written; {signature}.\n"))?;
    } else {
        print(&findings.iter().map(|finding| format!("{finding}\n")).collect::<String>())?;
    }
    Ok(if findings.is_empty() { Exit::Done } else { Exit::Failed })
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read the key {}", path.display()))
}
