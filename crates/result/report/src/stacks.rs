//! The same traffic past the kernel and by the kernel's own stack, beside each other.

use model::{GoodputSpec, LatencySpec, Stack};

use crate::{
    groups::{FlowGroup, LatencyGroup, Spread},
    show,
    texts::Texts,
};

/// One configuration by both stacks: its own figure by each, and the bypass's as a multiple of the kernel's.
pub(crate) struct Stacks<'g, G> {
    /// The kernel's, by which the configuration is named.
    pub(crate) group: &'g G,
    pub(crate) kernel: f64,
    pub(crate) bypass: f64,
    /// Each trial against the kernel's of its round.
    pub(crate) ratio: Spread,
}

/// Medians of round trips, in nanoseconds. Empty unless both stacks were measured.
pub(crate) fn latency_stacks<'g, 'a>(groups: &'g [LatencyGroup<'a>]) -> Vec<Stacks<'g, LatencyGroup<'a>>> {
    let by_kernel = |spec: &LatencySpec| LatencySpec { stack: Stack::Kernel, ..spec.clone() };
    let alike = |a: &LatencyGroup<'_>, b: &LatencyGroup<'_>| by_kernel(a.spec) == by_kernel(b.spec) && a.way == b.way;
    let p50s = |group: &LatencyGroup<'_>| {
        group.trials.iter().map(|(_, result)| result.rtt_ns.p50.map(|ns| ns as f64)).collect()
    };
    pairs(groups, |group| group.spec.stack, alike, p50s)
}

/// Goodput of whole trials, in bit/s.
pub(crate) fn flow_stacks<'g, 'a>(groups: &'g [FlowGroup<'a>]) -> Vec<Stacks<'g, FlowGroup<'a>>> {
    let by_kernel = |spec: &GoodputSpec| GoodputSpec { stack: Stack::Kernel, ..spec.clone() };
    let alike = |a: &FlowGroup<'_>, b: &FlowGroup<'_>| {
        by_kernel(a.spec) == by_kernel(b.spec) && (a.from, a.to) == (b.from, b.to)
    };
    let means = |group: &FlowGroup<'_>| group.flows.iter().map(|(_, flow)| Some(flow.received.mean_bps())).collect();
    pairs(groups, |group| group.spec.stack, alike, means)
}

fn pairs<G>(
    groups: &[G],
    stack: impl Fn(&G) -> Stack,
    alike: impl Fn(&G, &G) -> bool,
    figures: impl Fn(&G) -> Option<Vec<f64>>,
) -> Vec<Stacks<'_, G>> {
    let pair = |group| {
        let other = groups.iter().find(|other| stack(other) == Stack::Bypass && alike(group, other))?;
        let (kernel, bypass) = (figures(group)?, figures(other)?);
        let ratios: Vec<f64> = kernel.iter().zip(&bypass).map(|(kernel, bypass)| bypass / kernel).collect();
        let (kernel, bypass) = (stats::median(&kernel)?, stats::median(&bypass)?);
        Some(Stacks { group, kernel, bypass, ratio: Spread::of(&ratios)? })
    };
    groups.iter().filter(|group| stack(group) == Stack::Kernel).filter_map(pair).collect()
}

/// A line for each kind of traffic by both stacks: how many times the kernel's figure the bypass's is.
pub(crate) fn headlines(latencies: &[LatencyGroup<'_>], flows: &[FlowGroup<'_>], t: &Texts) -> Vec<String> {
    let sizes = latency_stacks(latencies);
    let latency = sizes.chunk_by(|a, b| a.group.traffic(t) == b.group.traffic(t)).map(|sizes| {
        let ratios: Vec<f64> = sizes.iter().map(|it| it.ratio.median).collect();
        t.with("headline-stacks-latency", &[("traffic", &sizes[0].group.traffic(t)), ("ratio", &range(&ratios))])
    });
    let goodput = flow_stacks(flows).into_iter().map(|it| {
        let ratio = range(&[it.ratio.median]);
        t.with("headline-stacks-goodput", &[("traffic", &it.group.name(t)), ("ratio", &ratio)])
    });
    latency.chain(goodput).collect()
}

/// `0.69 – 0.76`, or the one.
fn range(ratios: &[f64]) -> String {
    let low = show::ratio(ratios.iter().copied().fold(f64::INFINITY, f64::min));
    let high = show::ratio(ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    if low == high { low } else { format!("{low} – {high}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_trial_stands_against_that_of_its_round() {
        let groups = [
            (Stack::Kernel, 64, [4.0, 8.0, 2.0]),
            (Stack::Bypass, 64, [2.0, 6.0, 1.0]),
            (Stack::Kernel, 128, [9.0; 3]),
        ];
        let alike = |a: &(Stack, u32, [f64; 3]), b: &(Stack, u32, [f64; 3])| a.1 == b.1;
        let pairs = pairs(&groups, |group| group.0, alike, |group| Some(group.2.to_vec()));
        let [pair] = pairs.as_slice() else { panic!("128 B went by one stack only") };
        assert_eq!((pair.kernel, pair.bypass), (4.0, 2.0));
        assert_eq!((pair.ratio.low, pair.ratio.median, pair.ratio.high), (0.5, 0.5, 0.75));
    }

    #[test]
    fn one_ratio_is_no_range() {
        assert_eq!(range(&[0.5, 0.501]), "0.50");
        assert_eq!(range(&[0.76, 0.5]), "0.50 – 0.76");
    }
}
