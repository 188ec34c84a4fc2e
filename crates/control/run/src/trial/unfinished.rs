//! The part of a long trial that is kept while it is under way, or when it is cut off. Pure.

use model::{Doubt, EndCounters, Endpoint, OtherSender, Trial, bed::Bed, plan::Step};

use super::Heading;
use crate::probes::{self, Assembled, Ends, PairReports};

/// The trial as far as it is known, with what each pair reported; `None` where nothing is, or the probe tells nothing on the way.
pub(crate) fn unfinished(heading: &Heading, step: &Step, bed: &Bed, reports: &[PairReports]) -> Option<Trial> {
    let (senders, to) = (bed.senders().get(step.senders.clone())?, bed.receiver()?);
    let from = senders.first()?;
    let ends = Ends { senders, receiver: to, counters: vec![EndCounters::default(); senders.len() + 1] };
    let Assembled { measured, seconds, doubts: of_figures } = probes::of(&step.spec).so_far(&ends, reports)?;
    let mut doubts = vec![Doubt::Unfinished { seconds: seconds as u64 }];
    doubts.extend(of_figures.into_iter().filter(known_before_the_end));
    let other = |end: &Endpoint| OtherSender {
        endpoint: end.name.clone(),
        cpus: end.cpus.clone(),
        counters: EndCounters::default(),
    };
    Some(Trial {
        number: heading.number,
        origin: Some(step.origin()),
        repeat: step.repeat,
        started: heading.started.clone(),
        duration_s: seconds,
        endpoint_from: from.name.clone(),
        endpoint_to: to.name.clone(),
        cpus: [from.cpus.clone(), to.cpus.clone()],
        measured,
        counters: Default::default(),
        others: senders[1..].iter().map(other).collect(),
        dut: None,
        doubts,
    })
}

/// Figures that follow from replies and seconds alone. Counts of the sender and counters are known at the end only.
fn known_before_the_end(doubt: &Doubt) -> bool {
    matches!(doubt, Doubt::RepliesMissing { .. } | Doubt::Stalled { .. } | Doubt::NothingToPoll { .. })
}

#[cfg(test)]
mod tests {
    use model::{
        GoodputReceived, LatencyResult, Measured, Plan, SoFar, fixture,
        trial::{DatagramsReceived, TimeSummary},
    };

    use super::*;
    use crate::probes::Seconds;

    fn kept(section: &str, reports: &PairReports) -> Option<Trial> {
        let plan = Plan::parse(&format!("name = \"t\"\n{section}"), &[]).unwrap();
        let heading = Heading { number: 3, started: "then".into() };
        unfinished(&heading, &procedure::steps(&plan, 1)[0], &fixture::lab(), std::slice::from_ref(reports))
    }

    #[test]
    fn round_trips_are_kept_as_they_were_told_last() {
        let section = "[[latency]]\nprotocol = \"udp\"\nframe_sizes = [64]";
        assert_eq!(kept(section, &PairReports::default()), None);
        let rtt_ns = TimeSummary { n: 100, ..TimeSummary::default() };
        let result = LatencyResult { sent: 100, lost: None, late: 2, rtt_ns, ..LatencyResult::default() };
        let so_far = SoFar::Latency { seconds: 4.2, result: Box::new(result) };
        let trial = kept(section, &PairReports { latest: [Some(so_far), None], ..PairReports::default() }).unwrap();
        assert_eq!((trial.number, trial.duration_s, trial.is_whole()), (3, 4.2, false));
        assert_eq!(trial.doubts, [Doubt::Unfinished { seconds: 4 }, Doubt::RepliesMissing { lost: 0, late: 2 }]);
    }

    #[test]
    fn datagrams_are_kept_with_the_whole_seconds_and_without_what_the_sender_knows() {
        let section = "[[goodput]]\nprotocol = \"udp\"\nduration = \"9 s\"\nrate = \"8 bit/s\"";
        let datagrams = DatagramsReceived { received: 7, duplicated: 1, ..DatagramsReceived::default() };
        let received = GoodputReceived { total_bytes: 70, datagrams: Some(datagrams), ..GoodputReceived::default() };
        let mut seconds = Seconds::at_most(9);
        seconds.add(vec![80.0, 0.0, 160.0], Vec::new());
        let reports = PairReports {
            seconds: [Seconds::default(), seconds],
            latest: [None, Some(SoFar::Goodput(Box::new(received.clone())))],
        };
        let trial = kept(section, &reports).unwrap();
        assert_eq!(trial.doubts, [Doubt::Unfinished { seconds: 3 }, Doubt::Stalled { seconds: 1 }]);
        let Measured::Goodput { result, .. } = trial.measured else { panic!("goodput") };
        let flow = &result.flows[0];
        assert_eq!((flow.received.counted_bytes, flow.received.total_bytes, flow.lost()), (30, 70, None));
        assert_eq!(flow.received.datagrams, received.datagrams);
        assert_eq!(kept(section, &PairReports { seconds: Default::default(), ..reports }), None, "no whole second yet");
    }
}
