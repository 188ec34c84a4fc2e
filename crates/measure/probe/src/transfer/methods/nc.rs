//! netcat-openbsd: nothing but the contents on a connection; small files between two tars.

use std::{fs::File, process::Command};

use super::{Call, Method, Program, Run};
use crate::{ProbeError, programs, transfer::unable};

pub(super) struct Nc;

/// Traditional netcat has the name as well, and no `-N`.
const NC: Program = Program { name: "nc.openbsd", package: "netcat-openbsd" };

const TAR: Program = Program { name: "tar", package: "tar" };

impl Method for Nc {
    fn client(&self) -> Program {
        NC
    }

    fn server(&self) -> Program {
        NC
    }

    fn archiver(&self) -> Option<Program> {
        Some(TAR)
    }

    fn serve(&self, call: &Call<'_>) -> Result<Run, ProbeError> {
        let mut command = call.command();
        command.args(["-n", "-l", &call.server.ip().to_string(), &call.server.port().to_string()]);
        if call.is_many {
            return Ok(Run { after: Some(tar(&["-x"])?), ..command.into() });
        }
        let stdout = Some(call.open(File::create_new(call.place.contents()))?);
        Ok(Run { redirected: " > contents", stdout, ..command.into() })
    }

    fn ask(&self, call: &Call<'_>) -> Result<Run, ProbeError> {
        let mut command = call.command();
        command.args(["-n", "-N", "-s", &call.local.to_string()]);
        command.args([call.server.ip().to_string(), call.server.port().to_string()]);
        if call.is_many {
            return Ok(Run { before: Some(tar(&["-c", "contents"])?), ..command.into() });
        }
        let stdin = Some(call.place.open_contents()?);
        Ok(Run { redirected: " < contents", stdin, ..command.into() })
    }
}

/// A call of tar, which writes or reads the archive at its pipe.
fn tar(words: &[&str]) -> Result<Command, ProbeError> {
    let program = TAR.find().map_err(|lacks| unable(&lacks.name, "it is not installed"))?;
    let mut command = programs::command(&program);
    command.args(["-f", "-"]).args(words);
    Ok(command)
}
