//! The same traffic past the kernel and by the kernel's own stack, beside each other.

use model::Stack;

use crate::{
    groups::Spread,
    page::{Block, Column, Text},
    show::{self, or_none},
    texts::Texts,
};

/// One configuration by both stacks: its own figure by each, and the bypass's as a multiple of the kernel's.
pub(crate) struct Stacks<'g, G> {
    /// The kernel's, which names the configuration.
    pub(crate) group: &'g G,
    pub(crate) kernel: f64,
    pub(crate) bypass: f64,
    /// Each trial against the kernel's of its round.
    pub(crate) ratio: Spread,
}

/// Each configuration that was measured by both stacks.
pub(crate) fn pairs<G>(
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

/// `0.69 – 0.76`, or the one.
pub(crate) fn range(ratios: &[f64]) -> String {
    let low = show::ratio(ratios.iter().copied().fold(f64::INFINITY, f64::min));
    let high = show::ratio(ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    if low == high { low } else { format!("{low} – {high}") }
}

/// A table of configurations by both stacks; `None` without any.
pub(crate) fn table(caption: String, named: [Column; 2], rows: Vec<Vec<Text>>, t: &Texts) -> Option<Block> {
    if rows.is_empty() {
        return None;
    }
    let figures = ["col-stack-kernel", "col-stack-bypass", "col-stacks-ratio", "col-stacks-range"];
    let columns = named.into_iter().chain(figures.map(|key| Column::figures(t.get(key)))).collect();
    Some(Block::section(t.get("stacks-heading"), vec![Block::table(caption, columns, rows)]))
}

/// The row of one configuration.
pub(crate) fn row<G>(it: &Stacks<'_, G>, named: [String; 2], words: fn(f64) -> String) -> Vec<Text> {
    let (figures, ratio) = ([it.kernel, it.bypass].map(words), &it.ratio);
    let range = or_none(ratio.range(), |(low, high)| format!("{} – {}", show::ratio(low), show::ratio(high)));
    let of_stacks = named.into_iter().chain(figures).map(Text::from);
    of_stacks.chain([Text::strong(show::ratio(ratio.median)), range.into()]).collect()
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
