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
        /// NFSv3: nfs-ganesha, from which libnfs copies.
        Nfs3 = "nfs3",
        /// NFSv4: the same.
        Nfs4 = "nfs4",
        /// Samba's smbd, to which smbclient uploads.
        Smb = "smb",
        /// iperf3, which moves no file: the yardstick.
        Iperf3 = "iperf3",
    }
);

choice!(
    /// Contents of a transfer.
    #[derive(Default)]
    TransferContents, "the contents of a transfer", {
        /// One file.
        #[default]
        File = "file",
        /// Many small files.
        SmallFiles = "small-files",
    }
);

impl TransferContents {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::File, Self::SmallFiles];

    fn is_file(&self) -> bool {
        *self == Self::File
    }
}

impl TransferMethod {
    /// All of them, in the order of a report.
    pub const ALL: [Self; 15] = [
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
        Self::Nfs3,
        Self::Nfs4,
        Self::Smb,
        Self::Iperf3,
    ];

    /// Direction of the contents; the near end is always the client.
    pub fn direction(self) -> Direction {
        match self {
            Self::Http | Self::Https | Self::FtpGet | Self::Nfs3 | Self::Nfs4 => Direction::Reverse,
            _ => Direction::Forward,
        }
    }

    /// Whether wireproof itself moves the contents.
    pub fn is_own(self) -> bool {
        matches!(self, Self::Tcp | Self::TcpJumbo | Self::Sendfile)
    }

    /// Whether one call moves these contents, and in time: FTP opens a data connection for each file, and waits for delayed
    /// acknowledgements on its other one, so that 10,000 files take ten minutes on any path.
    pub fn can_move(self, contents: TransferContents) -> bool {
        use TransferMethod::*;
        let moves_many = matches!(self, Tcp | Nc | Http | Https | Rsync | Scp | Sftp | Smb);
        contents.is_file() || moves_many
    }
}

/// Contents from one end to the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TransferSpec {
    /// Method.
    pub method: TransferMethod,
    /// IPv4 or IPv6.
    pub ip: IpVersion,
    /// One file or many.
    #[serde(default, skip_serializing_if = "TransferContents::is_file")]
    pub contents: TransferContents,
    /// Size of a file; `None` is 1 GiB, or an eighth of the memory that an end has available.
    pub size: Option<Bytes>,
    /// MTU that both ends are set to; `None` leaves the bed's own.
    pub mtu: Option<Mtu>,
    /// Path of the file at the end that sends it; without one it is made in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// Size without another one, where both ends have the memory.
pub const ORDINARY_TRANSFER: Bytes = Bytes(1 << 30);

/// Number of small files.
pub const SMALL_FILES: u64 = 10_000;

/// Size of each.
pub const SMALL_FILE: Bytes = Bytes(4 << 10);

/// Smallest and largest contents: an empty file shows no rate, and all of it is in memory.
const SIZES: std::ops::RangeInclusive<u64> = 1..=1 << 40;

/// Expected rates, in bytes and in small files per second, and time around the transfer, in seconds.
const EXPECTED_RATE: f64 = 500e6;
const EXPECTED_FILES: f64 = 5e3;
const AROUND: f64 = 1.0;

/// Contents are made before anything moves, and large ones take their time.
const STALL: Nanos = Nanos::from_secs(60);
const STALL_OF_DISK: Nanos = Nanos::from_secs(3600);

impl TransferSpec {
    /// One file of the ordinary size over IPv4.
    pub fn new(method: TransferMethod) -> Self {
        Self { method, ip: IpVersion::V4, contents: TransferContents::File, size: None, mtu: None, file: None }
    }

    /// Whether the contents are many small files.
    pub fn is_many(&self) -> bool {
        self.contents == TransferContents::SmallFiles
    }

    /// The value that is out of bounds. Plans are checked for it, and agents refuse it, as they trust no controller.
    pub fn check(&self) -> Result<(), String> {
        match self.size {
            Some(size) if !SIZES.contains(&size.0) => {
                Err(format!("size = \"{size}\" is not between 1 B and {}", Bytes(*SIZES.end())))
            }
            _ if self.file.as_ref().is_some_and(|path| !is_path(path)) => {
                Err("file is not the whole path of a file, like \"/srv/files/image.iso\"".to_owned())
            }
            Some(_) if self.file.is_some() => Err("size and file: a file on disk has its size".to_owned()),
            _ if !self.method.can_move(self.contents) => {
                Err(format!("{} moves one file alone, no {}", self.method, self.contents))
            }
            _ => Ok(()),
        }
    }
}

