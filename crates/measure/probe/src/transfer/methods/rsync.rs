//! rsync's own protocol: its daemon takes the contents.

use super::{Call, Method, Program, Run};
use crate::ProbeError;

pub(super) struct Rsync;

const RSYNC: Program = Program { name: "rsync", package: "rsync" };

impl Method for Rsync {
    fn client(&self) -> Program {
        RSYNC
    }

    fn server(&self) -> Program {
        RSYNC
    }

    fn serve(&self, call: &Call<'_>) -> Result<Run, ProbeError> {
        let room = call.place.room().display();
        let text = format!("use chroot = no\n[room]\npath = {room}\nread only = no\n");
        let configuration = call.place.write("rsyncd.conf", &text)?;
        let mut command = call.command();
        command.args(["--daemon", "--no-detach", "--log-file=/dev/null"]);
        command.args([format!("--address={}", call.server.ip()), format!("--port={}", call.server.port())]);
        command.arg("--config").arg(configuration);
        Ok(command.into())
    }

    fn ask(&self, call: &Call<'_>) -> Result<Run, ProbeError> {
        let mut command = call.command();
        command.arg(format!("--address={}", call.local));
        if call.is_many {
            // The folder goes into the far one, with its name.
            command.arg("-r").arg(call.place.contents()).arg(format!("rsync://{}/room/", call.server));
        } else {
            command.arg(call.place.contents()).arg(format!("rsync://{}/room/contents", call.server));
        }
        Ok(command.into())
    }
}
