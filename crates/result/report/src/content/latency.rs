//! Round-trip times: the tables and their figures.

use std::collections::BTreeSet;

use model::{
    IpVersion, Protocol, ReferenceComparison, Run, TimeSummary, WaitMode, frame_size::Headers, trial::StageName,
};

use super::{
    schedule::{self, Schedule},
    stacks,
};
use crate::{
    figure::{self, Repeated, Spoken},
    groups::{LatencyGroup, latency_groups},
    page::{Block, Column, Figure, Span, Text},
    show::{self, NO_FIGURE, WIRE_EXTRA, grouped, micros, micros_or_none, or_none},
    texts::Texts,
};

/// Nothing when no round-trip time was measured.
pub(super) fn latency(run: &Run, comparisons: &[ReferenceComparison], t: &Texts) -> Vec<Block> {
    let groups = latency_groups(run);
    if groups.is_empty() {
        return vec![];
    }
    let schedules: Vec<_> = groups.iter().filter_map(|group| schedule_of(group, t)).collect();
    let mut blocks = vec![latency_table(&groups, t)];
    blocks.extend(polled(&groups, t));
    blocks.extend(overflowed(&groups, t));
    blocks.extend(stacks::latency(&groups, t));
    blocks.extend(figure::rtt_by_frame_size(&groups, &figure::curves(comparisons, t), t).map(Block::Figure));
    blocks.extend(figure::distribution(&groups, t).map(Block::Figure));
    blocks.extend(repeats(&groups, t).into_iter().map(Block::Figure));
    blocks.extend(schedule::section(&schedules, t));
    blocks.extend(ways(run, &groups, t));
    blocks.extend(stages(&groups, t));
    blocks.push(frames(&groups, t));
    vec![Block::section(t.get("latency-heading"), blocks)]
}

/// How p50 differs from trial to trial.
fn repeats(groups: &[LatencyGroup<'_>], t: &Texts) -> Vec<Figure> {
    let values = |group: &LatencyGroup<'_>| {
        group.trials.iter().filter_map(|(_, result)| Some(result.rtt_ns.p50? as f64 / 1e3)).collect()
    };
    let repeated: Vec<_> = groups.iter().map(|group| Repeated { name: group.name(t), values: values(group) }).collect();
    let spoken = Spoken { title: t.get("figure-rtt-repeats"), axis: t.get("axis-rtt-p50") };
    figure::repeats(spoken, &repeated, t)
}

