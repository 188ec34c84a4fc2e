//! A path MTU search as JSON.

use model::{
    Culprit, IpVersion, Mtu, PathResult, PathSpec, Run, Stack, Trial, TrialAssessment,
    trial::{PathDevice, Refusal},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cells::Cells;

/// Parameters and figures of a path MTU search.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PathFigures {
    /// IP version.
    pub ip: IpVersion,
    /// Whose network stack.
    pub stack: Stack,
    /// Address of the far end, or its name where it has none of this IP version.
    pub destination: String,
    /// MTU that both ends were set to; null left the bed's own.
    pub mtu_set: Option<Mtu>,
    /// The largest IP packet that passed, in bytes; null where none did.
    pub mtu: BothWays<Option<Mtu>>,
    /// Why one byte more does not pass.
    pub refusals: BothWays<Refusal>,
    /// Routers on the way; null where nothing passed.
    pub routers: BothWays<Option<u8>>,
    /// Devices of both ends.
    pub devices: Vec<PathDevice>,
    /// What keeps the path MTU below the interfaces' own; null where nothing does.
    pub culprit: Option<Culprit>,
    /// Packets of the search, both ways.
    pub packets: u64,
}

/// One value for each direction.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BothWays<T> {
    /// From the near end to the far end.
    pub forward: T,
    /// From the far end to the near end.
    pub reverse: T,
}

impl PathFigures {
    pub(in super::super) fn of(
        run: &Run,
        trial: &Trial,
        assessed: &TrialAssessment,
        spec: &PathSpec,
        result: &PathResult,
    ) -> Self {
        let (forward, reverse) = (&result.forward, &result.reverse);
        let far = run.bed.endpoints.iter().find(|endpoint| endpoint.name == trial.endpoint_to);
        let address = far.and_then(|endpoint| endpoint.address(spec.ip));
        Self {
            ip: spec.ip,
            stack: Stack::Kernel,
            destination: address.map_or_else(|| trial.endpoint_to.clone(), |address| address.to_string()),
            mtu_set: spec.mtu,
            mtu: BothWays { forward: forward.mtu, reverse: reverse.mtu },
            refusals: BothWays { forward: forward.refusal.clone(), reverse: reverse.refusal.clone() },
            routers: BothWays { forward: forward.routers, reverse: reverse.routers },
            devices: result.devices.clone(),
            culprit: assessed.culprit.clone(),
            packets: result.packets,
        }
    }

    /// The rows of the CSV, one for each way.
    pub(in super::super) fn rows(&self, trial: &Trial) -> Vec<Cells> {
        let (from, to) = (&trial.endpoint_from, &trial.endpoint_to);
        let (mtu, routers) = (&self.mtu, &self.routers);
        vec![self.row((from, to), mtu.forward, routers.forward), self.row((to, from), mtu.reverse, routers.reverse)]
    }

    fn row(&self, (from, to): (&str, &str), passed: Option<Mtu>, routers: Option<u8>) -> Cells {
        Cells::default()
            .with("probe", "path")
            .with("from", from)
            .with("to", to)
            .with("ip", self.ip)
            .with("mtu_bytes", self.mtu_set.map(|mtu| mtu.0))
            .with("path_mtu_bytes", passed.map(|mtu| mtu.0))
            .with("routers", routers)
    }
}
