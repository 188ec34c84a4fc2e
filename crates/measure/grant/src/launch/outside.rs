//! Processes without a grant: TCP-only programs, or refused ones. They record their sockets on a page of the
//! launcher's.
//!
//! The page lives as long as the launcher and has a socket name of its own.

use std::{
    collections::HashSet,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use model::bypass::{Hindrance, Program, Record, Refusal, UngrantedSockets};
use rustix::net::{SocketFlags, accept_with};

use super::programs::{self, NAMELESS};
use crate::{Control, NoGrant, control::SOCKETS, handover};

/// The page of a launcher, by the name of its socket, for records of sockets without a grant.
///
/// # Errors
/// If this network namespace has no such launcher, or it did not start this process.
pub fn page(launcher: &str) -> Result<Control, NoGrant> {
    handover::borrow(&name(launcher))
}

/// Name of the socket for requests of the page.
pub(super) fn name(launcher: &str) -> Vec<u8> {
    [launcher.as_bytes(), b"-sockets"].concat()
}

/// Lends the page.
pub(super) struct PageServer {
    listener: OwnedFd,
    page: Control,
    /// Borrowers, up to the number of slots.
    programs: Vec<Program>,
    /// Records of processes that had a grant later, by process and cookie.
    of_claims: HashSet<(u32, u64)>,
}

impl PageServer {
    pub(super) fn new(listener: OwnedFd, page: Control) -> Self {
        Self { listener, page, programs: Vec::new(), of_claims: HashSet::new() }
    }

    /// Becomes readable on a request.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// Lends the page to a requester if it is one of our programs; returns one that has ended, or no longer waits.
    pub(super) fn answer(&mut self) -> Option<Refusal> {
        let connection = accept_with(&self.listener, SocketFlags::CLOEXEC).ok()?;
        match programs::requester(&connection) {
            Ok(requester) => {
                // A requester that has ended needs no answer.
                if handover::lend(&connection, &self.page).is_ok() && self.programs.len() < SOCKETS {
                    self.programs.push(requester.program);
                }
                None
            }
            // It asked for no queues.
            Err(Refusal { why: Hindrance::NotOurs, .. }) => None,
            Err(refusal) => Some(refusal),
        }
    }

    /// Records of a process from before its grant, which now ends: a later program of that process (`exec`) has others.
    pub(super) fn before_claim(&mut self, process: u32) -> Vec<Record> {
        let records: Vec<Record> = self.records().filter(|record| record.process == process).collect();
        self.of_claims.extend(records.iter().map(|record| (process, record.cookie)));
        records
    }

    fn records(&self) -> impl Iterator<Item = Record> {
        let records = self.page.records().into_iter();
        records.filter(|record| !self.of_claims.contains(&(record.process, record.cookie)))
    }

    /// All records but those of claims, by process.
    pub(super) fn written(&self) -> Vec<UngrantedSockets> {
        let mut all: Vec<UngrantedSockets> = Vec::new();
        for record in self.records() {
            match all.iter_mut().find(|it| it.program.process == record.process) {
                Some(of_process) => of_process.sockets.push(record),
                None => all.push(UngrantedSockets { program: self.program(&record), sockets: vec![record] }),
            }
        }
        all
    }

    /// Number of sockets without a record of their own.
    pub(super) fn beyond(&self) -> u32 {
        self.page.beyond().count
    }

    /// The writer of a record. A process of another PID namespace has another number here, and no known name.
    fn program(&self, record: &Record) -> Program {
        let known = self.programs.iter().rev().find(|program| program.process == record.process);
        known.cloned().unwrap_or(Program { process: record.process, name: NAMELESS.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use model::bypass::Reason;
    use rustix::event::{EventfdFlags, eventfd};

    use super::*;

    #[test]
    fn what_a_process_records_after_its_claim_is_another_programs() {
        let unused = eventfd(0, EventfdFlags::CLOEXEC).expect("a descriptor");
        let mut outside = PageServer::new(unused, Control::new().expect("memory"));
        let own = std::process::id();
        outside.page.note(3, 1, (None, None), Reason::Inherited);
        assert!(outside.before_claim(own + 1).is_empty(), "another process");
        assert_eq!(outside.before_claim(own).iter().map(|record| record.cookie).collect::<Vec<_>>(), [1]);
        outside.page.note(4, 2, (None, None), Reason::NoGrant);
        let after: Vec<_> = outside.written().into_iter().flat_map(|it| it.sockets).collect();
        assert_eq!(after.iter().map(|record| record.cookie).collect::<Vec<_>>(), [2]);
    }
}
