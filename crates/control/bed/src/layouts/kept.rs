//! `NAME`: a bed made by `bed up`.

use super::ReferenceError;
use crate::{
    error::BedError,
    machine::Machine,
    wanted::{BedRef, LaidOut, Layout, Rights, Wanted},
};

/// Short enough for names of namespaces; its ledger file needs no quoting.
const LONGEST_NAME: usize = 20;

struct Kept {
    name: String,
}

pub(super) fn parse(text: &str) -> Result<BedRef, ReferenceError> {
    check_name(text).map(|()| BedRef::new(text, Kept { name: text.to_owned() }))
}

/// Checks a name for a bed that is to be kept.
pub fn check_name(name: &str) -> Result<(), ReferenceError> {
    let fits = name.len() <= LONGEST_NAME
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        && name != "lab";
    if fits { Ok(()) } else { Err(ReferenceError::Name(name.to_owned())) }
}

impl Layout for Kept {
    fn rights(&self) -> Rights {
        Rights::Root(format!("bed \"{}\" belongs to root", self.name))
    }

    fn stands(&self) -> bool {
        true
    }

    fn lay_out(&self, _: &str, wanted: &Wanted, machines: &mut [Machine]) -> Result<LaidOut, BedError> {
        let bed = machines[0].bed(&self.name)?;
        match (wanted.mtu, bed.endpoints.first()) {
            (Some(asked), Some(end)) if end.mtu != asked => {
                Err(BedError::OtherMtu { bed: bed.name, has: end.mtu.0, asked: asked.0 })
            }
            _ => Ok(LaidOut::Standing(Box::new(bed))),
        }
    }
}
