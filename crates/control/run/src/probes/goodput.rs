//! Goodput.

mod cross_check;

use model::{
    Bed, DirectionSecond, Doubt, Endpoint, Flow, GoodputReceived, GoodputResult, GoodputSecond, GoodputSent,
    GoodputSide, GoodputSpec, Measured, Mtu, PayloadSize, Protocol, SideFigures, SoFar, Total, Trial,
    frame_size::Headers, probe::FASTEST,
};

use self::cross_check::crossed;
use super::{
    Assembled, Ends, PairReports, Rules, Sides,
    doubts::{through_kernel, too_slow},
};
use crate::{
    cross_check::packets_disagree,
    misfit::{LEAST_TCP_MTU, Misfit},
};

impl Rules for GoodputSpec {
    fn fit(&self, probe: String, mtu: Mtu) -> Result<(), Misfit> {
        match self.protocol {
            Protocol::Udp => check_datagram(probe, self, mtu),
            Protocol::Tcp if mtu.0 < LEAST_TCP_MTU => Err(Misfit::SmallMtu { probe, mtu }),
            Protocol::Tcp => Ok(()),
        }
    }

    fn assemble(&self, ends: &Ends<'_>, sides: Vec<Sides>) -> Option<Assembled> {
        let side = |figures| match figures {
            SideFigures::Goodput(side) => Some(*side),
            _ => None,
        };
        let sides = sides.into_iter().map(|(near, far)| Some((side(near)?, side(far)?)));
        let flows = flows(self, ends, sides.collect::<Option<_>>()?)?;
        let seconds = flows.first()?.received.counted_s;
        assembled(self, ends, flows, seconds)
    }

    /// As far as the whole seconds go that each receiving side has.
    fn so_far(&self, ends: &Ends<'_>, reports: &[PairReports]) -> Option<Assembled> {
        let whole =
            reports.iter().filter_map(|reports| whole_seconds(self, reports)).min().filter(|whole| *whole > 0)?;
        let side = |reports: &PairReports, side: usize| GoodputSide {
            sent: Some(GoodputSent::default()),
            received: Some(received(
                self,
                reports.seconds[side].bps.get(..whole).unwrap_or_default(),
                reports.latest[side].as_ref(),
            )),
        };
        let sides = reports.iter().map(|reports| (side(reports, 0), side(reports, 1))).collect();
        assembled(self, ends, flows(self, ends, sides)?, whole as f64)
    }

    fn doubts_in_run(&self, trial: &Trial, _bed: &Bed, before: &[Trial]) -> Vec<Doubt> {
        path_not_proven(self, trial, before).into_iter().collect()
    }

    fn second(&self, reports: &[PairReports], before: usize) -> Option<GoodputSecond> {
        let (near, far) = (0, 1);
        let way = |from, to| way_second(self.protocol, reports, (from, to), before);
        // A side that has not reported it yet makes the whole second unknown.
        let forward = if self.sends_forward() { Some(way(near, far)?) } else { None };
        let back = if self.sends_back() { Some(way(far, near)?) } else { None };
        Some(GoodputSecond { number: before + 1, ways: [forward, back] })
    }
}

/// Whether full-size packets were shown to pass for a trial with an MTU of its own, by the latest proof before it.
fn path_not_proven(spec: &GoodputSpec, trial: &Trial, before: &[Trial]) -> Option<Doubt> {
    let mtu = spec.mtu?;
    let [forward, reverse] = procedure::proof(&trial.measured.spec(), before).unwrap_or_default();
    let is_proven = [forward, reverse].into_iter().all(|passed| passed.is_some_and(|passed| passed >= mtu.0));
    (!is_proven).then_some(Doubt::PathNotProven { mtu: mtu.0, forward, reverse })
}

fn assembled(spec: &GoodputSpec, ends: &Ends<'_>, flows: Vec<Flow>, seconds: f64) -> Option<Assembled> {
    let doubts = doubts(spec, &flows, ends);
    let result = GoodputResult { mtu: spec.mtu.or(ends.mtu())?, flows };
    Some(Assembled { measured: Measured::Goodput { spec: spec.clone(), result }, seconds, doubts })
}

fn check_datagram(probe: String, spec: &GoodputSpec, mtu: Mtu) -> Result<(), Misfit> {
    let headers = Headers { ip: spec.ip, protocol: spec.protocol, tcp_timestamps: false };
    let largest = mtu.0.saturating_sub(headers.bytes());
    match spec.datagram {
        Some(PayloadSize(datagram)) if datagram > largest => {
            Err(Misfit::Datagram { probe, datagram, mtu: mtu.0, largest })
        }
        datagram => check_rate(probe, spec, datagram.unwrap_or(PayloadSize(largest))),
    }
}

