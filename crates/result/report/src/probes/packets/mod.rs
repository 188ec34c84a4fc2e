//! Numbered packets.

mod curves;
mod document;
mod group;
mod ladder;
mod names;
mod ports;
mod tables;
mod together;

use model::{PacketStream, PacketsResult, PacketsSpec, Trial, alike::grouped, trial::AllSenders};

pub use self::document::{PacketsFigures, StreamFigures};
use self::{
    group::{PacketGroup, StreamGroup, stream_groups},
    together::{TogetherGroup, together_groups},
};
use super::{MainFigure, Probe, Spec};
use crate::{
    groups::groups,
    material::Material,
    method,
    page::Block,
    show::{self, or_none, packet_rate},
    terminal::{self, Row},
    texts::Texts,
};

/// The probe.
pub(super) struct Packets;

impl Probe for Packets {
    fn method(&self, material: &Material<'_>, t: &Texts) -> Option<Block> {
        let asked = super::asked::<PacketsSpec>(material.run);
        let mut blocks = method::paragraphs(&["method-packets"], t);
        let of_ladders = grouped(&asked, |a, b| ladder::is_one(a, b));
        blocks.push(method::list(of_ladders.iter().flat_map(|ladder| ladder::method(ladder, t))));
        (!asked.is_empty()).then(|| Block::section(t.get("method-packets-heading"), blocks))
    }

    fn results(&self, material: &Material<'_>, t: &Texts) -> Option<Block> {
        let groups = own_groups(material);
        (!groups.is_empty()).then(|| tables::section(material.run, &groups, t))
    }

    fn headlines(&self, material: &Material<'_>, t: &Texts) -> Vec<String> {
        let streams = streams(material);
        let line = |ladder: Vec<&StreamGroup<'_>>| match ladder.as_slice() {
            [_, _, _, ..] => vec![ladder::headline(&ladder, t)],
            few => few.iter().map(|group| headline(group, t)).collect(),
        };
        ladder::ladders(&streams).into_iter().flat_map(line).flatten().collect()
    }

    fn main_figures(&self, material: &Material<'_>, t: &Texts) -> Vec<MainFigure> {
        let figure = |group: &StreamGroup<'_>| MainFigure {
            spec: group.spec.clone().into(),
            name: group.title(t),
            value: or_none(group.over(PacketStream::forwarding_pps), |it| packet_rate(it.median)),
        };
        streams(material).iter().map(figure).collect()
    }

    fn terminal_table(&self, material: &Material<'_>, t: &Texts) -> Vec<String> {
        let head = ["packets-heading", "col-trials", "col-offered-load", "col-forwarding-rate", "col-loss"];
        let row = |group: &StreamGroup<'_>| {
            let spec = group.spec.clone().into();
            Row(stream_row(group, t), material.limits(&spec, Some((group.from, group.to)), t))
        };
        let groups = own_groups(material);
        let together = groups.iter().flat_map(together_groups).map(|it| Row(together_row(&it, t), vec![]));
        terminal::table(head.map(|key| t.get(key)), stream_groups(&groups).iter().map(row).chain(together).collect())
    }

    fn terms(&self, material: &Material<'_>) -> Vec<&'static str> {
        let needed = ["term-loss", "term-packets", "term-layers", "term-frame", "term-frame-rate"];
        if groups::<PacketsSpec>(material).is_empty() { vec![] } else { needed.to_vec() }
    }
}

impl Spec for PacketsSpec {
    fn configuration(&self, t: &Texts) -> String {
        super::told_apart(self, names::configuration(self, t), t)
    }

    fn rate(&self, per_second: f64) -> String {
        packet_rate(per_second)
    }

    fn load_unit(&self, per_second: f64) -> (f64, &'static str) {
        show::packet_rate_unit(per_second)
    }
}

/// The load that a self-test made.
pub(super) fn made_alone(result: &PacketsResult) -> String {
    or_none(result.streams.first(), |stream| packet_rate(stream.forwarding_pps()))
}

/// Configurations without those of tests of RFC 2544, whose results stand in a section of their own.
fn own_groups<'a>(material: &Material<'a>) -> Vec<PacketGroup<'a>> {
    let is_of_test = |trial: &Trial| trial.origin.as_ref().is_some_and(|origin| origin.section() == "rfc2544");
    let mut groups = groups::<PacketsSpec>(material);
    groups.retain(|group| !group.trials.iter().all(|(trial, _)| is_of_test(trial)));
    groups
}

fn streams<'a>(material: &Material<'a>) -> Vec<StreamGroup<'a>> {
    stream_groups(&own_groups(material))
}

fn headline(group: &StreamGroup<'_>, t: &Texts) -> Option<String> {
    let (offered, forwarded) = (group.over(PacketStream::offered_pps)?, group.over(PacketStream::forwarding_pps)?);
    let values: [(&str, &dyn std::fmt::Display); 5] = [
        ("traffic", &group.title(t)),
        ("median", &packet_rate(forwarded.median)),
        ("offered", &packet_rate(offered.median)),
        ("spread", &forwarded.words(packet_rate, t)),
        ("loss", &group.loss_words(t)),
    ];
    Some(t.with("headline-packets", &values))
}

fn stream_row(group: &StreamGroup<'_>, t: &Texts) -> [String; 5] {
    let rate = |figure: fn(&PacketStream) -> f64| or_none(group.over(figure), |it| packet_rate(it.median));
    [
        group.title(t),
        group.streams.len().to_string(),
        rate(PacketStream::offered_pps),
        rate(PacketStream::forwarding_pps),
        group.loss_words(t),
    ]
}

fn together_row(group: &TogetherGroup<'_>, t: &Texts) -> [String; 5] {
    let (from, to) = group.way();
    let rate = |figure: fn(&AllSenders) -> f64| or_none(group.over(figure), |it| packet_rate(it.median));
    [
        show::with_way(names::traffic(group.spec, t), Some((&from, to)), t),
        group.trials.len().to_string(),
        rate(|together| together.offered_pps),
        rate(|together| together.forwarding_pps),
        show::loss(group.loss(), group.is_lossless_loop(), t),
    ]
}
