//! Cost of a transaction: packets on the wire and CPU time.

use model::{Source, TransactionsResult, Trial};
use schemars::JsonSchema;
use serde::Serialize;

/// Cost of transactions at one end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Cost {
    /// Packets that left it, for each transaction, by the counters of its interface.
    pub sent_packets: Option<f64>,
    /// Packets that came to it, for each transaction.
    pub received_packets: Option<f64>,
    /// Packets a second that left it.
    pub sent_pps: Option<f64>,
    /// Packets a second that came to it.
    pub received_pps: Option<f64>,
    /// Time of the cores that its threads are pinned to, for each transaction, in nanoseconds; null where they are not.
    pub cpu_ns: Option<f64>,
}

impl Cost {
    /// At the near end (0) or the far one (1).
    pub(super) fn of(trial: &Trial, end: usize, result: &TransactionsResult) -> Self {
        let Some((counters, cpus)) = trial.counters.get(end).zip(trial.cpus.get(end)) else { return Self::default() };
        let per_transaction = |name: &str| {
            let packets = counters.sum(Source::Link, name);
            (packets > 0 && result.completed_in_all > 0).then(|| packets as f64 / result.completed_in_all as f64)
        };
        let [sent, received] = ["tx_packets", "rx_packets"].map(per_transaction);
        let a_second = |packets: Option<f64>| packets.zip(result.per_second()).map(|(packets, rate)| packets * rate);
        let busy: Option<f64> = cpus.iter().map(|cpu| Some(counters.core(*cpu)?.busy)).sum();
        let busy = busy.filter(|_| !cpus.is_empty());
        // The server's cores are read over all of its run, the client's over the counted time.
        let completed = if end == 0 { result.completed } else { result.completed_in_all };
        let cpu_ns = |percent: f64| percent / 100.0 * counters.seconds * 1e9 / completed as f64;
        Self {
            sent_packets: sent,
            received_packets: received,
            sent_pps: a_second(sent),
            received_pps: a_second(received),
            cpu_ns: busy.filter(|_| completed > 0).map(cpu_ns),
        }
    }
}
