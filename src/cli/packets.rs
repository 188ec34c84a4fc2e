//! What else can be done with packets than measuring between the ends of a bed.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use frame::Filter;
use model::Nanos;

/// One side alone.
#[derive(Debug, Subcommand)]
pub(crate) enum PacketsAction {
    /// Write the frames that an interface sees into a file that Wireshark, tcpdump and --replay read (pcapng), until Ctrl-C.
    Capture(CaptureOptions),
}

/// What to capture.
#[derive(Clone, Debug, Args)]
pub(crate) struct CaptureOptions {
    /// The interface; of a bed that stands after "wireproof bed exec NAME b -- wireproof packets capture lab-b …".
    #[arg(value_name = "IF")]
    pub(crate) interface: String,
    /// A new file.
    #[arg(value_name = "FILE.pcapng")]
    pub(crate) file: PathBuf,
    /// End by itself after so many chosen frames.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,
    /// End by itself after this time.
    #[arg(long, value_name = "TIME", value_parser = super::watch::parse_duration)]
    pub(crate) time: Option<Nanos>,
    /// Which frames: stream (numbered by wireproof), stream NUMBER, udp, tcp, icmp, arp, port NUMBER, host ADDRESS, vlan NUMBER; of
    /// several, like "udp port 53", all have to hold. All frames without it.
    #[arg(long, value_name = "WORDS")]
    pub(crate) filter: Option<Filter>,
}
