//! Beds that outlive the program.

use std::path::Path;

use model::Bed;
use protocol::Cleaned;

use crate::{
    error::BedError,
    machine::Machine,
    make::{ConnectedBed, make},
    topology::dut_namespace,
    wanted::Wanted,
};

/// Makes a bed of this name and keeps it.
pub fn up(name: &str, wanted: &Wanted) -> Result<Bed, BedError> {
    let mut here = Machine::here(&wanted.program)?;
    if here.beds()?.iter().any(|bed| bed.name == name) {
        return Err(BedError::Exists(name.to_owned()));
    }
    let ConnectedBed { bed, mut machines, .. } = make(here, name, name, wanted)?;
    machines[0].keep(&bed)?;
    Ok(bed)
}

/// Takes a kept bed down; returns what was undone.
pub fn down(name: &str, program: &Path) -> Result<Vec<String>, BedError> {
    let mut here = Machine::here(program)?;
    here.bed(name)?;
    here.take_down(name)
}

/// Kept beds.
pub fn list(program: &Path) -> Result<Vec<Bed>, BedError> {
    Machine::here(program)?.beds()
}

/// The namespace of one end of a kept bed, or of the device between its ends.
pub fn namespace_of(name: &str, endpoint: &str, program: &Path) -> Result<String, BedError> {
    let bed = Machine::here(program)?.bed(name)?;
    let device = bed.dut.iter().zip(dut_namespace(&bed)).map(|(device, namespace)| (device.machine.clone(), namespace));
    let ends = bed.endpoints.iter().map(|end| (end.name.clone(), end.namespace.clone()));
    let (names, namespaces): (Vec<String>, Vec<String>) = ends.chain(device).unzip();
    match names.iter().position(|name| name == endpoint) {
        Some(place) => Ok(namespaces[place].clone()),
        None => Err(BedError::NoSuchEndpoint { bed: bed.name, endpoint: endpoint.to_owned(), names }),
    }
}

/// Undoes the changes of crashed runs.
pub fn clean(program: &Path) -> Result<Cleaned, BedError> {
    Machine::here(program)?.clean()
}
