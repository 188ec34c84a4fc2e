//! The report as PDF. A program beside this one sets it: what that is made of takes longer to build than all the rest, and
//! neither agents nor whoever runs as root need it.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use anyhow::{Context, bail};
use kernel::privilege;
use model::Typeset;

use crate::commands::own_program;

const PROGRAM: &str = "wireproof-pdf";

/// Refuses a PDF before the measurement if the program that sets it is missing.
pub(in crate::commands) fn check(wanted: bool) -> anyhow::Result<()> {
    if wanted { program().map(drop) } else { Ok(()) }
}

/// The document as a PDF.
pub(in crate::commands) fn set(typeset: &Typeset) -> anyhow::Result<Vec<u8>> {
    let said = run(&program()?, &serde_json::to_vec(typeset)?).context("cannot write the report as PDF")?;
    if said.status.success() {
        return Ok(said.stdout);
    }
    bail!("cannot write the report as PDF: {} ({})", String::from_utf8_lossy(&said.stderr).trim_end(), said.status)
}

fn program() -> anyhow::Result<PathBuf> {
    let beside = own_program()?.with_file_name(PROGRAM);
    if beside.is_file() {
        return Ok(beside);
    }
    bail!("a PDF needs {}, which is not there; ./x build makes it, and --format html,md does without", beside.display())
}

/// It reads all of its input before it writes.
fn run(program: &Path, input: &[u8]) -> anyhow::Result<Output> {
    let mut command = Command::new(program);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // It sets words and photos of others.
    privilege::run_as_sudo_user(&mut command);
    let mut child = command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
    // One that ends before it has read everything says why on standard error.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(input));
    Ok(child.wait_with_output()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_stops_half_way_says_why() {
        let said = run(Path::new("/bin/false"), &vec![0; 1 << 20]).unwrap();
        assert!(!said.status.success());
        let gone = run(Path::new("/nowhere/wireproof-pdf"), b"").unwrap_err().to_string();
        assert!(gone.contains("cannot start /nowhere/wireproof-pdf"), "{gone}");
    }
}
