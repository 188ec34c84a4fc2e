//! Files that processes of this machine execute, as the kernel tells of them (fanotify(7)).

use std::{
    ffi::CString,
    fs::File,
    io::{PipeReader, PipeWriter, pipe},
    os::{
        fd::{FromRawFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::Path,
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::{Errno, read},
};

use crate::error::{On, Result};

/// Bytes of an event: its length, a version, a mask, a descriptor and a process (`struct fanotify_event_metadata`).
const EVENT: usize = 24;

/// Executions of files in some file systems.
#[derive(Debug)]
pub struct Executions {
    /// `None` where the kernel does not tell.
    told: Option<OwnedFd>,
    over: PipeReader,
}

/// The end of a wait for executions: dropping it ends the wait.
#[derive(Debug)]
pub struct EndOfExecutions {
    _over: PipeWriter,
}

/// A file that a process begins to execute: a program, a script, or the loader of one.
#[derive(Debug)]
pub struct Execution {
    /// The process.
    pub process: u32,
    /// The file.
    pub file: File,
}

impl Executions {
    /// Watches the file systems of these folders, as far as they are there. Without root of the machine there is nothing to see.
    pub fn watch(folders: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<(Self, EndOfExecutions)> {
        let (over, end) = pipe().on("pipe", "executed files")?;
        let flags = libc::FAN_CLASS_NOTIF | libc::FAN_CLOEXEC | libc::FAN_NONBLOCK;
        let of_files = libc::O_RDONLY | libc::O_CLOEXEC | libc::O_LARGEFILE;
        // SAFETY: it takes no pointer.
        let fd = unsafe { libc::fanotify_init(flags, of_files.cast_unsigned()) };
        // SAFETY: the kernel has just opened it for us alone.
        let told = (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) });
        for folder in folders {
            let Ok(path) = CString::new(folder.as_ref().as_os_str().as_bytes()) else { continue };
            let how = libc::FAN_MARK_ADD | libc::FAN_MARK_FILESYSTEM;
            // SAFETY: a path that ends with NUL, and lives until the call returns. A folder that is not there is left out.
            unsafe { libc::fanotify_mark(fd, how, libc::FAN_OPEN_EXEC, libc::AT_FDCWD, path.as_ptr()) };
        }
        Ok((Self { told, over }, EndOfExecutions { _over: end }))
    }

    /// Waits for executions, for this time at most; returns whether to go on.
    pub fn wait(&self, within: Duration) -> Result<bool> {
        let mut awaited = vec![PollFd::new(&self.over, PollFlags::empty())];
        awaited.extend(self.told.as_ref().map(|told| PollFd::new(told, PollFlags::IN)));
        match poll(&mut awaited, Some(&Timespec::try_from(within).unwrap_or_default())) {
            Ok(_) | Err(Errno::INTR) => Ok(awaited[0].revents().is_empty()),
            Err(error) => Err(error).on("poll", "executed files"),
        }
    }

    /// Executions since the last call, as far as the kernel had room for them. It does not wait.
    pub fn next(&self) -> Result<Vec<Execution>> {
        let Some(fd) = &self.told else { return Ok(Vec::new()) };
        let mut room = [0; 170 * EVENT];
        let length = match read(fd, &mut room[..]) {
            Err(Errno::AGAIN) => 0,
            length => length.on("read", "executed files")?,
        };
        let (mut told, mut rest) = (Vec::new(), &room[..length]);
        while let Some(event) = rest.first_chunk::<EVENT>() {
            let number = |at: usize| i32::from_ne_bytes([event[at], event[at + 1], event[at + 2], event[at + 3]]);
            let (length, fd, process) = (number(0), number(16), number(20));
            // There is no file where the kernel had no room for events.
            if fd >= 0 {
                // SAFETY: the kernel has opened it for this event.
                let file = unsafe { File::from_raw_fd(fd) };
                told.push(Execution { process: process.cast_unsigned(), file });
            }
            rest = rest.get(usize::try_from(length).unwrap_or_default().max(EVENT)..).unwrap_or_default();
        }
        Ok(told)
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::MetadataExt, process::Command};

    use super::*;

    #[test]
    fn a_program_that_ended_at_once_was_executed() {
        let (executions, end) = Executions::watch(["/", "/bin", "/no/such/folder"]).expect("a pipe");
        let mut child = Command::new("/bin/true").spawn().expect("coreutils");
        let process = child.id();
        assert!(child.wait().expect("it ended").success());
        let file = fs::metadata("/bin/true").expect("coreutils");
        assert!(executions.wait(Duration::from_secs(9)).expect("it waits"));
        let told = executions.next().expect("this test needs root");
        let is_it = |it: &Execution| {
            let other = it.file.metadata().expect("an open file");
            it.process == process && (other.dev(), other.ino()) == (file.dev(), file.ino())
        };
        assert!(told.iter().any(is_it), "{told:?}");
        drop(end);
        assert!(!executions.wait(Duration::from_secs(9)).expect("it waits"));
    }
}
