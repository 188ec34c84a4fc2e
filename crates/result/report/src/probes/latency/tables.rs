//! Tables and figures of round-trip times.

use std::collections::BTreeSet;

use model::{
    Flow, IpVersion, LatencyResult, Protocol, Run, TimeSummary, WaitMode,
    alike::{distinct, grouped as grouped_by},
    frame_size::Headers,
    trial::StageName,
};

use super::{
    by_size, curve,
    group::{LatencyGroup, by_traffic},
};
use crate::{
    columns::Columns,
    figure::{self, FigureSubject, Repeated},
    groups::Ranges,
    material::Material,
    page::{Block, Figure, Text},
    schedule::{self, Schedule},
    show::{self, NO_FIGURE, WIRE_EXTRA, grouped, micros, micros_or_none, or_none},
    texts::Texts,
};

/// All of them.
pub(super) fn section(material: &Material<'_>, groups: &[LatencyGroup<'_>], t: &Texts) -> Block {
    let comparisons = material.assessment.comparisons.as_deref().unwrap_or_default();
    let schedules: Vec<_> = groups.iter().filter_map(|group| schedule_of(group, t)).collect();
    let mut blocks = vec![latency_table(groups, t)];
    blocks.extend(polled(groups, t));
    blocks.extend(overflowed(groups, t));
    blocks.extend(super::stacks::section(groups, t));
    blocks.extend(by_size::figure(groups, &curve::curves(comparisons, t), t).map(Block::Figure));
    blocks.extend(distribution(groups, t).map(Block::Figure));
    blocks.extend(repeats(groups, t).into_iter().map(Block::Figure));
    blocks.extend(schedule::section(&schedules, t));
    blocks.extend(loads(groups, t));
    blocks.extend(ways(material.run, groups, t));
    blocks.extend(stages(groups, t));
    blocks.push(frames(groups, t));
    Block::section(t.get("latency-heading"), blocks)
}

