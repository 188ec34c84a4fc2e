//! Whether a folder still holds what its list of sums says, and who says so.

use std::{
    collections::BTreeSet,
    fmt, fs, io,
    path::{Component, Path},
};

use kernel::file::{open_no_link, read_regular};
use model::plain::one_line;

use crate::{SIGNATURE_FILE, SUMS_FILE, SealError, Sum, Sums, sign, sums::sha256_of};

/// Bytes of a list of sums: thousands of files.
const LONGEST: u64 = 1 << 20;

/// A fault of a folder: one thing about one file.
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
    /// The list names no file at all.
    Empty,
    /// There is a key to verify with, but no signature.
    NotSigned,
    /// The signature is not that key's over this list.
    BadSignature(String),
}

/// Outcome of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Faults; none means that all agrees with the list.
    pub findings: Vec<Finding>,
    /// Comment of the signer in the signature, where that is the key's over this list. Whatever else was found, the list is
    /// then as it was signed.
    pub signed: Option<String>,
}

/// Looks at each listed file, at files that are not listed, and, with a public key (the text of its file), at the
/// signature. Without a signature that holds, the list itself may be anybody's.
pub fn check(folder: &Path, key: Option<&str>) -> Result<Checked, SealError> {
    let path = folder.join(SUMS_FILE);
    let text = short_text(&path).map_err(|source| SealError::Unreadable { path, source })?;
    let sums = Sums::parse(&text)?;
    let (signed, bad) = match key.map(|key| signature(folder, &text, key)).transpose()? {
        None => (None, None),
        Some(Ok(comment)) => (Some(comment), None),
        Some(Err(bad)) => (None, Some(bad)),
    };
    let empty = sums.0.is_empty().then_some(Finding::Empty);
    let listed = sums.0.iter().filter_map(|sum| listed(folder, sum));
    let unlisted = others(folder, sums.0.iter().map(|sum| sum.name.as_str()))?.into_iter().map(Finding::Unlisted);
    Ok(Checked { findings: bad.into_iter().chain(empty).chain(listed).chain(unlisted).collect(), signed })
}

impl Sums {
    /// These, and those of the folder's list for files that are still as that says.
    pub fn and_unchanged_in(mut self, folder: &Path) -> Self {
        let earlier = short_text(&folder.join(SUMS_FILE)).ok().and_then(|text| Self::parse(&text).ok());
        let is_new = |sum: &Sum| self.0.iter().all(|known| known.name != sum.name);
        let still = |sum: &Sum| is_new(sum) && listed(folder, sum).is_none();
        let kept: Vec<Sum> = earlier.unwrap_or_default().0.into_iter().filter(still).collect();
        self.0.extend(kept);
        self
    }
}

/// Files below the folder that have none of these names, and are neither a list of sums nor the signature over one. None where
/// there is no folder.
pub fn others<'a>(folder: &Path, known: impl Iterator<Item = &'a str>) -> Result<Vec<String>, SealError> {
    if !folder.exists() {
        return Ok(vec![]);
    }
    let known: BTreeSet<&str> = known.chain([SUMS_FILE, SIGNATURE_FILE]).collect();
    Ok(names(folder, "")?.into_iter().filter(|name| !known.contains(name.as_str())).collect())
}

/// Comment of the signer, or the fault.
fn signature(folder: &Path, sums: &str, key: &str) -> Result<Result<String, Finding>, SealError> {
    let Ok(signature) = short_text(&folder.join(SIGNATURE_FILE)) else { return Ok(Err(Finding::NotSigned)) };
    Ok(sign::verify(sums, &signature, key)?.map_err(Finding::BadSignature))
}

/// The list may come from somebody else: it must not make us read what lies elsewhere.
fn listed(folder: &Path, Sum { name, sha256: sum }: &Sum) -> Option<Finding> {
    let path = folder.join(name);
    let is_inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    if !is_inside {
        return Some(Finding::NotAFile(name.clone()));
    }
    match open_no_link(&path).and_then(|file| file.map(sha256_of).transpose()) {
        Ok(None) => Some(Finding::NotAFile(name.clone())),
        Ok(Some(found)) if found == *sum => None,
        Ok(Some(_)) => Some(Finding::Changed(name.clone())),
        Err(_) => Some(Finding::Missing(name.clone())),
    }
}

/// A list of sums or a signature; a regular file of their length, and nothing that could be read without end.
fn short_text(path: &Path) -> io::Result<String> {
    let content = read_regular(path, LONGEST)?;
    let content = content.ok_or_else(|| io::Error::other(format!("no file of {LONGEST} bytes or less")))?;
    String::from_utf8(content).map_err(|_| io::Error::other("no text"))
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
    /// Names may come from somebody else: what would steer a terminal is written out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed(name) => write!(f, "{}: not as {SUMS_FILE} says", one_line(name)),
            Self::Missing(name) => write!(f, "{}: missing, or not readable", one_line(name)),
            Self::NotAFile(name) => write!(f, "{}: not a file of this folder", one_line(name)),
            Self::Unlisted(name) => write!(f, "{}: not in {SUMS_FILE}, so that nothing vouches for it", one_line(name)),
            Self::Empty => write!(f, "{SUMS_FILE}: names no file, so that it vouches for nothing"),
            Self::NotSigned => write!(f, "{SIGNATURE_FILE}: missing, the report is not signed"),
            Self::BadSignature(why) => {
                write!(f, "{SIGNATURE_FILE}: not this key's signature over {SUMS_FILE}: {}", one_line(why))
            }
        }
    }
}
