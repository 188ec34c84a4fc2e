//! Beds that stay after the program has ended.

use std::path::Path;

use model::Bed;
use protocol::{Reply, Request};

use crate::{BedError, Wanted, machine::Machine, setup::make};

/// Makes a bed of this name and leaves it standing.
pub fn up(name: &str, wanted: &Wanted) -> Result<Bed, BedError> {
    let mut machine = Machine::here(&wanted.program)?;
    if beds(&mut machine)?.iter().any(|bed| bed.name == name) {
        return Err(BedError::Exists(name.to_owned()));
    }
    let bed = make(&mut machine, name, name, wanted)?;
    machine.ask(Request::Keep { bed: bed.clone() })?;
    Ok(bed)
}

/// Takes a standing bed down; says what was undone.
pub fn down(name: &str, program: &Path) -> Result<Vec<String>, BedError> {
    let mut machine = Machine::here(program)?;
    find(&mut machine, name)?;
    machine.ask(Request::Reopen { owner: name.to_owned() })?;
    undone(&mut machine, Request::UndoAll)
}

/// Beds that stand.
pub fn list(program: &Path) -> Result<Vec<Bed>, BedError> {
    beds(&mut Machine::here(program)?)
}

/// The namespace of one end of a standing bed.
pub fn namespace_of(name: &str, endpoint: &str, program: &Path) -> Result<String, BedError> {
    let bed = find(&mut Machine::here(program)?, name)?;
    let end = bed.endpoints.into_iter().find(|end| end.name == endpoint);
    let missing = || BedError::NoSuchEndpoint { bed: name.to_owned(), endpoint: endpoint.to_owned() };
    end.map(|end| end.namespace).ok_or_else(missing)
}

/// Undoes what a crash left behind; says what.
pub fn clean(program: &Path) -> Result<Vec<String>, BedError> {
    Machine::here(program)?.clean()
}

pub(crate) fn find(machine: &mut Machine, name: &str) -> Result<Bed, BedError> {
    let beds = beds(machine)?;
    let names = beds.iter().map(|bed| bed.name.clone()).collect();
    let found = beds.into_iter().find(|bed| bed.name == name);
    found.ok_or(BedError::NoSuchBed { name: name.to_owned(), beds: names })
}

fn beds(machine: &mut Machine) -> Result<Vec<Bed>, BedError> {
    match machine.ask(Request::ListBeds)? {
        Reply::Beds(beds) => Ok(beds),
        other => Err(machine.confused(&other)),
    }
}

fn undone(machine: &mut Machine, request: Request) -> Result<Vec<String>, BedError> {
    match machine.ask(request)? {
        Reply::Undone(changes) => Ok(changes),
        other => Err(machine.confused(&other)),
    }
}
