//! Transactions: requests and their responses, on one connection or on many.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Amount, Conditions, IpVersion, LONGEST, Probe, ProbeSpec, Profile, Protocol, Selectors, WaitMode};
use crate::{
    choice::choice,
    figure::Metric,
    frame_size::PayloadSize,
    units::{Bytes, Nanos, TransactionRate, UnitError},
};

/// Connections of one trial at most. More need more ports than one address has.
const MOST_CONNECTIONS: u16 = 10_000;

/// Largest request or response of `rr` and `crr`.
const LARGEST: PayloadSize = PayloadSize(1 << 20);

/// Largest payload of a UDP datagram over IPv4.
const LARGEST_DATAGRAM: PayloadSize = PayloadSize(65_507);

/// Bytes in which a datagram carries its number.
const LEAST_DATAGRAM: PayloadSize = PayloadSize(8);

/// Rates that no clock could pace.
const FASTEST: TransactionRate = TransactionRate(100_000_000);

/// Paths of one trial at most.
const MOST_PATHS: usize = 64;

/// Requests and their responses over some connections, closed loop or by a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TransactionsSpec {
    /// Kind of transaction.
    pub exchange: Exchange,
    /// IPv4 or IPv6.
    pub ip: IpVersion,
    /// Way in which the client waits for a response, and our own server for a request.
    pub mode: WaitMode,
    /// Connections that are open at the same time; over UDP, sockets.
    pub connections: u16,
    /// Time that counts.
    pub duration: Nanos,
    /// Time before it that does not count.
    pub warmup: Nanos,
    /// A transaction without its whole response after this time has failed.
    pub timeout: Nanos,
    /// Transactions per second by an absolute schedule (open loop), over all connections together; `None` sends the next
    /// request when the response is there (closed loop).
    pub rate: Option<TransactionRate>,
}

impl TransactionsSpec {
    /// The value that is out of bounds. Plans are checked for it, and agents refuse it, as they trust no controller.
    pub fn check(&self) -> Result<(), String> {
        if !(1..=MOST_CONNECTIONS).contains(&self.connections) {
            return Err(format!("connections = {} is not between 1 and {MOST_CONNECTIONS}", self.connections));
        }
        if self.duration > LONGEST || self.warmup > LONGEST {
            return Err(format!("duration and warmup are {LONGEST} each at the most"));
        }
        if self.timeout < Nanos::from_millis(1) || self.timeout > Nanos::from_secs(60) {
            return Err(format!("timeout {} is not between 1 ms and 60 s", self.timeout));
        }
        if self.rate.is_some_and(|rate| rate.0 == 0 || rate > FASTEST) {
            return Err(format!("rate is between 1 tps and {FASTEST}; leave it out to send as fast as responses come"));
        }
        let (bounds, sizes) = match &self.exchange {
            Exchange::Rr { protocol: Protocol::Udp, request, response } => {
                ([LEAST_DATAGRAM, LARGEST_DATAGRAM], [request, response])
            }
            Exchange::Rr { request, response, .. } | Exchange::Crr { request, response } => {
                ([PayloadSize(1), LARGEST], [request, response])
            }
            Exchange::Http { paths, .. } if paths.len() > MOST_PATHS => {
                return Err(format!("paths = {} is too many: {MOST_PATHS} at the most", paths.len()));
            }
            Exchange::Http { .. } => return Ok(()),
        };
        let wrong =
            ["request", "response"].into_iter().zip(sizes).find(|(_, size)| !(bounds[0]..=bounds[1]).contains(size));
        wrong.map_or(Ok(()), |(key, size)| {
            Err(format!("{key} = {} is not between {} and {} bytes", size.0, bounds[0].0, bounds[1].0))
        })
    }
}

