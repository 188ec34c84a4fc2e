//! Uses of packets other than measuring between the ends of a bed.

use std::{net::IpAddr, path::PathBuf};

use clap::{Args, Subcommand};
use frame::Filter;
use model::{
    Engine, Nanos,
    stream::{Load, Mac, Sizes},
};

/// One side alone.
#[derive(Debug, Subcommand)]
pub(crate) enum PacketsAction {
    /// Send numbered packets from an interface to a receiver.
    Send(SendOptions),
    /// Count the numbered packets that arrive at an interface; start it before the sender.
    Receive(ReceiveOptions),
    /// Write the frames that an interface sees into a file that Wireshark, tcpdump and --replay read (pcapng), until Ctrl-C.
    Capture(CaptureOptions),
}

/// Selection of frames to capture.
#[derive(Clone, Debug, Args)]
pub(crate) struct CaptureOptions {
    /// The interface; of a bed that stands after "wireproof bed exec NAME b -- wireproof packets capture lab-b …".
    #[arg(value_name = "IF")]
    pub(crate) interface: String,
    /// A new file.
    #[arg(value_name = "FILE.pcapng")]
    pub(crate) file: PathBuf,
    /// End by itself after so many chosen frames.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = super::numbers::at_least_1)]
    pub(crate) count: Option<u64>,
    /// End by itself after this time.
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", value_parser = super::watch::parse_duration)]
    pub(crate) time: Option<Nanos>,
    /// Frames: stream (numbered by wireproof), stream NUMBER (of "packets send"), udp, tcp, icmp, arp, port NUMBER, host ADDRESS,
    /// vlan NUMBER; of several, like "udp port 53", all have to hold. All frames without it.
    #[arg(long, value_name = "WORDS")]
    pub(crate) filter: Option<Filter>,
}

/// Packets to send from one interface, whether or not a receiver is there.
#[derive(Clone, Debug, Args)]
pub(crate) struct SendOptions {
    /// The interface; of a bed that stands after "wireproof bed exec NAME a -- wireproof packets send lab-a …".
    #[arg(value_name = "IF")]
    pub(crate) interface: String,
    /// Address of the receiver.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) to: IpAddr,
    /// MAC address of the next hop, if it cannot be resolved.
    #[arg(long, value_name = "MAC")]
    pub(crate) mac: Option<Mac>,
    /// Load: "1 Mpps", "5 Gbit/s L1", "10 %" of the line, with "poisson" or "burst 32" behind it; without it flat out.
    #[arg(long, allow_hyphen_values = true, value_name = "LOAD")]
    pub(crate) rate: Option<Load>,
    /// Frame sizes with FCS, in turn, like "64", "64, 128, 1518" or "imix" (default: 64).
    #[arg(long, value_name = "SIZES")]
    pub(crate) sizes: Option<Sizes>,
    /// Number of flows that the packets rotate through, up to 1000000.
    #[arg(long, allow_negative_numbers = true, value_parser = super::numbers::from_to(1_u32..=1_000_000))]
    pub(crate) flows: Option<u32>,
    /// TOML file with a table "stream" for each of several streams at the same time; the receiver has to be given the same.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sizes", "flows", "rate"])]
    pub(crate) stream_file: Option<PathBuf>,
    /// Packet engine: live, xsk or af_packet (default: the best one that works).
    #[arg(long)]
    pub(crate) engine: Option<Engine>,
    /// Duration.
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", default_value = "10 s", value_parser = super::watch::parse_duration)]
    pub(crate) duration: Nanos,
    /// End earlier, after so many frames of all streams.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = super::numbers::at_least_1)]
    pub(crate) count: Option<u64>,
    /// Stream token; sender and receiver must use the same.
    #[arg(long, default_value_t = 0, value_name = "NUMBER", allow_negative_numbers = true, value_parser = super::numbers::from_to(0_u16..=u16::MAX))]
    pub(crate) token: u16,
    /// Cores to send from, like 2,3; each has a numbered sequence of its own (default: one core).
    #[arg(long, value_delimiter = ',', value_name = "CORES", allow_negative_numbers = true, value_parser = super::numbers::whole::<usize>("2"))]
    pub(crate) cpus: Vec<usize>,
    /// Send from the interface of the default route, or that of an ssh session.
    #[arg(long)]
    pub(crate) i_know_this_is_my_uplink: bool,
}

/// Stream to listen for.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReceiveOptions {
    /// The interface; its driver has to have native XDP, as those of veth and of most cards.
    #[arg(value_name = "IF")]
    pub(crate) interface: String,
    /// The sender's stream file; needed for frames with VLAN tags, and for TCP in small frames or over IPv6.
    #[arg(long, value_name = "FILE")]
    pub(crate) stream_file: Option<PathBuf>,
    /// End by itself after this time; otherwise Ctrl-C ends it.
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", value_parser = super::watch::parse_duration)]
    pub(crate) duration: Option<Nanos>,
    /// End by itself when so many frames have come.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = super::numbers::at_least_1)]
    pub(crate) count: Option<u64>,
    /// Stream token; sender and receiver must use the same.
    #[arg(long, default_value_t = 0, value_name = "NUMBER", allow_negative_numbers = true, value_parser = super::numbers::from_to(0_u16..=u16::MAX))]
    pub(crate) token: u16,
    /// Both sides run on this machine: also measure how long packets took.
    #[arg(long)]
    pub(crate) one_clock: bool,
}
