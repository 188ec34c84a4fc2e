//! Transactions as JSON.

use model::{
    Exchange, Failed, IpVersion, TimeSummary, TransactionsResult, TransactionsSpec, Trial, WaitMode, trial::Pacing,
};

use super::cost::Cost;
use crate::{cells::Cells, shape::document};

document! {
    /// Parameters and figures of transactions.
    TransactionsFigures of (trial: &Trial, spec: &TransactionsSpec, result: &TransactionsResult) {
        /// Kind of transaction.
        exchange: Exchange = spec.exchange.clone(),
        /// IP version.
        ip: IpVersion = spec.ip,
        /// How the client waited, and wireproof's own server.
        mode: WaitMode = spec.mode,
        /// Connections that were open at the same time.
        connections: u16 = spec.connections,
        /// After how long a transaction has failed, in nanoseconds.
        timeout_ns: u64 = spec.timeout.0,
        /// The server, with its version.
        server: String = result.server.clone(),
        /// Length of its queue of connections that wait to be accepted; null over UDP.
        backlog: Option<u32> = result.backlog,
        /// Threads of the client.
        threads: usize = result.threads,
        /// Counted time, in seconds.
        counted_s: f64 = result.counted_s,
        /// Transactions that ended well within the counted time.
        completed: u64 = result.completed,
        /// Transactions a second that ended well; null without a counted time.
        transactions_per_s: Option<f64> = result.per_second(),
        /// Transactions that ended well in each whole second.
        seconds: Vec<u64> = result.seconds.clone(),
        /// Connections that were established within the counted time.
        connected: u64 = result.connected,
        /// Connections a second that were established; null without a counted time.
        connections_per_s: Option<f64> = result.connections_per_second(),
        /// Transactions that failed, by kind.
        failed: Vec<Failed> = result.failed.clone(),
        /// Transactions that failed in any way.
        failures: u64 = result.failures(),
        /// Response times in nanoseconds, as far as the sample carries them; by a schedule, from the intended time. Failed transactions count as over the timeout.
        response_ns: TimeSummary = result.response_ns.clone(),
        /// Time until a connection was established, in nanoseconds.
        connect_ns: TimeSummary = result.connect_ns.clone(),
        /// Transactions a second that the schedule asked for; null for a closed loop.
        intended_per_s: Option<f64> = result.intended_per_s,
        /// How well the schedule was kept; null for a closed loop.
        pacing: Option<Pacing> = result.pacing.clone(),
        /// Ephemeral ports of the client.
        ports: Option<u32> = result.ports,
        /// Connections of the client in TIME_WAIT at the end of the trial.
        time_wait: Option<u64> = result.time_wait,
        /// Cost at the client's end.
        client: Cost = Cost::of(trial, 0, result),
        /// Cost at the server's end.
        server_end: Cost = Cost::of(trial, 1, result),
        /// The whole sample of response times: HDR histogram in nanoseconds, V2 encoding, base64.
        response_histogram: String = result.histogram.clone(),
    }
}

impl TransactionsFigures {
    /// The row of the CSV.
    pub(in super::super) fn row(&self) -> Cells {
        Cells::default()
            .with("probe", "transactions")
            .with("kind", self.exchange.kind())
            .with("protocol", self.exchange.protocol())
            .fields(self, "ip mode connections server transactions_per_s connections_per_s", ("", ""))
            .fields(&self.response_ns, "min mean p50 p90 p99 p999 max", ("response_", "_ns"))
            .fields(&self.connect_ns, "p50 p99", ("connect_", "_ns"))
            .fields(self, "completed failures", ("", "_transactions"))
            .fields(&self.client, "sent_pps received_pps cpu_ns", ("client_", ""))
            .fields(&self.server_end, "cpu_ns", ("server_", ""))
    }
}
