//! Processes that have no grant: they need none, like those with TCP alone, or were refused. They write down their sockets on a page that is
//! the launcher's as long as it lives, and have that by a name of its own.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use model::bypass::{Outside, Program, Record};
use rustix::net::{SocketFlags, accept_with};

use super::programs;
use crate::{Control, NoGrant, control::SOCKETS, handover};

/// The page of a launcher, by the name of its socket: a program writes down there what it has no grant for.
///
/// # Errors
/// Where there is no such launcher in this network namespace, or it did not start this process.
pub fn page(launcher: &str) -> Result<Control, NoGrant> {
    let connection = handover::connected(&name(launcher)).map_err(NoGrant::NoLauncher)?;
    handover::borrow(&connection).map_err(|error| NoGrant::Unusable(error.to_string()))
}

/// What the launcher listens on for those that ask for the page.
pub(super) fn name(launcher: &str) -> Vec<u8> {
    [launcher.as_bytes(), b"-sockets"].concat()
}

/// Lends the page.
pub(super) struct Lender {
    listener: OwnedFd,
    page: Control,
    /// Who has it, as far as there are lines for them.
    programs: Vec<Program>,
}

impl Lender {
    pub(super) fn new(listener: OwnedFd, page: Control) -> Self {
        Self { listener, page, programs: Vec::new() }
    }

    /// Becomes readable when somebody asks.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// Lends it to who asks, if that is one of our own programs.
    pub(super) fn answer(&mut self) {
        let Ok(connection) = accept_with(&self.listener, SocketFlags::CLOEXEC) else { return };
        let Some(program) = programs::at_other_end(&connection).ok().filter(|it| programs::is_ours(it.process)) else {
            return;
        };
        // Who has gone meanwhile needs no answer.
        if handover::lend(&connection, &self.page).is_ok() && self.programs.len() < SOCKETS {
            self.programs.push(program);
        }
    }

    /// All that was written, process by process.
    pub(super) fn written(&self) -> Vec<Outside> {
        let mut all: Vec<Outside> = Vec::new();
        for record in self.page.records() {
            match all.iter_mut().find(|it| it.program.process == record.process) {
                Some(of_process) => of_process.sockets.push(record),
                None => all.push(Outside { program: self.program(&record), sockets: vec![record] }),
            }
        }
        all
    }

    /// How many sockets came after those.
    pub(super) fn beyond(&self) -> u32 {
        self.page.beyond().count
    }

    /// Who wrote it; in a PID namespace of its own it has another number here, and no name that we know.
    fn program(&self, record: &Record) -> Program {
        let known = self.programs.iter().rev().find(|program| program.process == record.process);
        known.cloned().unwrap_or(Program { process: record.process, name: "a process".to_owned() })
    }
}
