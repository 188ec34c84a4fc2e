//! Packet filters of a device under test, by nft.

use std::{
    io::{Read, Write},
    process::{Command, Stdio},
};

use model::change::Filters;

use super::{
    Kind,
    commands::{PATIENCE, finished, path_of, too_slow},
    undo_in, within,
};
use crate::{failure::Failure, record::Namespaces};

const NFT: &str = "nft";

/// Advice where it is missing.
const PACKAGE: &str = "install the package nftables, or leave the modifiers with filters out";

impl Kind for Filters {
    type Before = ();

    const BEFORE: &'static str = "absent";

    fn namespaces(&self) -> Vec<&str> {
        vec![&self.namespace]
    }

    /// Lists all tables: a failure to list them is no sign that ours is absent.
    fn read(&self) -> Result<Option<()>, Failure> {
        match is_there(self)? {
            false => Ok(Some(())),
            true => Err(Failure::AlreadyExists {
                what: format!("nft table {} in {}", self.table(), self.namespace),
                remove: format!("ip netns exec {} nft delete table {}", self.namespace, self.table()),
            }),
        }
    }

    fn make(&self, (): ()) -> Result<(), Failure> {
        nft(self, &["-f", "-"], &self.ruleset()).map(drop)
    }

    fn undo(&self, (): (), namespaces: &Namespaces) -> Result<bool, Failure> {
        if !undo_in(&self.namespace, namespaces, || Ok(()))? || !is_there(self)? {
            return Ok(false);
        }
        nft(self, &["-f", "-"], &format!("delete table {}\n", self.table())).map(|_| true)
    }
}

/// Whether the table is there.
fn is_there(filters: &Filters) -> Result<bool, Failure> {
    let tables = nft(filters, &["list", "tables"], "")?;
    let ours = format!("table {}", filters.table());
    Ok(tables.lines().any(|line| line.trim() == ours))
}

/// Output of nft in the namespace, without our environment.
fn nft(filters: &Filters, words: &[&str], input: &str) -> Result<String, Failure> {
    let failed = |said: String| Failure::Program { command: format!("{NFT} {}", words.join(" ")), said };
    let mut command = Command::new(path_of(NFT, PACKAGE)?);
    command.args(words).env_clear().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let started = within(&filters.namespace, || Ok(command.spawn()))?;
    let run = |mut child: std::process::Child| {
        // Less than a pipe holds, each of them. Where nft ends before it reads, its own words say more than the broken pipe.
        let written = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(input.as_bytes()));
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let status = finished(child, PATIENCE)?;
        let (mut said, mut errors) = (String::new(), String::new());
        out.map_or(Ok(0), |mut out| out.read_to_string(&mut said))?;
        err.map_or(Ok(0), |mut err| err.read_to_string(&mut errors))?;
        if status.is_some_and(|status| status.success()) {
            written?;
        }
        Ok((status, said, errors))
    };
    match started.and_then(run) {
        Ok((Some(status), said, _)) if status.success() => Ok(said),
        Ok((Some(_), _, errors)) => Err(failed(errors.trim().to_owned())),
        Ok((None, ..)) => Err(failed(too_slow())),
        Err(io) => Err(failed(io.to_string())),
    }
}
