//! The section of a plan for transactions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Item, Method,
    searched::{ONE_LOAD, Searched},
    stored::Extent,
};
use crate::{
    choice::choice,
    frame_size::PayloadSize,
    plausible::{self, Checked},
    probe::{Exchange, HttpPath, HttpServer, IpVersion, ProbeSpec, Protocol, TransactionsSpec, WaitMode},
    search::{Goal, SearchMethod},
    units::{Bytes, Nanos, TransactionRate, TransactionRateRange},
};

/// Requests and their responses, for each number of connections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransactionsItem {
    /// `rr` (request and response on a connection that stays open), `crr` (a connection for each), or `http`.
    pub kind: TransactionKind,
    /// `tcp` or `udp` (rr).
    #[serde(default = "tcp")]
    pub protocol: Protocol,
    /// `4` or `6`.
    #[serde(default)]
    pub ip: IpVersion,
    /// `block`, `spin` or `busy-poll`: how the client and our own server wait.
    #[serde(default = "block")]
    pub mode: WaitMode,
    /// Bytes of each request (rr, crr; 64 without it).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<PayloadSize>,
    /// Bytes of each response (rr, crr; 64 without it).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<PayloadSize>,
    /// `own` or `nginx` (http; `own` without it).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<HttpServer>,
    /// Requested paths, in turn, each with the size of its body, like "/index.html 4 KiB" (http).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<HttpPath>,
    /// Whether each request has a connection of its own (http).
    #[serde(default)]
    pub new_connections: bool,
    /// Connections that are open at the same time, a trial each.
    #[serde(default = "one_connection")]
    pub connections: Vec<u16>,
    /// Transactions per second by a schedule ("10 ktps"), over all connections together; without it the next request leaves when
    /// the response is there. With `search` the lowest and the highest load ("100 tps..10 ktps"), or the highest one alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<TransactionRateRange>,
    /// `mlr` (RFC 9971) or `binary`: looks for the highest load that meets a goal, from the lowest to the highest one of `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchMethod>,
    /// Goals of the search; without any, no failed transaction in a trial of `duration`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goal: Vec<Goal>,
    /// Time that counts.
    pub duration: Nanos,
    /// Time before it that does not count.
    #[serde(default = "half_second")]
    pub warmup: Nanos,
    /// When a transaction without its whole response has failed.
    #[serde(default = "five_seconds")]
    pub timeout: Nanos,
}

choice!(
    /// Kinds of transactions.
    TransactionKind, "a kind of transaction", {
        /// Request and response on a connection that stays open.
        Rr = "rr",
        /// A connection for each request and response.
        Crr = "crr",
        /// HTTP/1.1 GET.
        Http = "http",
    }
);

fn tcp() -> Protocol {
    Protocol::Tcp
}
fn block() -> WaitMode {
    WaitMode::Block
}
fn one_connection() -> Vec<u16> {
    vec![1]
}
fn half_second() -> Nanos {
    Nanos::from_millis(500)
}
fn five_seconds() -> Nanos {
    Nanos::from_secs(5)
}

/// Bytes of a request or response that a plan does not name.
const ORDINARY_SIZE: PayloadSize = PayloadSize(64);

/// Transactions are counted by the second.
const SHORTEST: Nanos = Nanos::from_secs(1);

impl Item for TransactionsItem {
    fn check(&self) -> Result<(), String> {
        if self.connections.is_empty() || self.connections.contains(&0) {
            return Err(
                "connections names at least one number, each at least 1, like connections = [1, 100]".to_owned()
            );
        }
        if self.duration < SHORTEST {
            return Err(format!("duration {} is less than 1 s", self.duration));
        }
        if self.kind != TransactionKind::Rr && self.protocol == Protocol::Udp {
            return Err(format!("{} is over TCP; write kind = \"rr\" with protocol = \"udp\"", self.kind));
        }
        match self.kind {
            TransactionKind::Http => self.check_http()?,
            TransactionKind::Rr | TransactionKind::Crr => self.check_messages()?,
        }
        if self.search.is_none() && self.rate.is_some_and(|rate| rate.lowest.is_some()) {
            return Err(ONE_LOAD.to_owned());
        }
        self.of_search(|search| search.check())?;
        self.each().try_for_each(|spec| spec.check())
    }

    fn specs(&self) -> Vec<ProbeSpec> {
        self.each().map(ProbeSpec::from).collect()
    }

    fn extent(&self) -> Extent {
        Extent::of(&[self.connections.len()], &[self.duration, self.warmup, self.timeout])
    }

