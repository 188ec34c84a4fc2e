//! Path MTU.

mod culprit;
mod document;
mod group;
mod hops;
mod tables;
mod toward;

use model::{PathSpec, alike::distinct, trial::PathDevice};

use self::group::{PathGroup, leg_mtu};
pub use self::{
    document::{BothWays, PathFigures},
    toward::{hops, path_to},
};
use super::{MainFigure, Probe, Spec};
use crate::{
    groups::groups,
    material::Material,
    method,
    page::Block,
    show::{self, or_none},
    terminal::{self, Row},
    texts::Texts,
};

/// Kind of a device as the kernel names it; a card has no such name, and neither has the loopback interface.
fn kind(device: &PathDevice, t: &Texts) -> String {
    match (device.kind.as_str(), device.name.as_str()) {
        ("", "lo") => t.get("kind-loopback"),
        ("", _) => t.get("kind-card"),
        (kind, _) => kind.to_owned(),
    }
}

/// The probe.
pub(super) struct Path;

impl Probe for Path {
    fn method(&self, material: &Material<'_>, t: &Texts) -> Option<Block> {
        let item = |spec: &PathSpec| {
            t.with("method-path-item", &[("path", &spec.configuration(t)), ("timeout", &spec.timeout)])
        };
        let asked = super::asked::<PathSpec>(material.run);
        let mut blocks = method::paragraphs(&["method-path"], t);
        blocks.push(method::list(asked.iter().map(item)));
        (!asked.is_empty()).then(|| Block::section(t.get("path-heading"), blocks))
    }

    fn results(&self, material: &Material<'_>, t: &Texts) -> Option<Block> {
        let groups = groups::<PathSpec>(material);
        (!groups.is_empty()).then(|| tables::section(&groups, t))
    }

    /// Largest packet that passes each way.
    fn headlines(&self, material: &Material<'_>, t: &Texts) -> Vec<String> {
        let line = |group: &PathGroup<'_>| {
            let [forward, reverse] = both_ways(group);
            t.with("headline-path", &[("name", &group.name(t)), ("forward", &forward), ("reverse", &reverse)])
        };
        groups::<PathSpec>(material).iter().map(line).collect()
    }

    fn main_figures(&self, material: &Material<'_>, t: &Texts) -> Vec<MainFigure> {
        let figure = |group: &PathGroup<'_>| MainFigure {
            spec: group.spec.clone().into(),
            name: group.name(t),
            value: both_ways(group).join(" / "),
        };
        groups::<PathSpec>(material).iter().map(figure).collect()
    }

    fn terminal_table(&self, material: &Material<'_>, t: &Texts) -> Vec<String> {
        let bed = &material.run.bed;
        let near = bed.senders().iter().map(|end| end.name.as_str()).collect::<Vec<_>>().join(", ");
        let far = or_none(bed.receiver(), |end| end.name.clone());
        let head = [t.get("path-heading"), t.get("col-trials"), show::way(&near, &far), show::way(&far, &near)];
        let row = |group: &PathGroup<'_>| {
            let [forward, reverse] = both_ways(group);
            Row(
                [group.name(t), group.trials.len().to_string(), forward, reverse],
                [kept_down(group, t), hops::lines(group, t)].concat(),
            )
        };
        terminal::table(head, groups::<PathSpec>(material).iter().map(row).collect())
    }

    fn terms(&self, material: &Material<'_>) -> Vec<&'static str> {
        if groups::<PathSpec>(material).is_empty() { vec![] } else { vec!["term-path-mtu"] }
    }
}

impl Spec for PathSpec {
    fn configuration(&self, t: &Texts) -> String {
        let mtu = self.mtu.map(|mtu| format!("MTU {}", mtu.0));
        show::joined([t.with("path-of", &[("ip", &self.ip)])].into_iter().chain(mtu), t)
    }

    fn rate(&self, per_second: f64) -> String {
        show::rate(per_second)
    }

    fn load_unit(&self, per_second: f64) -> (f64, &'static str) {
        show::rate_unit(per_second)
    }
}

fn both_ways(group: &PathGroup<'_>) -> [String; 2] {
    [leg_mtu(group, |it| &it.forward), leg_mtu(group, |it| &it.reverse)]
}

/// Causes of a low path MTU, each device once.
fn kept_down(group: &PathGroup<'_>, t: &Texts) -> Vec<String> {
    let culprits = group.assessed.iter().filter_map(|assessed| assessed.culprit.as_ref());
    distinct(culprits.map(|culprit| t.with("kept-down-by", &[("culprit", &culprit::in_short(culprit, t))])))
}
