//! The folder that nginx has: its configuration, its files, and room for its temporary ones.
//!
//! It belongs to this process's user. Where that is root, nginx's group may read it, and nginx may write to `temporary` alone.

use std::{
    env,
    fmt::Write as _,
    fs::{self, File},
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Stdio,
};

use kernel::privilege;
use model::{Privilege, probe::HttpPath};

use super::unable;
use crate::{
    ProbeError,
    programs::{self, nginx::Program, share},
    socket::BACKLOG,
};

/// Connections beside those of the trial.
const OTHERS: u32 = 512;

/// Beginning of each folder's name.
const PREFIX: &str = "wireproof-nginx-";

/// Folder in it that belongs to nginx.
const TEMPORARY: &str = "temporary";

/// Files that nginx reads and writes.
pub(super) struct Folder(programs::Folder);

impl Folder {
    /// Makes the folder with a file for each path.
    pub(super) fn make(paths: &[HttpPath]) -> Result<Self, ProbeError> {
        let made = programs::Folder::make(&env::temp_dir(), PREFIX);
        let folder = Self(made.map_err(|error| unable(&format!("a temporary folder for it: {error}")))?);
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
        self.0.make_room(TEMPORARY).map(drop)
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
        self.0.path()
    }

    pub(super) fn configuration(&self) -> PathBuf {
        self.path().join("nginx.conf")
    }

    /// Folder in which nginx may write.
    pub(super) fn temporary(&self) -> String {
        format!("{}/{TEMPORARY}", self.path().display())
    }

    /// File for nginx's messages.
    pub(super) fn log(&self) -> Result<Stdio, ProbeError> {
        self.0.log().map_err(|error| unable(&format!("{}: {error}", self.path().display())))
    }

    /// Words of nginx.
    pub(super) fn words(&self) -> String {
        self.0.words()
    }
}
