//! Health of the cards of a run: what was read of them before, what they counted, and what they carried.

use model::{
    Delta, Endpoint, Metric, Place, Reading, Run, Selectors, Source, TrialAssessment,
    card::Card,
    card_health::{CardCheck, CardFinding, CardHealth, Health},
    counters::EventKind,
    drop_counters::tells_of_damage,
    environment::InterfaceFacts,
};

use crate::{Probe, link};

/// Share of the link's rate that a healthy card carries.
const LINE: f64 = 0.9;

/// Checks the cards at all ends of a run. `trials` are the conclusions of its trials, in the same order.
pub(crate) fn card_health(run: &Run, trials: &[TrialAssessment]) -> CardHealth {
    let mut checks: Vec<CardCheck> = run.bed.endpoints.iter().flat_map(|end| of_end(run, &end.name)).collect();
    checks.extend(crate::probes(run).iter().filter_map(|probe| of_probe(run, trials, probe)));
    if run.partial {
        checks.push(check(Health::Undecided, CardFinding::Missing));
    }
    let health = checks.iter().map(|check| check.health).max().unwrap_or(Health::Undecided);
    CardHealth { health, checks }
}

fn check(health: Health, finding: CardFinding) -> CardCheck {
    CardCheck { health, finding }
}

/// Checks of one port.
fn of_end(run: &Run, endpoint: &str) -> Vec<CardCheck> {
    let name = || endpoint.to_owned();
    let interface = link::interface(run, endpoint).filter(|interface| interface.bus.known().is_some());
    let Some(interface) = interface else {
        return vec![check(Health::Undecided, CardFinding::NoCard { endpoint: name() })];
    };
    let card = interface.card.clone().unwrap_or_default();
    let module = match &card.module {
        Reading::Known(module) => Some(CardFinding::Module { endpoint: name(), module: module.clone() }),
        _ => None,
    };
    let of_module = module.map(|finding| check(Health::Fine, finding));
    [Some(link_check(run, endpoint, interface)), lost(run, endpoint), of_module, pcie(endpoint, &card)]
        .into_iter()
        .flatten()
        .chain([damage(run, endpoint)])
        .collect()
}

/// A link below the highest speed of both ports, or that sends and receives in turn, was negotiated over a bad cable, module or port.
fn link_check(run: &Run, endpoint: &str, interface: &InterfaceFacts) -> CardCheck {
    let top = |end: &Endpoint| link::interface(run, &end.name)?.card.as_ref()?.top_speed_mbps.copied();
    let tops = run.bed.endpoints.iter().map(top);
    let top_speed_mbps = tops.collect::<Option<Vec<_>>>().and_then(|tops| tops.into_iter().min());
    let readings = run.before.endpoints.iter().find(|facts| facts.endpoint == endpoint);
    let full_duplex = readings.and_then(|facts| facts.readings.get(&interface.name)?.full_duplex);
    let speed_mbps = interface.speed_mbps.copied();
    let slow = speed_mbps.zip(top_speed_mbps).is_some_and(|(speed, top)| speed < top);
    let health = match speed_mbps {
        _ if slow || full_duplex == Some(false) => Health::NotFine,
        None => Health::Undecided,
        Some(_) => Health::Fine,
    };
    check(health, CardFinding::Link { endpoint: endpoint.to_owned(), speed_mbps, top_speed_mbps, full_duplex })
}

fn lost(run: &Run, endpoint: &str) -> Option<CardCheck> {
    let counters = run.trials.iter().filter_map(|trial| trial.end(endpoint)).map(|(counters, _)| counters);
    let losses = counters.flat_map(|counters| &counters.events).filter(|event| event.kind == EventKind::Carrier);
    let times = losses.count() as u64;
    (times > 0).then(|| check(Health::NotFine, CardFinding::LinkLost { endpoint: endpoint.to_owned(), times }))
}

/// A link that runs below what the device at its end can do is a matter of the slot. One that is too narrow at its best is the card's
/// design.
fn pcie(endpoint: &str, card: &Card) -> Option<CardCheck> {
    let tightest = card.tightest()?;
    let link = &tightest.hop.link;
    let at_its_best = link.most_width.known() == Some(&link.width) && link.speed == link.most_speed;
    let health = if card.shortfall().is_some() && !at_its_best { Health::OtherSlot } else { Health::Fine };
    let (hop, has_bps, needs_bps) = (tightest.hop.clone(), tightest.has_bps, tightest.needs_bps);
    Some(check(health, CardFinding::Pcie { endpoint: endpoint.to_owned(), hop, has_bps, needs_bps }))
}

