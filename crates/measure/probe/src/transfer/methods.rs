//! Methods that programs of others carry out, a module each: what is installed for it, and how server and client are called.

mod ftp;
mod http;
mod iperf3;
mod nc;
mod nfs;
mod rsync;
mod smb;
mod ssh;

use std::{
    fs::File,
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use kernel::process::tie;
use model::{
    probe::{TransferMethod, TransferSpec},
    trial,
};

use super::{contents, place::Place, unable};
use crate::{
    ProbeError,
    programs::{self, clean},
};

/// A program by its name and its package of Debian and Ubuntu.
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) package: &'static str,
}

/// A method. The near end is the client.
pub(super) trait Method: Sync {
    fn client(&self) -> Program;

    fn server(&self) -> Program;

    /// A program that makes what the server needs.
    fn maker(&self) -> Option<Program> {
        None
    }

    /// A program that puts small files together at each end.
    fn archiver(&self) -> Option<Program> {
        None
    }

    /// Words for the far end, which the client needs it to know.
    fn of_client(&self, _place: &Place) -> Result<String, ProbeError> {
        Ok(String::new())
    }

    /// Words for the near end, which it needs to trust and to find the server.
    fn of_server(&self, _place: &Place) -> Result<String, ProbeError> {
        Ok(String::new())
    }

    /// A call of the server, which listens on the address and stays in the foreground.
    fn serve(&self, call: &Call<'_>) -> Result<Run, ProbeError>;

    /// A call of the client, which ends once all contents are at their end.
    fn ask(&self, call: &Call<'_>) -> Result<Run, ProbeError>;
}

/// Values of a call.
pub(super) struct Call<'a> {
    pub(super) place: &'a Place,
    /// Path of the program.
    pub(super) program: &'a Path,
    /// Address of the server.
    pub(super) server: SocketAddr,
    /// Address of this end.
    pub(super) local: IpAddr,
    /// Whether the contents are many small files.
    pub(super) is_many: bool,
    pub(super) size: u64,
    /// Words of the other end.
    pub(super) words: &'a str,
}

/// A program to start. Without files and others, it has no input and its output is kept for errors.
pub(super) struct Run {
    pub(super) command: Command,
    /// The same files for a reader of the command.
    pub(super) redirected: &'static str,
    pub(super) stdin: Option<File>,
    pub(super) stdout: Option<File>,
    /// A program that it needs, and the address at which that one listens first.
    pub(super) helper: Option<(Command, SocketAddr)>,
    /// A program whose output is its input.
    pub(super) before: Option<Command>,
    /// A program whose input is its output.
    pub(super) after: Option<Command>,
}

impl Call<'_> {
    fn command(&self) -> Command {
        programs::command(self.program)
    }

    /// The contents, for a program that reads or writes an open file.
    fn open<T>(&self, file: std::io::Result<T>) -> Result<T, ProbeError> {
        file.map_err(|error| unable(&self.place.contents().display().to_string(), error))
    }

    /// The contents at the end of a URL, or all of them in turn.
    fn in_url(&self) -> String {
        if self.is_many { format!("contents/{}", contents::all_small_files()) } else { "contents".to_owned() }
    }

    /// File or files that curl writes.
    fn output(&self) -> PathBuf {
        if self.is_many { self.place.contents().join("#1") } else { self.place.contents() }
    }
}

impl From<Command> for Run {
    fn from(command: Command) -> Self {
        Self { command, redirected: "", stdin: None, stdout: None, helper: None, before: None, after: None }
    }
}

/// Runs a program that makes something for the trial to its end.
fn make(name: &str, command: &mut Command) -> Result<(), ProbeError> {
    let made = tie(command, None).stdin(Stdio::null()).output().map_err(|error| unable(name, error))?;
    if made.status.success() { Ok(()) } else { Err(unable(name, clean(&String::from_utf8_lossy(&made.stderr)))) }
}

/// Whether the programs are there that this end runs beside client or server; otherwise what is missing.
pub(super) fn find_others(
    method: &dyn Method,
    spec: &TransferSpec,
    maker: Option<Program>,
) -> Result<(), trial::Program> {
    let archiver = method.archiver().filter(|_| spec.is_many());
    maker.into_iter().chain(archiver).try_for_each(|program| program.find().map(drop))
}

impl Program {
    /// Path where it is installed; otherwise what is missing.
    pub(super) fn find(&self) -> Result<PathBuf, trial::Program> {
        programs::find(self.name)
            .ok_or_else(|| trial::Program { name: self.name.to_owned(), package: self.package.to_owned() })
    }
}

/// The method; `None` where wireproof itself moves the contents.
pub(super) fn of(method: TransferMethod) -> Option<&'static dyn Method> {
    Some(match method {
        TransferMethod::Tcp | TransferMethod::TcpJumbo | TransferMethod::Sendfile => return None,
        TransferMethod::Nc => &nc::Nc,
        TransferMethod::Http => &http::Http::Plain,
        TransferMethod::Https => &http::Http::Tls,
        TransferMethod::Rsync => &rsync::Rsync,
        TransferMethod::FtpPut => &ftp::Ftp::Put,
        TransferMethod::FtpGet => &ftp::Ftp::Get,
        TransferMethod::Scp => &ssh::Ssh::Scp,
        TransferMethod::Sftp => &ssh::Ssh::Sftp,
        TransferMethod::Nfs3 => &nfs::Nfs::V3,
        TransferMethod::Nfs4 => &nfs::Nfs::V4,
        TransferMethod::Smb => &smb::Smb,
        TransferMethod::Iperf3 => &iperf3::Iperf3,
    })
}
