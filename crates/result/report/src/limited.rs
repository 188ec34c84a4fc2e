//! What limited the figures and where packets were lost, brought together by configuration and in words.

use model::{
    Culprit, CulpritKind, Delta, Evidence, Flow, LimitedBy, LossAt, Measured, Place, ProbeSpec, Run, Trial,
    limited::Wait,
};

use crate::{
    show::{self, grouped},
    texts::Texts,
};

/// Less stolen time than this, in percent, explains nothing.
const SHOWN_STEAL: f64 = 1.0;

/// Trials of one configuration that name the same place.
pub(crate) struct Limited {
    pub(crate) spec: ProbeSpec,
    /// From which end to which, where data went both ways or several ends sent: each way has its own figure.
    pub(crate) way: Option<Ends>,
    pub(crate) by: LimitedBy,
    /// Their numbers.
    pub(crate) trials: Vec<u32>,
    /// How many trials the configuration has in all.
    pub(crate) of: usize,
}

/// Names of the end that sends and the one that receives.
pub(crate) type Ends = (String, String);

/// What limited a trial's figure, or that of one of its flows.
pub(crate) fn find(run: &Run) -> impl Fn(&Trial, Option<&Flow>) -> Option<LimitedBy> {
    |trial, flow| match flow {
        Some(flow) => verdict::limited_flow(run, trial, flow),
        None => verdict::limited_by(run, trial),
    }
}

/// What limited each figure of which it is known, and the numbers of all trials of the others. The evidence is that of the
/// middle one of the trials that name a place. A path has its culprit instead.
pub(crate) fn limited(
    run: &Run,
    find: impl Fn(&Trial, Option<&Flow>) -> Option<LimitedBy>,
) -> (Vec<Limited>, Vec<u32>) {
    let mut known = Vec::new();
    let mut others = Vec::new();
    for (spec, trials) in turns(run) {
        for way in ways(run, &trials) {
            let found: Vec<(u32, LimitedBy)> = trials
                .iter()
                .filter_map(|trial| Some((trial.number, find(trial, flow_of(trial, way.as_ref()))?)))
                .filter(|(_, by)| by.place != Place::NotKnown)
                .collect();
            if found.is_empty() {
                others.extend(trials.iter().map(|trial| trial.number));
            }
            known.extend(by_place(&spec, way.as_ref(), trials.len(), found));
        }
    }
    others.sort_unstable();
    others.dedup();
    (known, others)
}

/// Each way that data went, where it went several ways; else the trial is one figure, whose way is named where senders took turns.
fn ways(run: &Run, trials: &[&Trial]) -> Vec<Option<Ends>> {
    let Some(trial) = trials.first() else { return vec![] };
    match &trial.measured {
        Measured::Goodput { result, .. } if result.flows.len() > 1 => {
            result.flows.iter().map(|flow| Some((flow.from.clone(), flow.to.clone()))).collect()
        }
        Measured::Goodput { .. } => vec![None],
        _ => vec![(run.bed.senders().len() > 1).then(|| (trial.endpoint_from.clone(), trial.endpoint_to.clone()))],
    }
}

/// Configurations, once for each sender where they took turns.
fn turns(run: &Run) -> Vec<(ProbeSpec, Vec<&Trial>)> {
    let mut all = Vec::new();
    for (spec, trials) in configurations(run) {
        let mut by_sender: Vec<Vec<&Trial>> = Vec::new();
        for trial in trials {
            match by_sender.iter_mut().find(|known| known[0].endpoint_from == trial.endpoint_from) {
                Some(known) => known.push(trial),
                None => by_sender.push(vec![trial]),
            }
        }
        all.extend(by_sender.into_iter().map(|trials| (spec.clone(), trials)));
    }
    all
}

fn flow_of<'a>(trial: &'a Trial, way: Option<&Ends>) -> Option<&'a Flow> {
    let (Measured::Goodput { result, .. }, Some((from, to))) = (&trial.measured, way) else { return None };
    result.flows.iter().find(|flow| (&flow.from, &flow.to) == (from, to))
}

fn configurations(run: &Run) -> Vec<(ProbeSpec, Vec<&Trial>)> {
    let mut all: Vec<(ProbeSpec, Vec<&Trial>)> = Vec::new();
    for trial in run.trials.iter().filter(|trial| !matches!(trial.measured, Measured::Path { .. })) {
        let spec = trial.measured.spec();
        match all.iter_mut().find(|(known, _)| *known == spec) {
            Some((_, trials)) => trials.push(trial),
            None => all.push((spec, vec![trial])),
        }
    }
    all
}