    fn check_stored(&self) -> Checked {
        // A search goes by the arithmetic of its goals: impossible ones lead nowhere.
        self.of_search(|search| search.check()).or_else(|why| plausible::refuse("search", why))
    }

    fn method(&self) -> Method {
        self.of_search(|search| search.method(Method::List))
    }
}

impl TransactionsItem {
    /// Something of its search.
    fn of_search<T>(&self, of: impl FnOnce(Searched<'_>) -> T) -> T {
        of(Searched {
            method: self.search,
            goals: &self.goal,
            duration: self.duration,
            shortest: SHORTEST,
            loads: self.rate.map(|rate| (rate.lowest.map(|lowest| lowest.0), rate.highest.0)),
            words: &|rate| TransactionRate(rate).to_string(),
            example: "100 tps..10 ktps",
        })
    }

    /// A spec for each number of connections.
    fn each(&self) -> impl Iterator<Item = TransactionsSpec> {
        self.connections.iter().map(|connections| TransactionsSpec {
            exchange: self.exchange(),
            ip: self.ip,
            mode: self.mode,
            connections: *connections,
            duration: self.duration,
            warmup: self.warmup,
            timeout: self.timeout,
            rate: self.rate.map(|rate| rate.highest),
        })
    }

    fn check_http(&self) -> Result<(), String> {
        if self.request.is_some() || self.response.is_some() {
            return Err(
                "request and response are those of rr and crr; write paths = [\"/index.html 4 KiB\"]".to_owned()
            );
        }
        let mut paths: Vec<&str> = self.paths.iter().map(|path| path.path.as_str()).collect();
        paths.sort_unstable();
        let folder_of = |[one, other]: &[&str; 2]| other.strip_prefix(*one).is_some_and(|rest| rest.starts_with('/'));
        if paths.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("paths names a path twice".to_owned());
        }
        let clash = paths.iter().flat_map(|one| paths.iter().map(move |other| [*one, *other])).find(folder_of);
        clash.map_or(Ok(()), |[one, other]| Err(format!("{one} is a file, so that {other} cannot be beneath it")))
    }

    fn check_messages(&self) -> Result<(), String> {
        let http_only = [
            ("server", self.server.is_some()),
            ("paths", !self.paths.is_empty()),
            ("new_connections", self.new_connections),
        ];
        if let Some((key, _)) = http_only.into_iter().find(|(_, is_set)| *is_set) {
            return Err(format!("{key} is for HTTP; take it out, or write kind = \"http\""));
        }
        Ok(())
    }

    fn exchange(&self) -> Exchange {
        let (request, response) = (self.request.unwrap_or(ORDINARY_SIZE), self.response.unwrap_or(ORDINARY_SIZE));
        match self.kind {
            TransactionKind::Rr => Exchange::Rr { protocol: self.protocol, request, response },
            TransactionKind::Crr => Exchange::Crr { request, response },
            TransactionKind::Http => Exchange::Http {
                server: self.server.unwrap_or(HttpServer::Own),
                paths: if self.paths.is_empty() { vec![ordinary_path()] } else { self.paths.clone() },
                new_connections: self.new_connections,
            },
        }
    }
}

fn ordinary_path() -> HttpPath {
    HttpPath { path: "/index.html".to_owned(), size: Bytes(1024) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plan;

    #[test]
    fn transactions_are_searched_by_their_rate() {
        let plan = |keys: &str| {
            let toml = format!("name = \"t\"\n[[transactions]]\nkind = \"rr\"\nduration = \"5 s\"\n{keys}");
            Plan::parse(&toml, &[]).map_err(|error| error.to_string())
        };
        let read = plan("rate = \"20 ktps\"\nsearch = \"binary\"\nconnections = [1, 8]").unwrap();
        assert_eq!(Plan::parse(&read.to_toml(), &[]), Ok(read.clone()));
        let section = read.sections().remove(0);
        let Method::Search(planned) = &section.method else { panic!("a search") };
        // A thousandth of the highest one has no room for the width.
        assert_eq!((planned.min, planned.max, section.specs.len()), (400, 20_000, 2));
        let highest = section.specs[0].probe();
        let other = highest.with_load(3_000, Nanos::from_secs(1)).unwrap();
        assert_eq!(other.to_string(), "transactions rr TCP 64/64 B IPv4 block 1 connection at 3 ktps");
        assert_eq!(other.probe().without_load(), highest.without_load());
        assert!(plan("rate = \"1 ktps..20 ktps\"").unwrap_err().contains("write search = \"mlr\" too"));
        assert!(plan("search = \"mlr\"").unwrap_err().contains("like rate = \"100 tps..10 ktps\""));
    }
}
