//! Names of configurations of transactions.

use model::{Exchange, HttpPath, HttpServer, TransactionsSpec, WaitMode};

use crate::{
    show::{joined, mode, transport},
    texts::Texts,
};

/// Paths that a name tells of; the others are counted.
const NAMED_PATHS: usize = 3;

/// A configuration: `HTTP IPv4, nginx, /index.html 1 KiB, 100 connections, at 10 ktps`.
pub(super) fn configuration(spec: &TransactionsSpec, t: &Texts) -> String {
    let exchange = match &spec.exchange {
        Exchange::Rr { protocol, request, response } => {
            vec![transport(*protocol, spec.ip) + " rr", sizes(request.0, response.0, t)]
        }
        Exchange::Crr { request, response } => {
            vec![transport(spec.exchange.protocol(), spec.ip) + " crr", sizes(request.0, response.0, t)]
        }
        Exchange::Http { server, paths, .. } => {
            let server = match server {
                HttpServer::Own => t.get("http-server-own"),
                HttpServer::Nginx => t.get("http-server-nginx"),
            };
            vec![format!("HTTP {}", spec.ip), server, paths_in_short(paths, t)]
        }
    };
    let waits = (spec.mode != WaitMode::Block).then(|| mode(spec.mode, t));
    let connections = match spec.exchange {
        Exchange::Http { new_connections: true, .. } => t.count("new-connections", spec.connections.into()),
        _ => t.count("connections", spec.connections.into()),
    };
    let rate = spec.rate.map(|rate| t.with("at-rate", &[("rate", &rate)]));
    joined(exchange.into_iter().chain(waits).chain([connections]).chain(rate), t)
}

fn sizes(request: u32, response: u32, t: &Texts) -> String {
    t.with("transaction-sizes", &[("request", &request), ("response", &response)])
}

fn paths_in_short(paths: &[HttpPath], t: &Texts) -> String {
    let left_out = paths.len().saturating_sub(NAMED_PATHS);
    let more = (left_out > 0).then(|| t.with("packets-more-streams", &[("count", &left_out)]));
    paths.iter().take(NAMED_PATHS).map(ToString::to_string).chain(more).collect::<Vec<_>>().join(" + ")
}
