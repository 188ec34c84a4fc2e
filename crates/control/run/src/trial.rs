//! From both sides' figures to a trial. Pure.

use model::{
    Doubt, GoodputReceived, GoodputResult, GoodputSent, Measured, ProbeSpec, Trial,
    bed::{Bed, Endpoint},
    plan::Step,
    trial::CoreUse,
};
use protocol::{Figures, Outcome};

use crate::measure::Outcomes;

/// Stolen time above both of these is a doubt: in percent of a core, and in seconds, because the kernel counts it in ticks of
/// 10 ms and one tick may belong to the time before.
const STEAL: (f64, f64) = (1.0, 0.02);

/// Puts a trial together; `None` if the figures are not those of the probe.
pub(crate) fn assemble(number: u32, step: &Step, started: String, bed: &Bed, outcomes: Outcomes) -> Option<Trial> {
    let (sender, receiver) = outcomes;
    let [from, to] = bed.endpoints.as_slice() else { return None };
    let mut doubts = doubts_of_place(from, to, &sender, &receiver);
    let cpus = [from.cpu.filter(|_| sender.pinned), to.cpu.filter(|_| receiver.pinned)];
    let (measured, duration_s) = match (&step.spec, sender.figures, receiver.figures) {
        (ProbeSpec::Latency(spec), Figures::LatencyClient(result), Figures::LatencyServer { .. }) => {
            if result.lost + result.late > 0 {
                doubts.push(Doubt::RepliesMissing { lost: result.lost, late: result.late });
            }
            (Measured::Latency { spec: spec.clone(), result: *result }, sender.cpu_s)
        }
        (ProbeSpec::Goodput(spec), Figures::GoodputSender(sent), Figures::GoodputReceiver(received)) => {
            if sent.total_bytes != received.total_bytes {
                let (sent, received) = (sent.total_bytes, received.total_bytes);
                doubts.push(Doubt::CountersDisagree { sent, received });
            }
            if received.ended_early {
                doubts.push(Doubt::DataEndedEarly);
            }
            let seconds = received.counted_s;
            let result = goodput(from, &sent, received, receiver.cpu);
            (Measured::Goodput { spec: spec.clone(), result }, seconds)
        }
        _ => return None,
    };
    Some(Trial {
        number,
        repeat: step.repeat,
        started,
        duration_s,
        endpoint_from: from.name.clone(),
        endpoint_to: to.name.clone(),
        cpus,
        measured,
        limited_by: None,
        doubts,
    })
}

fn goodput(from: &Endpoint, sent: &GoodputSent, received: GoodputReceived, cpu: Vec<CoreUse>) -> GoodputResult {
    GoodputResult {
        mtu: from.mtu,
        received_bytes: received.counted_bytes,
        sent_bytes: sent.counted_bytes,
        mean_bps: received.counted_bytes as f64 * 8.0 / received.counted_s,
        sent_bps: sent.counted_bytes as f64 * 8.0 / sent.counted_s,
        intervals_bps: received.intervals_bps,
        retransmits: sent.retransmits,
        warmup_s: received.warmup_s,
        cpu,
    }
}

fn doubts_of_place(from: &Endpoint, to: &Endpoint, sender: &Outcome, receiver: &Outcome) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    if let (Some(cpu), true) = (from.cpu, from.cpu == to.cpu) {
        doubts.push(Doubt::SharedCore { cpu });
    }
    for (endpoint, outcome) in [(from, sender), (to, receiver)] {
        if !outcome.pinned {
            doubts.push(Doubt::NotPinned { endpoint: endpoint.name.clone() });
        }
    }
    let ends = [from.cpu, to.cpu];
    let steal = [sender, receiver].into_iter().map(|outcome| stolen(outcome, &ends)).fold(0.0, f64::max);
    if steal > 0.0 {
        doubts.push(Doubt::Steal { percent: steal });
    }
    doubts
}

/// What was stolen from the worse of these cores, in percent; zero where that is too little to be told.
fn stolen(outcome: &Outcome, cores: &[Option<usize>]) -> f64 {
    let ours = outcome.cpu.iter().filter(|core| cores.contains(&Some(core.cpu)));
    let worst = ours.map(|core| core.steal).fold(0.0, f64::max);
    let (percent, seconds) = STEAL;
    if worst > percent && worst / 100.0 * outcome.cpu_s > seconds { worst } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(steal: f64, cpu_s: f64) -> Outcome {
        let core = |cpu, steal| CoreUse { cpu, busy: 100.0, softirq: 0.0, steal };
        let figures = Figures::LatencyServer { answered: 1 };
        Outcome { pinned: true, cpu: vec![core(0, steal), core(7, 90.0)], cpu_s, figures }
    }

    #[test]
    fn stolen_time_counts_on_the_cores_of_the_ends_and_from_two_ticks_on() {
        let ends = [Some(0), Some(1)];
        assert_eq!(stolen(&outcome(14.0, 0.07), &ends), 0.0, "one tick in a short trial");
        assert_eq!(stolen(&outcome(14.0, 1.0), &ends), 14.0);
        assert_eq!(stolen(&outcome(0.5, 100.0), &ends), 0.0);
    }
}
