//! netcat-openbsd: nothing but the contents on a connection.

use std::fs::File;

use super::{Call, Method, Program, Run};
use crate::ProbeError;

pub(super) struct Nc;

/// Traditional netcat has the name as well, and no `-N`.
const NC: Program = Program { name: "nc.openbsd", package: "netcat-openbsd" };

impl Method for Nc {
    fn client(&self) -> Program {
        NC
    }

    fn server(&self) -> Program {
        NC
    }

    fn serve(&self, call: &Call<'_>) -> Result<Run, ProbeError> {
        let mut command = call.command();
        command.args(["-n", "-l", &call.server.ip().to_string(), &call.server.port().to_string()]);
        let stdout = Some(call.open(File::create_new(call.place.file()))?);
        Ok(Run { command, redirected: " > contents", stdin: None, stdout })
    }

    fn ask(&self, call: &Call<'_>) -> Result<Run, ProbeError> {
        let mut command = call.command();
        command.args(["-n", "-N", "-s", &call.local.to_string()]);
        command.args([call.server.ip().to_string(), call.server.port().to_string()]);
        let stdin = Some(call.place.contents()?);
        Ok(Run { command, redirected: " < contents", stdin, stdout: None })
    }
}
