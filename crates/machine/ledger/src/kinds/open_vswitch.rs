//! Open vSwitch with daemons of its own: the system's service and its database are left alone.

use std::{
    fs::{self, DirBuilder, File},
    io,
    os::unix::fs::DirBuilderExt,
    path::Path,
    process::{Command, Stdio},
};

use kernel::{cpu, process};
use model::change::OpenVswitch;

use super::{
    Kind,
    commands::{FOLDERS, PATIENCE, finished, path_of, too_slow},
    programs::{absent, removed},
    within,
};
use crate::{failure::Failure, record::Namespaces};

/// Daemons: the database, and the switch itself.
const DATABASE: &str = "ovsdb-server";
const SWITCH: &str = "ovs-vswitchd";
/// Programs that set them up.
const MAKE_DATABASE: &str = "ovsdb-tool";
const CONFIGURE: &str = "ovs-vsctl";

/// Advice where one of them is missing.
const PACKAGE: &str = "install Open vSwitch, in Debian and Ubuntu the package openvswitch-switch";

/// Variables that name the folders of Open vSwitch's files.
const PLACES: [&str; 3] = ["OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR"];

/// Socket of the database in the folder.
const SOCKET: &str = "db.sock";

/// Options of both daemons. They say what is wrong until they are detached, and nothing to the system's log.
const DETACHED: [&str; 4] = ["--detach", "--pidfile", "-vconsole:err", "-vsyslog:off"];

/// Seconds for the switch to take a configuration.
const TIMEOUT: &str = "--timeout=15";

/// Searches for daemons, each of which ends those it finds: one may have been starting another.
const SEARCHES: usize = 10;

impl Kind for OpenVswitch {
    type Before = ();

    const BEFORE: &'static str = "absent";

    fn namespaces(&self) -> Vec<&str> {
        vec![&self.namespace]
    }

    fn read(&self) -> Result<Option<()>, Failure> {
        for program in [MAKE_DATABASE, DATABASE, SWITCH, CONFIGURE] {
            path_of(program, PACKAGE)?;
        }
        absent(&self.folder).map(Some)
    }

    fn make(&self, (): ()) -> Result<(), Failure> {
        make_folder(&self.folder).map_err(|io| Failure::File { path: self.folder.clone(), io })?;
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
        let were_running = end_daemons(self)?;
        let was_there = removed(&self.folder).map_err(|io| Failure::File { path: self.folder.clone(), io })?;
        // Folders of other beds are in the same ones.
        for folder in self.folder.ancestors().skip(1).take(2) {
            let _ = fs::remove_dir(folder);
        }
        Ok(was_there || were_running)
    }
}

/// Makes the folder for its owner alone: whoever opens the sockets in it commands the daemons.
fn make_folder(folder: &Path) -> io::Result<()> {
    let make = |folder: &Path| DirBuilder::new().recursive(true).mode(0o755).create(folder);
    folder.parent().map_or(Ok(()), make)?;
    DirBuilder::new().mode(0o700).create(folder)
}

/// Ends its daemons, also those that start meanwhile; whether there were any.
fn end_daemons(change: &OpenVswitch) -> Result<bool, Failure> {
    for search in 0..SEARCHES {
        let found = daemons(change);
        if found.is_empty() {
            return Ok(search > 0);
        }
        process::end(&found, |pid| daemons(change).contains(&pid))?;
    }
    let folder = change.folder.display();
    Err(Failure::Program {
        command: "kill".to_owned(),
        said: format!(
            "another program starts {DATABASE} or {SWITCH} in {folder} again and again; end that program, and run \
             \"wireproof clean\""
        ),
    })
}

/// Processes of its daemons.
fn daemons(change: &OpenVswitch) -> Vec<u32> {
    process::of_programs(&[DATABASE, SWITCH], &change.folder.join(SOCKET).display().to_string())
}

/// Runs a program of Open vSwitch on its files, in its namespace and on its cores, without our environment. A daemon is ready afterwards.
fn run(change: &OpenVswitch, program: &str, words: &[&str]) -> Result<(), Failure> {
    // Not a pipe: its end may be held by a daemon for ever.
    let words_of_errors = change.folder.join(format!("{program}.err"));
    let errors = File::create(&words_of_errors).map_err(|io| Failure::File { path: words_of_errors.clone(), io })?;
    let mut command = Command::new(path_of(program, PACKAGE)?);
    command.args(words).env_clear().env("PATH", FOLDERS.join(":"));
    command.envs(PLACES.map(|place| (place, &change.folder)));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors);
    let started = within(&change.namespace, || {
        if !change.cpus.is_empty() {
            cpu::pin_current_thread_to(&change.cpus)?;
        }
        Ok(command.spawn())
    })?;
    let said = match started.and_then(|child| finished(child, PATIENCE)) {
        Ok(Some(status)) if status.success() => return Ok(()),
        Ok(Some(_)) => String::from_utf8_lossy(&fs::read(&words_of_errors).unwrap_or_default()).trim().to_owned(),
        Ok(None) => too_slow(),
        Err(io) => io.to_string(),
    };
    Err(Failure::Program { command: [&[program], words].concat().join(" "), said })
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead, BufReader},
        os::unix::{fs::PermissionsExt, process::CommandExt},
    };

    use super::*;

    /// Daemon that starts another one when it is ended, as one that is about to fork does. Neither lasts.
    const STARTS_ANOTHER: &str = "trap 'for i in 1 2 3 4 5 6 7 8 9; do sleep 1; done & exit' TERM; echo ready; \
                                  for i in 1 2 3 4 5 6 7 8 9; do sleep 0.1; done; sleep 9";

    #[test]
    fn a_daemon_that_starts_while_another_is_ended_is_ended_too() {
        let folder = std::env::temp_dir().join(format!("wireproof-ovs-{}", std::process::id()));
        let change = OpenVswitch {
            namespace: String::new(),
            interface: "ovs".to_owned(),
            ports: Vec::new(),
            folder: folder.clone(),
            cpus: Vec::new(),
        };
        let mut command = Command::new("sh");
        command.arg0(SWITCH).args(["-c", STARTS_ANOTHER, "sh"]).arg(folder.join(SOCKET)).stdout(Stdio::piped());
        let mut first = command.spawn().expect("a shell");
        let mut said = String::new();
        BufReader::new(first.stdout.take().expect("piped")).read_line(&mut said).expect("it says so");
        assert_eq!(said, "ready\n");
        assert!(daemons(&change).contains(&first.id()));
        assert!(end_daemons(&change).expect("they end"));
        assert_eq!(daemons(&change), [0; 0]);
        assert!(!end_daemons(&change).expect("nothing to end"));
        first.wait().expect("ours");
    }

    #[test]
    fn the_folder_is_new_and_its_owners_alone() {
        let above = std::env::temp_dir().join(format!("wireproof-ovs-folder-{}", std::process::id()));
        let folder = above.join("one");
        make_folder(&folder).expect("writable");
        let mode = fs::metadata(&folder).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{mode:o}");
        assert_eq!(make_folder(&folder).expect_err("it is there").kind(), io::ErrorKind::AlreadyExists);
        fs::remove_dir_all(&above).expect("ours");
    }
}