/// Whether this names a file from the root, in one line.
fn is_path(path: &str) -> bool {
    path.starts_with('/') && !path.ends_with('/') && !path.contains(char::is_control)
}

impl fmt::Display for TransferSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.ip)?;
        if self.is_many() {
            write!(f, " {}", self.contents)?;
        }
        self.size.map_or(Ok(()), |size| write!(f, " {size}"))?;
        self.file.as_ref().map_or(Ok(()), |path| write!(f, " {path}"))?;
        self.mtu.map_or(Ok(()), |mtu| write!(f, " MTU {}", mtu.0))
    }
}

impl Probe for TransferSpec {
    fn name(&self) -> &'static str {
        "transfer"
    }

    /// The far end hashes what it received by itself, once the near end is done.
    fn profile(&self) -> Profile {
        let expected = match self.contents {
            TransferContents::File => self.size.unwrap_or(ORDINARY_TRANSFER).0 as f64 / EXPECTED_RATE,
            TransferContents::SmallFiles => SMALL_FILES as f64 / EXPECTED_FILES,
        };
        let ordinary = Profile::ordinary(self.ip, expected + AROUND);
        let stall = if self.file.is_some() { STALL_OF_DISK } else { STALL };
        Profile { mtu: self.mtu, stall, far_serves_until_told: false, ..ordinary }
    }

    /// The yardstick moves nothing that could be damaged.
    fn metrics(&self) -> &'static [Metric] {
        match (self.method, self.contents) {
            (TransferMethod::Iperf3, _) => &[Metric::TransferRate],
            (_, TransferContents::File) => &[Metric::TransferRate, Metric::Damaged],
            (_, TransferContents::SmallFiles) => &[Metric::SmallFileRate, Metric::Damaged],
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
        assert_eq!(TransferContents::ALL.map(TransferContents::word).to_vec(), TransferContents::WORDS);
    }

    #[test]
    fn small_files_have_a_rate_of_their_own() {
        let many = |method| TransferSpec { contents: TransferContents::SmallFiles, ..TransferSpec::new(method) };
        assert_eq!(many(TransferMethod::Nc).metrics(), [Metric::SmallFileRate, Metric::Damaged]);
        assert_eq!(many(TransferMethod::Nc).to_string(), "nc IPv4 small-files");
        assert_eq!(many(TransferMethod::Nc).check(), Ok(()));
        assert_eq!(many(TransferMethod::Iperf3).check().unwrap_err(), "iperf3 moves one file alone, no small-files");
        let old = r#"{"method":"nc","ip":4,"size":null,"mtu":null}"#;
        let nc = TransferSpec::new(TransferMethod::Nc);
        assert_eq!((serde_json::from_str(old).ok(), serde_json::to_string(&nc).ok()), (Some(nc), Some(old.to_owned())));
    }

    #[test]
    fn a_size_that_cannot_be_is_refused() {
        let spec = |size| TransferSpec { size: Some(Bytes(size)), ..TransferSpec::new(TransferMethod::Nc) };
        assert_eq!(spec(0).check().unwrap_err(), "size = \"0 B\" is not between 1 B and 1024 GiB");
        assert!(spec((1 << 40) + 1).check().is_err());
        assert_eq!([spec(1).check(), spec(1 << 40).check()], [Ok(()), Ok(())]);
        assert_eq!(spec(1 << 20).to_string(), "nc IPv4 1 MiB");
    }

    #[test]
    fn a_file_has_a_whole_path_and_its_own_size() {
        let of = |path: &str| TransferSpec { file: Some(path.to_owned()), ..TransferSpec::new(TransferMethod::Nc) };
        assert_eq!(of("/srv/image").check(), Ok(()));
        assert_eq!(of("/srv/image").to_string(), "nc IPv4 /srv/image");
        assert!(["image", "/srv/", "/srv/a\nb"].iter().all(|path| of(path).check().is_err()));
        let both = TransferSpec { size: Some(Bytes(1)), ..of("/srv/image") };
        assert_eq!(both.check().unwrap_err(), "size and file: a file on disk has its size");
    }
}
