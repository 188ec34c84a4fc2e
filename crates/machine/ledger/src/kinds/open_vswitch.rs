//! Open vSwitch with daemons of its own: the system's service and its database are left alone.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use kernel::{cpu, process};
use model::change::OpenVswitch;

use super::{Kind, programs::removed, within};
use crate::{failure::Failure, record::Namespaces};

/// Daemons: the database, and the switch itself.
const DATABASE: &str = "ovsdb-server";
const SWITCH: &str = "ovs-vswitchd";
/// Programs that set them up.
const MAKE_DATABASE: &str = "ovsdb-tool";
const CONFIGURE: &str = "ovs-vsctl";

/// Folders of these programs.
const FOLDERS: [&str; 4] = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"];

/// Variables that name the folders of Open vSwitch's files.
const PLACES: [&str; 3] = ["OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR"];

/// Socket of the database in the folder.
const SOCKET: &str = "db.sock";

/// Options of both daemons. They say what is wrong until they are detached, and nothing to the system's log.
const DETACHED: [&str; 4] = ["--detach", "--pidfile", "-vconsole:err", "-vsyslog:off"];

/// Seconds for the switch to take a configuration.
const TIMEOUT: &str = "--timeout=15";

impl Kind for OpenVswitch {
    type Before = ();

    const BEFORE: &'static str = "absent";

    fn namespaces(&self) -> Vec<&str> {
        vec![&self.namespace]
    }

    fn read(&self) -> Result<Option<()>, Failure> {
        for program in [MAKE_DATABASE, DATABASE, SWITCH, CONFIGURE] {
            path_of(program)?;
        }
        if self.folder.exists() {
            let folder = self.folder.display();
            return Err(Failure::Taken { what: format!("the folder {folder}"), remove: format!("rm -r {folder}") });
        }
        Ok(Some(()))
    }

    fn make(&self, (): ()) -> Result<(), Failure> {
        fs::create_dir_all(&self.folder).map_err(|io| Failure::File { path: self.folder.clone(), io })?;
        let database = self.folder.join("conf.db").display().to_string();
        let socket = self.folder.join(SOCKET).display().to_string();
        let (server, db) = (format!("--remote=punix:{socket}"), format!("--db=unix:{socket}"));
        run(self, MAKE_DATABASE, &["create", &database])?;
        run(self, DATABASE, &[&[database.as_str(), &server], &DETACHED[..]].concat())?;
        run(self, CONFIGURE, &[&db, TIMEOUT, "--no-wait", "init"])?;
        run(self, SWITCH, &[&[format!("unix:{socket}").as_str()], &DETACHED[..]].concat())?;
        let bridge = self.interface.as_str();
        let add = [db.as_str(), TIMEOUT, "add-br", bridge, "--", "set", "bridge", bridge, "datapath_type=netdev"];
        let ports = self.ports.iter().flat_map(|port| ["--", "add-port", bridge, port.as_str()]);
        run(self, CONFIGURE, &add.into_iter().chain(ports).collect::<Vec<_>>())
    }

    /// Ends the daemons, also if their namespace has no name any more: they are ours by their folder.
    fn undo(&self, (): (), _: &Namespaces) -> Result<bool, Failure> {
        let found = daemons(self);
        process::end(&found, |pid| daemons(self).contains(&pid))?;
        let was_there = removed(&self.folder).map_err(|io| Failure::File { path: self.folder.clone(), io })?;
        // Folders of other beds are in the same ones.
        for folder in self.folder.ancestors().skip(1).take(2) {
            let _ = fs::remove_dir(folder);
        }
        Ok(was_there || !found.is_empty())
    }
}

/// Processes of its daemons.
fn daemons(change: &OpenVswitch) -> Vec<u32> {
    process::of_programs(&[DATABASE, SWITCH], &change.folder.join(SOCKET).display().to_string())
}

/// Runs a program of Open vSwitch on its files, in its namespace and on its cores. A daemon is ready afterwards.
fn run(change: &OpenVswitch, program: &str, words: &[&str]) -> Result<(), Failure> {
    let mut command = Command::new(path_of(program)?);
    command.args(words).envs(PLACES.map(|place| (place, &change.folder))).stdin(Stdio::null());
    let done = within(&change.namespace, || {
        if !change.cpus.is_empty() {
            cpu::pin_current_thread_to(&change.cpus)?;
        }
        Ok(command.output())
    })?;
    let said = match done {
        Ok(Output { status, .. }) if status.success() => return Ok(()),
        Ok(Output { stderr, .. }) => String::from_utf8_lossy(&stderr).trim().to_owned(),
        Err(io) => io.to_string(),
    };
    Err(Failure::Program { command: [&[program], words].concat().join(" "), said })
}

fn path_of(program: &str) -> Result<PathBuf, Failure> {
    let found = FOLDERS.iter().map(|folder| Path::new(folder).join(program)).find(|path| path.is_file());
    found.ok_or_else(|| Failure::Program {
        command: program.to_owned(),
        said: "it is not installed; install Open vSwitch, in Debian and Ubuntu the package openvswitch-switch"
            .to_owned(),
    })
}
