//! Goodput past the kernel against that through it.

use model::{GoodputSpec, Stack};

use super::{group::FlowGroup, names};
use crate::{
    page::{Block, Column},
    show,
    stacks::{self, Stacks},
    texts::Texts,
};

/// Goodput of whole trials, in bit/s. Empty unless both stacks were measured.
fn pairs<'g, 'a>(groups: &'g [FlowGroup<'a>]) -> Vec<Stacks<'g, FlowGroup<'a>>> {
    let by_kernel = |spec: &GoodputSpec| GoodputSpec { stack: Stack::Kernel, ..spec.clone() };
    let alike = |a: &FlowGroup<'_>, b: &FlowGroup<'_>| {
        by_kernel(a.spec) == by_kernel(b.spec) && (a.from, a.to) == (b.from, b.to)
    };
    let means = |group: &FlowGroup<'_>| group.flows.iter().map(|(_, flow)| Some(flow.received.mean_bps())).collect();
    stacks::pairs(groups, |group| group.spec.stack, alike, means)
}

pub(super) fn section(groups: &[FlowGroup<'_>], t: &Texts) -> Option<Block> {
    let named = |group: &FlowGroup<'_>| [names::traffic(group.spec, t), show::way(group.from, group.to)];
    let rows = pairs(groups).iter().map(|it| stacks::row(it, named(it.group), show::rate)).collect();
    let columns = [Column::words(t.get("col-traffic")), Column::words(t.get("col-direction"))];
    stacks::table(t.get("stacks-goodput-caption"), columns, rows, t)
}

/// A line for each flow: the bypass's goodput as a multiple of the kernel's.
pub(super) fn headlines(groups: &[FlowGroup<'_>], t: &Texts) -> Vec<String> {
    let line = |it: &Stacks<'_, FlowGroup<'_>>| {
        let ratio = stacks::range(&[it.ratio.median]);
        t.with("headline-stacks-goodput", &[("traffic", &it.group.name(t)), ("ratio", &ratio)])
    };
    pairs(groups).iter().map(line).collect()
}
