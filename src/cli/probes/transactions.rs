//! Options of transactions.

use clap::Args;
use model::{
    HttpPath, HttpServer, IpVersion, Nanos, PayloadSize, Plan, Protocol, TransactionRateRange, WaitMode,
    plan::{PlanError, TransactionKind},
};

use super::{super::numbers::whole, Known, ProbeOptions, each, shared::latency_sizes, some};

pub(super) const KNOWN: Known = Known {
    name: "transactions",
    plan: include_str!("../../../plans/transactions.toml"),
    sizes: latency_sizes,
    duration: |options, plan| {
        each("--duration", "transactions", options.duration, &mut plan.transactions, |item, duration| {
            item.duration = *duration
        })
    },
    refused: &["frame_sizes", "count", "streams"],
};

/// Kind of transaction, and number of connections.
#[derive(Clone, Debug, Args)]
pub(crate) struct TransactionsOptions {
    /// rr (request and response on a connection that stays open), crr (a connection for each) or http.
    #[arg(long)]
    kind: Option<TransactionKind>,
    /// tcp or udp (rr).
    #[arg(long)]
    protocol: Option<Protocol>,
    /// 4 or 6.
    #[arg(long)]
    ip: Option<IpVersion>,
    /// How the client and our own server wait: block, spin or busy-poll.
    #[arg(long)]
    mode: Option<WaitMode>,
    /// Bytes of each request (rr, crr; default 64).
    #[arg(long, value_name = "BYTES")]
    request: Option<PayloadSize>,
    /// Bytes of each response (rr, crr; default 64).
    #[arg(long, value_name = "BYTES")]
    response: Option<PayloadSize>,
    /// HTTP server: own, or nginx as it is installed at the far end.
    #[arg(long)]
    server: Option<HttpServer>,
    /// Paths asked for in turn, each with the size of what is there, like "/index.html 4 KiB" (http).
    #[arg(long = "path", value_delimiter = ',', value_name = "PATH SIZE")]
    paths: Vec<HttpPath>,
    /// A connection for each request (http); otherwise connections are kept alive.
    #[arg(long)]
    new_connections: bool,
    /// Connections open at the same time, in turn, like 1,100; 10000 at most.
    #[arg(long, value_delimiter = ',', value_name = "NUMBERS", allow_negative_numbers = true, value_parser = whole::<u16>("100"))]
    connections: Vec<u16>,
    /// Open loop: transactions a second by a schedule, like "10 ktps", over all connections together; for a search the
    /// lowest and the highest, like "100 tps..10 ktps". Response times then count from the scheduled time.
    #[arg(long, allow_hyphen_values = true, value_name = "RATE")]
    rate: Option<TransactionRateRange>,
    /// When a transaction without its whole response has failed.
    #[arg(long, allow_hyphen_values = true, value_name = "TIME")]
    timeout: Option<Nanos>,
}

impl ProbeOptions for TransactionsOptions {
    fn known(&self) -> &'static Known {
        &KNOWN
    }

    fn apply(&self, plan: &mut Plan) -> Result<(), PlanError> {
        let (section, items) = ("transactions", &mut plan.transactions);
        each("--kind", section, self.kind, items, |item, kind| item.kind = *kind)?;
        each("--protocol", section, self.protocol, items, |item, protocol| item.protocol = *protocol)?;
        each("--ip", section, self.ip, items, |item, ip| item.ip = *ip)?;
        each("--mode", section, self.mode, items, |item, mode| item.mode = *mode)?;
        each("--request", section, self.request, items, |item, size| item.request = Some(*size))?;
        each("--response", section, self.response, items, |item, size| item.response = Some(*size))?;
        each("--server", section, self.server, items, |item, server| item.server = Some(*server))?;
        each("--path", section, some(&self.paths), items, |item, paths| item.paths = paths.to_vec())?;
        let new_connections = self.new_connections.then_some(true);
        each("--new-connections", section, new_connections, items, |item, new| item.new_connections = *new)?;
        each("--connections", section, some(&self.connections), items, |item, numbers| {
            item.connections = numbers.to_vec();
        })?;
        each("--rate", section, self.rate, items, |item, rate| item.rate = Some(*rate))?;
        each("--timeout", section, self.timeout, items, |item, timeout| item.timeout = *timeout)
    }
}
