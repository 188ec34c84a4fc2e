//! What the tester does alone.

use model::{Measured, Run, Trial};

use crate::{
    page::{Block, Column, Text},
    show::{self, NO_FIGURE, micros_or_none, packet_rate, rate},
    texts::Texts,
};

/// Nothing for a run whose loads the path sets the pace of.
pub(super) fn alone(run: &Run, t: &Texts) -> Vec<Block> {
    if run.self_tests.is_empty() {
        return vec![];
    }
    let columns = vec![
        Column::words(t.get("col-configuration")),
        Column::figures(t.get("col-made-alone")),
        Column::figures(t.get("col-rtt-p99-alone")),
    ];
    let rows = run.self_tests.iter().map(|trial| row(trial, t)).collect();
    vec![Block::section(t.get("table-alone"), vec![Block::table(t.get("alone-note"), columns, rows)])]
}

fn row(trial: &Trial, t: &Texts) -> Vec<Text> {
    let (made, rtt) = match &trial.measured {
        Measured::Latency { result, .. } => {
            (packet_rate(result.achieved_pps), micros_or_none(result.rtt_ns.p99.map(|ns| ns as f64)))
        }
        Measured::Goodput { result, .. } => {
            (show::or_none(result.flows.first(), |flow| rate(flow.received.mean_bps())), NO_FIGURE.to_owned())
        }
        Measured::Packets { result, .. } => {
            (show::or_none(result.streams.first(), |stream| packet_rate(stream.forwarding_pps())), NO_FIGURE.to_owned())
        }
        Measured::Path { .. } => (NO_FIGURE.to_owned(), NO_FIGURE.to_owned()),
    };
    [show::configuration(&trial.measured.spec(), t), made, rtt].map(Text::from).into()
}
