//! The path to a host as plain text.

use std::fmt::Display;

use model::{
    Mtu, PathConclusion, PathTo, TcpPackets,
    alike::distinct,
    trial::{Hop, PathDevice},
};

use super::culprit;
use crate::{
    lang::Lang,
    show,
    terminal::{Row, table},
    texts::Texts,
};

/// Each path: the largest packet and its cause, remedies, devices and hops.
pub fn path_to(asked: &str, paths: &[(PathTo, PathConclusion)], lang: Lang) -> String {
    let t = Texts::of(lang);
    let all: Vec<String> = paths.iter().map(|path| one(path, asked, t).join("\n") + "\n").collect();
    all.join("\n")
}

fn one((path, conclusion): &(PathTo, PathConclusion), asked: &str, t: &Texts) -> Vec<String> {
    let address = path.address.to_string();
    let name =
        if asked == address { address } else { t.with("path-to-named", &[("name", &asked), ("address", &address)]) };
    let passes = path.leg.mtu.map_or_else(|| t.get("not-known"), |Mtu(mtu)| mtu.to_string());
    let mut lines = vec![t.with("path-to-heading", &[("host", &name), ("mtu", &passes)])];
    let cause = conclusion.culprit.as_ref();
    lines.push(cause.map_or_else(
        || t.with("path-to-clean", &[("interface", &path.interface)]),
        |culprit| t.with("path-to-cause", &[("cause", &culprit::words(culprit, t))]),
    ));
    let asked_by = t.of_value("path-to-method", &path.method);
    let packets: [(&str, &dyn Display); 3] =
        [("method", &asked_by), ("packets", &path.packets), ("seconds", &format!("{:.1}", path.took.as_secs_f64()))];
    lines.push(t.with("path-to-by", &packets));
    lines.extend(path.route_mtu.map(|Mtu(mtu)| t.with("path-to-route", &[("mtu", &mtu)])));
    lines.extend(path.tcp.as_ref().map(|tcp| of_tcp(tcp, t)));
    for advice in &conclusion.advice {
        let remedy = t.of_value("path-to-remedy", &advice.kind);
        lines.push(match &advice.command {
            Some(command) => t.with("path-to-remedy-command", &[("remedy", &remedy), ("command", command)]),
            None => t.with("path-to-remedy-only", &[("remedy", &remedy)]),
        });
    }
    let culprit = cause.and_then(|culprit| Some((culprit.host.as_deref()?, culprit.device.as_deref()?)));
    lines.extend(devices(path, culprit, t));
    lines.extend(hop_table(&path.hops, t));
    lines
}

/// Hops as they answered so far, like the table at the end.
pub fn hops(hops: &[Hop], lang: Lang) -> String {
    hop_table(hops, Texts::of(lang)).join("\n").trim_start_matches('\n').to_owned()
}

fn of_tcp(tcp: &TcpPackets, t: &Texts) -> String {
    match tcp {
        TcpPackets::Yes { port, mss, packet } => {
            t.with("path-to-tcp", &[("port", port), ("mss", mss), ("packet", &packet.0)])
        }
        TcpPackets::No { port, why } => t.with("path-to-no-tcp", &[("port", port), ("why", why)]),
    }
}

fn devices(path: &PathTo, culprit: Option<(&str, &str)>, t: &Texts) -> Vec<String> {
    let head = [t.get("col-device"), t.get("col-kind"), t.get("col-master"), "MTU".to_owned()];
    let hosts = distinct(path.devices.iter().map(|device| device.host.as_str()));
    let row = |device: &PathDevice| {
        let mark = if culprit == Some((device.host.as_str(), device.name.as_str())) { " ◀" } else { "" };
        let name = if hosts.len() > 1 { format!("{}: {}", device.host, device.name) } else { device.name.clone() };
        let kind = super::kind(device, t);
        Row([name, kind, device.master.clone().unwrap_or_default(), format!("{}{mark}", device.mtu.0)], vec![])
    };
    table(head, path.devices.iter().map(row).collect())
}

fn hop_table(hops: &[Hop], t: &Texts) -> Vec<String> {
    let head = [
        t.get("hop-col-address"),
        t.get("hop-col-number"),
        t.get("hop-col-sent"),
        t.get("hop-col-unanswered"),
        t.get("hop-col-median"),
    ];
    let row = |hop: &Hop| {
        let names: Vec<String> = hop.addresses.iter().map(ToString::to_string).collect();
        let name = if names.is_empty() { t.get("hop-silent") } else { show::joined(names, t) };
        let missing = show::percent(f64::from(hop.sent.saturating_sub(hop.answered)) / f64::from(hop.sent.max(1)));
        let median = show::or_none(hop.times, |times| format!("{} µs", show::micros(times.median.0 as f64)));
        Row([name, hop.number.to_string(), hop.sent.to_string(), missing, median], vec![])
    };
    table(head, hops.iter().map(row).collect())
}