fn latency_table(groups: &[LatencyGroup<'_>], t: &Texts) -> Block {
    let p50 = |group: &LatencyGroup<'_>| group.rtt(|rtt| rtt.p50);
    let ranges = Ranges::of(groups.iter().filter_map(p50));
    let range = |low: f64, high: f64| format!("{} – {}", micros(low), micros(high));
    let median = |group: &LatencyGroup<'_>, figure: fn(&TimeSummary) -> Option<u64>| {
        micros_or_none(group.rtt(figure).map(|it| it.median))
    };
    Columns::new()
        .words(t.get("col-traffic"), |it: &LatencyGroup<'_>| it.traffic(t))
        .figures(t.get("col-frame"), frame)
        .figures(t.get("col-payload"), payload)
        .figures(t.get("col-trials"), |it| it.trials.len().to_string())
        .figures(t.get("col-min"), |it| micros_or_none(it.rtt(|rtt| rtt.min).map(|min| min.low)))
        .figures("p50", |it| Text::strong(median(it, |rtt| rtt.p50)))
        .figures(ranges.head("col-spread", t), |it| {
            or_none(p50(it).and_then(|p50| p50.range()), |(low, high)| range(low, high))
        })
        .figures(t.get("col-interval-p50"), |it| {
            or_none(p50(it).and_then(|p50| p50.interval), |it| range(it.low, it.high))
        })
        .only_if(ranges == Ranges::Intervals)
        .figures("p99", |it| median(it, |rtt| rtt.p99))
        .figures("p99.9", |it| median(it, |rtt| rtt.p999))
        .figures(t.get("col-max"), |it| micros_or_none(it.rtt(|rtt| rtt.max).map(|max| max.high)))
        .figures(t.get("col-lost"), missing)
        .figures(t.get("col-half"), |it| Text::quiet(micros_or_none(p50(it).map(|p50| p50.median / 2.0))))
        .table(t.get("latency-caption"), groups)
}

/// Replies that were lost, late, reordered and duplicated.
fn missing(group: &LatencyGroup<'_>) -> String {
    let lost: Option<u64> = group.trials.iter().map(|(_, result)| result.lost).sum();
    let others = [group.sum(|it| it.late), group.sum(|it| it.reordered), group.sum(|it| it.duplicated)];
    [or_none(lost, grouped)].into_iter().chain(others.map(grouped)).collect::<Vec<_>>().join(" / ")
}

/// All trials of each kind of traffic at its smallest frame size, as percentiles.
fn distribution(groups: &[LatencyGroup<'_>], t: &Texts) -> Option<Figure> {
    let sample = |traffic: Vec<&LatencyGroup<'_>>| Some((traffic[0].name(t), traffic[0].sample()?));
    let spoken = FigureSubject { title: t.get("figure-distribution"), axis: t.get("axis-rtt") };
    let samples = by_traffic(groups).into_iter().filter_map(sample);
    figure::distribution(spoken, [t.get("figure-distribution-note"), t.get("axis-percentile")], samples, t)
}

/// How p50 differs from trial to trial.
fn repeats(groups: &[LatencyGroup<'_>], t: &Texts) -> Vec<Figure> {
    let values = |group: &LatencyGroup<'_>| {
        group.trials.iter().filter_map(|(_, result)| Some(result.rtt_ns.p50? as f64 / 1e3)).collect()
    };
    let repeated = |group: &LatencyGroup<'_>| Repeated {
        group: group.traffic(t),
        name: format!("{} B", group.spec.frame_size.0),
        values: values(group),
    };
    let repeated: Vec<_> = by_traffic(groups).into_iter().flatten().map(repeated).collect();
    let spoken = FigureSubject { title: t.get("figure-rtt-repeats"), axis: t.get("axis-rtt-p50") };
    figure::repeats(spoken, &repeated, t)
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

/// Queues that busy polling polled.
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

/// TCP beside the messages; nothing where none was asked for.
fn loads(groups: &[LatencyGroup<'_>], t: &Texts) -> Option<Block> {
    let ways = |group| LatencyGroup::load_ways(group).map(move |way| (group, way));
    let rows: Vec<(&LatencyGroup<'_>, usize)> = groups.iter().flat_map(ways).collect();
    let median = |(group, way): &(&LatencyGroup<'_>, usize), figure: fn(&Flow) -> f64| {
        group.over(|result| result.load.get(*way).map(figure)).map(|it| it.median)
    };
    let way = |(group, way): &(&LatencyGroup<'_>, usize)| {
        or_none(group.first().load.get(*way), |flow| show::way(&flow.from, &flow.to))
    };
    let table = Columns::new()
        .words(t.get("col-traffic"), |(group, _): &(&LatencyGroup<'_>, usize)| group.name(t))
        .words(t.get("col-load-way"), way)
        .figures(t.get("col-load-goodput"), |it| or_none(median(it, |flow| flow.received.mean_bps()), show::rate))
        .figures(t.get("col-load-retransmits"), |it| {
            or_none(median(it, |flow| flow.sent.counted_retransmits() as f64), |count| grouped(count.round() as u64))
        })
        .table(t.get("load-caption"), &rows);
    (!rows.is_empty()).then(|| Block::section(t.get("load-heading"), vec![table]))
}

/// Delays of each way and how they vary; nothing without two ends.
fn ways(run: &Run, groups: &[LatencyGroup<'_>], t: &Texts) -> Option<Block> {
    let [near, far] = run.bed.endpoints.as_slice() else { return None };
    let [there, back] = [show::way(&near.name, &far.name), show::way(&far.name, &near.name)];
    let one_way = groups.iter().any(|group| group.trials.iter().any(|(_, result)| result.one_way.is_some()));
    let (heading, caption) = match one_way {
        true => (t.get("ways-heading"), t.get("ways-caption")),
        false => (t.get("variation-heading"), t.get("variation-caption")),
    };
    let head = |key: &str, way: &String| t.with(key, &[("way", way)]);
    let table = Columns::new()
        .words(t.get("col-traffic"), |it: &LatencyGroup<'_>| it.traffic(t))
        .figures(t.get("col-frame"), frame)
        .figures(head("col-one-way", &there), |it| both(it, |it| it.one_way.as_ref().map(|it| &it.forward_ns)))
        .only_if(one_way)
        .figures(head("col-one-way", &back), |it| both(it, |it| it.one_way.as_ref().map(|it| &it.reverse_ns)))
        .only_if(one_way)
        .figures(t.get("col-variation-rtt"), |it| both(it, |it| Some(&it.variation.rtt_ns)))
        .figures(head("col-variation", &there), |it| both(it, |it| it.variation.forward_ns.as_ref()))
        .only_if(one_way)
        .figures(head("col-variation", &back), |it| both(it, |it| it.variation.reverse_ns.as_ref()))
        .only_if(one_way)
        .table(caption, groups);
    Some(Block::section(heading, vec![table]))
}

/// p50 and p99 of a sample, medians over the trials.
fn both(group: &LatencyGroup<'_>, sample: impl Fn(&LatencyResult) -> Option<&TimeSummary>) -> String {
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
    let time = |group: &LatencyGroup<'_>, name: StageName| {
        both(group, |it| it.stages.iter().find(|stage| stage.stage == name).map(|stage| &stage.time_ns))
    };
    let columns = Columns::new()
        .words(t.get("col-traffic"), |it: &LatencyGroup<'_>| it.traffic(t))
        .figures(t.get("col-frame"), frame);
    let columns = stages.into_iter().fold(columns, |columns, stage| {
        columns.figures(t.of_value("stage", &stage), move |it: &LatencyGroup<'_>| time(it, stage))
    });
    let table = columns.words(t.get("col-stamped-by"), |it| stamped_by(it, t)).table(t.get("stages-caption"), stamped);
    Some(Block::section(t.get("stages-heading"), vec![table]))
}

fn stamped_by(group: &LatencyGroup<'_>, t: &Texts) -> String {
    if group.first().hardware_stamps { t.get("stamped-by-card") } else { t.get("stamped-by-kernel") }
}

/// Composition of each kind of frame, with all its sizes.
fn frames(groups: &[LatencyGroup<'_>], t: &Texts) -> Block {
    let frame = |group: &LatencyGroup<'_>| -> Frame {
        let result = group.first();
        (group.spec.protocol, group.spec.ip, result.tcp_timestamps, result.frame_size.0)
    };
    let kinds = grouped_by(distinct(groups.iter().map(frame)), |a, b| (a.0, a.1, a.2) == (b.0, b.1, b.2));
    use model::frame_size::{ETHERNET_HEADER, FCS};
    let headers = |(protocol, ip, tcp_timestamps, _): &Frame| {
        Headers { ip: *ip, protocol: *protocol, tcp_timestamps: *tcp_timestamps }.bytes()
    };
    let ip_header = |(_, ip, ..): &Frame| if *ip == IpVersion::V4 { 20 } else { 40 };
    let name = |(protocol, ip, tcp_timestamps, _): &Frame| {
        let timestamps = if *tcp_timestamps { format!(" {}", t.get("with-timestamps")) } else { String::new() };
        format!("{} {ip}{timestamps}", protocol.name())
    };
    let sizes = |kind: &[Frame], size: &dyn Fn(&Frame) -> u32| {
        kind.iter().map(|frame| size(frame).to_string()).collect::<Vec<_>>().join(", ")
    };
    let table = Columns::new()
        .words(t.get("col-headers"), |kind: &Vec<Frame>| name(&kind[0]))
        .figures(t.get("col-ethernet"), |_| ETHERNET_HEADER.to_string())
        .figures(t.get("col-ip"), |kind| format!("+ {}", ip_header(&kind[0])))
        .figures(t.get("col-transport"), |kind| format!("+ {}", headers(&kind[0]) - ip_header(&kind[0])))
        .long(t.get("col-payload"), |kind| {
            sizes(kind, &|frame| frame.3.saturating_sub(ETHERNET_HEADER + headers(frame) + FCS))
        })
        .figures("FCS (B)", |_| format!("+ {FCS}"))
        .long(t.get("col-frame-sum"), |kind| Text::strong(sizes(kind, &|frame| frame.3)))
        .long(t.get("col-wire"), |kind| sizes(kind, &|frame| frame.3 + WIRE_EXTRA))
        .table(t.with("frames-caption", &[("extra", &WIRE_EXTRA)]), &kinds);
    Block::section(t.get("frames-heading"), vec![table])
}

/// Transport, IP version, whether segments carry timestamps, and the size with FCS.
type Frame = (Protocol, IpVersion, bool, u32);
