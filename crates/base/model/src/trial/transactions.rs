//! Figures of transactions.

use serde::{Deserialize, Serialize};

use super::{
    Measures, Pacing, Sample, TimeSummary,
    times::{fit, pacing, pacing_fits, supports, times},
};
use crate::{
    Total,
    failed::{Failed, FailureKind},
    figure::{Figure, Metric, Range},
    plausible::{
        Checked, HISTOGRAM, SECONDS, Within, at_most, count, each, entries, no_more_than, rate, seconds, text,
        within_trial,
    },
    probe::{Probe, TransactionsSpec},
    search::{LoadedTrial, TrialResult},
};

/// Figures of transactions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TransactionsResult {
    /// Counted time, in seconds.
    pub counted_s: f64,
    /// Completed transactions within the counted time.
    pub completed: u64,
    /// Connections that were established within the counted time.
    pub connected: u64,
    /// Failed transactions within the counted time, by kind; kinds without any are left out.
    pub failed: Vec<Failed>,
    /// Completed transactions of the whole trial, warm-up included; the counters of the ends cover the same time.
    pub completed_in_all: u64,
    /// Completed transactions of each whole second.
    pub seconds: Vec<u64>,
    /// Time from a request to the end of its response, in nanoseconds; where each transaction has a connection of its own, from
    /// the beginning of the connection; by a schedule, from the intended time. Failed transactions count as over the timeout.
    pub response_ns: TimeSummary,
    /// Time until a connection was established, in nanoseconds; empty where all were before the counted time.
    pub connect_ns: TimeSummary,
    /// Transactions per second that the schedule asked for; `None` for a closed loop.
    pub intended_per_s: Option<f64>,
    /// Adherence to the schedule; `None` for a closed loop.
    pub pacing: Option<Pacing>,
    /// Threads of the client.
    pub threads: usize,
    /// Server that answered, with its version: `wireproof 0.1.0`, `nginx/1.26.3`.
    pub server: String,
    /// Length of the server's queue of connections that wait to be accepted; `None` over UDP.
    pub backlog: Option<u32>,
    /// Ephemeral ports of the client (`net.ipv4.ip_local_port_range`), less those reserved.
    pub ports: Option<u32>,
    /// Connections of the client in TIME_WAIT at the end of the trial; `None` where that could not be read.
    pub time_wait: Option<u64>,
    /// Queue that the kernel polled for the client (`SO_INCOMING_NAPI_ID`); `None` without one, and without busy polling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub napi: Option<u32>,
    /// The whole sample of response times: HDR histogram in nanoseconds, V2 encoding, base64.
    pub histogram: String,
}

/// Counts of the far side of transactions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TransactionsServed {
    /// The server, with its version.
    pub server: String,
    /// Length of its queue of connections that wait to be accepted; `None` over UDP.
    pub backlog: Option<u32>,
}

impl TransactionsResult {
    /// Transactions per second; `None` without a counted time.
    pub fn per_second(&self) -> Option<f64> {
        (self.counted_s > 0.0).then(|| self.completed as f64 / self.counted_s)
    }

    /// Connections per second; `None` without a counted time.
    pub fn connections_per_second(&self) -> Option<f64> {
        (self.counted_s > 0.0).then(|| self.connected as f64 / self.counted_s)
    }

    /// Transactions that failed in any way.
    pub fn failures(&self) -> u64 {
        self.failed.iter().map(|failed| failed.count).total()
    }

    /// Share of the scheduled transactions that failed, or that had not begun by the end of the counted time. At that moment each of so
    /// many connections may have one under way, which is neither. `None` where none was scheduled.
    fn unserved(&self, connections: u64) -> Option<f64> {
        let (scheduled, failed) = (self.response_ns.n, self.failures());
        let waiting = scheduled.saturating_sub(self.completed).saturating_sub(failed).saturating_sub(connections);
        (scheduled > 0).then(|| failed.saturating_add(waiting).min(scheduled) as f64 / scheduled as f64)
    }
}

impl Measures for TransactionsSpec {
    type Result = TransactionsResult;

