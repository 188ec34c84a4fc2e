//! Options of transfers of a file.

use std::path::PathBuf;

use clap::Args;
use model::{Bytes, IpVersion, Mtu, Plan, TransferContents, TransferMethod, plan::PlanError};

use super::{super::numbers::whole, Known, ProbeOptions, each, shared::latency_sizes, some};

pub(super) const KNOWN: Known = Known {
    name: "transfer",
    plan: include_str!("../../../plans/transfer.toml"),
    sizes: latency_sizes,
    duration: |options, plan| {
        each("--duration", "goodput", options.duration, &mut plan.goodput, |item, duration| item.duration = *duration)
    },
    refused: &["frame_sizes", "duration", "count", "streams", "histogram"],
};

/// Methods, and the size of the file.
#[derive(Clone, Debug, Args)]
pub(crate) struct TransferOptions {
    /// Methods, in turn: tcp, tcp-jumbo, sendfile, nc, http, https, rsync, ftp-put, ftp-get, scp, sftp, nfs3, nfs4, smb, iperf3 (default: all).
    #[arg(long, value_delimiter = ',', value_name = "METHODS")]
    methods: Vec<TransferMethod>,
    /// Contents: file (one), small-files (10,000 of 4 KiB, by the methods that can) (default: both).
    #[arg(long, value_delimiter = ',', value_name = "CONTENTS")]
    contents: Vec<TransferContents>,
    /// 4 or 6.
    #[arg(long)]
    ip: Option<IpVersion>,
    /// Size of the file, like "10 GiB" (default: 1 GiB, or an eighth of the memory that an end has available).
    #[arg(long, allow_hyphen_values = true, value_name = "SIZE")]
    size: Option<Bytes>,
    /// A file on disk at the end that sends it, which then goes to the same folder at the other end, and away again.
    #[arg(long, value_name = "PATH", conflicts_with = "size")]
    file: Option<PathBuf>,
    /// MTUs to set at both ends, in turn, like 1500,9000; each is verified, and the old one restored.
    #[arg(long, value_delimiter = ',', value_name = "MTUS", allow_negative_numbers = true, value_parser = whole::<u32>("1500"))]
    mtus: Vec<u32>,
}

impl ProbeOptions for TransferOptions {
    fn known(&self) -> &'static Known {
        &KNOWN
    }

    fn apply(&self, plan: &mut Plan) -> Result<(), PlanError> {
        let (section, items) = ("transfer", &mut plan.transfer);
        each("--methods", section, some(&self.methods), items, |item, methods| item.methods = methods.to_vec())?;
        each("--contents", section, some(&self.contents), items, |item, it| item.contents = it.to_vec())?;
        each("--ip", section, self.ip, items, |item, ip| item.ip = *ip)?;
        each("--size", section, self.size, items, |item, size| item.size = Some(*size))?;
        let file = self.file.as_ref().map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()));
        each("--file", section, file, items, |item, file| item.file = Some(file.display().to_string()))?;
        each("--mtus", section, some(&self.mtus), items, |item, mtus| {
            item.mtus = mtus.iter().copied().map(Mtu).collect();
        })
    }
}
