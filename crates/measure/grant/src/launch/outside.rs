//! Processes without a grant: TCP-only programs, or refused ones. They record their sockets on a page of the
//! launcher's.
//!
//! The page lives as long as the launcher and has a socket name of its own.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

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
}

impl PageServer {
    pub(super) fn new(listener: OwnedFd, page: Control) -> Self {
        Self { listener, page, programs: Vec::new() }
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

    /// All records, by process.
    pub(super) fn written(&self) -> Vec<UngrantedSockets> {
        let mut all: Vec<UngrantedSockets> = Vec::new();
        for record in self.page.records() {
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
