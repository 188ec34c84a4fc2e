//! Whether a folder still holds what its list of sums says, and who says so.

use std::{
    collections::BTreeSet,
    fmt, fs,
    path::{Component, Path},
};

use crate::{SIGNATURE_FILE, SUMS_FILE, SealError, Sum, Sums, sha256, sign};

/// What is wrong with a folder: one thing about one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// A file is not as it was.
    Changed(String),
    /// A listed file is not there, or cannot be read.
    Missing(String),
    /// A listed name leads out of the folder, or to something that is no file.
    NotAFile(String),
    /// A file that the list does not know.
    Unlisted(String),
    /// There is a key to verify with, but no signature.
    NotSigned,
    /// The signature is not that key's over this list.
    BadSignature(String),
}

/// Looks at each listed file, at files that are not listed, and, with a public key (the text of its file), at the
/// signature. Nothing found means that all is as it was written.
pub fn check(folder: &Path, key: Option<&str>) -> Result<Vec<Finding>, SealError> {
    let path = folder.join(SUMS_FILE);
    let text = fs::read_to_string(&path).map_err(|source| SealError::Unreadable { path, source })?;
    let sums = Sums::parse(&text)?;
    let mut findings = signature(folder, &text, key)?;
    findings.extend(sums.0.iter().filter_map(|sum| listed(folder, sum)));
    let known: BTreeSet<&str> = sums.0.iter().map(|sum| sum.name.as_str()).chain([SUMS_FILE, SIGNATURE_FILE]).collect();
    let there = names(folder, "")?;
    findings.extend(there.into_iter().filter(|name| !known.contains(name.as_str())).map(Finding::Unlisted));
    Ok(findings)
}

fn signature(folder: &Path, sums: &str, key: Option<&str>) -> Result<Vec<Finding>, SealError> {
    let Some(key) = key else { return Ok(vec![]) };
    let Ok(signature) = fs::read_to_string(folder.join(SIGNATURE_FILE)) else { return Ok(vec![Finding::NotSigned]) };
    Ok(sign::verify(sums, &signature, key)?.err().map(Finding::BadSignature).into_iter().collect())
}

/// The list may come from somebody else: it must not make us read what lies elsewhere.
pub(crate) fn listed(folder: &Path, Sum { name, sha256: sum }: &Sum) -> Option<Finding> {
    let path = folder.join(name);
    let is_inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    if !is_inside {
        return Some(Finding::NotAFile(name.clone()));
    }
    match fs::symlink_metadata(&path).and_then(|about| about.is_file().then(|| fs::read(&path)).transpose()) {
        Ok(None) => Some(Finding::NotAFile(name.clone())),
        Ok(Some(content)) if sha256(&content) == *sum => None,
        Ok(Some(_)) => Some(Finding::Changed(name.clone())),
        Err(_) => Some(Finding::Missing(name.clone())),
    }
}

/// Every file below the folder, relative to it, in order; links are not followed.
fn names(folder: &Path, prefix: &str) -> Result<Vec<String>, SealError> {
    let error = |source| SealError::Unreadable { path: folder.to_owned(), source };
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(error)? {
        let entry = entry.map_err(error)?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type().map_err(error)?.is_dir() {
            names.extend(self::names(&entry.path(), &format!("{name}/"))?);
        } else {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed(name) => write!(f, "{name}: changed since it was written"),
            Self::Missing(name) => write!(f, "{name}: missing, or not readable"),
            Self::NotAFile(name) => write!(f, "{name}: not a file of this folder"),
            Self::Unlisted(name) => write!(f, "{name}: not in {SUMS_FILE}, so that nothing vouches for it"),
            Self::NotSigned => write!(f, "{SIGNATURE_FILE}: missing, the report is not signed"),
            Self::BadSignature(why) => write!(f, "{SIGNATURE_FILE}: not this key's signature over {SUMS_FILE}: {why}"),
        }
    }
}
