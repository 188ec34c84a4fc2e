//! Places that limit, and their evidence, in words.

use std::fmt::Display;

use model::{Evidence, LimitedBy, Place};

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
        /// Readings that show it.
        evidence: String = evidence_words(by, rate, Texts::of(Lang::En)),
    }
}

/// Less stolen time than this, in percent, explains nothing.
const SHOWN_STEAL: f64 = 1.0;

/// A place and the end it is at: `receiver CPU (b)`.
pub(crate) fn place_at(place: Place, endpoint: Option<&str>, t: &Texts) -> String {
    let name = t.of_value("place", &place);
    endpoint.map_or_else(|| name.clone(), |end| t.with("place-at", &[("place", &name), ("endpoint", &end)]))
}

/// All evidence, the strongest first. `rate` shows a load or rate of the probe.
pub(crate) fn evidence_words(by: &LimitedBy, rate: impl Fn(f64) -> String, t: &Texts) -> String {
    by.evidence.iter().map(|it| evidence(it, &rate, t)).collect::<Vec<_>>().join("; ")
}

fn evidence(evidence: &Evidence, rate: impl Fn(f64) -> String, t: &Texts) -> String {
    let whole = |percent: &f64| format!("{percent:.0}");
    let with = |values: &[(&str, &dyn Display)]| t.of_value_with("evidence", evidence, values);
    match evidence {
        Evidence::Core { busy, softirq, steal, .. } => {
            let core = with(&[("busy", &whole(busy)), ("softirq", &whole(softirq))]);
            if *steal < SHOWN_STEAL {
                return core;
            }
            t.with("evidence-steal", &[("core", &core), ("steal", &whole(steal))])
        }
        Evidence::Counter { counter } => counter.to_string(),
        Evidence::Overflow { datagrams } => with(&[("datagrams", &grouped(*datagrams))]),
        Evidence::BufferFull { times } => with(&[("times", &grouped(*times))]),
        Evidence::Waited { waited_for, percent } => {
            t.of_value_with("evidence-waited", waited_for, &[("percent", &whole(percent))])
        }
        Evidence::WindowPerRtt { window, rtt_us, possible_bps } => {
            with(&[("window", &grouped(*window)), ("rtt", rtt_us), ("possible", &show::rate(*possible_bps))])
        }
        Evidence::CongestionControl { control, allowed_bps, bps } => {
            with(&[("control", control), ("allowed", &show::rate(*allowed_bps)), ("bps", &show::rate(*bps))])
        }
        Evidence::NothingRead => with(&[]),
        Evidence::Disk { reads, disk_bps, bps } => {
            let key = if *reads { "evidence-disk" } else { "evidence-disk-writes" };
            t.with(key, &[("disk", &show::rate(*disk_bps)), ("bps", &show::rate(*bps))])
        }
        Evidence::TooShort { seconds, least } => with(&[("seconds", &format!("{seconds:.2}")), ("least", least)]),
        Evidence::Silent { seconds, of } => with(&[("seconds", seconds), ("of", of)]),
        Evidence::AsAsked { intended, achieved } | Evidence::Behind { intended, achieved } => {
            with(&[("intended", &rate(*intended)), ("achieved", &rate(*achieved))])
        }
        Evidence::TesterAlone { alone_bps, bps } => {
            with(&[("bps", &show::rate(*bps)), ("alone", &show::rate(*alone_bps))])
        }
        Evidence::LinkFull { bps, link_bps } => with(&[("bps", &show::rate(*bps)), ("link", &show::rate(*link_bps))]),
        Evidence::Unseen { packets } => with(&[("packets", &grouped(*packets))]),
        Evidence::PathMtu { .. } => with(&[]),
        Evidence::LongestStage { stage, p50_ns } => {
            with(&[("stage", &t.of_value("stage", stage)), ("p50", &show::micros(*p50_ns as f64))])
        }
        Evidence::Failures { failed_by, count } => {
            with(&[("failed_by", &t.of_value("failed", failed_by)), ("count", &grouped(*count))])
        }
        Evidence::Ports { time_wait, ports } => {
            with(&[("time_wait", &grouped(*time_wait)), ("ports", &grouped((*ports).into()))])
        }
        Evidence::ClosedLoop { connections, mean_ns, possible } => with(&[
            ("connections", &t.count("connections", (*connections).into())),
            ("mean", &show::micros(*mean_ns)),
            ("possible", &rate(*possible)),
        ]),
    }
}

#[cfg(test)]
mod tests;