/// Counters of damaged frames, each summed over the trials.
fn damage(run: &Run, endpoint: &str) -> CardCheck {
    let mut counters: Vec<Delta> = Vec::new();
    let deltas = run.trials.iter().filter_map(|trial| trial.end(endpoint)).flat_map(|(counters, _)| &counters.deltas);
    let of_card = |delta: &&Delta| matches!(delta.source, Source::Link | Source::Ethtool);
    for delta in deltas.filter(of_card).filter(|delta| tells_of_damage(&delta.name)) {
        let same = |it: &&mut Delta| (it.source, &it.of, &it.name) == (delta.source, &delta.of, &delta.name);
        match counters.iter_mut().find(same) {
            Some(known) => known.delta = known.delta.saturating_add(delta.delta),
            None => counters.push(delta.clone()),
        }
    }
    let health = if counters.is_empty() { Health::Fine } else { Health::NotFine };
    check(health, CardFinding::Damage { endpoint: endpoint.to_owned(), counters })
}

/// Check of the trials of one configuration; none for those that tell nothing of a card.
fn of_probe(run: &Run, assessments: &[TrialAssessment], probe: &Probe) -> Option<CardCheck> {
    let all = || run.trials.iter().zip(assessments).filter(|(trial, _)| probe.is_of(trial) && trial.is_whole());
    let median = |metric: Metric| {
        let values: Vec<f64> = all().filter_map(|(trial, _)| trial.figure(metric)?.known()).collect();
        stats::median(&values)
    };
    let spec = probe.spec.probe();
    let Selectors { mtu, frame_size, direction, .. } = spec.selectors();
    match spec.metrics().first()? {
        Metric::PathMtu => {
            let (mtu, passes) = (mtu?, median(Metric::PathMtu)?);
            let health = if passes >= f64::from(mtu.0) { Health::Fine } else { Health::NotFine };
            return Some(check(health, CardFinding::Mtu { mtu, passes }));
        }
        Metric::ForwardingRate => {
            let (pps, frame_size) = (median(Metric::ForwardingRate)?, frame_size?.0);
            return Some(check(Health::Fine, CardFinding::Packets { frame_size, pps }));
        }
        Metric::GoodputMean => {}
        _ => return None,
    }
    let bps = median(Metric::GoodputMean)?;
    let line_bps = all().find_map(|(_, assessed)| line_rate(assessed));
    let places: Vec<Place> = all().filter_map(|(_, assessed)| Some(assessed.limited_by.as_ref()?.place)).collect();
    let limited_by = places.get(places.len() / 2).copied().filter(|place| *place != Place::NotKnown);
    let health = match line_bps {
        Some(line) if bps >= LINE * line => Health::Fine,
        Some(_) => short(limited_by),
        None => Health::Undecided,
    };
    Some(check(health, CardFinding::Goodput { direction: direction?, mtu, bps, line_bps, limited_by }))
}

fn line_rate(assessed: &TrialAssessment) -> Option<f64> {
    let rates = assessed.flows.iter().map(|flow| flow.line_rate?.goodput_bps);
    rates.collect::<Option<Vec<_>>>()?.into_iter().reduce(f64::min)
}

