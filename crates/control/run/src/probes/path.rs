//! Path MTU.

use model::{Bed, Doubt, Measured, Mtu, PathSpec, SideFigures, Trial};

use super::{Assembled, Ends, Rules, Sides};
use crate::misfit::Misfit;

impl Rules for PathSpec {
    fn fit(&self, _probe: String, _mtu: Mtu) -> Result<(), Misfit> {
        Ok(())
    }

    fn may_be_left_out(&self) -> bool {
        true
    }

    fn assemble(&self, ends: &Ends<'_>, sides: Vec<Sides>) -> Option<Assembled> {
        let (SideFigures::PathNear(mut result), SideFigures::PathFar { devices }) = sides.into_iter().next()? else {
            return None;
        };
        result.devices.extend(devices);
        let measured = Measured::Path { spec: self.clone(), result: *result };
        Some(Assembled { measured, seconds: ends.counters.first()?.seconds, doubts: Vec::new() })
    }

    fn doubts_in_run(&self, trial: &Trial, bed: &Bed, _before: &[Trial]) -> Vec<Doubt> {
        ttl_kept(trial, bed)
    }
}

/// Ways of a routed bed on which no router took one off the TTL.
fn ttl_kept(trial: &Trial, bed: &Bed) -> Vec<Doubt> {
    let routed = bed.dut.as_ref().is_some_and(|dut| !dut.gateways.is_empty());
    let Some((_, result)) = trial.measured.of::<PathSpec>().filter(|_| routed) else { return Vec::new() };
    let (a, b) = (&trial.endpoint_from, &trial.endpoint_to);
    let ways = [(&result.forward, a, b), (&result.reverse, b, a)];
    let kept = ways.into_iter().filter(|(leg, ..)| leg.routers == Some(0));
    kept.map(|(_, from, to)| Doubt::TtlKept { from: from.clone(), to: to.clone() }).collect()
}

#[cfg(test)]
mod tests {
    use model::{
        Dut, IpVersion, Nanos, PathResult, fixture,
        trial::{Leg, Refusal},
    };

    use super::*;

    #[test]
    fn a_way_whose_router_leaves_the_ttl_is_a_doubt_where_there_is_a_router() {
        let leg = |routers| Leg { mtu: Some(Mtu(1500)), refusal: Refusal::Interface, routers: Some(routers) };
        let result = PathResult { forward: leg(0), reverse: leg(1), devices: vec![], packets: 20, hops: vec![] };
        let spec = PathSpec { ip: IpVersion::V4, mtu: None, timeout: Nanos::from_millis(200), hops: 0 };
        let trial = fixture::trial(Measured::Path { spec, result });
        let mut bed = fixture::lab();
        assert_eq!(ttl_kept(&trial, &bed), [], "no router");
        let gateway = model::bed::Gateway { endpoint: "a".to_owned(), address: [198, 18, 0, 1].into(), prefix: 24 };
        bed.dut = Some(Dut { gateways: vec![gateway], ..Dut::default() });
        let kept = Doubt::TtlKept { from: trial.endpoint_from.clone(), to: trial.endpoint_to.clone() };
        assert_eq!(ttl_kept(&trial, &bed), [kept]);
    }
}
