//! A path MTU search as JSON.

use model::{
    Culprit, IpVersion, Mtu, PathResult, PathSpec, Run, Stack, Trial, TrialAssessment,
    trial::{Hop, Leg, PathDevice, Refusal},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{cells::Cells, shape::document};

document! {
    /// Parameters and figures of a path MTU search.
    PathFigures of (run: &Run, trial: &Trial, assessed: &TrialAssessment, spec: &PathSpec, result: &PathResult);
    let far = run.bed.endpoints.iter().find(|endpoint| endpoint.name == trial.endpoint_to);
    let address = far.and_then(|endpoint| endpoint.address(spec.ip));
    {
        /// IP version.
        ip: IpVersion = spec.ip,
        /// Network stack.
        stack: Stack = Stack::Kernel,
        /// Address of the far end, or its name where it has none of this IP version.
        destination: String = address.map_or_else(|| trial.endpoint_to.clone(), |address| address.to_string()),
        /// MTU that both ends were set to; null left the bed's own.
        mtu_set: Option<Mtu> = spec.mtu,
        /// The largest IP packet that passed, in bytes; null where none did.
        mtu: BothWays<Option<Mtu>> = BothWays::of(result, |leg| leg.mtu),
        /// Why one byte more does not pass.
        refusals: BothWays<Refusal> = BothWays::of(result, |leg| leg.refusal.clone()),
        /// Routers on the way; null where nothing passed.
        routers: BothWays<Option<u8>> = BothWays::of(result, |leg| leg.routers),
        /// Devices of both ends.
        devices: Vec<PathDevice> = result.devices.clone(),
        /// Place that keeps the path MTU below the interfaces' own; null where nothing does.
        culprit: Option<Culprit> = assessed.culprit.clone(),
        /// Packets that were sent, both ways.
        packets: u64 = result.packets,
        /// Each hop from the near to the far end; empty where these were not asked for.
        hops: Vec<Hop> = result.hops.clone(),
    }
}

/// One value for each direction.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BothWays<T> {
    /// From the near end to the far end.
    pub forward: T,
    /// From the far end to the near end.
    pub reverse: T,
}

impl<T> BothWays<T> {
    fn of(result: &PathResult, of: impl Fn(&Leg) -> T) -> Self {
        Self { forward: of(&result.forward), reverse: of(&result.reverse) }
    }
}

impl PathFigures {
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
