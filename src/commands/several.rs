//! Several runs of one plan. Those that are stored are named where the last one is not reached.

use model::Run;
use report::Notice;

use super::language;
use crate::{
    cli::Common,
    exit::{Exit, explain},
    output::say,
};

/// The end of several runs before the last one. Its errors are explained where they arise, so that the first stands first.
#[derive(Debug)]
pub(super) struct Ended(pub(super) Exit);

impl<E: Into<anyhow::Error>> From<E> for Ended {
    fn from(error: E) -> Self {
        Self(explain(&error.into()))
    }
}

/// Names of the stored runs.
pub(super) struct Several<'a> {
    /// The command that shows them together.
    command: &'static str,
    common: &'a Common,
    stored: Vec<String>,
}

impl<'a> Several<'a> {
    pub(super) fn shown_by(command: &'static str, common: &'a Common) -> Self {
        Self { command, common, stored: Vec::new() }
    }

    /// Keeps the name of a stored run, and what sets it apart from the others.
    pub(super) fn keep(&mut self, run: &Run, apart: Option<&str>) {
        let apart = apart.map(|apart| format!("{apart}: ")).unwrap_or_default();
        self.stored.push(format!("{apart}{}", run.id));
    }

    /// Names them, and the command that shows them together.
    pub(super) fn tell(&self) {
        if !self.stored.is_empty() {
            let runs = self.stored.join(", ");
            say(&Notice::RunsStored { runs: &runs, command: self.command }.text(language(self.common)));
        }
    }
}
