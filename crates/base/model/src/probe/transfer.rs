//! A file from one end to the other, by the programs that people use for it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Amount, Conditions, Direction, IpVersion, Probe, ProbeSpec, Profile, Protocol, Selectors};
use crate::{
    choice::choice,
    figure::Metric,
    units::{Bytes, Mtu, Nanos},
};

choice!(
    /// Ways to move a file.
    TransferMethod, "a method of transfer", {
        /// `write` of 128 KiB each on a TCP connection, by wireproof.
        Tcp = "tcp",
        /// `write` of the path's payload each, by wireproof.
        TcpJumbo = "tcp-jumbo",
        /// `sendfile` from a file in memory, by wireproof.
        Sendfile = "sendfile",
        /// netcat-openbsd at both ends.
        Nc = "nc",
        /// nginx, and curl as its client.
        Http = "http",
        /// The same over TLS.
        Https = "https",
        /// rsync's daemon.
        Rsync = "rsync",
        /// vsftpd, to which curl uploads.
        FtpPut = "ftp-put",
        /// vsftpd, from which curl downloads.
        FtpGet = "ftp-get",
        /// scp of OpenSSH.
        Scp = "scp",
        /// sftp of OpenSSH.
        Sftp = "sftp",
        /// iperf3, which moves no file: the yardstick.
        Iperf3 = "iperf3",
    }
);

impl TransferMethod {
    /// All of them, in the order of a report.
    pub const ALL: [Self; 12] = [
        Self::Tcp,
        Self::TcpJumbo,
        Self::Sendfile,
        Self::Nc,
        Self::Http,
        Self::Https,
        Self::Rsync,
        Self::FtpPut,
        Self::FtpGet,
        Self::Scp,
        Self::Sftp,
        Self::Iperf3,
    ];

    /// Direction of the contents; the near end is always the client.
    pub fn direction(self) -> Direction {
        match self {
            Self::Http | Self::Https | Self::FtpGet => Direction::Reverse,
            _ => Direction::Forward,
        }
    }

    /// Whether wireproof itself moves the contents.
    pub fn is_own(self) -> bool {
        matches!(self, Self::Tcp | Self::TcpJumbo | Self::Sendfile)
    }
}

/// One file from one end to the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TransferSpec {
    /// Method.
    pub method: TransferMethod,
    /// IPv4 or IPv6.
    pub ip: IpVersion,
    /// Size of the contents; `None` is 1 GiB, or an eighth of the memory that an end has available.
    pub size: Option<Bytes>,
    /// MTU that both ends are set to; `None` leaves the bed's own.
    pub mtu: Option<Mtu>,
}

/// Size without another one, where both ends have the memory.
pub const ORDINARY_TRANSFER: Bytes = Bytes(1 << 30);

/// Smallest and largest contents: an empty file shows no rate, and all of it is in memory.
const SIZES: std::ops::RangeInclusive<u64> = 1..=1 << 40;

/// Expected rate, in bytes per second, and time around the transfer, in seconds.
const EXPECTED_RATE: f64 = 500e6;
const AROUND: f64 = 1.0;

/// Contents are made before anything moves, and large ones take their time.
const STALL: Nanos = Nanos::from_secs(60);

impl TransferSpec {
    /// The value that is out of bounds. Plans are checked for it, and agents refuse it, as they trust no controller.
    pub fn check(&self) -> Result<(), String> {
        match self.size {
            Some(size) if !SIZES.contains(&size.0) => {
                Err(format!("size = \"{size}\" is not between 1 B and {}", Bytes(*SIZES.end())))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for TransferSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.ip)?;
        self.size.map_or(Ok(()), |size| write!(f, " {size}"))?;
        self.mtu.map_or(Ok(()), |mtu| write!(f, " MTU {}", mtu.0))
    }
}

impl Probe for TransferSpec {
    fn name(&self) -> &'static str {
        "transfer"
    }

    /// The far end hashes what it received by itself, once the near end is done.
    fn profile(&self) -> Profile {
        let expected = self.size.unwrap_or(ORDINARY_TRANSFER).0 as f64 / EXPECTED_RATE + AROUND;
        Profile { mtu: self.mtu, stall: STALL, far_serves_until_told: false, ..Profile::ordinary(self.ip, expected) }
    }

    /// The yardstick moves nothing that could be damaged.
    fn metrics(&self) -> &'static [Metric] {
        match self.method {
            TransferMethod::Iperf3 => &[Metric::TransferRate],
            _ => &[Metric::TransferRate, Metric::Damaged],
        }
    }

    fn compared(&self) -> &'static [Metric] {
        self.metrics()
    }

    fn selectors(&self) -> Selectors {
        Selectors {
            protocol: Some(Protocol::Tcp),
            ip: Some(self.ip),
            direction: Some(self.method.direction()),
            mtu: self.mtu,
            ..Selectors::default()
        }
    }

    fn amount(&self) -> Option<Amount> {
        None
    }

    fn warmup(&self) -> Option<Amount> {
        None
    }

    fn conditions(&self) -> Conditions {
        Conditions {
            protocol: Some(Protocol::Tcp),
            ip: Some(self.ip),
            mtu: self.mtu,
            direction: Some(self.method.direction()),
            tool: Some(self.method.to_string()),
            ..Conditions::default()
        }
    }
}

impl From<TransferSpec> for ProbeSpec {
    fn from(spec: TransferSpec) -> Self {
        Self::Transfer(spec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_method_is_listed_once() {
        let words: Vec<_> = TransferMethod::ALL.map(TransferMethod::word).to_vec();
        assert_eq!(words, TransferMethod::WORDS);
    }

    #[test]
    fn a_size_that_cannot_be_is_refused() {
        let spec =
            |size| TransferSpec { method: TransferMethod::Nc, ip: IpVersion::V4, size: Some(Bytes(size)), mtu: None };
        assert_eq!(spec(0).check().unwrap_err(), "size = \"0 B\" is not between 1 B and 1024 GiB");
        assert!(spec((1 << 40) + 1).check().is_err());
        assert_eq!([spec(1).check(), spec(1 << 40).check()], [Ok(()), Ok(())]);
        assert_eq!(spec(1 << 20).to_string(), "nc IPv4 1 MiB");
    }
}
