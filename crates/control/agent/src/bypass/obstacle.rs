//! Why a program cannot be taken past the kernel, as far as that can be known before it starts.

use std::{
    env,
    ffi::{OsStr, OsString},
    fmt,
    fs::{self, File},
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use object::ReadCache;

use super::image::Image;

/// Interpreters of interpreters, as many as the kernel follows.
const MOST_SCRIPTS: usize = 5;

/// A program that no library can be put under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// The file.
    pub program: PathBuf,
    /// Why.
    pub kind: Kind,
}

/// What is in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It has no libraries.
    Static,
    /// It is of the Go compiler.
    Go,
    /// It takes another user's or group's rights when it starts.
    SetId,
    /// It is for another machine, or of 32 bits.
    OtherMachine,
    /// It has another C library.
    OtherLibc,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.kind {
            Kind::Static => "is linked statically, so that no library can be put under its calls",
            Kind::Go => "is a Go program, which calls the kernel by itself and not through the C library",
            Kind::SetId => {
                "takes another user's rights when it starts (set-user-ID, set-group-ID), and the loader then takes \
                 no library from outside (ld.so(8), secure-execution mode)"
            }
            Kind::OtherMachine => "is for another kind of machine, or of 32 bits; the library is of 64",
            Kind::OtherLibc => "has another C library (musl); the library is for glibc",
        };
        write!(f, "{} {why}; its sockets go through the kernel", self.program.display())
    }
}

/// What is in the way of a program, found as a shell would find it; `None` where nothing is known to be.
pub(super) fn of(program: &OsStr, library: &Path) -> Option<Obstacle> {
    let mut path = find(program)?;
    for _ in 0..MOST_SCRIPTS {
        let image = image(&path)?;
        let Image::Script { interpreter, rest } = image else { return judged(path, &image, library) };
        // Set-user-ID counts for nothing on a script.
        path = called_by_env(&interpreter, &rest).unwrap_or(interpreter.into());
    }
    None
}

/// The file that `exec` takes for this name.
fn find(program: &OsStr) -> Option<PathBuf> {
    if program.as_encoded_bytes().contains(&b'/') {
        return Some(program.into());
    }
    let folders = env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/bin:/bin"));
    let is_program =
        |path: &PathBuf| fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0);
    env::split_paths(&folders).map(|folder| folder.join(program)).find(is_program)
}

/// What `/usr/bin/env` starts, by the words behind it.
fn called_by_env(interpreter: &str, rest: &str) -> Option<PathBuf> {
    let words = rest.split_whitespace().filter(|word| !word.starts_with('-') && !word.contains('='));
    if interpreter.ends_with("/env") { find(OsStr::new(words.into_iter().next()?)) } else { None }
}

fn image(path: &Path) -> Option<Image> {
    Some(Image::read(&ReadCache::new(File::open(path).ok()?)))
}

fn judged(program: PathBuf, image: &Image, library: &Path) -> Option<Obstacle> {
    let kind = match image {
        Image::Program { machine, .. } if !is_of_machine(*machine, library) => Kind::OtherMachine,
        Image::Program { go: true, .. } => Kind::Go,
        Image::Program { loader: None, .. } => Kind::Static,
        Image::Program { loader: Some(loader), .. } if loader.contains("ld-musl") => Kind::OtherLibc,
        Image::Program { .. } if takes_rights(&program) => Kind::SetId,
        Image::Other if is_elf(&program) => Kind::OtherMachine,
        _ => return None,
    };
    Some(Obstacle { program, kind })
}

/// Where the library cannot be read, that is said elsewhere.
fn is_of_machine(machine: u16, library: &Path) -> bool {
    match image(library) {
        Some(Image::Program { machine: ours, .. }) => machine == ours,
        _ => true,
    }
}

fn is_elf(path: &Path) -> bool {
    fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"\x7fELF"))
}

/// Whether the loader is told that it must not trust the caller's environment. Capabilities of a file add nothing to those that root has.
fn takes_rights(path: &Path) -> bool {
    const SET_USER: u32 = 0o4000;
    const SET_GROUP: u32 = 0o2010;
    let Ok(file) = fs::metadata(path) else { return false };
    let (user, group) = kernel::privilege::effective();
    file.mode() & SET_USER != 0 && file.uid() != user || file.mode() & SET_GROUP == SET_GROUP && file.gid() != group
}
