//! The error type of this crate.

use std::{fmt::Display, io};

/// A failed system call: its name, its object and the cause.
#[derive(Debug, thiserror::Error)]
#[error("{call} on {what}: {io}{}", if call.starts_with("send") { packet_filter_advice(io) } else { "" })]
pub struct Error {
    call: &'static str,
    what: String,
    // Not a `source`: it is part of the message, and would be shown twice.
    io: io::Error,
}

/// Advice for a send that was not permitted: the kernel gives this error for packets that a filter at the output drops.
pub fn packet_filter_advice(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EPERM) => "; a packet filter of this end drops the packets (see \"nft list ruleset\")",
        _ => "",
    }
}

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The kind of failure.
    pub fn io_kind(&self) -> io::ErrorKind {
        self.io.kind()
    }

    /// The object of the call.
    pub fn object(&self) -> &str {
        &self.what
    }

    /// Whether it failed because its object does not exist (any more).
    pub fn says_gone(&self) -> bool {
        // ESRCH is the error for a missing route.
        const GONE: [i32; 4] = [libc::ENOENT, libc::ENODEV, libc::EADDRNOTAVAIL, libc::ESRCH];
        self.errno().is_some_and(|errno| GONE.contains(&errno))
    }

    pub(crate) fn errno(&self) -> Option<i32> {
        self.io.raw_os_error()
    }
}

/// Adds the failed call and its object to an error.
pub(crate) trait On<T> {
    fn on(self, call: &'static str, what: impl Display) -> Result<T>;
}

impl<T, E: Into<io::Error>> On<T> for std::result::Result<T, E> {
    fn on(self, call: &'static str, what: impl Display) -> Result<T> {
        self.map_err(|error| Error { call, what: what.to_string(), io: error.into() })
    }
}

/// An invalid argument or answer, as the error of its call.
pub(crate) fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_send_that_is_not_permitted_names_the_packet_filter() {
        let not_permitted = || Err::<(), _>(io::Error::from_raw_os_error(libc::EPERM));
        let error = not_permitted().on("sendmmsg", "a socket").unwrap_err().to_string();
        assert!(error.ends_with("(see \"nft list ruleset\")"), "{error}");
        assert!(!not_permitted().on("setns", "x").unwrap_err().to_string().contains("nft"));
    }

    #[test]
    fn an_error_names_call_object_and_cause() {
        let failed: io::Result<()> = Err(io::Error::from_raw_os_error(1));
        let error = failed.on("setns", "namespace wpx-a").expect_err("it failed");
        assert_eq!(error.to_string(), "setns on namespace wpx-a: Operation not permitted (os error 1)");
        assert_eq!(error.io_kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(error.errno(), Some(1));
    }
}
