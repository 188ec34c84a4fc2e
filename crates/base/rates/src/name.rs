//! Meaning of the names of drivers' counters. Each driver has its own way to write "packets that queue 3 received".

/// Meaning of a driver's counter, as far as its name tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Counts {
    /// Something of one queue.
    Queue {
        /// 0 received, 1 sent.
        way: usize,
        /// Number of the queue.
        queue: u32,
        /// What.
        what: QueueQuantity,
    },
    /// Outcome of packets at an XDP program.
    Xdp {
        /// 0 received, 1 sent.
        way: usize,
        /// The driver's words for it, like `xdp_redirect`.
        name: String,
        /// Count of one queue, or of all.
        queue: Option<u32>,
    },
    /// Anything else.
    Other,
}

/// Quantity of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueueQuantity {
    Packets,
    Bytes,
    Drops,
}

/// Words that may stand beside way, number and quantity without changing what is counted.
const QUEUE: [&str; 5] = ["queue", "q", "ring", "rvec", "n"];
const PACKETS: [&str; 8] =
    ["packets", "packet", "pkts", "pkt", "cnt", "ucast packets", "mcast packets", "bcast packets"];
const BYTES: [&str; 5] = ["bytes", "byte", "ucast bytes", "mcast bytes", "bcast bytes"];
const DROPS: [&str; 4] = ["drops", "drop", "dropped", "discards"];

/// Reads a name, like `rx_queue_0_packets` (igb, ixgbe), `tx-3.bytes` (i40e), `rx0_packets` (mlx5, virtio),
/// `queue_1_rx_cnt` (ena), `rx_packets[2]` (gve), `[0]: rx_ucast_packets` (bnxt) or `rx_queue_0_xdp_redirect` (veth).
pub(crate) fn counts(name: &str) -> Counts {
    let words = words(name);
    // The rest says what became of a packet: XDP_TX sends one of those received.
    let (words, fate) = words.split_at(words.iter().position(|word| *word == "xdp").unwrap_or(words.len()));
    let numbers: Vec<u32> = words.iter().filter_map(|word| word.parse().ok()).collect();
    let ways: Vec<usize> = words.iter().filter_map(|word| way(word)).collect();
    let (queue, way) = match (numbers.as_slice(), ways.as_slice()) {
        ([], [way]) => (None, *way),
        ([queue], [way]) => (Some(*queue), *way),
        _ => return Counts::Other,
    };
    let is_said = |word: &&&str| self::way(word).is_some() || word.parse::<u32>().is_ok() || QUEUE.contains(*word);
    let rest = words.iter().filter(|word| !is_said(word)).copied().collect::<Vec<_>>().join(" ");
    match (queue, what(&rest)) {
        (Some(queue), Some(what)) if fate.is_empty() => Counts::Queue { way, queue, what },
        _ if rest.is_empty() && !fate.is_empty() => Counts::Xdp { way, name: fate.join("_"), queue },
        _ => Counts::Other,
    }
}

fn what(rest: &str) -> Option<QueueQuantity> {
    let kinds =
        [(PACKETS.as_slice(), QueueQuantity::Packets), (&BYTES, QueueQuantity::Bytes), (&DROPS, QueueQuantity::Drops)];
    kinds.into_iter().find(|(names, _)| names.contains(&rest)).map(|(_, what)| what)
}

fn way(word: &str) -> Option<usize> {
    ["rx", "tx"].iter().position(|way| way == &word)
}

/// Letters and digits, apart from each other and from all else.
fn words(name: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for part in name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty()) {
        let mut from = 0;
        for at in 1..part.len() {
            if part.as_bytes()[at].is_ascii_digit() != part.as_bytes()[at - 1].is_ascii_digit() {
                words.push(&part[from..at]);
                from = at;
            }
        }
        words.push(&part[from..]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_drivers_way_to_name_a_queue_is_understood() {
        for (name, way, queue, what) in [
            ("rx_queue_0_packets", 0, 0, QueueQuantity::Packets),
            ("tx_queue_11_bytes", 1, 11, QueueQuantity::Bytes),
            ("rx_queue_3_drops", 0, 3, QueueQuantity::Drops),
            ("tx-3.bytes", 1, 3, QueueQuantity::Bytes),
            ("rx0_packets", 0, 0, QueueQuantity::Packets),
            ("tx7_dropped", 1, 7, QueueQuantity::Drops),
            ("queue_1_rx_cnt", 0, 1, QueueQuantity::Packets),
            ("rx_packets[2]", 0, 2, QueueQuantity::Packets),
            ("[0]: rx_ucast_packets", 0, 0, QueueQuantity::Packets),
            ("[12]: tx_discards", 1, 12, QueueQuantity::Drops),
            ("q2_tx_pkt_n", 1, 2, QueueQuantity::Packets),
            ("rvec_4_rx_pkts", 0, 4, QueueQuantity::Packets),
        ] {
            assert_eq!(counts(name), Counts::Queue { way, queue, what }, "{name}");
        }
    }

    #[test]
    fn xdp_is_told_apart_by_what_became_of_the_packet() {
        for (name, way, expected, queue) in [
            ("rx_queue_0_xdp_packets", 0, "xdp_packets", Some(0)),
            ("rx_queue_0_xdp_redirect", 0, "xdp_redirect", Some(0)),
            ("rx_queue_1_xdp_drops", 0, "xdp_drops", Some(1)),
            ("rx_queue_1_xdp_tx", 0, "xdp_tx", Some(1)),
            ("rx3_xdp_tx_errors", 0, "xdp_tx_errors", Some(3)),
            ("tx_queue_0_xdp_xmit", 1, "xdp_xmit", Some(0)),
            ("rx_xdp_drop", 0, "xdp_drop", None),
        ] {
            assert_eq!(counts(name), Counts::Xdp { way, name: expected.to_owned(), queue }, "{name}");
        }
    }

    #[test]
    fn what_has_a_number_for_another_reason_is_no_queue() {
        for name in [
            "rx_64_byte_packets",
            "tx_size_65_to_127_bytes",
            "rx_prio0_packets",
            "veb.tc_0_tx_packets",
            "peer_ifindex",
            "rx_packets",
            "tx_aborted_errors",
            "ch0_poll",
            "",
            "99999999999999999999",
        ] {
            assert_eq!(counts(name), Counts::Other, "{name}");
        }
    }
}