/// Kind of transaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Exchange {
    /// A request and a response on a connection that stays open (netperf's TCP_RR, UDP_RR).
    Rr {
        /// TCP or UDP.
        protocol: Protocol,
        /// Bytes of the request.
        request: PayloadSize,
        /// Bytes of the response.
        response: PayloadSize,
    },
    /// A connection, a request, a response, and the end of the connection (netperf's TCP_CRR).
    Crr {
        /// Bytes of the request.
        request: PayloadSize,
        /// Bytes of the response.
        response: PayloadSize,
    },
    /// HTTP/1.1 GET.
    Http {
        /// The server.
        server: HttpServer,
        /// Requested paths, in turn.
        paths: Vec<HttpPath>,
        /// Whether each request has a connection of its own; otherwise connections are kept alive.
        new_connections: bool,
    },
}

choice!(
    /// An HTTP server at the far side.
    HttpServer, "an HTTP server", {
        /// wireproof's own.
        Own = "own",
        /// nginx, as it is installed there.
        Nginx = "nginx",
    }
);

/// A path of the server and the size of its body, like `/index.html 4 KiB`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("pattern" = r"^/[A-Za-z0-9._/-]+ [0-9.]+ *([KMG]i)?B$"))]
pub struct HttpPath {
    /// Like `/index.html`.
    pub path: String,
    /// Bytes of the body.
    pub size: Bytes,
}

/// Largest body.
const LARGEST_BODY: Bytes = Bytes(64 << 20);

/// Longest path.
const LONGEST_PATH: usize = 200;

/// A path with its size that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HttpPathError {
    /// There is no size behind it.
    #[error("\"{0}\" has no size; write a path and the size of what is there, like \"/index.html 4 KiB\"")]
    NoSize(String),
    /// The size cannot be read.
    #[error("{0}")]
    Size(#[from] UnitError),
    /// The body would be too large.
    #[error("{0} is more than {LARGEST_BODY}, the largest body")]
    Large(Bytes),
    /// It is no path of a file.
    #[error(
        "\"{0}\" is not the path of a file: it begins with /, has letters, digits, \".\", \"_\", \"-\" and \"/\", and names behind \
        each \"/\" that do not begin with \".\"; {LONGEST_PATH} characters at the most"
    )]
    Path(String),
}

impl FromStr for HttpPath {
    type Err = HttpPathError;

    fn from_str(text: &str) -> Result<Self, HttpPathError> {
        let (path, size) = text.trim().split_once(' ').ok_or_else(|| HttpPathError::NoSize(text.trim().to_owned()))?;
        let size = size.parse()?;
        if size > LARGEST_BODY {
            return Err(HttpPathError::Large(size));
        }
        let is_name = |name: &str| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
            !name.is_empty() && !name.starts_with('.') && name.bytes().all(plain)
        };
        let names = path.strip_prefix('/').filter(|_| path.len() <= LONGEST_PATH);
        match names {
            Some(names) if names.split('/').all(is_name) => Ok(Self { path: path.to_owned(), size }),
            _ => Err(HttpPathError::Path(path.to_owned())),
        }
    }
}

impl TryFrom<String> for HttpPath {
    type Error = HttpPathError;

    fn try_from(text: String) -> Result<Self, HttpPathError> {
        text.parse()
    }
}

impl From<HttpPath> for String {
    fn from(path: HttpPath) -> Self {
        path.to_string()
    }
}

impl fmt::Display for HttpPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.path, self.size)
    }
}

impl Exchange {
    /// As plans and commands name it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Rr { .. } => "rr",
            Self::Crr { .. } => "crr",
            Self::Http { .. } => "http",
        }
    }

    /// Transport protocol.
    pub fn protocol(&self) -> Protocol {
        match self {
            Self::Rr { protocol, .. } => *protocol,
            Self::Crr { .. } | Self::Http { .. } => Protocol::Tcp,
        }
    }

    /// Whether each transaction has a connection of its own.
    pub fn connects_each_time(&self) -> bool {
        matches!(self, Self::Crr { .. } | Self::Http { new_connections: true, .. })
    }
}

