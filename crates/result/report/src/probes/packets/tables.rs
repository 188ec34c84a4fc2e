//! Tables and figures of numbered packets.

use model::{Direction, Metric, PacketStream, Run, trial::AllSenders};

use super::{
    group::{PacketGroup, StreamGroup, stream_groups},
    ladder, names, ports,
    together::{TogetherGroup, together_groups},
};
use crate::{
    columns::Columns,
    groups::slower_way,
    page::{Block, Text},
    schedule::{self, Schedule},
    show::{self, grouped, or_none, packet_rate},
    texts::Texts,
};

/// All of them.
pub(super) fn section(run: &Run, groups: &[PacketGroup<'_>], t: &Texts) -> Block {
    let streams = stream_groups(groups);
    let schedules: Vec<_> = streams.iter().filter_map(|group| schedule_of(group, t)).collect();
    let is_loop = streams.iter().any(StreamGroup::is_lossless_loop);
    let mut blocks = vec![rate_table(&streams, t)];
    let both = groups.iter().filter(|group| group.spec.direction == Direction::Both);
    blocks.extend(slower_way(both.map(|group| (names::traffic(group.spec, t), group)), Metric::ForwardingRate, t));
    blocks.extend(is_loop.then(|| Block::Note(t.get("packets-synchronous-note").into())));
    blocks.extend(ladder::figures(&streams, t).into_iter().map(Block::Figure));
    blocks.extend(senders(groups, t));
    blocks.push(count_table(&streams, t));
    blocks.extend(ports::tables(run, groups, t));
    blocks.extend(schedule::section(&schedules, t));
    Block::section(t.get("packets-heading"), blocks)
}

/// Offered and forwarded rates.
fn rate_table(streams: &[StreamGroup<'_>], t: &Texts) -> Block {
    let median =
        |it: &StreamGroup<'_>, figure: fn(&PacketStream) -> f64| or_none(it.over(figure), |it| packet_rate(it.median));
    let spread = |it: &StreamGroup<'_>| it.over(PacketStream::forwarding_pps).and_then(|it| it.range());
    let range = |(low, high)| show::metric_range(Metric::ForwardingRate, low, high);
    Columns::new()
        .long(t.get("col-configuration"), |it: &StreamGroup<'_>| it.name(t))
        .words(t.get("col-direction"), |it| show::way(it.from, it.to))
        .figures(t.get("col-frame"), frame)
        .words(t.get("col-engine"), |it| it.first().sent.engine.to_string())
        .figures(t.get("col-trials"), |it| it.streams.len().to_string())
        .figures(t.get("col-intended-load"), |it| {
            it.first().sent.intended_pps.map_or_else(|| t.get("flat-out"), packet_rate)
        })
        .figures(t.get("col-offered-load"), |it| median(it, PacketStream::offered_pps))
        .figures(t.get("col-forwarding-rate"), |it| Text::strong(median(it, PacketStream::forwarding_pps)))
        .figures(t.get("col-forwarding-spread"), |it| or_none(spread(it), range))
        .figures(t.get("term-frame-rate"), |it| or_none(it.line_rate(), packet_rate))
        .only_if(streams.iter().any(|it| it.line_rate().is_some()))
        .figures(t.get("col-loss"), |it| it.loss_words(t))
        .table(t.get("packets-caption"), streams)
}

/// The size of the frames, after the one asked for where they differ.
fn frame(group: &StreamGroup<'_>) -> String {
    let sent = group.first().sent.frame_size;
    match group.spec.frame_size().filter(|asked| *asked != sent) {
        Some(asked) if group.spec.streams.len() == 1 => format!("{} → {}", asked.0, sent.0),
        _ => sent.0.to_string(),
    }
}

/// Sum of several senders to one end, and its loss. Nothing with one sender.
fn senders(groups: &[PacketGroup<'_>], t: &Texts) -> Option<Block> {
    let groups: Vec<_> = groups.iter().flat_map(together_groups).collect();
    if groups.is_empty() {
        return None;
    }
    let rate =
        |it: &TogetherGroup<'_>, figure: fn(&AllSenders) -> f64| or_none(it.over(figure), |it| packet_rate(it.median));
    let way = |it: &TogetherGroup<'_>| {
        let (from, to) = it.way();
        show::way(&from, to)
    };
    let table = Columns::new()
        .long(t.get("col-configuration"), |it: &TogetherGroup<'_>| names::traffic(it.spec, t))
        .words(t.get("col-direction"), way)
        .figures(t.get("col-trials"), |it| it.trials.len().to_string())
        .figures(t.get("col-offered-load"), |it| rate(it, |together| together.offered_pps))
        .figures(t.get("col-forwarding-rate"), |it| Text::strong(rate(it, |together| together.forwarding_pps)))
        .figures(t.get("col-datagrams-lost"), |it| grouped(it.lost()))
        .table(t.get("senders-packets-caption"), &groups);
    Some(Block::section(t.get("senders-heading"), vec![table]))
}

/// Outcome of the frames.
fn count_table(streams: &[StreamGroup<'_>], t: &Texts) -> Block {
    let window = streams.iter().map(|group| group.first().received.window).max();
    let sum = |it: &StreamGroup<'_>, count: fn(&PacketStream) -> u64| grouped(it.sum(count));
    Columns::new()
        .long(t.get("col-configuration"), |it: &StreamGroup<'_>| it.name(t))
        .words(t.get("col-direction"), |it| show::way(it.from, it.to))
        .figures(t.get("col-datagrams-sent"), |it| sum(it, |stream| stream.sent.frames))
        .figures(t.get("col-datagrams-received"), |it| sum(it, |stream| stream.received.frames))
        .figures(t.get("col-datagrams-lost"), |it| sum(it, PacketStream::lost))
        .figures(t.get("col-duplicated"), |it| sum(it, |stream| stream.received.duplicated))
        .figures(t.get("col-reordered"), |it| sum(it, |stream| stream.received.reordered))
        .figures(t.get("col-corrupt-of"), |it| {
            let compared = it.streams.iter().map(|stream| stream.received.compared).sum::<Option<u64>>();
            [sum(it, |stream| stream.received.corrupt), or_none(compared, grouped)].join(" / ")
        })
        .figures(t.get("col-refused"), |it| sum(it, |stream| stream.sent.refused))
        .words(t.get("col-send-cores"), |it| list(it.first().sent.cpus.iter().copied()))
        .words(t.get("col-receive-cores"), |it| {
            list(it.first().received.cpus.iter().filter(|on| on.frames > 0).map(|on| on.cpu))
        })
        .table(t.with("packets-counts-caption", &[("window", &or_none(window, grouped))]), streams)
}

fn list(cores: impl Iterator<Item = usize>) -> String {
    let cores: Vec<String> = cores.map(|cpu| cpu.to_string()).collect();
    if cores.is_empty() { show::NO_FIGURE.to_owned() } else { cores.join(", ") }
}

fn schedule_of<'a>(group: &StreamGroup<'a>, t: &Texts) -> Option<Schedule<'a>> {
    let intended = group.first().sent.intended_pps?;
    Some(Schedule {
        name: group.title(t),
        intended: packet_rate(intended),
        achieved: or_none(group.over(PacketStream::offered_pps), |it| packet_rate(it.median)),
        paced: group.streams.iter().filter_map(|stream| stream.sent.pacing.as_ref()).collect(),
        arrived: group.streams.iter().filter_map(|stream| stream.received.inter_arrival_ns.as_ref()).collect(),
    })
}