fn check_rate(probe: String, spec: &GoodputSpec, datagram: PayloadSize) -> Result<(), Misfit> {
    let Some(rate) = spec.rate else { return Ok(()) };
    let a_second = rate.0 as f64 / (f64::from(datagram.0) * 8.0);
    let refuse = |why: String| Err(Misfit::Rate { probe, why });
    if a_second > FASTEST.0 as f64 {
        return refuse(format!(
            "{rate} is more than {FASTEST} of {} bytes, which no clock could pace; ask for less, or leave the rate out to send \
             flat out",
            datagram.0
        ));
    }
    if a_second * spec.duration.as_secs_f64() < f64::from(spec.streams) {
        return refuse(format!(
            "at {rate} not every stream would send a datagram of {} bytes within {}; ask for more, or for a longer duration",
            datagram.0, spec.duration
        ));
    }
    Ok(())
}

/// One for each sender and direction that data went, the forward ones first. Beside a program of the far host, which serves one way, the
/// near side has both parts.
pub(super) fn flows(spec: &GoodputSpec, ends: &Ends<'_>, sides: Vec<(GoodputSide, GoodputSide)>) -> Option<Vec<Flow>> {
    let to = ends.receiver;
    let flow = |from: &Endpoint, to: &Endpoint, sent, received| {
        Some(Flow { from: from.name.clone(), to: to.name.clone(), sent: sent?, received: received? })
    };
    let (mut forward, mut back) = (Vec::new(), Vec::new());
    for (from, (mut near, mut far)) in ends.senders.iter().zip(sides) {
        if spec.sends_forward() {
            let received = far.received.take().or_else(|| near.received.take());
            forward.push(flow(from, to, near.sent.take(), received)?);
        }
        if spec.sends_back() {
            back.push(flow(to, from, far.sent.or(near.sent), near.received)?);
        }
    }
    Some([forward, back].concat())
}

/// A second from one side to the other, over all pairs.
fn way_second(
    protocol: Protocol,
    reports: &[PairReports],
    (from, to): (usize, usize),
    before: usize,
) -> Option<DirectionSecond> {
    let bps = reports.iter().map(|reports| reports.seconds[to].bps.get(before).copied()).sum::<Option<f64>>()?;
    let resent = || reports.iter().map(|reports| reports.seconds[from].retransmits.get(before).copied());
    let retransmits = match protocol {
        Protocol::Tcp => Some(resent().collect::<Option<Vec<_>>>()?.into_iter().total()),
        Protocol::Udp => None,
    };
    Some(DirectionSecond { bps, retransmits })
}

fn whole_seconds(spec: &GoodputSpec, reports: &PairReports) -> Option<usize> {
    let [near, far] = &reports.seconds;
    let sides = [(spec.sends_forward(), far), (spec.sends_back(), near)];
    sides.into_iter().filter_map(|(sends, seconds)| sends.then_some(seconds.bps.len())).min()
}

/// Whole seconds, and what else the receiver had counted until its latest report.
fn received(spec: &GoodputSpec, seconds: &[f64], latest: Option<&SoFar>) -> GoodputReceived {
    let reports = match latest {
        Some(SoFar::Goodput(received)) => (**received).clone(),
        _ => GoodputReceived::default(),
    };
    let bytes = (seconds.iter().sum::<f64>() / 8.0).round() as u64;
    GoodputReceived {
        counted_bytes: bytes,
        counted_s: seconds.len() as f64,
        total_bytes: reports.total_bytes.max(bytes),
        intervals_bps: seconds.to_vec(),
        warmup_s: spec.warmup.as_secs_f64(),
        ..reports
    }
}

/// A finding that concerns several flows is said once.
fn doubts(spec: &GoodputSpec, flows: &[Flow], ends: &Ends<'_>) -> Vec<Doubt> {
    let of = |name: &str| ends.counters_of(name);
    let crossed = flows.iter().filter_map(|flow| crossed(flow, flows, spec, of(&flow.from)?, of(&flow.to)?));
    let mut doubts: Vec<Doubt> = Vec::new();
    for doubt in crossed.map(packets_disagree).chain(flows.iter().flat_map(|flow| of_flow(spec, flow))) {
        if !doubts.contains(&doubt) {
            doubts.push(doubt);
        }
    }
    doubts
}

fn of_flow(spec: &GoodputSpec, flow: &Flow) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    let (sent, received) = (&flow.sent, &flow.received);
    doubts.extend(unsteady(received));
    doubts.extend(stalled(received));
    if sent.datagrams.is_none() && sent.total_bytes != received.total_bytes {
        doubts.push(Doubt::CountersDisagree { sent: sent.total_bytes, received: received.total_bytes });
    }
    if received.ended_early {
        doubts.push(Doubt::DataEndedEarly);
    }
    let intended = sent.datagrams.as_ref().and_then(|datagrams| datagrams.intended_bps);
    doubts.extend(intended.zip(sent.mean_bps()).and_then(|(intended, achieved)| too_slow(intended, achieved)));
    doubts.extend(small_buffer(spec, flow));
    if let (Some(left), Some(came)) = (&sent.datagrams, &received.datagrams) {
        let through = left.through_kernel.zip(came.through_kernel).map(|(left, came)| left + came);
        doubts.extend(through_kernel(through, left.sent + came.received));
    }
    doubts
}

