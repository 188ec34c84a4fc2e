//! iperf3: as many bytes, but no file. The yardstick of the other methods.

use super::{Call, Method, Program, Run};
use crate::ProbeError;

pub(super) struct Iperf3;

const IPERF3: Program = Program { name: "iperf3", package: "iperf3" };

impl Method for Iperf3 {
    fn client(&self) -> Program {
        IPERF3
    }

    fn server(&self) -> Program {
        IPERF3
    }

    fn serve(&self, call: &Call<'_>) -> Result<Run, ProbeError> {
        let mut command = call.command();
        command.args(["-s", "-1", "-B", &call.server.ip().to_string(), "-p", &call.server.port().to_string()]);
        Ok(command.into())
    }

    fn ask(&self, call: &Call<'_>) -> Result<Run, ProbeError> {
        let mut command = call.command();
        command.args(["-c", &call.server.ip().to_string(), "-B", &call.local.to_string()]);
        command.args(["-p", &call.server.port().to_string(), "-n", &call.size.to_string()]);
        Ok(command.into())
    }
}
