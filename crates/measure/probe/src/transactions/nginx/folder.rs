//! The folder that nginx has: its configuration, its files, and room for its temporary ones.
//!
//! It belongs to this process's user. Where that is root, nginx's group may read it, and nginx may write to `temporary` alone.

use std::{
    env,
    fmt::Write as _,
    fs::{self, File, Metadata, OpenOptions, Permissions},
    io::{self, Read},
    net::SocketAddr,
    os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, chown},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use kernel::privilege;
use model::{Privilege, probe::HttpPath};
use rustix::process::geteuid;
use tempfile::TempDir;

use super::{
    program::{NOBODY, Program, is_root},
    unable,
};
use crate::{ProbeError, socket::BACKLOG};

/// Bytes of nginx's own words that are read.
const LONGEST_WORDS: u64 = 2048;

/// Connections beside those of the trial.
const OTHERS: u32 = 512;

/// Beginning of each folder's name.
const PREFIX: &str = "wireproof-nginx-";

/// A younger folder may be in the making.
const OLD: Duration = Duration::from_secs(60);

/// Files that nginx reads and writes. Its lock shows others that it is in use.
pub(super) struct Folder {
    folder: TempDir,
    _lock: File,
}

impl Folder {
    /// Makes the folder with a file for each path.
    pub(super) fn make(paths: &[HttpPath]) -> Result<Self, ProbeError> {
        remove_abandoned();
        let failed = |error: io::Error| unable(&format!("a temporary folder for it: {error}"));
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir().map_err(failed)?;
        let lock = File::create(folder.path().join("lock")).map_err(failed)?;
        lock.lock().map_err(failed)?;
        let folder = Self { folder, _lock: lock };
        folder.check()?;
        folder.fill(paths).map_err(|error| unable(&format!("{}: {error}", folder.path().display())))?;
        Ok(folder)
    }

    /// Its path stands in the configuration, which has signs of its own.
    fn check(&self) -> Result<(), ProbeError> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
        match self.path().to_str() {
            Some(path) if path.chars().all(is_plain) => Ok(()),
            _ => Err(unable(&format!(
                "{:?} as a temporary folder has signs that its configuration cannot have; set TMPDIR to another",
                self.path()
            ))),
        }
    }

    fn fill(&self, paths: &[HttpPath]) -> io::Result<()> {
        share(self.path(), 0o710)?;
        let root = self.path().join("files");
        fs::create_dir(&root)?;
        share(&root, 0o750)?;
        for path in paths {
            let file = root.join(path.path.trim_start_matches('/'));
            let folders = file.ancestors().skip(1).take_while(|folder| *folder != root);
            for folder in folders.collect::<Vec<_>>().into_iter().rev() {
                if !folder.is_dir() {
                    fs::create_dir(folder)?;
                    share(folder, 0o750)?;
                }
            }
            // A hole, which takes no room on a disk.
            File::create_new(&file)?.set_len(path.size.0)?;
            share(&file, 0o640)?;
        }
        let temporary = PathBuf::from(self.temporary());
        fs::create_dir(&temporary)?;
        fs::set_permissions(&temporary, Permissions::from_mode(0o700))?;
        if is_root() { chown(&temporary, Some(NOBODY), Some(NOBODY)) } else { Ok(()) }
    }

    /// Writes the configuration.
    pub(super) fn configure(&self, program: &Program, address: SocketAddr, connections: u16) -> Result<(), ProbeError> {
        let text = self.text(program, address, connections);
        let path = self.configuration();
        let written = fs::write(&path, text).and_then(|()| share(&path, 0o640));
        written.map_err(|error| unable(&format!("{}: {error}", path.display())))
    }

    fn text(&self, program: &Program, address: SocketAddr, connections: u16) -> String {
        let (folder, temporary) = (self.path().display(), self.temporary());
        let mut text = String::from("daemon off;\nmaster_process off;\n");
        // Its own end, and nothing that a stranger can cause again and again.
        text += "error_log stderr crit;\n";
        if privilege::current() == Privilege::UserNamespace {
            // Nobody else may be there, and nginx would look for its own user.
            text += "user root root;\n";
        }
        let connections = u32::from(connections) + OTHERS;
        let _ = write!(
            text,
            "events {{ use epoll; worker_connections {connections}; }}\n\
             http {{\n\
             access_log off;\nsendfile on;\ntcp_nodelay on;\ndefault_type application/octet-stream;\n\
             keepalive_requests 1000000000;\nkeepalive_timeout 1h;\nclient_header_timeout 1h;\n\
             client_body_temp_path {temporary}/body;\n"
        );
        for module in program.modules() {
            let _ = writeln!(text, "{module}_temp_path {temporary}/{module};");
        }
        let _ = write!(text, "server {{ listen {address} reuseport backlog={BACKLOG}; root {folder}/files; }}\n}}\n");
        text
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn configuration(&self) -> PathBuf {
        self.path().join("nginx.conf")
    }

    /// Folder in which nginx may write.
    pub(super) fn temporary(&self) -> String {
        format!("{}/temporary", self.path().display())
    }

    /// File for nginx's messages. It gets the open file, and cannot open it.
    pub(super) fn log(&self) -> Result<Stdio, ProbeError> {
        let path = self.path().join("log");
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(&path);
        Ok(file.map_err(|error| unable(&format!("{}: {error}", path.display())))?.into())
    }

    /// Words of nginx, without signs that a terminal would obey.
    pub(super) fn words(&self) -> String {
        let mut words = Vec::new();
        let read = File::open(self.path().join("log")).and_then(|log| log.take(LONGEST_WORDS).read_to_end(&mut words));
        match read {
            Ok(0) | Err(_) => "it said nothing".to_owned(),
            Ok(_) => clean(&String::from_utf8_lossy(&words)),
        }
    }
}

