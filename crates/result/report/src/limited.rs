//! Places that limit, and their evidence, in words.

use model::{Evidence, LimitedBy, Place, limited::Wait};

use crate::{
    lang::Lang,
    shape::document,
    show::{self, grouped},
    texts::Texts,
};

document! {
    /// The place that set a figure, with the evidence for it in words.
    LimitedByEntry of (by: &LimitedBy, rate: &dyn Fn(f64) -> String) {
        /// The place, like `receiver CPU`.
        place: String = by.place.to_string(),
        /// The endpoint it is at; null where it is between the ends.
        endpoint: Option<String> = by.endpoint.clone(),
        /// What was read that shows it.
        evidence: String = evidence_words(by, rate, Texts::of(Lang::En)),
    }
}

/// Less stolen time than this, in percent, explains nothing.
const SHOWN_STEAL: f64 = 1.0;

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

/// All evidence, the strongest first. `rate` shows a load or rate of the probe.
pub(crate) fn evidence_words(by: &LimitedBy, rate: impl Fn(f64) -> String, t: &Texts) -> String {
    by.evidence.iter().map(|it| evidence(it, &rate, t)).collect::<Vec<_>>().join("; ")
}

fn evidence(evidence: &Evidence, rate: impl Fn(f64) -> String, t: &Texts) -> String {
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

#[cfg(test)]
mod tests;
