//! Correctness of forwarding.

use model::{ForwardingResult, ForwardingSpec, Measured, Mtu, SideFigures};

use super::{Assembled, Ends, Rules, Sides};
use crate::misfit::Misfit;

impl Rules for ForwardingSpec {
    fn fit(&self, _probe: String, _mtu: Mtu) -> Result<(), Misfit> {
        Ok(())
    }

    fn may_be_left_out(&self) -> bool {
        true
    }

    fn assemble(&self, ends: &Ends<'_>, sides: Vec<Sides>) -> Option<Assembled> {
        let (SideFigures::Forwarding(near), SideFigures::Forwarding(far)) = sides.into_iter().next()? else {
            return None;
        };
        let measured = Measured::Forwarding { spec: self.clone(), result: ForwardingResult::of(&near, &far) };
        Some(Assembled { measured, seconds: ends.counters.first()?.seconds, doubts: Vec::new() })
    }
}