/// Removes folders of agents that were killed. Failures are the next one's matter.
fn remove_abandoned() {
    for entry in fs::read_dir(env::temp_dir()).into_iter().flatten().flatten() {
        let is_named = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if is_named && is_abandoned(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether it is this user's folder, and old, and nobody holds its lock.
fn is_abandoned(folder: &Path) -> bool {
    let is_ours = |known: &Metadata| known.is_dir() && known.uid() == geteuid().as_raw();
    let is_old = |known: &Metadata| known.modified().is_ok_and(|time| time.elapsed().is_ok_and(|age| age > OLD));
    let known = fs::symlink_metadata(folder);
    known.is_ok_and(|known| is_ours(&known) && is_old(&known))
        && File::open(folder.join("lock")).is_ok_and(|lock| lock.try_lock().is_ok())
}

fn clean(words: &str) -> String {
    let lines = words.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ");
    lines.chars().filter(|c| !c.is_control()).collect()
}

/// Sets permissions, and where this process is root, gives nginx's group those of a group.
fn share(path: &Path, mode: u32) -> io::Result<()> {
    if is_root() {
        chown(path, None, Some(NOBODY))?;
    }
    fs::set_permissions(path, Permissions::from_mode(mode))
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn the_folder_of_an_agent_that_was_killed_goes_with_the_next_one() {
        let make = || Folder::make(&[]).expect("room for it");
        let grow_old = |folder: &Path| {
            let time = SystemTime::now() - 2 * OLD;
            File::open(folder).and_then(|folder| folder.set_modified(time)).expect("ours");
        };
        let used = make();
        let Folder { folder, _lock: lock } = make();
        drop(lock);
        let abandoned = folder.keep();
        grow_old(used.path());
        drop(make());
        assert!(abandoned.exists() && used.path().exists(), "one is young, the other is in use");
        grow_old(&abandoned);
        drop(make());
        assert!(!abandoned.exists() && used.path().exists());
    }
}
