//! The figures of all trials in one table, for a spreadsheet: RFC 4180, with units in the names of the columns. English
//! always, as the JSON is.

use csv::{Terminator, WriterBuilder};
use model::{Doubt, Names, Run, Trial, TrialAssessment, alike::distinct, json::value_of, plain::plain};

use crate::{cells::Cells, material::Material, probes::Figures};

/// The columns that each run has, in order. Those that only some probes have follow them.
const HEADER: &str = "run,trial,repeat,started,duration_s,probe,configuration,from,to,protocol,ip,stack,mode,streams,\
    frame_size_bytes,payload_size_bytes,mtu_bytes,intended_pps,achieved_pps,intended_bps,rtt_min_ns,\
    rtt_mean_ns,rtt_p50_ns,rtt_p90_ns,rtt_p99_ns,rtt_p999_ns,rtt_max_ns,ipdv_rtt_p50_ns,ipdv_rtt_p99_ns,\
    one_way_there_p50_ns,one_way_there_p99_ns,one_way_back_p50_ns,one_way_back_p99_ns,goodput_bps,\
    goodput_min_bps,goodput_max_bps,sent_bps,received_bytes,sent_packets,received_packets,lost_packets,\
    late_packets,duplicated_packets,reordered_packets,overflowed_packets,corrupt_packets,engine,stream,\
    offered_pps,forwarding_pps,retransmitted_segments,path_mtu_bytes,routers,limited_by,doubts";

/// A row for each trial, and for each way of what is measured each way by itself: goodput, packets and path MTU. A cell is empty where
/// there is no such figure.
pub fn csv(material: &Material<'_>) -> Result<String, csv::Error> {
    let mut bytes = Vec::new();
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(&mut bytes);
    let names = Names::of_run(material.run);
    let rows: Vec<Cells> =
        material.trials().flat_map(|(trial, assessed)| rows(material.run, &names, trial, assessed)).collect();
    let columns = distinct(HEADER.split(',').chain(rows.iter().flat_map(Cells::columns)));
    writer.write_record(&columns)?;
    for row in &rows {
        writer.write_record(columns.iter().map(|column| plain(&row.text(column))))?;
    }
    writer.flush()?;
    drop(writer);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The cells of the probe beside those that every trial has.
fn rows(run: &Run, names: &Names, trial: &Trial, assessed: &TrialAssessment) -> Vec<Cells> {
    let generic = Cells::default()
        .with("run", run.id.to_string())
        .with("trial", trial.number)
        .with("repeat", trial.repeat)
        .with("started", &trial.started)
        .with("duration_s", trial.duration_s)
        .with("configuration", names.name(&trial.measured.spec()))
        .with("from", &trial.endpoint_from)
        .with("to", &trial.endpoint_to)
        .with("limited_by", assessed.limited_by.as_ref().map(|by| by.place.to_string()))
        .with("doubts", distinct(trial.doubts.iter().map(kind)).join(" "));
    let figures = Figures::of(run, trial, assessed);
    let rows = figures.map_or_else(Vec::new, |figures| figures.rows(trial));
    rows.into_iter().map(|own| generic.clone().and(own)).collect()
}

/// The name that the JSON has for it.
fn kind(doubt: &Doubt) -> String {
    let json = value_of(doubt);
    json["kind"].as_str().unwrap_or_default().to_owned()
}
