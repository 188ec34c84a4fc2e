//! Why a bed cannot have a probe.

use model::{IpVersion, Mtu, frame_size::FrameSizeError};

/// Headers of 40 bytes, and the least segment that Linux sends.
pub(crate) const LEAST_TCP_MTU: u32 = 88;

/// A probe that this bed cannot have.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Misfit {
    /// The bed has no address of this IP version.
    #[error(
        "{probe}: bed \"{bed}\" has no {ip} address at both ends (was none given, has the kernel no IPv6, or is the MTU under \
         1280?); take the probe out of the plan, or choose another ip (--ip 4)"
    )]
    NoAddress {
        /// The probe.
        probe: String,
        /// The bed.
        bed: String,
        /// The IP version it lacks.
        ip: IpVersion,
    },
    /// A host takes part by its own programs, which is not enough.
    #[error(
        "{probe}: it needs wireproof at both ends, and {machine} has none; with the programs of {machine} alone there are TCP goodput one way, and \
         latency without a rate"
    )]
    NeedsAgent {
        /// The probe.
        probe: String,
        /// The machine.
        machine: String,
    },
    /// TCP does not work there.
    #[error(
        "{probe}: TCP over IPv4 needs an MTU of {LEAST_TCP_MTU} or more, this bed has {}; Linux sends no segments smaller \
         than its sysctl net.ipv4.tcp_min_snd_mss, 48 bytes", .mtu.0
    )]
    SmallMtu {
        /// The probe.
        probe: String,
        /// MTU of the bed.
        mtu: Mtu,
    },
    /// The bed cannot be made without its device.
    #[error(
        "bed \"{bed}\" is not known without a device between its ends, so that the tester cannot be measured first; leave tester_first out, or \
         search on a bed like lab:router"
    )]
    NoTester {
        /// The bed.
        bed: String,
    },
    /// The frame size cannot be had.
    #[error("{probe}: {error}")]
    FrameSize {
        /// The probe.
        probe: String,
        /// Why not.
        error: FrameSizeError,
    },
    /// The bed cannot be set to this MTU.
    #[error("{probe}: {why}")]
    OtherMtu {
        /// The probe.
        probe: String,
        /// Why not, and what to write.
        why: String,
    },
    /// The device under test has no filters that are known.
    #[error(
        "{probe}: filters can be set at the device of lab:router or lab:bridge alone; at the device of bed \"{bed}\", set them by hand and measure twice, without them and with them, or leave the modifier out"
    )]
    NoFilters {
        /// The probe.
        probe: String,
        /// The bed.
        bed: String,
    },
    /// The device under test has no routes that may change.
    #[error(
        "{probe}: routes can be changed at the device of lab:router or lab:xdp-router alone, as wireproof speaks no routing protocol; for the \
         device of bed \"{bed}\", have a neighbour of it (BIRD, FRR) announce and withdraw routes, and measure twice, without that and with \
         it, or leave the modifier out"
    )]
    NoRouteUpdates {
        /// The probe.
        probe: String,
        /// The bed.
        bed: String,
    },
    /// Datagrams that would be cut up on the way.
    #[error(
        "{probe}: datagrams of {datagram} bytes do not fit MTU {mtu}, IP would cut them into fragments; {largest} bytes fit"
    )]
    Datagram {
        /// The probe.
        probe: String,
        /// Payload asked for.
        datagram: u32,
        /// The MTU.
        mtu: u32,
        /// The largest payload that fits.
        largest: u32,
    },
    /// A highest load that no link carries.
    #[error(
        "{probe}: the link of {interface} carries {line_pps:.0} such frames a second; a load above that would search for the link: write --rate \
         \"{line_mbps} Mbit/s L1\" or less"
    )]
    AboveLine {
        /// The probe.
        probe: String,
        /// The sending interface.
        interface: String,
        /// Speed of its link.
        line_mbps: u32,
        /// Frames a second that it carries.
        line_pps: f64,
    },
    /// No schedule has this rate.
    #[error("{probe}: {why}")]
    Rate {
        /// The probe.
        probe: String,
        /// Why not, and what to write.
        why: String,
    },
}
