//! Doubts that several probes raise. Pure.

use model::Doubt;

/// A sender that reaches less of its schedule than this did not keep up.
const KEPT_UP: f64 = 0.99;

/// The first ones may: the kernel gives a socket its port, and looks for the neighbour.
pub(crate) fn through_kernel(datagrams: Option<u64>, of: u64) -> Option<Doubt> {
    const SOME: f64 = 0.01;
    let datagrams = datagrams?;
    (datagrams as f64 > SOME * of as f64).then_some(Doubt::ThroughKernel { datagrams, of })
}

/// A sender that could not keep up is a doubt; unsent packets are no loss.
pub(crate) fn too_slow(intended: f64, achieved: f64) -> Option<Doubt> {
    (achieved < KEPT_UP * intended).then_some(Doubt::SenderTooSlow { intended, achieved })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_behind_its_schedule_is_a_doubt() {
        assert_eq!(too_slow(1000.0, 995.0), None);
        assert_eq!(too_slow(1000.0, 900.0), Some(Doubt::SenderTooSlow { intended: 1000.0, achieved: 900.0 }));
    }
}
