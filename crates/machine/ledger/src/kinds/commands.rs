//! Programs of other packages that changes are made by.

use std::{
    io,
    path::{Path, PathBuf},
    process::{Child, ExitStatus},
    thread,
    time::{Duration, Instant},
};

use crate::failure::Failure;

/// Folders of these programs.
pub(super) const FOLDERS: [&str; 4] = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"];

/// Time for one of these programs to finish, or to be ready as a daemon. It is longer than that of a configuration of Open vSwitch, which
/// names its cause.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// Interval of the checks whether a program has finished.
const PAUSE: Duration = Duration::from_millis(10);

/// The file of a program; where it is missing, the error says what to do.
pub(super) fn path_of(program: &str, remedy: &str) -> Result<PathBuf, Failure> {
    let found = FOLDERS.iter().map(|folder| Path::new(folder).join(program)).find(|path| path.is_file());
    found
        .ok_or_else(|| Failure::Program { command: program.to_owned(), said: format!("it is not installed; {remedy}") })
}

/// Waits for a program to finish; `None` if it had to be ended.
pub(super) fn finished(mut child: Child, patience: Duration) -> io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    while begun.elapsed() < patience {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(PAUSE);
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// Words for a program that had to be ended.
pub(super) fn too_slow() -> String {
    let seconds = PATIENCE.as_secs();
    format!(
        "it did not finish within {seconds} seconds and was ended; look at the load of the machine (\"top\"), and try again"
    )
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_program_that_does_not_finish_is_ended() {
        let start = |seconds: &str| Command::new("sleep").arg(seconds).spawn().expect("a program");
        let child = start("60");
        let pid = child.id();
        assert!(finished(child, Duration::from_millis(50)).expect("ours").is_none());
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
        assert!(finished(start("0"), PATIENCE).expect("ours").is_some_and(|status| status.success()));
    }

    #[test]
    fn a_missing_program_is_named_with_its_remedy() {
        let error = path_of("no-such-program", "install it").expect_err("nobody has it").to_string();
        assert_eq!(error, "\"no-such-program\" does not work: it is not installed; install it");
    }
}