fn by_place(spec: &ProbeSpec, way: Option<&Ends>, of: usize, found: Vec<(u32, LimitedBy)>) -> Vec<Limited> {
    let mut places: Vec<Vec<(u32, LimitedBy)>> = Vec::new();
    for one in found {
        let same =
            |place: &Vec<(u32, LimitedBy)>| (place[0].1.place, &place[0].1.endpoint) == (one.1.place, &one.1.endpoint);
        match places.iter_mut().find(|place| same(place)) {
            Some(place) => place.push(one),
            None => places.push(vec![one]),
        }
    }
    // The place that most trials name comes first.
    places.sort_by_key(|place| std::cmp::Reverse(place.len()));
    let row = |place: Vec<(u32, LimitedBy)>| Limited {
        spec: spec.clone(),
        way: way.cloned(),
        by: place[place.len() / 2].1.clone(),
        trials: place.iter().map(|(number, _)| *number).collect(),
        of,
    };
    places.into_iter().map(row).collect()
}

/// What was lost over all trials of each configuration, by place and end.
pub(crate) fn losses(run: &Run, find: impl Fn(&Trial) -> Vec<LossAt>) -> Vec<(ProbeSpec, Vec<LossAt>)> {
    let add_up = |trials: Vec<&Trial>| {
        let mut places: Vec<LossAt> = Vec::new();
        for loss in trials.into_iter().flat_map(&find) {
            match places.iter_mut().find(|known| (known.place, &known.endpoint) == (loss.place, &loss.endpoint)) {
                Some(known) => add_loss(known, loss),
                None => places.push(loss),
            }
        }
        places
    };
    let all = configurations(run).into_iter().map(|(spec, trials)| (spec, add_up(trials)));
    all.filter(|(_, places)| !places.is_empty()).collect()
}

fn add_loss(known: &mut LossAt, more: LossAt) {
    known.packets += more.packets;
    for delta in more.shown_by {
        let same = |it: &&mut Delta| (it.source, &it.of, &it.name) == (delta.source, &delta.of, &delta.name);
        match known.shown_by.iter_mut().find(same) {
            Some(it) => it.delta += delta.delta,
            None => known.shown_by.push(delta),
        }
    }
}

/// A place and the end it is at: `receiver CPU (b)`.
pub(crate) fn place_at(place: Place, endpoint: Option<&str>, t: &Texts) -> String {
    let name = place_name(place, t);
    endpoint.map_or_else(|| name.clone(), |end| t.with("place-at", &[("place", &name), ("endpoint", &end)]))
}

fn place_name(place: Place, t: &Texts) -> String {
    match place {
        Place::IntendedLoad => t.get("place-intended-load"),
        Place::SenderCpu => t.get("place-sender-cpu"),
        Place::SenderSocket => t.get("place-sender-socket"),
        Place::Qdisc => t.get("place-qdisc"),
        Place::LinkRate => t.get("place-link-rate"),
        Place::Pcie => t.get("place-pcie"),
        Place::PeerRing => t.get("place-peer-ring"),
        Place::SoftirqCore => t.get("place-softirq-core"),
        Place::ReceiverSocket => t.get("place-receiver-socket"),
        Place::ReceiverCpu => t.get("place-receiver-cpu"),
        Place::Window => t.get("place-window"),
        Place::Reordering => t.get("place-reordering"),
        Place::PathMtu => t.get("place-path-mtu"),
        Place::DeviceUnderTest => t.get("place-device-under-test"),
        Place::NotKnown => t.get("not-known"),
    }
}

/// All evidence, the strongest first. Rates are those of the probe: messages for latency, bits for goodput.
pub(crate) fn evidence_words(by: &LimitedBy, spec: &ProbeSpec, t: &Texts) -> String {
    let rate = match spec {
        ProbeSpec::Latency(_) | ProbeSpec::Packets(_) => show::packet_rate,
        ProbeSpec::Goodput(_) | ProbeSpec::Path(_) => show::rate,
    };
    by.evidence.iter().map(|it| evidence(it, rate, t)).collect::<Vec<_>>().join("; ")
}