/// Meaning of a transfer below the rate of its link, by its limit. A machine that is too slow says nothing of its card.
fn short(limited_by: Option<Place>) -> Health {
    match limited_by {
        Some(Place::Pcie) => Health::OtherSlot,
        Some(Place::Path | Place::Interruption) => Health::NotFine,
        _ => Health::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use model::{
        EndCounters, Flow, GoodputReceived, GoodputResult, GoodputSent, GoodputSpec, Measured, Mtu, Plan, Trial,
        card::{Hop, PcieLink},
        counters::Event,
        environment::EndpointFacts,
        fixture,
        trial::TcpState,
    };

    use super::*;
    use crate::{Chosen, assess};

    const PLAN: &str = "name = \"t\"\npurpose = \"card\"\n[[goodput]]\nprotocol = \"tcp\"\nduration = \"1 s\"\n";

    fn hop(width: &str, most_width: &str) -> Hop {
        let link = PcieLink {
            width: width.into(),
            speed: "5.0 GT/s PCIe".into(),
            most_width: most_width.into(),
            most_speed: "5.0 GT/s PCIe".into(),
        };
        Hop { device: "0000:01:00.0".into(), link, ports: 2 }
    }

    fn port(endpoint: &str, hop: Hop) -> EndpointFacts {
        let card = Card { top_speed_mbps: Reading::Known(10_000), hops: vec![hop], ..Card::default() };
        let interface = InterfaceFacts {
            name: format!("lab-{endpoint}"),
            bus: "0000:01:00.0".into(),
            speed_mbps: Reading::Known(10_000),
            card: Some(card),
            ..InterfaceFacts::default()
        };
        EndpointFacts { endpoint: endpoint.into(), interfaces: vec![interface], ..EndpointFacts::default() }
    }

    fn transfer(gbps: f64) -> Trial {
        let tcp = TcpState { mss: 1448, timestamps: true, ..TcpState::default() };
        let sent = GoodputSent { tcp: vec![tcp], ..GoodputSent::default() };
        let received =
            GoodputReceived { counted_bytes: (gbps * 1e9 / 8.0) as u64, counted_s: 1.0, ..GoodputReceived::default() };
        let flow = Flow { from: "a".into(), to: "b".into(), sent, received };
        let spec = Plan::parse(PLAN, &[]).unwrap().specs().remove(0);
        let spec = spec.of::<GoodputSpec>().unwrap().clone();
        fixture::trial(Measured::Goodput { spec, result: GoodputResult { mtu: Mtu(1500), flows: vec![flow] } })
    }

    /// Two 10GbE ports of one card that carry this much.
    fn run_of(hop: &Hop, gbps: f64) -> Run {
        let mut run = fixture::run(Plan::parse(PLAN, &[]).unwrap());
        run.bed.simulated = false;
        run.before.endpoints = ["a", "b"].map(|end| port(end, hop.clone())).into();
        run.trials = vec![transfer(gbps)];
        run
    }

    fn health(run: &Run) -> Health {
        assess(run, &[], &Chosen::None).card.expect("the plan asks for it").health
    }

    #[test]
    fn a_card_that_carries_its_rate_in_a_wide_slot_is_fine() {
        assert_eq!(health(&run_of(&hop("8", "8"), 9.4)), Health::Fine);
        assert_eq!(health(&run_of(&hop("4", "4"), 9.4)), Health::Fine, "as it was built");
    }

    #[test]
    fn a_card_with_fewer_lanes_than_it_has_wants_another_slot() {
        assert_eq!(health(&run_of(&hop("4", "8"), 9.4)), Health::OtherSlot);
    }

    #[test]
    fn faults_of_link_and_frames_are_found_whatever_the_slot() {
        let mut slow = run_of(&hop("4", "8"), 0.94);
        slow.before.endpoints[0].interfaces[0].speed_mbps = Reading::Known(1_000);
        assert_eq!(health(&slow), Health::NotFine);

        let counted = |counters: EndCounters| {
            let mut run = run_of(&hop("8", "8"), 9.4);
            run.trials[0].counters[1] = counters;
            health(&run)
        };
        let delta = |source, name: &str| EndCounters {
            deltas: vec![Delta { source, of: "lab-b".into(), name: name.into(), delta: 3 }],
            ..EndCounters::default()
        };
        assert_eq!(counted(delta(Source::Link, "rx_crc_errors")), Health::NotFine);
        assert_eq!(counted(delta(Source::Ethtool, "rx_missed_errors")), Health::Fine, "the host was too slow");
        let lost =
            Event { at_s: 0.5, kind: EventKind::Carrier, what: "lab-b".into(), before: "1".into(), after: "2".into() };
        assert_eq!(counted(EndCounters { events: vec![lost], ..EndCounters::default() }), Health::NotFine);
    }

    #[test]
    fn what_was_not_shown_leaves_it_open() {
        assert_eq!(health(&run_of(&hop("8", "8"), 5.0)), Health::Undecided, "too slow, and nothing says why");
        let partial = Run { partial: true, ..run_of(&hop("8", "8"), 9.4) };
        assert_eq!(health(&partial), Health::Undecided);
        let mut lab = fixture::run(Plan::parse(PLAN, &[]).unwrap());
        lab.trials = vec![transfer(20.0)];
        assert_eq!(health(&lab), Health::Undecided, "no card");
        let other = Run { plan: Plan::parse(&PLAN.replace("purpose = \"card\"\n", ""), &[]).unwrap(), ..lab };
        assert!(assess(&other, &[], &Chosen::None).card.is_none());
    }
}
