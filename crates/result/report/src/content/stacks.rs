//! Tables of what was measured by both stacks.

use crate::{
    groups::{FlowGroup, LatencyGroup, Spread},
    page::{Block, Column, Text},
    show::{self, micros, or_none},
    stacks::{Stacks, flow_stacks, latency_stacks},
    texts::Texts,
};

/// Nothing unless both stacks were measured.
pub(super) fn latency(groups: &[LatencyGroup<'_>], t: &Texts) -> Option<Block> {
    let stacks = latency_stacks(groups);
    let row = |it: &Stacks<'_, LatencyGroup<'_>>| {
        let named = [it.group.traffic(t), it.group.first().frame_size.0.to_string()];
        cells(named, [micros(it.kernel), micros(it.bypass)], &it.ratio)
    };
    let columns = [Column::words(t.get("col-traffic")), Column::figures(t.get("col-frame"))];
    let caption = t.get("stacks-latency-caption");
    (!stacks.is_empty()).then(|| table(caption, columns, stacks.iter().map(row).collect(), t))
}

/// The same of goodput.
pub(super) fn goodput(flows: &[FlowGroup<'_>], t: &Texts) -> Option<Block> {
    let stacks = flow_stacks(flows);
    let row = |it: &Stacks<'_, FlowGroup<'_>>| {
        let named = [show::goodput_traffic(it.group.spec, t), show::way(it.group.from, it.group.to)];
        cells(named, [show::rate(it.kernel), show::rate(it.bypass)], &it.ratio)
    };
    let columns = [Column::words(t.get("col-traffic")), Column::words(t.get("col-direction"))];
    let caption = t.get("stacks-goodput-caption");
    (!stacks.is_empty()).then(|| table(caption, columns, stacks.iter().map(row).collect(), t))
}

fn table(caption: String, named: [Column; 2], rows: Vec<Vec<Text>>, t: &Texts) -> Block {
    let figures = ["col-stack-kernel", "col-stack-bypass", "col-stacks-ratio", "col-stacks-range"];
    let columns = named.into_iter().chain(figures.map(|key| Column::figures(t.get(key)))).collect();
    Block::section(t.get("stacks-heading"), vec![Block::table(caption, columns, rows)])
}

fn cells(named: [String; 2], figures: [String; 2], ratio: &Spread) -> Vec<Text> {
    let range = or_none(ratio.range(), |(low, high)| format!("{} – {}", show::ratio(low), show::ratio(high)));
    let of_stacks = named.into_iter().chain(figures).map(Text::from);
    of_stacks.chain([Text::strong(show::ratio(ratio.median)), range.into()]).collect()
}
