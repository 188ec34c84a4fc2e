//! SMB: Samba's smbd for a guest, and smbclient. It serves one client in one process, and ends with it.

use super::{Call, Method, Program, Run};
use crate::{
    ProbeError,
    transfer::{own_name, unable},
};

pub(super) struct Smb;

/// Name of the server, which its address is given beside.
const NAME: &str = "wireproof";

/// Folders of Samba's own state, all of which go with the trial.
const FOLDERS: [&str; 6] =
    ["private dir", "lock directory", "state directory", "cache directory", "pid directory", "ncalrpc dir"];

impl Method for Smb {
    fn client(&self) -> Program {
        Program { name: "smbclient", package: "smbclient" }
    }

    fn server(&self) -> Program {
        Program { name: "smbd", package: "samba" }
    }

    fn serve(&self, call: &Call<'_>) -> Result<Run, ProbeError> {
        let room = call.place.room();
        let state = call.place.folder().make_room("room/smb").map_err(|error| unable("smbd", error))?;
        let folders: String = FOLDERS.iter().map(|name| format!("{name} = {}\n", state.display())).collect();
        let text = format!(
            "[global]\ninterfaces = {}\nbind interfaces only = yes\nsmb ports = {}\n{folders}passdb backend = smbpasswd:{}\n\
             server role = standalone server\nmap to guest = Bad User\nguest account = {}\ndisable netbios = yes\n\
             disable spoolss = yes\nload printers = no\nrpc start on demand helpers = no\nlog level = 0\n\
             [room]\npath = {}\nread only = no\nguest ok = yes\n",
            call.server.ip(),
            call.server.port(),
            state.join("users").display(),
            own_name(),
            room.display(),
        );
        let configuration = call.place.give("smb.conf", &text)?;
        let mut command = call.command();
        command.args(["-i", "--debug-stdout", "-s"]).arg(configuration);
        Ok(command.into())
    }

    fn ask(&self, call: &Call<'_>) -> Result<Run, ProbeError> {
        let mut command = call.command();
        command.args(["-s", "/dev/null", "-N", "-I", &call.server.ip().to_string()]);
        command.args(["-p", &call.server.port().to_string(), &format!("//{NAME}/room"), "-c"]);
        command.arg(if call.is_many { "recurse; prompt; mput contents" } else { "put contents" });
        Ok(command.into())
    }
}
