//! Why a socket stays with the kernel.

/// Why a socket stays with the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// Nothing was granted.
    #[error("no interface was granted")]
    NoGrant,
}
