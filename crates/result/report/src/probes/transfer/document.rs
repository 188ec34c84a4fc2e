//! A transfer as JSON.

use model::{
    IpVersion, Mtu, TransferContents, TransferMethod, TransferResult, TransferSpec, Trial, TrialAssessment,
    trial::{KernelTls, Lack, TcpState},
};

use super::cost::cpu_s_per_gib;
use crate::{cells::Cells, shape::document};

document! {
    /// Parameters and figures of a transfer.
    TransferFigures of (trial: &Trial, assessed: &TrialAssessment, spec: &TransferSpec, result: &TransferResult) {
        /// Method.
        method: TransferMethod = spec.method,
        /// One file, or many small ones.
        contents: TransferContents = spec.contents,
        /// IP version.
        ip: IpVersion = spec.ip,
        /// MTU of the near interface.
        mtu: Mtu = result.mtu,
        /// Size of the contents, in bytes.
        bytes: u64 = result.size,
        /// Bytes of it that are at the receiving end.
        arrived_bytes: u64 = result.arrived,
        /// Time from the start of the client to its end, in seconds.
        seconds: f64 = result.seconds,
        /// Rate of contents that arrived whole; null where they did not.
        bytes_per_second: Option<f64> = result.bps().map(|bps| bps / 8.0),
        /// Small files per second; null for one file, and where they did not arrive whole.
        files_per_second: Option<f64> = result.files_per_s(spec),
        /// Whether the contents of both ends are the same, by SHA-256; null for a method that moves none.
        verified: Option<bool> = result.verified,
        /// Programs that the ends lack; nothing was moved then.
        lacks: Vec<Lack> = result.lacks.clone(),
        /// Command of the near end, the client; null where wireproof itself moved the contents.
        client_command: Option<String> = result.commands[0].clone(),
        /// Command of the far end, the server.
        server_command: Option<String> = result.commands[1].clone(),
        /// Seconds of the cores that the client is pinned to, for each GiB; null where it is not pinned, or the transfer was too short to
        /// say.
        client_cpu_s_per_gib: Option<f64> = cpu_s_per_gib(trial, assessed, 0, result),
        /// The same at the server's end.
        server_cpu_s_per_gib: Option<f64> = cpu_s_per_gib(trial, assessed, 1, result),
        /// Whether the kernel encrypted (kTLS); null where no TLS carries the contents.
        kernel_tls: Option<KernelTls> = result.kernel_tls,
        /// Rate at which the disk alone is read at the end that sends, in bytes per second; null where the file is in memory.
        disk_read_bytes_per_second: Option<f64> = result.disks.map(|disks| disks.read_bps / 8.0),
        /// Rate at which the disk alone is written at the other end.
        disk_write_bytes_per_second: Option<f64> = result.disks.map(|disks| disks.write_bps / 8.0),
        /// Path of the file; null where it is made in memory.
        file: Option<String> = spec.file.clone(),
        /// The sender's connection at its end (`TCP_INFO`), where wireproof itself moved the contents.
        tcp: Vec<TcpState> = result.tcp.clone(),
    }
}

impl TransferFigures {
    /// The row of the CSV.
    pub(in super::super) fn row(&self) -> Cells {
        Cells::default().with("probe", "transfer").fields(
            self,
            "method contents ip mtu bytes seconds bytes_per_second files_per_second verified client_cpu_s_per_gib server_cpu_s_per_gib",
            ("", ""),
        )
    }
}
