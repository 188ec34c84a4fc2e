//! Goodput: bulk data over TCP and UDP.

mod bars;
mod cpu;
mod datagrams;
mod document;
mod group;
mod names;
mod over_time;
mod senders;
mod stacks;
mod tables;
mod tcp;

use std::fmt::Display;

use model::{Batch, GoodputResult, GoodputSpec, Protocol, ReceiveMethod, SendMethod, Stack};

pub use self::document::{FlowEntry, FlowFigures, GoodputBps, GoodputFigures};
use self::group::{FlowGroup, flow_groups, knows_sender};
use super::{MainFigure, Probe, Spec};
use crate::{
    groups::{Spread, groups},
    material::Material,
    method,
    page::{Block, Figure},
    show::{self, or_none},
    terminal::{self, Row},
    texts::Texts,
};

/// The probe.
pub(super) struct Goodput;

impl Probe for Goodput {
    fn method(&self, material: &Material<'_>, t: &Texts) -> Option<Block> {
        let asked = super::asked::<GoodputSpec>(material.run);
        if asked.is_empty() {
            return None;
        }
        let mut blocks = method::paragraphs(&method_texts(material, &asked), t);
        blocks.push(method::list(asked.iter().map(|spec| method_item(spec, t))));
        Some(Block::section(t.get("method-goodput-heading"), blocks))
    }

    fn results(&self, material: &Material<'_>, t: &Texts) -> Option<Block> {
        let groups = groups::<GoodputSpec>(material);
        (!groups.is_empty()).then(|| tables::section(material.run, &groups, t))
    }

    fn headlines(&self, material: &Material<'_>, t: &Texts) -> Vec<String> {
        flows(material).iter().filter_map(|group| headline(group, t)).collect()
    }

    fn stack_headlines(&self, material: &Material<'_>, t: &Texts) -> Vec<String> {
        stacks::headlines(&flows(material), t)
    }

    fn main_figures(&self, material: &Material<'_>, t: &Texts) -> Vec<MainFigure> {
        let figure = |group: &FlowGroup<'_>| MainFigure {
            spec: group.spec.clone().into(),
            name: group.name(t),
            value: or_none(group.mean(), |mean| show::rate(mean.median)),
        };
        flows(material).iter().map(figure).collect()
    }

    fn terminal_table(&self, material: &Material<'_>, t: &Texts) -> Vec<String> {
        let head = ["goodput-heading", "col-trials", "col-mean", "col-range", "col-retransmits-or-loss"];
        let row = |group: &FlowGroup<'_>| {
            let spec = group.spec.clone().into();
            Row(terminal_row(group, t), material.limits(&spec, Some((group.from, group.to)), t))
        };
        terminal::table(head.map(|key| t.get(key)), flows(material).iter().map(row).collect())
    }

    fn terms(&self, material: &Material<'_>) -> Vec<&'static str> {
        let groups = groups::<GoodputSpec>(material);
        let udp = groups.iter().any(|group| group.spec.protocol == Protocol::Udp);
        let of_udp = ["term-loss", "term-frame-rate"].into_iter().filter(|_| udp);
        (!groups.is_empty()).then_some("term-goodput").into_iter().chain(of_udp).collect()
    }

    fn side_by_side(&self, runs: &[Material<'_>], t: &Texts) -> Vec<Figure> {
        bars::figures(runs, t)
    }
}

impl Spec for GoodputSpec {
    fn configuration(&self, t: &Texts) -> String {
        names::configuration(self, t)
    }

    fn way(&self, from: &str, to: &str, t: &Texts) -> String {
        names::flow(self, Some((from, to)), t)
    }

    fn rate(&self, per_second: f64) -> String {
        show::rate(per_second)
    }

    fn load_unit(&self, per_second: f64) -> (f64, &'static str) {
        show::rate_unit(per_second)
    }
}

/// The load that a self-test made.
pub(super) fn made_alone(result: &GoodputResult) -> String {
    or_none(result.flows.first(), |flow| show::rate(flow.received.mean_bps()))
}

fn flows<'a>(material: &Material<'a>) -> Vec<FlowGroup<'a>> {
    flow_groups(&groups::<GoodputSpec>(material))
}

fn method_texts(material: &Material<'_>, asked: &[GoodputSpec]) -> Vec<&'static str> {
    let any = |holds: fn(&GoodputSpec) -> bool| asked.iter().any(holds);
    let groups = flows(material);
    let sent = || groups.iter().flat_map(|group| &group.flows).filter_map(|(_, flow)| flow.sent.datagrams.as_ref());
    method::that_hold(&[
        ("method-goodput", true),
        ("method-udp", any(|spec| spec.protocol == Protocol::Udp)),
        ("method-bypass", any(|spec| spec.stack == Stack::Bypass)),
        ("method-zero-copy", sent().any(|datagrams| datagrams.zero_copy == Some(true))),
        ("method-copy", sent().any(|datagrams| datagrams.zero_copy == Some(false))),
        ("method-gso", any(|spec| spec.batch == Batch::Gso)),
        ("method-zerocopy", any(|spec| spec.send == SendMethod::ZeroCopy)),
        ("method-sendfile", any(|spec| spec.send == SendMethod::Sendfile)),
        ("method-truncate", any(|spec| spec.receive == ReceiveMethod::Truncate)),
    ])
}

fn method_item(spec: &GoodputSpec, t: &Texts) -> String {
    let values: [(&str, &dyn Display); 3] =
        [("traffic", &spec.configuration(t)), ("duration", &show::span(spec.duration, t)), ("warmup", &spec.warmup)];
    t.with("method-goodput-item", &values)
}

fn headline(group: &FlowGroup<'_>, t: &Texts) -> Option<String> {
    let mean = group.mean()?;
    let traffic = group.name(t);
    let (median, spread) = (show::rate(mean.median), mean.words(show::rate, t));
    let mut values: Vec<(&str, &dyn Display)> = vec![("traffic", &traffic), ("median", &median), ("spread", &spread)];
    let loss = group.loss().map(show::percent);
    let Some(loss) = &loss else { return Some(t.with("headline-goodput", &values)) };
    values.push(("loss", loss));
    Some(t.with("headline-goodput-loss", &values))
}

fn terminal_row(group: &FlowGroup<'_>, t: &Texts) -> [String; 5] {
    let mean = group.mean();
    let lacking = match group.spec.protocol {
        Protocol::Udp => or_none(group.loss(), show::percent),
        Protocol::Tcp => {
            let retransmits = group.over(|flow| knows_sender(flow).then(|| flow.sent.counted_retransmits() as f64));
            or_none(retransmits, |it| format!("{:.0}", it.median))
        }
    };
    [
        group.name(t),
        group.flows.len().to_string(),
        or_none(mean, |mean| show::rate(mean.median)),
        or_none(mean.as_ref(), range_beside_mean),
        lacking,
    ]
}

/// In the unit of the mean, which stands beside it: the line has 80 columns.
fn range_beside_mean(mean: &Spread) -> String {
    let (size, _) = show::rate_unit(mean.median);
    or_none(mean.range(), |(low, high)| format!("{:.2} – {:.2}", low / size, high / size))
}
