//! nginx as the server: a process for each core, with a configuration and files of ours alone.
//!
//! Each is nginx's single process. A master would leave its workers behind where it is killed, and would be root.

mod folder;

use std::{
    net::SocketAddr,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use kernel::process::tie;
use model::{
    SideFigures, SideSetup,
    probe::{HttpPath, TransactionsSpec},
    trial::TransactionsServed,
};
use socket2::Type;

use self::folder::Folder;
use super::{backlog, threads};
use crate::{
    Control, Prepared, ProbeError, Window,
    error::socket_error,
    programs::{Processes, listeners, nginx::Program},
    socket::{STOP_CHECK, bound},
};

/// Time that it has to begin to listen.
const PATIENCE: Duration = Duration::from_secs(10);

/// Interval of checks whether it listens.
const LOOK: Duration = Duration::from_millis(5);

/// nginx that listens.
pub(super) struct Nginx {
    address: SocketAddr,
    version: String,
    // Ended before its folder goes.
    processes: Processes,
    folder: Folder,
}

impl Nginx {
    /// Starts it on a free port of the setup's address, and waits until it listens.
    pub(super) fn start(paths: &[HttpPath], spec: &TransactionsSpec, setup: &SideSetup) -> Result<Self, ProbeError> {
        let program = Program::find()?;
        // Keeps the port from others until nginx has it: both set SO_REUSEADDR, and this one does not listen.
        let reserved = bound(SocketAddr::new(setup.local, 0), Type::STREAM)?;
        let any = SocketAddr::new(setup.local, 0);
        let address = reserved.local_addr().map_err(socket_error("ask the port of", any))?;
        let address = address.as_socket().unwrap_or(any);
        let folder = Folder::make(paths)?;
        folder.configure(&program, address, spec.connections)?;
        let mut nginx = Self { address, version: program.version(), processes: Processes::default(), folder };
        for number in 0..threads(spec, setup) {
            let child = nginx.command(&program, number, setup)?.spawn().map_err(|error| unable(&error.to_string()))?;
            nginx.processes.0.push(child);
        }
        nginx.wait_until_it_listens()?;
        Ok(nginx)
    }

    fn command(&self, program: &Program, number: usize, setup: &SideSetup) -> Result<Command, ProbeError> {
        let mut command = program.command();
        let folder = self.folder.path();
        command.arg("-p").arg(folder).arg("-c").arg(self.folder.configuration());
        command.arg("-g").arg(format!("pid {}/{number}.pid;", self.folder.temporary()));
        if program.takes_error_log() {
            command.args(["-e", "stderr"]);
        }
        tie(&mut command, setup.cpus.get(number).copied());
        command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(self.folder.log()?);
        Ok(command)
    }

    fn wait_until_it_listens(&mut self) -> Result<(), ProbeError> {
        let began = Instant::now();
        while listeners(self.address) < self.processes.0.len() {
            self.check()?;
            if began.elapsed() > PATIENCE {
                return Err(unable(&format!(
                    "it does not listen on {} after {PATIENCE:?}: {}",
                    self.address,
                    self.folder.words()
                )));
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }

    /// An error where one of the processes has ended.
    fn check(&mut self) -> Result<(), ProbeError> {
        for child in &mut self.processes.0 {
            if let Some(status) = child.try_wait().map_err(|error| unable(&error.to_string()))? {
                return Err(unable(&format!("it ended by itself ({status}): {}", self.folder.words())));
            }
        }
        Ok(())
    }
}

impl Prepared for Nginx {
    fn address(&self) -> Option<SocketAddr> {
        Some(self.address)
    }

    fn run(mut self: Box<Self>, control: &Control, _window: &dyn Window) -> Result<SideFigures, ProbeError> {
        while !control.stopped() {
            self.check()?;
            thread::sleep(STOP_CHECK);
        }
        let server = self.version.clone();
        Ok(SideFigures::TransactionsFar(TransactionsServed { server, backlog: backlog::effective() }))
    }
}

fn unable(why: &str) -> ProbeError {
    ProbeError::Unable { what: "nginx".to_owned(), why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use model::{Bytes, IpVersion, WaitMode, fixture::setup, probe::Exchange};

    use super::*;
    use crate::{control::NoWindow, programs};

    fn start(paths: &[&str]) -> Result<Nginx, ProbeError> {
        let spec = TransactionsSpec {
            exchange: Exchange::Crr { request: model::PayloadSize(1), response: model::PayloadSize(1) },
            ip: IpVersion::V4,
            mode: WaitMode::Block,
            connections: 1,
            duration: model::Nanos(0),
            warmup: model::Nanos(0),
            timeout: model::Nanos(0),
            rate: None,
        };
        let paths = paths.iter().map(|path| HttpPath { path: (*path).to_owned(), size: Bytes(9) }).collect::<Vec<_>>();
        Nginx::start(&paths, &spec, &setup(IpVersion::V4, None))
    }

    #[test]
    fn its_files_are_read_by_it_alone_and_written_by_us_alone() {
        let nginx = start(&["/a/b", "/c"]).expect("it is installed");
        let folder = nginx.folder.path().to_owned();
        let mode = |name: &str| fs::metadata(folder.join(name)).expect("there").permissions().mode() & 0o7777;
        let modes = ["", "files", "files/a", "files/a/b", "nginx.conf", "log", "temporary"].map(mode);
        assert_eq!(modes, [0o710, 0o750, 0o750, 0o640, 0o640, 0o600, 0o700]);
        let is_root = programs::is_root();
        let status = fs::read_to_string(format!("/proc/{}/status", nginx.processes.0[0].id())).expect("it runs");
        assert!(!is_root || status.contains("\nUid:\t65534\t65534\t65534\t65534\nGid:\t65534\t65534\t65534\t65534\n"));
        drop(nginx);
        assert!(!folder.exists());
    }

    #[test]
    fn its_end_is_told_in_its_own_words() {
        let mut nginx = start(&["/a"]).expect("it is installed");
        nginx.processes.0[0].kill().expect("ours");
        let error = Box::new(nginx).run(&Control::default(), &NoWindow).expect_err("it ended").to_string();
        assert!(error.starts_with("nginx: it ended by itself (signal: 9 (SIGKILL)): "), "{error}");
        let mut nginx = start(&["/a"]).expect("it is installed");
        fs::write(nginx.folder.configuration(), "daemon off; error_log stderr; \u{1b}[31m;").expect("ours");
        nginx.processes.0.clear();
        let program = Program::find().expect("it is installed");
        let mut command = nginx.command(&program, 0, &setup(IpVersion::V4, None)).expect("a log");
        nginx.processes.0.push(command.spawn().expect("it starts"));
        let error = Box::new(nginx).run(&Control::default(), &NoWindow).expect_err("it ended").to_string();
        assert!(error.contains("unknown directive") && !error.contains('\u{1b}'), "{error}");
    }

    #[test]
    fn a_path_beneath_a_file_is_refused() {
        let error = start(&["/a", "/a/b"]).err().expect("no folder can be a file").to_string();
        assert!(error.starts_with("nginx: /"), "{error}");
    }
}
