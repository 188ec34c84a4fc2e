//! Environment of the program.

use std::{
    env,
    ffi::{CStr, OsStr, OsString},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use grant::launch::{LAUNCHER_VARIABLE, WAIT_VARIABLE};
use model::bypass::Wait;

use super::BypassError;

pub(super) struct Environment {
    preload: OsString,
    wait: Wait,
}

/// Checks that the library can be loaded.
pub(super) fn of(library: &Path, wait: Wait) -> Result<Environment, BypassError> {
    if !library.is_file() {
        return Err(BypassError::NoLibrary(library.to_owned()));
    }
    let preload = preload(library, env::var_os("LD_PRELOAD")).ok_or(BypassError::LibraryPath(library.to_owned()))?;
    Ok(Environment { preload, wait })
}

impl Environment {
    /// Adds the name of the launcher's socket; without a launcher, nothing, and the program runs unchanged.
    pub(super) fn variables(&self, launcher: Option<&str>) -> Vec<(&'static OsStr, OsString)> {
        let Some(launcher) = launcher else { return Vec::new() };
        let name = |variable: &'static CStr| OsStr::from_bytes(variable.to_bytes());
        vec![
            (OsStr::new("LD_PRELOAD"), self.preload.clone()),
            (name(LAUNCHER_VARIABLE), launcher.into()),
            (name(WAIT_VARIABLE), self.wait.word().into()),
        ]
    }
}

/// The library comes first, so its names take precedence. `None` if the loader would split its path.
fn preload(library: &Path, others: Option<OsString>) -> Option<OsString> {
    let mut value = PathBuf::from(library).into_os_string();
    if value.as_encoded_bytes().iter().any(|byte| byte.is_ascii_whitespace() || *byte == b':') {
        return None;
    }
    if let Some(others) = others.filter(|others| !others.is_empty()) {
        value.push(":");
        value.push(others);
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_comes_first_and_others_stay() {
        let of = |library: &str, others: Option<&str>| preload(Path::new(library), others.map(Into::into));
        assert_eq!(of("/a/x.so", None), Some("/a/x.so".into()));
        assert_eq!(of("/a/x.so", Some("")), Some("/a/x.so".into()));
        assert_eq!(of("/a/x.so", Some("y.so z.so")), Some("/a/x.so:y.so z.so".into()));
        assert_eq!((of("/a b/x.so", None), of("/a:b/x.so", None)), (None, None));
    }
}
