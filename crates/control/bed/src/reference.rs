//! What is written after `--bed`.

use std::{fmt, str::FromStr};

use crate::hosts::{Hosts, HostsReferenceError};

/// A bed to make for this run, or one that stands already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BedRef {
    /// Two namespaces and a veth pair, made for this run.
    Lab,
    /// A bed that `bed up` made.
    Named(String),
    /// This machine and another one.
    Hosts(Box<Hosts>),
}

/// Text that names no bed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// A kind of bed that this version cannot make.
    #[error(
        "this version has no bed \"{0}\"; use lab (two namespaces on this machine), hosts:ssh://[USER@]HOST?dev=INTERFACE \
         (this machine and another one), or the name of a bed made with \"wireproof bed up NAME\""
    )]
    Unknown(String),
    /// Not a name.
    #[error("\"{0}\" cannot name a bed: use 1 to 20 of a-z, 0-9 and -, beginning with a letter, and not \"lab\"")]
    Name(String),
    /// Not two machines.
    #[error(transparent)]
    Hosts(#[from] HostsReferenceError),
}

/// Namespace names made from it stay short enough to read, and its ledger file needs no quoting.
const LONGEST_NAME: usize = 20;

impl BedRef {
    /// A name for a bed that is to be kept.
    pub fn check_name(name: &str) -> Result<(), ReferenceError> {
        let fits = name.len() <= LONGEST_NAME
            && name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
            && name != "lab";
        if fits { Ok(()) } else { Err(ReferenceError::Name(name.to_owned())) }
    }
}

impl FromStr for BedRef {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, ReferenceError> {
        match text {
            "lab" => Ok(Self::Lab),
            hosts if hosts.starts_with(Hosts::SCHEME) => Ok(Self::Hosts(Box::new(hosts.parse()?))),
            kind if kind.contains(':') => Err(ReferenceError::Unknown(kind.to_owned())),
            name => Self::check_name(name).map(|()| Self::Named(name.to_owned())),
        }
    }
}

impl fmt::Display for BedRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lab => f.write_str("lab"),
            Self::Named(name) => f.write_str(name),
            Self::Hosts(hosts) => hosts.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beds_are_named_or_made() {
        assert_eq!("lab".parse(), Ok(BedRef::Lab));
        assert_eq!("rack-7".parse(), Ok(BedRef::Named("rack-7".into())));
        assert!(matches!("ports:eth1,eth2".parse::<BedRef>(), Err(ReferenceError::Unknown(_))));
        for wrong in ["", "7rack", "Rack", "a/b", "a b", "far-too-long-a-name-for-a-bed"] {
            assert!(matches!(wrong.parse::<BedRef>(), Err(ReferenceError::Name(_))), "{wrong}");
        }
    }
}
