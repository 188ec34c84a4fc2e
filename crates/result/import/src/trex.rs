//! TRex's statistics in stateless mode (`STLClient.get_stats()`) as JSON: rates at each port at one moment.

use model::{
    ReferenceFigure,
    reference::{Conditions, FigureMetric, Statistic},
};
use serde_json::{Map, Value};

use crate::{
    ImportError, Imported,
    figures::{bit_rate, note, packet_rate},
};

const TOOL: &str = "trex";

/// `None` where it is something else.
pub(crate) fn read(json: &Value) -> Option<Result<Imported, ImportError>> {
    let all = json.as_object()?;
    let ports: Vec<(&String, &Map<String, Value>)> = all
        .iter()
        .filter(|(name, _)| name.parse::<u16>().is_ok())
        .filter_map(|(name, port)| Some((name, port.as_object()?)))
        .filter(|(_, port)| port.contains_key("opackets"))
        .collect();
    if ports.is_empty() || !all.contains_key("global") {
        return None;
    }
    Some(imported(&ports))
}

fn imported(ports: &[(&String, &Map<String, Value>)]) -> Result<Imported, ImportError> {
    let mut figures = Vec::new();
    for (name, port) in ports {
        for way in ["tx", "rx"] {
            figures.extend(of_port(name, port, way)?);
        }
    }
    Ok(Imported {
        tool: TOOL,
        version: "TRex".to_owned(),
        date: None,
        conditions: Conditions::default(),
        notes: vec![note(
            "Rates at one moment. Each packet counts once as sent at one port and once as received at the other.",
            "ある時点のレートです。各パケットは、送信ポートと受信ポートで1回ずつ計数されます。",
        )],
        figures,
    })
}

fn of_port(name: &str, port: &Map<String, Value>, way: &str) -> Result<Vec<ReferenceFigure>, ImportError> {
    let number = |key: &str| port.get(&format!("{way}_{key}")).and_then(Value::as_f64);
    let way = if way == "tx" { "Tx" } else { "Rx" };
    let at = |layer: Option<u8>| Conditions { port: Some(format!("P{name} {way}")), layer, ..Conditions::default() };
    let layers = [("bps_L1", 1), ("bps", 2)];
    let mut figures = Vec::new();
    for (key, layer) in layers {
        if let Some(bps) = number(key) {
            let figure = bit_rate(FigureMetric::PortRate, Statistic::Reading, bps)?;
            figures.push(ReferenceFigure { conditions: at(Some(layer)), ..figure });
        }
    }
    if let Some(pps) = number("pps") {
        let figure = packet_rate(FigureMetric::PacketRate, Statistic::Reading, pps)?;
        figures.push(ReferenceFigure { conditions: at(None), ..figure });
    }
    Ok(figures)
}
