//! The figures of all trials in one table, for a spreadsheet: RFC 4180, with units in the names of the columns. English
//! always, as the JSON is.

use csv::{Terminator, WriterBuilder};
use model::{Doubt, Engine, IpVersion, Mtu, Protocol, Run, Stack, TimeSummary, WaitMode};
use serde::Serialize;

use crate::{
    document::{Document, Figures, FlowEntry, GoodputFigures, LatencyFigures, PathFigures, StreamFigures, TrialEntry},
    material::Material,
};

/// A row for each trial, and for each direction of what is measured each way by itself: goodput and path MTU. A cell is
/// empty where there is no such figure.
pub fn csv(material: &Material<'_>) -> Result<String, csv::Error> {
    let document = Document::of(material);
    let mut bytes = Vec::new();
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(&mut bytes);
    for row in document.trials.iter().flat_map(|entry| rows(material.run, entry)) {
        writer.serialize(row)?;
    }
    writer.flush()?;
    drop(writer);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// One line. The names of the fields are those of the columns.
#[derive(Clone, Debug, Default, Serialize)]
struct Row {
    run: String,
    trial: u32,
    repeat: u32,
    started: String,
    duration_s: f64,
    probe: &'static str,
    configuration: String,
    from: String,
    to: String,
    protocol: Option<Protocol>,
    ip: Option<IpVersion>,
    stack: Option<Stack>,
    mode: Option<WaitMode>,
    streams: Option<u16>,
    frame_size_bytes: Option<u32>,
    payload_size_bytes: Option<u32>,
    mtu_bytes: Option<u32>,
    intended_pps: Option<f64>,
    achieved_pps: Option<f64>,
    intended_bps: Option<f64>,
    rtt_min_ns: Option<u64>,
    rtt_mean_ns: Option<f64>,
    rtt_p50_ns: Option<u64>,
    rtt_p90_ns: Option<u64>,
    rtt_p99_ns: Option<u64>,
    rtt_p999_ns: Option<u64>,
    rtt_max_ns: Option<u64>,
    ipdv_rtt_p50_ns: Option<u64>,
    ipdv_rtt_p99_ns: Option<u64>,
    one_way_there_p50_ns: Option<u64>,
    one_way_there_p99_ns: Option<u64>,
    one_way_back_p50_ns: Option<u64>,
    one_way_back_p99_ns: Option<u64>,
    goodput_bps: Option<f64>,
    goodput_min_bps: Option<f64>,
    goodput_max_bps: Option<f64>,
    sent_bps: Option<f64>,
    received_bytes: Option<u64>,
    sent_packets: Option<u64>,
    received_packets: Option<u64>,
    lost_packets: Option<u64>,
    late_packets: Option<u64>,
    duplicated_packets: Option<u64>,
    reordered_packets: Option<u64>,
    overflowed_packets: Option<u64>,
    corrupt_packets: Option<u64>,
    engine: Option<Engine>,
    stream: Option<String>,
    offered_pps: Option<f64>,
    forwarding_pps: Option<f64>,
    retransmitted_segments: Option<u64>,
    path_mtu_bytes: Option<u32>,
    routers: Option<u8>,
    limited_by: Option<String>,
    doubts: String,
}

fn rows(run: &Run, entry: &TrialEntry) -> Vec<Row> {
    let measured = run.trials.iter().find(|trial| trial.number == entry.number).map(|trial| trial.measured.spec());
    let trial = Row {
        run: run.id.to_string(),
        trial: entry.number,
        repeat: entry.repeat,
        started: entry.started.clone(),
        duration_s: entry.duration_s,
        configuration: measured.map_or_else(String::new, |spec| spec.to_string()),
        from: entry.endpoint_from.clone(),
        to: entry.endpoint_to.clone(),
        limited_by: entry.limited_by.as_ref().map(|by| by.place.clone()),
        doubts: entry.doubts.iter().map(|entry| kind(&entry.doubt)).collect::<Vec<_>>().join(" "),
        ..Row::default()
    };
    match &entry.figures {
        Figures::Latency(figures) => vec![latency(figures, trial)],
        Figures::Goodput(figures) => figures.flows.iter().map(|flow| goodput(figures, flow, trial.clone())).collect(),
        Figures::Path(figures) => path(figures, &trial),
        Figures::Packets(figures) => {
            figures.streams.iter().map(|stream| packets(figures.ip, stream, trial.clone())).collect()
        }
    }
}

/// The name that the JSON has for it.
fn kind(doubt: &Doubt) -> String {
    let json = serde_json::to_value(doubt).unwrap_or_default();
    json["kind"].as_str().unwrap_or_default().to_owned()
}

fn latency(figures: &LatencyFigures, trial: Row) -> Row {
    let (rtt, ipdv, one_way) = (&figures.rtt_ns, &figures.ipdv_ns.rtt_ns, figures.one_way_ns.as_ref());
    let there = |figure: fn(&TimeSummary) -> Option<u64>| figure(&one_way?.forward_ns);
    let back = |figure: fn(&TimeSummary) -> Option<u64>| figure(&one_way?.reverse_ns);
    Row {
        probe: "latency",
        protocol: Some(figures.protocol),
        ip: Some(figures.ip),
        stack: Some(figures.stack),
        mode: Some(figures.mode),
        frame_size_bytes: Some(figures.frame_size.0),
        payload_size_bytes: Some(figures.payload_size.0),
        intended_pps: figures.intended_pps,
        achieved_pps: Some(figures.achieved_pps),
        rtt_min_ns: rtt.min,
        rtt_mean_ns: rtt.mean,
        rtt_p50_ns: rtt.p50,
        rtt_p90_ns: rtt.p90,
        rtt_p99_ns: rtt.p99,
        rtt_p999_ns: rtt.p999,
        rtt_max_ns: rtt.max,
        ipdv_rtt_p50_ns: ipdv.p50,
        ipdv_rtt_p99_ns: ipdv.p99,
        one_way_there_p50_ns: there(|it| it.p50),
        one_way_there_p99_ns: there(|it| it.p99),
        one_way_back_p50_ns: back(|it| it.p50),
        one_way_back_p99_ns: back(|it| it.p99),
        sent_packets: Some(figures.sent),
        lost_packets: figures.lost,
        late_packets: Some(figures.late),
        duplicated_packets: Some(figures.duplicated),
        reordered_packets: Some(figures.reordered),
        overflowed_packets: Some(figures.overflowed),
        ..trial
    }
}

fn goodput(figures: &GoodputFigures, entry: &FlowEntry, trial: Row) -> Row {
    let flow = &entry.figures;
    Row {
        probe: "goodput",
        from: flow.from.clone(),
        to: flow.to.clone(),
        protocol: Some(figures.protocol),
        ip: Some(figures.ip),
        streams: Some(figures.streams),
        payload_size_bytes: figures.datagram_size.map(|size| size.0),
        mtu_bytes: Some(figures.mtu.0),
        intended_bps: figures.intended_bps,
        goodput_bps: Some(flow.goodput_bps.mean),
        goodput_min_bps: flow.goodput_bps.min,
        goodput_max_bps: flow.goodput_bps.max,
        sent_bps: flow.sent_bps,
        received_bytes: Some(flow.received_bytes),
        sent_packets: flow.datagrams_sent,
        received_packets: flow.datagrams_received,
        lost_packets: flow.lost,
        duplicated_packets: flow.duplicated,
        reordered_packets: flow.reordered,
        overflowed_packets: flow.overflowed,
        retransmitted_segments: flow.retransmits,
        limited_by: entry.limited_by.as_ref().map(|by| by.place.clone()),
        ..trial
    }
}

fn packets(ip: IpVersion, stream: &StreamFigures, trial: Row) -> Row {
    Row {
        probe: "packets",
        from: stream.from.clone(),
        to: stream.to.clone(),
        ip: Some(ip),
        frame_size_bytes: Some(stream.frame_size.0),
        engine: Some(stream.engine),
        stream: Some(stream.stream.clone()),
        intended_pps: stream.intended_pps,
        offered_pps: Some(stream.offered_pps),
        forwarding_pps: Some(stream.forwarding_pps),
        sent_packets: Some(stream.sent),
        received_packets: Some(stream.received),
        lost_packets: stream.lost,
        late_packets: Some(stream.late),
        duplicated_packets: Some(stream.duplicated),
        reordered_packets: Some(stream.reordered),
        corrupt_packets: Some(stream.corrupt),
        ..trial
    }
}

fn path(figures: &PathFigures, trial: &Row) -> Vec<Row> {
    let (mtu, routers) = (&figures.mtu, &figures.routers);
    let row = |from: &str, to: &str, passed: Option<Mtu>, routers: Option<u8>| Row {
        probe: "path",
        from: from.to_owned(),
        to: to.to_owned(),
        ip: Some(figures.ip),
        mtu_bytes: figures.mtu_set.map(|mtu| mtu.0),
        path_mtu_bytes: passed.map(|mtu| mtu.0),
        routers,
        ..trial.clone()
    };
    vec![
        row(&trial.from, &trial.to, mtu.forward, routers.forward),
        row(&trial.to, &trial.from, mtu.reverse, routers.reverse),
    ]
}