    fn figures(&self, result: &TransactionsResult, _far: &str) -> Vec<Figure> {
        let response = &result.response_ns;
        let timeout = self.timeout.0 as f64;
        // A percentile that failed transactions hide is at least the timeout.
        let time = |metric, known: Option<u64>, supported: bool| {
            let hidden = result.failures() > 0 && supported;
            let at_least = hidden.then_some(Figure { metric, value: Range { low: timeout, high: f64::INFINITY } });
            Figure::known(metric, known.map(|nanos| nanos as f64)).or(at_least)
        };
        let supported = |per_mille| supports(response.n, per_mille);
        let ended = result.completed + result.failures();
        let connections = self.exchange.connects_each_time().then(|| result.connections_per_second()).flatten();
        let failed = (ended > 0).then(|| result.failures() as f64 / ended as f64);
        [
            Figure::known(Metric::TransactionRate, result.per_second()),
            Figure::known(Metric::ConnectionRate, connections),
            time(Metric::ResponseP50, response.p50, supported(500)),
            time(Metric::ResponseP90, response.p90, supported(900)),
            time(Metric::ResponseP99, response.p99, supported(990)),
            time(Metric::ResponseP999, response.p999, supported(999)),
            time(Metric::ResponseMax, response.max, true),
            Figure::known(Metric::Failed, failed),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn check(&self, result: &TransactionsResult, seconds: f64) -> Checked {
        check(result)?;
        within_trial("counted_s", result.counted_s, seconds)?;
        within_trial("seconds", result.seconds.len() as f64, seconds)?;
        // A transaction of the warm-up may end in the counted time.
        let lasted = self.warmup.as_secs_f64() + seconds + self.timeout.as_secs_f64();
        fit("response_ns", &result.response_ns, lasted)?;
        fit("connect_ns", &result.connect_ns, lasted)?;
        result.pacing.as_ref().map_or(Ok(()), |pacing| pacing_fits(pacing, lasted)).within("pacing")
    }

    fn at_load(&self, result: &TransactionsResult) -> Option<LoadedTrial> {
        let (load, duration_s) = (self.rate?.0 as f64, self.duration.as_secs_f64());
        let loss_ratio = result.unserved(u64::from(self.connections))?;
        let trial = TrialResult { load, duration_s, effective_s: duration_s, loss_ratio };
        Some(LoadedTrial { configuration: self.without_load()?.to_string(), trial })
    }

    fn sample<'r>(&self, result: &'r TransactionsResult) -> Option<Sample<'r>> {
        Some(Sample { name: "response_ns", summary: &result.response_ns, histogram: &result.histogram })
    }
}

/// Whether the result of the near side is possible.
pub(super) fn check(result: &TransactionsResult) -> Checked {
    seconds("counted_s", result.counted_s)?;
    count("completed", result.completed)?;
    count("connected", result.connected)?;
    count("completed_in_all", result.completed_in_all)?;
    no_more_than("completed", result.completed, "completed_in_all", result.completed_in_all)?;
    rate("completed per second", result.per_second().unwrap_or_default())?;
    rate("connected per second", result.connections_per_second().unwrap_or_default())?;
    entries("failed", result.failed.len(), FailureKind::ALL.len())?;
    each("failed", &result.failed, |failed| count("count", failed.count))?;
    at_most("seconds", result.seconds.len() as f64, SECONDS)?;
    each("seconds", &result.seconds, |completed| count("completed", *completed))?;
    times("response_ns", &result.response_ns)?;
    times("connect_ns", &result.connect_ns)?;
    result.intended_per_s.map_or(Ok(()), |intended| rate("intended_per_s", intended))?;
    result.pacing.as_ref().map_or(Ok(()), pacing).within("pacing")?;
    text("server", &result.server)?;
    entries("histogram", result.histogram.len(), HISTOGRAM)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FailureKind, Plan, fixture, trial::Measured};

    #[test]
    fn a_transaction_that_failed_or_waited_is_lost_at_its_load() {
        let toml =
            "name = \"t\"\n[[transactions]]\nkind = \"rr\"\nduration = \"2 s\"\nrate = \"1 ktps\"\nconnections = [10]";
        let plan = Plan::parse(toml, &[]).unwrap();
        let spec: TransactionsSpec = plan.specs()[0].of().cloned().unwrap();
        let lost = |completed, failed| {
            let mut result = TransactionsResult { completed, ..TransactionsResult::default() };
            result.response_ns.n = 2000;
            if failed > 0 {
                result.failed = vec![Failed { kind: FailureKind::Timeout, count: failed }];
            }
            let measured = Measured::Transactions { spec: spec.clone(), result: Box::new(result) };
            let loaded = fixture::trial(measured).at_load().unwrap();
            assert_eq!(loaded.configuration, "transactions rr TCP 64/64 B IPv4 block 10 connections");
            assert_eq!((loaded.trial.load, loaded.trial.duration_s), (1000.0, 2.0));
            loaded.trial.loss_ratio
        };
        assert_eq!([lost(2000, 0), lost(1990, 0), lost(2001, 0)], [0.0; 3], "ten were under way");
        assert_eq!([lost(1790, 0), lost(1890, 100), lost(1980, 20)], [0.1, 0.05, 0.01]);
        assert_eq!(lost(0, 5000), 1.0);
    }
}