fn latency_table(groups: &[LatencyGroup<'_>], t: &Texts) -> Block {
    let intervals = groups.iter().any(|group| group.rtt(|rtt| rtt.p50).is_some_and(|p50| p50.interval.is_some()));
    let columns = [
        Some(Column::words(t.get("col-traffic"))),
        Some(Column::figures(t.get("col-frame"))),
        Some(Column::figures(t.get("col-payload"))),
        Some(Column::figures(t.get("col-trials"))),
        Some(Column::figures(t.get("col-min"))),
        Some(Column::figures("p50")),
        Some(Column::figures(t.get("col-spread"))),
        intervals.then(|| Column::figures(t.get("col-interval-p50"))),
        Some(Column::figures("p99")),
        Some(Column::figures("p99.9")),
        Some(Column::figures(t.get("col-max"))),
        Some(Column::figures(t.get("col-lost"))),
        Some(Column::figures(t.get("col-half"))),
    ];
    let rows = groups.iter().map(|group| row(group, intervals, t)).collect();
    Block::table(t.get("latency-caption"), columns.into_iter().flatten().collect(), rows)
}

fn row(group: &LatencyGroup<'_>, intervals: bool, t: &Texts) -> Vec<Text> {
    let p50 = group.rtt(|rtt| rtt.p50);
    let range = |low: f64, high: f64| format!("{} – {}", micros(low), micros(high));
    let lost: Option<u64> = group.trials.iter().map(|(_, result)| result.lost).sum();
    let others = [group.sum(|it| it.late), group.sum(|it| it.reordered), group.sum(|it| it.duplicated)];
    let missing = [or_none(lost, grouped)].into_iter().chain(others.map(grouped)).collect::<Vec<_>>().join(" / ");
    let interval = || or_none(p50.and_then(|p50| p50.interval), |it| range(it.low, it.high)).into();
    let cells = [
        Some(group.traffic(t).into()),
        Some(frame(group).into()),
        Some(payload(group).into()),
        Some(group.trials.len().to_string().into()),
        Some(micros_or_none(group.rtt(|rtt| rtt.min).map(|min| min.low)).into()),
        Some(Text::strong(micros_or_none(p50.map(|p50| p50.median)))),
        Some(or_none(p50.and_then(|p50| p50.range()), |(low, high)| range(low, high)).into()),
        intervals.then(interval),
        Some(micros_or_none(group.rtt(|rtt| rtt.p99).map(|it| it.median)).into()),
        Some(micros_or_none(group.rtt(|rtt| rtt.p999).map(|it| it.median)).into()),
        Some(micros_or_none(group.rtt(|rtt| rtt.max).map(|max| max.high)).into()),
        Some(missing.into()),
        Some(Text::quiet(micros_or_none(p50.map(|p50| p50.median / 2.0)))),
    ];
    cells.into_iter().flatten().collect()
}

/// The size of the frames, after the one asked for where they are larger.
fn frame(group: &LatencyGroup<'_>) -> String {
    let (asked, is) = (group.spec.frame_size.0, group.first().frame_size.0);
    if asked == is { is.to_string() } else { format!("{asked} → {is}") }
}

/// The payload that made these frames; a mark where trials differ.
fn payload(group: &LatencyGroup<'_>) -> String {
    let mut sizes = group.trials.iter().map(|(_, result)| result.payload_size);
    match sizes.next() {
        Some(first) if sizes.all(|size| size == first) => first.0.to_string(),
        _ => NO_FIGURE.to_owned(),
    }
}

/// What busy polling polled.
fn polled(groups: &[LatencyGroup<'_>], t: &Texts) -> Option<Block> {
    let polling: Vec<_> = groups.iter().filter(|group| group.spec.mode == WaitMode::BusyPoll).collect();
    let queues: BTreeSet<u32> =
        polling.iter().flat_map(|group| &group.trials).filter_map(|(_, result)| result.napi).collect();
    let queues: Vec<String> = queues.iter().map(ToString::to_string).collect();
    let words = match queues.as_slice() {
        [] => t.get("polled-none"),
        queues => t.with("polled", &[("queues", &queues.join(", "))]),
    };
    (!polling.is_empty()).then(|| Block::Note(words.into()))
}

/// Replies that never came because this side's own buffer was full.
fn overflowed(groups: &[LatencyGroup<'_>], t: &Texts) -> Vec<Block> {
    let full = groups.iter().map(|group| (group, group.sum(|it| it.overflowed))).filter(|(_, count)| *count > 0);
    let note = |(group, count): (&LatencyGroup<'_>, u64)| {
        let name = group.name(t);
        Block::Note(t.with("overflowed", &[("name", &name), ("count", &grouped(count))]).into())
    };
    full.map(note).collect()
}

fn schedule_of<'a>(group: &LatencyGroup<'a>, t: &Texts) -> Option<Schedule<'a>> {
    let paced: Vec<_> = group.trials.iter().filter_map(|(_, result)| result.pacing.as_ref()).collect();
    Some(Schedule {
        name: group.name(t),
        intended: show::packet_rate(group.over(|result| result.intended_pps)?.median),
        achieved: or_none(group.over(|result| Some(result.achieved_pps)), |it| show::packet_rate(it.median)),
        paced,
        arrived: Vec::new(),
    })
}

/// Delays of each way and how they vary; nothing without two ends.
fn ways(run: &Run, groups: &[LatencyGroup<'_>], t: &Texts) -> Option<Block> {
    let [near, far] = run.bed.endpoints.as_slice() else { return None };
    let both_ways = [show::way(&near.name, &far.name), show::way(&far.name, &near.name)];
    let one_way = groups.iter().any(|group| group.trials.iter().any(|(_, result)| result.one_way.is_some()));
    let (heading, caption, ways) = if one_way {
        (t.get("ways-heading"), t.get("ways-caption"), both_ways.as_slice())
    } else {
        (t.get("variation-heading"), t.get("variation-caption"), [].as_slice())
    };
    let mut columns = vec![Column::words(t.get("col-traffic")), Column::figures(t.get("col-frame"))];
    columns.extend(ways.iter().map(|way| Column::figures(t.with("col-one-way", &[("way", way)]))));
    columns.push(Column::figures(t.get("col-variation-rtt")));
    columns.extend(ways.iter().map(|way| Column::figures(t.with("col-variation", &[("way", way)]))));
    let rows = groups.iter().map(|group| ways_row(group, one_way, t)).collect();
    Some(Block::section(heading, vec![Block::table(caption, columns, rows)]))
}

fn ways_row(group: &LatencyGroup<'_>, one_way: bool, t: &Texts) -> Vec<Text> {
    let variation = both(group, |it| Some(&it.variation.rtt_ns));
    let mut cells = vec![group.traffic(t), frame(group)];
    if one_way {
        cells.push(both(group, |it| it.one_way.as_ref().map(|it| &it.forward_ns)));
        cells.push(both(group, |it| it.one_way.as_ref().map(|it| &it.reverse_ns)));
        cells.push(variation);
        cells.push(both(group, |it| it.variation.forward_ns.as_ref()));
        cells.push(both(group, |it| it.variation.reverse_ns.as_ref()));
    } else {
        cells.push(variation);
    }
    cells.into_iter().map(Text::from).collect()
}

/// p50 and p99 of a sample, medians over the trials.
fn both(group: &LatencyGroup<'_>, sample: impl Fn(&model::LatencyResult) -> Option<&TimeSummary>) -> String {
    let figure = |of: fn(&TimeSummary) -> Option<u64>| {
        group.over(|result| sample(result).and_then(of).map(|ns| ns as f64)).map(|it| it.median)
    };
    match (figure(|it| it.p50), figure(|it| it.p99)) {
        (None, None) => NO_FIGURE.to_owned(),
        (p50, p99) => format!("{} / {}", micros_or_none(p50), micros_or_none(p99)),
    }
}

/// The round trip split by the kernel's stamps; nothing when they were not asked for.
fn stages(groups: &[LatencyGroup<'_>], t: &Texts) -> Option<Block> {
    let stages = [StageName::NearSend, StageName::WireAndFar, StageName::NearReceive];
    let stamped: Vec<_> = groups.iter().filter(|group| !group.first().stages.is_empty()).collect();
    if stamped.is_empty() {
        return None;
    }
    let mut columns = vec![Column::words(t.get("col-traffic")), Column::figures(t.get("col-frame"))];
    columns.extend(stages.map(|stage| Column::figures(show::stage(stage, t))));
    columns.push(Column::words(t.get("col-stamped-by")));
    let time = |group: &LatencyGroup<'_>, name: StageName| {
        both(group, |it| it.stages.iter().find(|stage| stage.stage == name).map(|stage| &stage.time_ns))
    };
    let row = |group: &&LatencyGroup<'_>| {
        let mut cells = vec![group.traffic(t), frame(group)];
        cells.extend(stages.map(|stage| time(group, stage)));
        cells.push(stamped_by(group, t));
        cells.into_iter().map(Text::from).collect()
    };
    let table = Block::table(t.get("stages-caption"), columns, stamped.iter().map(row).collect());
    Some(Block::section(t.get("stages-heading"), vec![table]))
}

fn stamped_by(group: &LatencyGroup<'_>, t: &Texts) -> String {
    if group.first().hardware_stamps { t.get("stamped-by-card") } else { t.get("stamped-by-kernel") }
}

/// What each frame is made of, once for each kind of frame.
fn frames(groups: &[LatencyGroup<'_>], t: &Texts) -> Block {
    let mut frames: Vec<(Protocol, IpVersion, bool, u32)> = Vec::new();
    for group in groups {
        let result = group.first();
        let kind = (group.spec.protocol, group.spec.ip, result.tcp_timestamps, result.frame_size.0);
        if !frames.contains(&kind) {
            frames.push(kind);
        }
    }
    let columns = vec![
        Column::words(t.get("col-headers")),
        Column::figures(t.get("col-ethernet")),
        Column::figures(t.get("col-ip")),
        Column::figures(t.get("col-transport")),
        Column::figures(t.get("col-payload")),
        Column::figures("FCS (B)"),
        Column::figures(t.get("col-frame-sum")),
        Column::figures(t.get("col-wire")),
    ];
    let rows = frames.into_iter().map(|frame| frame_row(frame, t)).collect();
    let caption = t.with("frames-caption", &[("extra", &WIRE_EXTRA)]);
    Block::section(t.get("frames-heading"), vec![Block::table(caption, columns, rows)])
}

fn frame_row((protocol, ip, tcp_timestamps, frame): (Protocol, IpVersion, bool, u32), t: &Texts) -> Vec<Text> {
    use model::frame_size::{ETHERNET_HEADER, FCS};
    let headers = Headers { ip, protocol, tcp_timestamps }.bytes();
    let ip_header = if ip == IpVersion::V4 { 20 } else { 40 };
    let timestamps = if tcp_timestamps { format!(" {}", t.get("with-timestamps")) } else { String::new() };
    let plus = |bytes: u32| Text::from(format!("+ {bytes}"));
    vec![
        format!("{} {ip}{timestamps}", protocol.name()).into(),
        ETHERNET_HEADER.to_string().into(),
        plus(ip_header),
        plus(headers - ip_header),
        plus(frame.saturating_sub(ETHERNET_HEADER + headers + FCS)),
        plus(FCS),
        Text::from("= ").and(Span::Strong(frame.to_string())),
        (frame + WIRE_EXTRA).to_string().into(),
    ]
}
