//! Round trips past the kernel against those through it.

use model::{LatencySpec, Stack};

use super::group::LatencyGroup;
use crate::{
    page::{Block, Column},
    show::micros,
    stacks::{self, Stacks},
    texts::Texts,
};

/// Medians of round trips, in nanoseconds. Empty unless both stacks were measured.
fn pairs<'g, 'a>(groups: &'g [LatencyGroup<'a>]) -> Vec<Stacks<'g, LatencyGroup<'a>>> {
    let by_kernel = |spec: &LatencySpec| LatencySpec { stack: Stack::Kernel, ..spec.clone() };
    let alike = |a: &LatencyGroup<'_>, b: &LatencyGroup<'_>| by_kernel(a.spec) == by_kernel(b.spec) && a.way == b.way;
    let p50s = |group: &LatencyGroup<'_>| {
        group.trials.iter().map(|(_, result)| result.rtt_ns.p50.map(|ns| ns as f64)).collect()
    };
    stacks::pairs(groups, |group| group.spec.stack, alike, p50s)
}

pub(super) fn section(groups: &[LatencyGroup<'_>], t: &Texts) -> Option<Block> {
    let named = |group: &LatencyGroup<'_>| [group.traffic(t), group.first().frame_size.0.to_string()];
    let rows = pairs(groups).iter().map(|it| stacks::row(it, named(it.group), micros)).collect();
    let columns = [Column::words(t.get("col-traffic")), Column::figures(t.get("col-frame"))];
    stacks::table(t.get("stacks-latency-caption"), columns, rows, t)
}

/// A line for each kind of traffic: the bypass's figure as a multiple of the kernel's.
pub(super) fn headlines(groups: &[LatencyGroup<'_>], t: &Texts) -> Vec<String> {
    let line = |sizes: &[Stacks<'_, LatencyGroup<'_>>]| {
        let ratios: Vec<f64> = sizes.iter().map(|it| it.ratio.median).collect();
        let ratio = stacks::range(&ratios);
        t.with("headline-stacks-latency", &[("traffic", &sizes[0].group.traffic(t)), ("ratio", &ratio)])
    };
    pairs(groups).chunk_by(|a, b| a.group.traffic(t) == b.group.traffic(t)).map(line).collect()
}
