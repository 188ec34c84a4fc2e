//! Failures of sums, keys and signatures.

use std::{io, path::PathBuf};

use model::plain::one_line;

/// A failure: the attempt, and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// A file that has to be there cannot be read.
    #[error("cannot read {}: {source}; name a folder that \"wireproof report\" wrote", one_line(&path.to_string_lossy()))]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// Message of the system.
        source: io::Error,
    },
    /// The list of sums is none.
    #[error("SHA256SUMS, line {line}: {why}; the list was changed or is not one that \"sha256sum -c\" reads")]
    Sums {
        /// Counts from 1.
        line: usize,
        /// The fault.
        why: &'static str,
    },
    /// The secret key is none.
    #[error("not a minisign secret key: {why}; \"minisign -G\" makes one")]
    SecretKey {
        /// The fault.
        why: String,
    },
    /// The password does not open the secret key.
    #[error("the password does not open the secret key; try again, or set WIREPROOF_KEY_PASSWORD to the right one")]
    Password,
    /// The public key is none.
    #[error("not a minisign public key: {why}; it is the file that \"minisign -G\" wrote as minisign.pub")]
    PublicKey {
        /// The fault.
        why: String,
    },
    /// The signature could not be made.
    #[error("cannot sign: {why}")]
    Sign {
        /// Message of the library.
        why: String,
    },
}
