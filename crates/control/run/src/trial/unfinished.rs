//! What is kept of a long trial while it is under way, or when it is cut off.

use model::{
    Doubt, EndCounters, Endpoint, Flow, GoodputReceived, GoodputResult, GoodputSent, GoodputSpec, Measured, ProbeSpec,
    Trial, bed::Bed, plan::Step,
};

use super::Heading;

/// The trial as far as its whole seconds go (in bit/s, as the near and the far side received them); `None` where there
/// are none, or the probe counts no seconds.
pub(crate) fn unfinished(heading: &Heading, step: &Step, bed: &Bed, seconds: &[Vec<f64>; 2]) -> Option<Trial> {
    let ([from, to], ProbeSpec::Goodput(spec)) = (bed.endpoints.as_slice(), &step.spec) else { return None };
    let [near, far] = seconds;
    let whole = [(spec.sends_forward(), far), (spec.sends_back(), near)]
        .into_iter()
        .filter_map(|(sends, seconds)| sends.then_some(seconds.len()))
        .min()
        .filter(|whole| *whole > 0)?;
    let mut flows = Vec::new();
    if spec.sends_forward() {
        flows.push(flow(from, to, spec, &far[..whole]));
    }
    if spec.sends_back() {
        flows.push(flow(to, from, spec, &near[..whole]));
    }
    let result = GoodputResult { mtu: spec.mtu.unwrap_or(from.mtu), flows };
    Some(Trial {
        number: heading.number,
        repeat: step.repeat,
        started: heading.started.clone(),
        duration_s: whole as f64,
        endpoint_from: from.name.clone(),
        endpoint_to: to.name.clone(),
        cpus: [from.cpus.clone(), to.cpus.clone()],
        measured: Measured::Goodput { spec: spec.clone(), result },
        counters: [EndCounters::default(), EndCounters::default()],
        doubts: vec![Doubt::Unfinished { seconds: whole as u64 }],
    })
}

/// What the sender counted is not known before the end.
fn flow(from: &Endpoint, to: &Endpoint, spec: &GoodputSpec, seconds: &[f64]) -> Flow {
    let bytes = (seconds.iter().sum::<f64>() / 8.0).round() as u64;
    let received = GoodputReceived {
        counted_bytes: bytes,
        counted_s: seconds.len() as f64,
        total_bytes: bytes,
        intervals_bps: seconds.to_vec(),
        warmup_s: spec.warmup.as_secs_f64(),
        ended_early: false,
        datagrams: None,
        buffer: None,
    };
    Flow { from: from.name.clone(), to: to.name.clone(), sent: GoodputSent::default(), received }
}
