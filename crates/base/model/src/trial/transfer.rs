//! Figures of a transfer.

use serde::{Deserialize, Serialize};

use super::{Measures, TcpState, goodput::connection};
use crate::{
    choice::choice,
    figure::{Figure, Metric},
    plausible::{Checked, FLOWS, bytes, each, entries, no_more_than, rate, seconds, text, within_trial},
    probe::{Conditions, SMALL_FILES, TransferSpec},
    units::Mtu,
};

/// Counts of one side of a transfer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TransferSide {
    /// Program that this end lacks; nothing moved then.
    pub lacks: Option<Program>,
    /// Command that this end ran; `None` where wireproof itself moved the contents.
    pub command: Option<String>,
    /// Bytes of the contents here: made by the sending end, counted by the receiving one.
    pub bytes: u64,
    /// Time from the start of the client to its end; at the near end only.
    pub seconds: Option<f64>,
    /// SHA-256 of the contents; `None` for a method that moves none.
    pub sha256: Option<String>,
    /// The sender's connection at its end (`TCP_INFO`), where wireproof has it.
    pub tcp: Vec<TcpState>,
    /// Whether the kernel encrypted; where TLS carries the contents, at the serving end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_tls: Option<KernelTls>,
    /// Rate of the disk alone, in bit/s: reading at the end that sends a file from there, writing at the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_bps: Option<f64>,
}

/// Rates of the disks alone, in bit/s, where a file goes from disk to disk.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Disks {
    /// Reading at the end that sends.
    pub read_bps: f64,
    /// Writing at the end that receives, until it is on disk.
    pub write_bps: f64,
}

choice!(
    /// Part of the kernel in TLS.
    KernelTls, "a use of TLS in the kernel", {
        /// It encrypted (kTLS).
        Used = "used",
        /// It could, but the server did not ask it to.
        Unused = "unused",
        /// It has no TLS, or the module is not loaded.
        Lacking = "lacking",
    }
);

/// A program and the package that brings it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Program {
    /// Name of the program.
    pub name: String,
    /// Package of Debian and Ubuntu.
    pub package: String,
}

/// A program that an end lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Lack {
    /// The end.
    pub endpoint: String,
    /// Program that it lacks.
    pub program: Program,
}

impl Lack {
    /// Command that installs it.
    pub fn remedy(&self) -> String {
        format!("sudo apt install {}", self.program.package)
    }
}

/// Figures of a transfer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransferResult {
    /// MTU of the near interface.
    pub mtu: Mtu,
    /// Programs that the ends lack. With one of them nothing moved, and the trial has no figure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<Lack>,
    /// Commands of the near and the far end; `None` where wireproof itself moved the contents.
    pub commands: [Option<String>; 2],
    /// Size of the contents.
    pub size: u64,
    /// Bytes of it that are at the receiving end.
    pub arrived: u64,
    /// Time from the start of the client to its end.
    pub seconds: f64,
    /// Whether the contents of both ends are the same, by SHA-256; `None` for a method that moves none.
    pub verified: Option<bool>,
    /// The sender's connection at its end (`TCP_INFO`), where wireproof has it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tcp: Vec<TcpState>,
    /// Whether the kernel encrypted, where TLS carries the contents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_tls: Option<KernelTls>,
    /// Rates of the disks alone, where the file went from disk to disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disks: Option<Disks>,
}

impl TransferResult {
    /// Bits per second; `None` where not all arrived as it was.
    pub fn bps(&self) -> Option<f64> {
        let is_whole = self.is_run() && self.seconds > 0.0 && !self.is_damaged();
        is_whole.then(|| self.size as f64 * 8.0 / self.seconds)
    }

    /// MiB per second.
    pub fn mib_per_s(&self) -> Option<f64> {
        Some(self.bps()? / 8.0 / (1 << 20) as f64)
    }

    /// Small files per second, where they are the contents.
    pub fn files_per_s(&self, spec: &TransferSpec) -> Option<f64> {
        self.bps().filter(|_| spec.is_many()).map(|_| SMALL_FILES as f64 / self.seconds)
    }

    /// Whether both ends had what the method takes.
    pub fn is_run(&self) -> bool {
        self.lacks.is_empty()
    }