impl fmt::Display for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rr { protocol, request, response } => {
                write!(f, "rr {} {}/{} B", protocol.name(), request.0, response.0)
            }
            Self::Crr { request, response } => write!(f, "crr {}/{} B", request.0, response.0),
            Self::Http { server, paths, new_connections } => {
                write!(f, "http {server}")?;
                paths.iter().try_for_each(|path| write!(f, " {path}"))?;
                if *new_connections { f.write_str(" new connections") } else { Ok(()) }
            }
        }
    }
}

impl fmt::Display for TransactionsSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.connections == 1 { "" } else { "s" };
        write!(f, "{} {} {} {} connection{plural}", self.exchange, self.ip, self.mode, self.connections)?;
        self.rate.map_or(Ok(()), |rate| write!(f, " at {rate}"))
    }
}

impl Probe for TransactionsSpec {
    fn name(&self) -> &'static str {
        "transactions"
    }

    fn profile(&self) -> Profile {
        let ordinary = Profile::ordinary(self.ip, self.warmup.as_secs_f64() + self.duration.as_secs_f64());
        Profile { stall: ordinary.stall.max(Nanos(self.timeout.0.saturating_mul(4))), ..ordinary }
    }

    /// Connections that stay open have no rate.
    fn metrics(&self) -> &'static [Metric] {
        use Metric::*;
        let all: &'static [Metric] = &[
            ConnectionRate,
            TransactionRate,
            ResponseP50,
            ResponseP90,
            ResponseP99,
            ResponseP999,
            ResponseMax,
            Failed,
        ];
        if self.exchange.connects_each_time() { all } else { &all[1..] }
    }

    fn compared(&self) -> &'static [Metric] {
        &[Metric::TransactionRate, Metric::ResponseP50, Metric::ResponseP99, Metric::Failed]
    }

    fn selectors(&self) -> Selectors {
        Selectors {
            protocol: Some(self.exchange.protocol()),
            ip: Some(self.ip),
            mode: Some(self.mode),
            under_load: Some(self.rate.is_some()),
            streams: Some(self.connections),
            ..Selectors::default()
        }
    }

    fn amount(&self) -> Option<Amount> {
        Some(Amount::Duration(self.duration))
    }

    fn warmup(&self) -> Option<Amount> {
        Some(Amount::Duration(self.warmup))
    }

    /// Transactions a second by a schedule.
    fn with_load(&self, load: u64, duration: Nanos) -> Option<ProbeSpec> {
        Some(Self { rate: Some(TransactionRate(load)), duration, ..self.clone() }.into())
    }

    fn without_load(&self) -> Option<ProbeSpec> {
        Some(Self { rate: None, duration: Nanos::default(), ..self.clone() }.into())
    }

    fn conditions(&self) -> Conditions {
        Conditions {
            protocol: Some(self.exchange.protocol()),
            ip: Some(self.ip),
            mode: Some(self.mode),
            streams: Some(self.connections),
            duration: Some(self.duration),
            ..Conditions::default()
        }
    }
}

impl From<TransactionsSpec> for ProbeSpec {
    fn from(spec: TransactionsSpec) -> Self {
        Self::Transactions(spec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_back_and_one_that_leads_elsewhere_refused() {
        for text in ["/index.html 4 KiB", "/a/b-c_d.e 0 B", "/x 64 MiB"] {
            assert_eq!(text.parse::<HttpPath>().map(|path| path.to_string()), Ok(text.to_owned()));
        }
        let long = format!("/{} 1 B", "a".repeat(LONGEST_PATH));
        for text in [
            "",
            "/",
            "/a",
            "/a 4",
            "/a 1 GiB",
            "a 1 B",
            "/ 1 B",
            "/../a 1 B",
            "//a 1 B",
            "/.a 1 B",
            "/a/ 1 B",
            "/a;b 1 B",
            &long,
        ] {
            assert!(text.parse::<HttpPath>().is_err(), "{text}");
        }
    }
}
