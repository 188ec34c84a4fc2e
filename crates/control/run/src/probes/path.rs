//! Path MTU.

use model::{Doubt, GoodputSpec, Measured, Mtu, PathResult, PathSpec, SideFigures, Trial};

use super::{Assembled, Ends, Rules, Sides};
use crate::misfit::Misfit;

impl Rules for PathSpec {
    fn fit(&self, _probe: String, _mtu: Mtu) -> Result<(), Misfit> {
        Ok(())
    }

    fn assemble(&self, ends: &Ends<'_>, sides: Vec<Sides>) -> Option<Assembled> {
        let (SideFigures::PathNear(mut result), SideFigures::PathFar { devices }) = sides.into_iter().next()? else {
            return None;
        };
        result.devices.extend(devices);
        let measured = Measured::Path { spec: self.clone(), result: *result };
        Some(Assembled { measured, seconds: ends.counters.first()?.seconds, doubts: Vec::new() })
    }
}

/// Whether full-size packets were shown to pass for a trial with an MTU of its own, by the latest path trial of the same
/// kind before it.
pub(crate) fn path_not_proven(trial: &Trial, before: &[Trial]) -> Option<Doubt> {
    let (spec, _) = trial.measured.of::<GoodputSpec>()?;
    let mtu = spec.mtu?;
    let paths = before.iter().rev().filter_map(|trial| trial.measured.of::<PathSpec>());
    let proof = paths.filter(|(path, _)| (path.mtu, path.ip) == (Some(mtu), spec.ip)).map(|(_, result)| result).next();
    let passed = |leg: fn(&PathResult) -> Option<u32>| proof.and_then(leg);
    let forward = passed(|path| path.forward.mtu.map(|mtu| mtu.0));
    let reverse = passed(|path| path.reverse.mtu.map(|mtu| mtu.0));
    let is_proven = [forward, reverse].into_iter().all(|passed| passed.is_some_and(|passed| passed >= mtu.0));
    (!is_proven).then_some(Doubt::PathNotProven { mtu: mtu.0, forward, reverse })
}
