//! Counts of one side of numbered packets, as plain text.

use model::{ListenerCounts, PacketsSent, SequenceCounts};

use crate::{
    lang::Lang,
    show::{self, grouped, or_none, packet_rate},
    terminal::{Row, table},
    texts::Texts,
};

/// Sent packets of each stream.
pub fn sent(streams: &[PacketsSent], lang: Lang) -> String {
    let t = Texts::of(lang);
    let head = [
        t.get("sides-col-stream"),
        t.get("col-datagrams-sent"),
        t.get("col-refused"),
        t.get("col-offered-load"),
        t.get("col-engine"),
    ];
    let row = |stream: &PacketsSent| {
        let rate = (stream.seconds > 0.0).then(|| stream.frames as f64 / stream.seconds);
        let cells = [
            stream.stream.clone(),
            grouped(stream.frames),
            grouped(stream.refused),
            or_none(rate, packet_rate),
            stream.engine.to_string(),
        ];
        Row(cells, vec![])
    };
    lines(table(head, streams.iter().map(row).collect()))
}

/// Received packets of each numbered sequence.
pub fn received(counts: &ListenerCounts, lang: Lang) -> String {
    let t = Texts::of(lang);
    let knows_latency = counts.sequences.iter().any(|sequence| sequence.latency_ns.is_some());
    let head = [
        t.get("sides-col-sequence"),
        t.get("col-datagrams-received"),
        t.get("col-datagrams-lost"),
        t.get("col-duplicated"),
        t.get("col-reordered"),
        t.get("col-corrupt"),
        if knows_latency { "p50 (µs)".to_owned() } else { String::new() },
    ];
    let row = |sequence: &SequenceCounts| {
        let p50 = sequence.latency_ns.as_ref().and_then(|latency| latency.p50);
        let cells = [
            sequence.number.to_string(),
            grouped(sequence.received),
            grouped(sequence.lost),
            grouped(sequence.duplicated),
            grouped(sequence.reordered),
            grouped(sequence.corrupt),
            if knows_latency { show::micros_or_none(p50.map(|ns| ns as f64)) } else { String::new() },
        ];
        Row(cells, vec![])
    };
    let rows: Vec<_> = counts.sequences.iter().map(row).collect();
    let others = t.with("sides-others", &[("others", &grouped(counts.others))]);
    match rows.is_empty() {
        true => format!("{}\n{others}\n", t.get("sides-nothing")),
        false => lines(table(head, rows)) + &format!("{}\n{others}\n", t.get("sides-lost-note")),
    }
}

/// Received so far, in a line; `pps` is the rate since the line before.
pub fn received_so_far(counts: &ListenerCounts, pps: f64, lang: Lang) -> String {
    let (received, lost) = (counts.sum(|sequence| sequence.received), counts.sum(|sequence| sequence.lost));
    let (received, lost, pps) = (grouped(received), grouped(lost), packet_rate(pps));
    Texts::of(lang).with("sides-so-far", &[("received", &received), ("pps", &pps), ("lost", &lost)])
}

fn lines(lines: Vec<String>) -> String {
    lines.join("\n") + "\n"
}
