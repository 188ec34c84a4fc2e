//! The one error of this crate.

use std::{fmt::Display, io};

/// A system call that failed: which, on what, and why.
#[derive(Debug, thiserror::Error)]
#[error("{call} on {what}: {io}")]
pub struct Error {
    call: &'static str,
    what: String,
    // Not a `source`: it is part of the message, and would be shown twice.
    io: io::Error,
}

/// What this crate returns.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The kind of failure.
    pub fn io_kind(&self) -> io::ErrorKind {
        self.io.kind()
    }

    /// What the call was about.
    pub fn object(&self) -> &str {
        &self.what
    }

    /// Whether it failed because what it was about is not there (any more).
    pub fn says_gone(&self) -> bool {
        // ESRCH is what a route says.
        const GONE: [i32; 4] = [libc::ENOENT, libc::ENODEV, libc::EADDRNOTAVAIL, libc::ESRCH];
        self.errno().is_some_and(|errno| GONE.contains(&errno))
    }

    pub(crate) fn errno(&self) -> Option<i32> {
        self.io.raw_os_error()
    }
}

/// Says which call failed, and on what.
pub(crate) trait On<T> {
    fn on(self, call: &'static str, what: impl Display) -> Result<T>;
}

impl<T, E: Into<io::Error>> On<T> for std::result::Result<T, E> {
    fn on(self, call: &'static str, what: impl Display) -> Result<T> {
        self.map_err(|error| Error { call, what: what.to_string(), io: error.into() })
    }
}

/// An argument or an answer that cannot be right, as the error of the call it belongs to.
pub(crate) fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_call_object_and_cause() {
        let failed: io::Result<()> = Err(io::Error::from_raw_os_error(1));
        let error = failed.on("setns", "namespace wpx-a").expect_err("it failed");
        assert_eq!(error.to_string(), "setns on namespace wpx-a: Operation not permitted (os error 1)");
        assert_eq!(error.io_kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(error.errno(), Some(1));
    }
}
