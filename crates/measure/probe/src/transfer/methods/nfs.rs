//! NFS: nfs-ganesha serves the contents to be read, nfs-cp of libnfs fetches them. Both are programs, and need nothing of the kernel.
//!
//! ganesha opens files by handle, which takes root's rights, and listens on all addresses. So it runs where a network namespace and mounts
//! belong to the bed alone, and finds a folder of its own at `/run`: there it registers with no portmapper but the trial's, which version 3
//! cannot do without.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    process::Command,
};

use kernel::process::give_own_run;
use rustix::process::geteuid;

use super::{Call, Method, Program, Run};
use crate::{
    ProbeError,
    programs::{self, NOBODY, is_root},
    transfer::{
        place::{Place, has_own_mounts},
        said, unable,
    },
};

/// Version of the protocol.
pub(super) enum Nfs {
    V3,
    V4,
}

const GANESHA: Program = Program { name: "ganesha.nfsd", package: "nfs-ganesha-vfs" };
const RPCBIND: Program = Program { name: "rpcbind", package: "rpcbind" };

/// Reason why a path is refused.
const PLAIN: &str = "the path of the file may have letters, digits and /_.- alone";

/// Port of the portmapper (RFC 1833).
const PORTMAPPER: u16 = 111;

impl Nfs {
    fn version(&self) -> u8 {
        match self {
            Self::V3 => 3,
            Self::V4 => 4,
        }
    }

    /// Port at which version 3 asks for the root of the export: the neighbour of the server's.
    fn mount_port(server: SocketAddr) -> u16 {
        server.port() ^ 1
    }
}

impl Method for Nfs {
    fn client(&self) -> Program {
        Program { name: "nfs-cp", package: "libnfs-utils" }
    }

    fn server(&self) -> Program {
        GANESHA
    }

    fn maker(&self) -> Option<Program> {
        match self {
            Self::V3 => Some(RPCBIND),
            Self::V4 => None,
        }
    }

    fn of_server(&self, place: &Place) -> Result<String, ProbeError> {
        Ok(place.contents().display().to_string())
    }

    fn serve(&self, call: &Call<'_>) -> Result<Run, ProbeError> {
        if !has_own_mounts() {
            let why = "it would listen on all addresses of this host; measure it in a lab or between ports";
            return Err(unable(GANESHA.name, why));
        }
        let failed = |error| unable(GANESHA.name, error);
        let run = call.place.folder().make_room("run").map_err(failed)?;
        let state = call.place.folder().make_room("state").map_err(failed)?;
        let exported = exported(call.place);
        let exported = exported.to_str().and_then(said::path).ok_or_else(|| unable(GANESHA.name, PLAIN))?;
        let owner = if is_root() { NOBODY } else { geteuid().as_raw() };
        let text = format!(
            "NFS_CORE_PARAM {{ NFS_Port = {}; MNT_Port = {}; Protocols = {}; Enable_UDP = false; Enable_NLM = false; Enable_RQUOTA = false; }}\n\
             NFSv4 {{ Graceless = true; RecoveryBackend = fs; RecoveryRoot = {}; Only_Numeric_Owners = true; }}\n\
             EXPORT {{ Export_Id = 1; Path = {}; Pseudo = /room; Access_Type = RO; Squash = All_Squash; Anonymous_uid = {owner}; \
             Anonymous_gid = {owner}; SecType = sys; Filesystem_Id = 1.1; FSAL {{ Name = VFS; }} }}\n\
             LOG {{ Default_Log_Level = CRIT; }}\n",
            call.server.port(),
            Self::mount_port(call.server),
            self.version(),
            state.display(),
            exported,
        );
        let configuration = call.place.write("ganesha.conf", &text)?;
        let mut command = programs::command_with_rights(call.program);
        command.args(["-F", "-L", "STDERR", "-f"]).arg(configuration).arg("-p").arg(run.join("pid"));
        give_own_run(&mut command, &run).map_err(failed)?;
        let helper = match self {
            Self::V3 => Some(portmapper(call, &run)?),
            Self::V4 => None,
        };
        Ok(Run { helper, ..command.into() })
    }

    fn ask(&self, call: &Call<'_>) -> Result<Run, ProbeError> {
        let (ip, port, mount) = (call.server.ip(), call.server.port(), Self::mount_port(call.server));
        let path = said::path(call.words).ok_or_else(|| unable(GANESHA.name, PLAIN))?;
        let name = path.rsplit('/').next().unwrap_or_default();
        // It takes an address of IPv6 without brackets.
        let url = match self {
            Self::V3 => format!("nfs://{ip}{path}?version=3&nfsport={port}&mountport={mount}"),
            Self::V4 => format!("nfs://{ip}/room/{name}?version=4&nfsport={port}"),
        };
        let mut command = call.command();
        command.arg(url).arg(call.place.contents());
        Ok(command.into())
    }
}

/// Folder that is exported: the room, or that of a file on disk, as no link leads out of an export.
fn exported(place: &Place) -> PathBuf {
    place.contents().parent().unwrap_or(place.room()).to_owned()
}

/// A portmapper, which has to listen first.
fn portmapper(call: &Call<'_>, run: &Path) -> Result<(Command, SocketAddr), ProbeError> {
    let failed = |error: std::io::Error| unable(RPCBIND.name, error);
    let program = RPCBIND.find().map_err(|lacks| unable(&lacks.name, "it is not installed"))?;
    let mut command = programs::command_with_rights(&program);
    command.args(["-f", "-h", &call.server.ip().to_string()]);
    give_own_run(&mut command, run).map_err(failed)?;
    Ok((command, SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), PORTMAPPER)))
}
