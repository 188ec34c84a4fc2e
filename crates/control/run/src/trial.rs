//! From both sides' figures to a trial. Pure.

use model::{
    Doubt, GoodputResult, Measured, ProbeSpec, Trial,
    bed::{Bed, Endpoint},
    plan::Step,
    trial::CoreUse,
};
use protocol::{Figures, GoodputReceived, GoodputSent, Outcome};

use crate::measure::Outcomes;

/// Stolen time above this, in percent of a core, is a doubt.
const STEAL: f64 = 1.0;

/// Puts a trial together; `None` if the figures are not those of the probe.
pub(crate) fn assemble(number: u32, step: &Step, started: String, bed: &Bed, outcomes: Outcomes) -> Option<Trial> {
    let (sender, receiver) = outcomes;
    let [from, to] = bed.endpoints.as_slice() else { return None };
    let mut doubts = doubts_of_place(from, to, &sender, &receiver);
    let (measured, duration_s) = match (&step.spec, sender.figures, receiver.figures) {
        (ProbeSpec::Latency(spec), Figures::LatencyClient(result), Figures::LatencyServer { .. }) => {
            if result.lost + result.late > 0 {
                doubts.push(Doubt::RepliesMissing { lost: result.lost, late: result.late });
            }
            (Measured::Latency { spec: spec.clone(), result: *result }, sender.duration_s)
        }
        (ProbeSpec::Goodput(spec), Figures::GoodputSender(sent), Figures::GoodputReceiver(received)) => {
            if sent.total_bytes != received.total_bytes {
                let (sent, received) = (sent.total_bytes, received.total_bytes);
                doubts.push(Doubt::CountersDisagree { sent, received });
            }
            let seconds = (sender.duration_s, receiver.duration_s);
            let result = goodput(from, &sent, received, seconds, receiver.cpu);
            (Measured::Goodput { spec: spec.clone(), result }, receiver.duration_s)
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
        cpus: [from.cpu, to.cpu],
        measured,
        limited_by: None,
        doubts,
    })
}

fn goodput(
    from: &Endpoint,
    sent: &GoodputSent,
    received: GoodputReceived,
    (sender_s, receiver_s): (f64, f64),
    cpu: Vec<CoreUse>,
) -> GoodputResult {
    GoodputResult {
        mtu: from.mtu,
        received_bytes: received.counted_bytes,
        sent_bytes: sent.counted_bytes,
        mean_bps: received.counted_bytes as f64 * 8.0 / receiver_s,
        sent_bps: sent.counted_bytes as f64 * 8.0 / sender_s,
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
    let steal = sender.cpu.iter().chain(&receiver.cpu).map(|core| core.steal).fold(0.0, f64::max);
    if steal > STEAL {
        doubts.push(Doubt::Steal { percent: steal });
    }
    doubts
}