/// Whole seconds without anything, among others that had something.
fn stalled(received: &GoodputReceived) -> Option<Doubt> {
    let silent = received.intervals_bps.iter().filter(|bps| **bps == 0.0).count();
    (silent > 0 && silent < received.intervals_bps.len()).then_some(Doubt::Stalled { seconds: silent as u64 })
}

/// A figure that was still on its way when the warm-up was over.
fn unsteady(received: &GoodputReceived) -> Option<Doubt> {
    let seconds = &received.intervals_bps;
    let settled = stats::settled_after(seconds).filter(|settled| *settled > 0);
    let settled = settled.map(|settled| Doubt::Unsteady { settled_after_s: settled as f64, thirds_bps: None });
    settled.or_else(|| {
        let thirds_bps = thirds(seconds).filter(differ)?;
        Some(Doubt::Unsteady { settled_after_s: seconds.len() as f64, thirds_bps: Some(thirds_bps) })
    })
}

/// Means of the first, the second and the last third; seconds that are left over belong to the second.
fn thirds(seconds: &[f64]) -> Option<[f64; 3]> {
    let third = Some(seconds.len() / 3).filter(|third| *third > 0)?;
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let last = seconds.len() - third;
    Some([mean(&seconds[..third]), mean(&seconds[third..last]), mean(&seconds[last..])])
}

/// Whether the slowest third is below half of the fastest: a virtual machine's noise stays above.
fn differ(thirds: &[f64; 3]) -> bool {
    const STRONGLY: f64 = 0.5;
    let (least, most) = (thirds.iter().copied().fold(f64::MAX, f64::min), thirds.iter().copied().fold(0.0, f64::max));
    least < STRONGLY * most
}

fn small_buffer(spec: &GoodputSpec, flow: &Flow) -> Option<Doubt> {
    let asked = spec.window?.0;
    let ends = [(&flow.from, flow.sent.buffer), (&flow.to, flow.received.buffer)];
    ends.into_iter().find_map(|(endpoint, granted)| {
        let granted = granted?.0;
        (granted < asked).then(|| Doubt::SmallBuffer { endpoint: endpoint.clone(), asked, granted })
    })
}

#[cfg(test)]
mod tests {
    use model::{Direction, Nanos, fixture};

    use super::*;
    use crate::probes::Seconds;

    fn reported_by(side: usize, bps: &[f64], retransmits: &[u64]) -> PairReports {
        let mut reports = PairReports::default();
        reports.seconds[side] = Seconds::at_most(9);
        reports.seconds[side].add(bps.to_vec(), retransmits.to_vec());
        reports
    }

    #[test]
    fn a_second_is_told_once_each_side_has_counted_it() {
        let spec = GoodputSpec { duration: Nanos::from_secs(9), ..fixture::goodput(Protocol::Tcp) };
        assert_eq!(model::probe::Probe::profile(&spec).whole_seconds, 9);
        let mut pairs = [reported_by(1, &[4e9, 5e9], &[]), reported_by(1, &[1e9], &[])];
        assert_eq!(spec.second(&pairs, 0), None, "the senders have reports nothing");
        for (pair, resent) in pairs.iter_mut().zip([3, u64::MAX]) {
            pair.seconds[0] = reported_by(0, &[], &[resent, 1]).seconds[0].take();
        }
        let way = |bps, retransmits| Some(DirectionSecond { bps, retransmits });
        let first = GoodputSecond { number: 1, ways: [way(5e9, Some(u64::MAX)), None] };
        assert_eq!(spec.second(&pairs, 0), Some(first));
        assert_eq!(spec.second(&pairs, 1), None, "one receiver is behind");
        let udp = GoodputSpec { direction: Direction::Both, ..fixture::goodput(Protocol::Udp) };
        let mut both = [reported_by(1, &[4e9], &[])];
        assert_eq!(udp.second(&both, 0), None, "the other way is behind");
        both[0].seconds[0] = reported_by(0, &[2e9], &[]).seconds[0].take();
        let second = GoodputSecond { number: 1, ways: [way(4e9, None), way(2e9, None)] };
        assert_eq!(udp.second(&both, 0), Some(second));
    }

    #[test]
    fn thirds_that_differ_strongly_are_a_doubt() {
        let of = |intervals_bps: &[f64]| {
            unsteady(&GoodputReceived { intervals_bps: intervals_bps.to_vec(), ..GoodputReceived::default() })
        };
        // Offloads were switched off after a second.
        let changed = of(&[21_638e6, 8_946e6, 7_460e6]);
        let thirds_bps = Some([21_638e6, 8_946e6, 7_460e6]);
        assert_eq!(changed, Some(Doubt::Unsteady { settled_after_s: 3.0, thirds_bps }));
        assert!(of(&[9.0, 9.1, 9.0, 9.2, 9.0, 9.1, 3.0, 3.1, 3.0]).is_some(), "slower at its end");
        assert_eq!(of(&[8.4e9, 9.9e9, 9.1e9, 8.0e9, 9.6e9, 8.8e9]), None, "noise");
        assert_eq!(of(&[1.0, 9.0]), None, "no thirds");
        assert_eq!(of(&[5.0, 5.0, 0.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0]), None, "a dip");
    }
}
