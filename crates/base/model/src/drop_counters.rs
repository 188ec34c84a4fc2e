//! Names of the counters that tell of lost packets, by place: the only list of them.

/// A card had no descriptor, by drivers' names (`ethtool -S`): ixgbe, ice, i40e by its old name and its new one, mlx5 twice,
/// vmxnet3. (`rx_no_buffer_count` of igb is none: such a frame may still wait on the chip.)
pub const NO_DESCRIPTOR: [&str; 7] = [
    "rx_no_dma_resources",
    "rx_dropped.nic",
    "port.rx_dropped",
    "port.rx_discards",
    "rx_out_of_buffer",
    "rx_discards_phy",
    "pkts rx OOB",
];

/// The same by an interface (`ip -s link`).
pub const LINK_NO_DESCRIPTOR: [&str; 3] = ["rx_missed_errors", "rx_fifo_errors", "rx_over_errors"];

/// All that an interface dropped.
pub const LINK_DROPPED: [&str; 5] =
    ["rx_dropped", "tx_dropped", "rx_missed_errors", "rx_fifo_errors", "rx_over_errors"];

/// Why IP refuses a packet (`/proc/net/snmp`, `/proc/net/snmp6`).
pub const IP_REFUSED: [&str; 4] = ["InHdrErrors", "InAddrErrors", "InDiscards", "InNoRoutes"];

/// Name in `nstat` beside the protocol's own.
pub const IP_REFUSED_BESIDE: [&str; 3] = ["IPReversePathFilter", "InNoRoutes", "InTruncatedPkts"];

/// Losses that belong to no list of a place: they are shown, and no rule reads them.
const OTHERS: [&str; 5] = ["NoPorts", "FragFails", "ReasmFails", "InUnknownProtos", "insert_failed"];

/// Parts of the names that drivers give to counters of drops and errors.
const PARTS: [&str; 9] = ["drop", "err", "miss", "overrun", "fifo", "discard", "overlimit", "retrans", "time_squeeze"];

/// Whether a counter of this name tells of drops or errors.
pub fn tells_of_loss(name: &str) -> bool {
    let listed = [&NO_DESCRIPTOR[..], &IP_REFUSED, &IP_REFUSED_BESIDE, &OTHERS].concat();
    let lower = name.to_ascii_lowercase();
    listed.contains(&name.trim()) || PARTS.iter().any(|part| lower.contains(part))
}

/// Parts of the names of counters that tell of damaged frames: a bad cable, module, port or slot, and never an overload.
const DAMAGE: [&str; 10] = [
    "crc",
    "fcs",
    "symbol_err",
    "illegal_bytes",
    "align_err",
    "frame_err",
    "carrier_err",
    "uncorrectable",
    "rx_errors",
    "tx_errors",
];

/// Whether a counter of an interface or its driver tells of damaged frames.
pub fn tells_of_damage(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    DAMAGE.iter().any(|part| lower.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_drops_and_errors_are_told_from_those_of_traffic() {
        for name in ["rx_dropped", "RcvbufErrors", "RetransSegs", "time_squeeze", "rx_missed_errors", "TCPRcvQDrop"] {
            assert!(tells_of_loss(name), "{name}");
        }
        for name in ["rx_no_dma_resources", "rx_out_of_buffer", "   pkts rx OOB", "NoPorts", "IPReversePathFilter"] {
            assert!(tells_of_loss(name), "{name}");
        }
        for name in ["rx_crc_errors", "rx_symbol_err_phy", "tx_carrier_errors", "port.illegal_bytes"] {
            assert!(tells_of_damage(name), "{name}");
        }
        for name in ["rx_missed_errors", "rx_dropped", "rx_csum_offload_good"] {
            assert!(!tells_of_damage(name), "{name}");
        }
        for name in ["rx_packets", "InDatagrams", "NET_RX", "processed"] {
            assert!(!tells_of_loss(name), "{name}");
        }
    }
}