fn evidence(evidence: &Evidence, rate: fn(f64) -> String, t: &Texts) -> String {
    let whole = |percent: &f64| format!("{percent:.0}");
    match evidence {
        Evidence::Core { cpu, busy, softirq, steal } => {
            let core = t.with("evidence-core", &[("cpu", cpu), ("busy", &whole(busy)), ("softirq", &whole(softirq))]);
            if *steal < SHOWN_STEAL {
                core
            } else {
                t.with("evidence-steal", &[("core", &core), ("steal", &whole(steal))])
            }
        }
        Evidence::Counter { counter } => counter.to_string(),
        Evidence::Overflow { datagrams } => t.with("evidence-overflow", &[("datagrams", &grouped(*datagrams))]),
        Evidence::BufferFull { times } => t.with("evidence-buffer-full", &[("times", &grouped(*times))]),
        Evidence::Waited { waited_for: Wait::ReceiveWindow, percent } => {
            t.with("evidence-waited-window", &[("percent", &whole(percent))])
        }
        Evidence::Waited { waited_for: Wait::SendBuffer, percent } => {
            t.with("evidence-waited-buffer", &[("percent", &whole(percent))])
        }
        Evidence::WindowPerRtt { window, rtt_us, possible_bps } => t.with(
            "evidence-window-per-rtt",
            &[("window", &grouped(*window)), ("rtt", rtt_us), ("possible", &show::rate(*possible_bps))],
        ),
        Evidence::AsAsked { intended, achieved } => {
            t.with("evidence-as-asked", &[("intended", &rate(*intended)), ("achieved", &rate(*achieved))])
        }
        Evidence::Behind { intended, achieved } => {
            t.with("evidence-behind", &[("intended", &rate(*intended)), ("achieved", &rate(*achieved))])
        }
        Evidence::TesterAlone { alone_bps, bps } => {
            t.with("evidence-tester-alone", &[("bps", &show::rate(*bps)), ("alone", &show::rate(*alone_bps))])
        }
        Evidence::LinkFull { bps, link_bps } => {
            t.with("evidence-link-full", &[("bps", &show::rate(*bps)), ("link", &show::rate(*link_bps))])
        }
        Evidence::Unseen { packets } => t.with("evidence-unseen", &[("packets", &grouped(*packets))]),
        Evidence::PathTooSmall { mtu, path_mtu } => {
            t.with("evidence-path-too-small", &[("mtu", mtu), ("path", path_mtu)])
        }
        Evidence::LongestStage { stage, p50_ns } => t.with(
            "evidence-longest-stage",
            &[("stage", &show::stage(*stage, t)), ("p50", &show::micros(*p50_ns as f64))],
        ),
    }
}

/// What keeps the path MTU down, in words.
pub(crate) fn culprit(culprit: &Culprit, t: &Texts) -> String {
    let none = || t.get("not-known");
    let host = culprit.host.clone().unwrap_or_else(none);
    let device = culprit.device.clone().unwrap_or_else(none);
    let (host, device): (&dyn std::fmt::Display, &dyn std::fmt::Display) = (&host, &device);
    let at = [("host", host), ("device", device)];
    match culprit.kind {
        CulpritKind::OwnInterface => t.with("culprit-own-interface", &at),
        CulpritKind::PeerInterface => t.with("culprit-peer-interface", &at),
        CulpritKind::BridgeMember => t.with("culprit-bridge-member", &at),
        CulpritKind::MiddleHop => t.with("culprit-middle-hop", &at[..1]),
        CulpritKind::BlackHole => t.with("culprit-black-hole", &at[..1]),
        CulpritKind::IcmpFiltered => t.with("culprit-icmp-filtered", &at[..1]),
    }
}

/// The same in a few words, for a line of the terminal.
pub(crate) fn culprit_in_short(culprit: &Culprit, t: &Texts) -> String {
    let named = |name: &Option<String>| name.clone().unwrap_or_else(|| t.get("not-known"));
    let (host, device) = (named(&culprit.host), named(&culprit.device));
    match culprit.kind {
        CulpritKind::OwnInterface | CulpritKind::PeerInterface => {
            t.with("short-interface", &[("device", &device), ("host", &host)])
        }
        CulpritKind::BridgeMember => t.with("short-bridge-member", &[("device", &device), ("host", &host)]),
        CulpritKind::MiddleHop => t.with("short-router", &[("host", &host)]),
        CulpritKind::BlackHole => t.get("short-black-hole"),
        CulpritKind::IcmpFiltered => t.get("short-icmp-filtered"),
    }
}

#[cfg(test)]
mod tests;
