//! Numbered packets: what was offered, what arrived, and both ports in bits.

mod ladder;
mod ports;

use model::{PacketStream, Run};
use verdict::line_rate;

use super::{
    schedule::{self, Schedule},
    senders,
};
use crate::{
    groups::{StreamGroup, packet_groups, stream_groups},
    page::{Block, Column, Text},
    show::{self, grouped, or_none, packet_rate},
    texts::Texts,
};

/// Nothing when no packets were sent.
pub(super) fn packets(run: &Run, t: &Texts) -> Vec<Block> {
    let groups = packet_groups(run);
    if groups.is_empty() {
        return vec![];
    }
    let streams = stream_groups(&groups);
    let schedules: Vec<_> = streams.iter().filter_map(|group| schedule_of(group, t)).collect();
    let mut blocks = vec![rate_table(run, &streams, t)];
    blocks.extend(is_any_loop(run, &streams).then(|| Block::Note(t.get("packets-synchronous-note").into())));
    blocks.extend(ladder::figures(&streams, t).into_iter().map(Block::Figure));
    blocks.extend(senders::packets(run, &groups, t));
    blocks.push(count_table(&streams, t));
    blocks.extend(ports::tables(run, &groups, t));
    blocks.extend(schedule::section(&schedules, t));
    vec![Block::section(t.get("packets-heading"), blocks)]
}

fn is_any_loop(run: &Run, streams: &[StreamGroup<'_>]) -> bool {
    streams.iter().any(|group| group.is_lossless_loop(run))
}

/// Offered and forwarded rates.
fn rate_table(run: &Run, streams: &[StreamGroup<'_>], t: &Texts) -> Block {
    let most: Vec<_> = streams.iter().map(|group| line_rate(run, group.first().sent.frame_size)).collect();
    let knows_most = most.iter().any(Option::is_some);
    let head = [
        Some(Column::long(t.get("col-configuration"))),
        Some(Column::words(t.get("col-direction"))),
        Some(Column::figures(t.get("col-frame"))),
        Some(Column::words(t.get("col-engine"))),
        Some(Column::figures(t.get("col-trials"))),
        Some(Column::figures(t.get("col-intended-load"))),
        Some(Column::figures(t.get("col-offered-load"))),
        Some(Column::figures(t.get("col-forwarding-rate"))),
        Some(Column::figures(t.get("col-forwarding-spread"))),
        knows_most.then(|| Column::figures(t.get("term-frame-rate"))),
        Some(Column::figures(t.get("col-loss"))),
    ];
    let row = |(group, most): (&StreamGroup<'_>, Option<f64>)| {
        let sent = &group.first().sent;
        let size = match group.spec.frame_size().filter(|asked| *asked != sent.frame_size) {
            Some(asked) if group.spec.streams.len() == 1 => format!("{} → {}", asked.0, sent.frame_size.0),
            _ => sent.frame_size.0.to_string(),
        };
        let forwarded = group.over(PacketStream::forwarding_pps);
        let range = |(low, high)| format!("{} – {}", packet_rate(low), packet_rate(high));
        let cells = [
            Some(group.name(t).into()),
            Some(show::way(group.from, group.to).into()),
            Some(size.into()),
            Some(sent.engine.to_string().into()),
            Some(group.streams.len().to_string().into()),
            Some(sent.intended_pps.map_or_else(|| t.get("flat-out"), packet_rate).into()),
            Some(or_none(group.over(PacketStream::offered_pps), |it| packet_rate(it.median)).into()),
            Some(Text::strong(or_none(forwarded, |it| packet_rate(it.median)))),
            Some(or_none(forwarded.and_then(|it| it.range()), range).into()),
            knows_most.then(|| or_none(most, packet_rate).into()),
            Some(show::stream_loss(run, group, t).into()),
        ];
        cells.into_iter().flatten().collect()
    };
    let rows = streams.iter().zip(most).map(row).collect();
    Block::table(t.get("packets-caption"), head.into_iter().flatten().collect(), rows)
}

/// What became of the frames.
fn count_table(streams: &[StreamGroup<'_>], t: &Texts) -> Block {
    let columns = vec![
        Column::long(t.get("col-configuration")),
        Column::words(t.get("col-direction")),
        Column::figures(t.get("col-datagrams-sent")),
        Column::figures(t.get("col-datagrams-received")),
        Column::figures(t.get("col-datagrams-lost")),
        Column::figures(t.get("col-duplicated")),
        Column::figures(t.get("col-reordered")),
        Column::figures(t.get("col-corrupt")),
        Column::figures(t.get("col-refused")),
        Column::words(t.get("col-send-cores")),
        Column::words(t.get("col-receive-cores")),
    ];
    let row = |group: &StreamGroup<'_>| {
        let sum = |count: fn(&PacketStream) -> u64| Text::from(grouped(group.sum(count)));
        vec![
            group.name(t).into(),
            show::way(group.from, group.to).into(),
            sum(|stream| stream.sent.frames),
            sum(|stream| stream.received.frames),
            sum(PacketStream::lost),
            sum(|stream| stream.received.duplicated),
            sum(|stream| stream.received.reordered),
            sum(|stream| stream.received.corrupt),
            sum(|stream| stream.sent.refused),
            list(group.first().sent.cpus.iter().copied()).into(),
            list(group.first().received.cpus.iter().filter(|on| on.frames > 0).map(|on| on.cpu)).into(),
        ]
    };
    let window = streams.iter().map(|group| group.first().received.window).max();
    let caption = t.with("packets-counts-caption", &[("window", &or_none(window, grouped))]);
    Block::table(caption, columns, streams.iter().map(row).collect())
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
