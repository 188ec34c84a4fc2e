//! Whether a sender carried its packets to the receiver's socket by itself.

use model::{ClockRelation, PacketStream, Run, Source, Total, Trial};

/// Share of the packets that cores received which makes the work that of the sender's cores: other traffic of the machine
/// is in the count.
const MOST: f64 = 0.5;

/// Whether the cores that sent from this end also did the kernel's receiving (`/proc/net/softnet_stat`), as over a veth pair.
/// Then a packet is sent when the one before it has been received, nothing between can be overrun, and no loss says nothing.
/// Not where the ends are two machines, or where nobody counted.
pub(crate) fn is_synchronous(run: &Run, trial: &Trial, from: &str) -> bool {
    let to = if from == trial.endpoint_to { &trial.endpoint_from } else { &trial.endpoint_to };
    let (Some((_, senders)), Some((counted, _))) = (trial.end(from), trial.end(to)) else { return false };
    let received = |cores: Option<&[usize]>| -> u64 {
        let is_of = |of: &str| {
            let number = of.strip_prefix("cpu ").and_then(|number| number.parse().ok());
            cores.is_none_or(|cores| number.is_some_and(|number| cores.contains(&number)))
        };
        let processed = counted.named(Source::Softnet, "processed");
        processed.filter(|delta| is_of(&delta.of)).map(|delta| delta.delta).total()
    };
    let (all, by_sender) = (received(None), received(Some(senders)));
    run.bed.clocks == ClockRelation::Same && all > 0 && by_sender as f64 > MOST * all as f64
}

/// The same of a stream of packets, by the cores that its receiver saw each frame on. Where it did not, by what the kernel counted.
pub(crate) fn is_stream_synchronous(run: &Run, trial: &Trial, stream: &PacketStream) -> bool {
    let received = |wanted: &dyn Fn(usize) -> bool| -> u64 {
        stream.received.cpus.iter().filter(|on| wanted(on.cpu)).map(|on| on.frames).total()
    };
    let (all, by_sender) = (received(&|_| true), received(&|cpu| stream.sent.cpus.contains(&cpu)));
    if all == 0 {
        return is_synchronous(run, trial, &stream.from);
    }
    run.bed.clocks == ClockRelation::Same && by_sender as f64 > MOST * all as f64
}

#[cfg(test)]
mod tests {
    use model::{Delta, Measured, PathResult, PathSpec, Plan, ProbeSpec, fixture};

    use super::*;

    /// A run, and a trial of core 1 at a and core 2 at b in which cores received so many packets at one end.
    fn received(end: usize, packets: &[(&str, u64)]) -> (Run, Trial) {
        let plan = Plan::parse("name = \"t\"\n[[path]]", &[]).unwrap();
        let ProbeSpec::Path(spec) = plan.specs().remove(0) else { panic!("planned") };
        let mut trial = fixture::trial(path(spec));
        trial.cpus = [vec![1], vec![2]];
        for (of, delta) in packets {
            let (of, name) = ((*of).to_owned(), "processed".to_owned());
            trial.counters[end].deltas.push(Delta { source: Source::Softnet, of, name, delta: *delta });
        }
        (fixture::run(plan), trial)
    }

    fn path(spec: PathSpec) -> Measured {
        let leg = || model::trial::Leg { mtu: None, refusal: model::trial::Refusal::Interface, routers: None };
        let result = PathResult { forward: leg(), reverse: leg(), devices: vec![], packets: 0, hops: vec![] };
        Measured::Path { spec, result }
    }

    #[test]
    fn the_core_that_sends_and_receives_makes_a_loop() {
        let is = |(run, trial): (Run, Trial), from| is_synchronous(&run, &trial, from);
        assert!(is(received(1, &[("cpu 1", 934_000)]), "a"));
        assert!(!is(received(1, &[("cpu 2", 934_000)]), "a"), "the receiver's core");
        assert!(!is(received(1, &[("cpu 11", 934_000)]), "a"));
        assert!(is(received(0, &[("cpu 2", 934_000)]), "b"), "the other way");
        assert!(!is(received(1, &[]), "a"), "nobody counted");
        assert!(is(received(1, &[("cpu 1", 934_000), ("cpu 3", 200_000)]), "a"), "with other traffic");
        assert!(!is(received(1, &[("cpu 1", 200_000), ("cpu 2", 934_000)]), "a"));
        let (mut run, trial) = received(1, &[("cpu 1", 934_000)]);
        run.bed.clocks = ClockRelation::Estimated { error_ns: 1000 };
        assert!(!is((run, trial), "a"), "two machines");
    }
}