    /// Whether something else arrived than was sent.
    pub fn is_damaged(&self) -> bool {
        self.verified == Some(false)
    }
}

impl Measures for TransferSpec {
    type Result = TransferResult;

    fn figures(&self, result: &TransferResult, _far: &str) -> Vec<Figure> {
        let damaged = result.verified.map(|is_same| f64::from(u8::from(!is_same)));
        let rate = match self.is_many() {
            true => Figure::known(Metric::SmallFileRate, result.files_per_s(self)),
            false => Figure::known(Metric::TransferRate, result.bps()),
        };
        let figures = [rate, Figure::known(Metric::Damaged, damaged)];
        figures.into_iter().flatten().collect()
    }

    fn check(&self, result: &TransferResult, seconds: f64) -> Checked {
        within_trial("seconds", result.seconds, seconds)?;
        bytes("size", result.size)?;
        bytes("arrived", result.arrived)?;
        if result.verified == Some(true) {
            no_more_than("size", result.size, "arrived", result.arrived)?;
        }
        rate("bits per second", result.bps().unwrap_or_default())?;
        if let Some(disks) = &result.disks {
            rate("read_bps", disks.read_bps)?;
            rate("write_bps", disks.write_bps)?;
        }
        entries("lacks", result.lacks.len(), 2)?;
        entries("tcp", result.tcp.len(), FLOWS)?;
        each("tcp", &result.tcp, connection)
    }

    fn conditions_met(&self, result: &TransferResult) -> Conditions {
        Conditions { mtu: Some(result.mtu), ..Conditions::default() }
    }
}

/// Whether the counts of a side are possible.
pub(super) fn check(side: &TransferSide) -> Checked {
    bytes("bytes", side.bytes)?;
    rate("disk_bps", side.disk_bps.unwrap_or_default())?;
    seconds("seconds", side.seconds.unwrap_or_default())?;
    side.command.as_deref().map_or(Ok(()), |command| text("command", command))?;
    side.sha256.as_deref().map_or(Ok(()), |hash| text("sha256", hash))?;
    if let Some(Program { name, package }) = &side.lacks {
        text("program", name)?;
        text("package", package)?;
    }
    entries("tcp", side.tcp.len(), FLOWS)?;
    each("tcp", &side.tcp, connection)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fixture,
        probe::{TransferContents, TransferMethod},
        trial::Measured,
    };

    fn figures(contents: TransferContents, result: TransferResult) -> Vec<(Metric, f64)> {
        let spec = TransferSpec { contents, ..TransferSpec::new(TransferMethod::Nc) };
        let trial = fixture::trial(Measured::Transfer { spec, result: Box::new(result) });
        trial.figures().iter().map(|figure| (figure.metric, figure.value.low)).collect()
    }

    #[test]
    fn damaged_contents_have_no_rate_and_a_missing_program_no_figure() {
        let whole = TransferResult {
            mtu: Mtu(1500),
            lacks: vec![],
            commands: [None, None],
            size: 1 << 20,
            arrived: 1 << 20,
            seconds: 0.5,
            verified: Some(true),
            tcp: vec![],
            kernel_tls: None,
            disks: None,
        };
        assert_eq!(whole.mib_per_s(), Some(2.0));
        let file = TransferContents::File;
        assert_eq!(figures(file, whole.clone()), [(Metric::TransferRate, 16_777_216.0), (Metric::Damaged, 0.0)]);
        let many = figures(TransferContents::SmallFiles, whole.clone());
        assert_eq!(many, [(Metric::SmallFileRate, 20_000.0), (Metric::Damaged, 0.0)]);
        let damaged = TransferResult { verified: Some(false), ..whole.clone() };
        assert_eq!(figures(file, damaged), [(Metric::Damaged, 1.0)]);
        let program = Program { name: "nc".to_owned(), package: "netcat-openbsd".to_owned() };
        let lack = Lack { endpoint: "b".to_owned(), program };
        assert_eq!(lack.remedy(), "sudo apt install netcat-openbsd");
        assert_eq!(figures(file, TransferResult { lacks: vec![lack], verified: None, ..whole }), []);
    }
}
