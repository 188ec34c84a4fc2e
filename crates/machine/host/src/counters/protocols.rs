//! `/proc/net/snmp`, `/proc/net/snmp6` and `/proc/net/netstat`: protocol counters of a network namespace.

use super::Counter;

/// Settings and states in `snmp` that are no counters.
const NO_COUNTERS: [(&str, &str); 7] = [
    ("Ip", "Forwarding"),
    ("Ip", "DefaultTTL"),
    ("Tcp", "RtoAlgorithm"),
    ("Tcp", "RtoMin"),
    ("Tcp", "RtoMax"),
    ("Tcp", "MaxConn"),
    ("Tcp", "CurrEstab"),
];

/// Protocols of `snmp6`.
const PROTOCOLS: [&str; 4] = ["Icmp6", "Ip6", "UdpLite6", "Udp6"];

/// Pairs of lines, names above values: `Udp: InDatagrams …` and `Udp: 972 …`.
pub(super) fn pairs(text: &str) -> Vec<Counter> {
    let lines: Vec<&str> = text.lines().collect();
    lines.chunks_exact(2).flat_map(|pair| protocol(pair[0], pair[1])).collect()
}

fn protocol(names: &str, values: &str) -> Vec<Counter> {
    let (Some((of, names)), Some((same, values))) = (names.split_once(':'), values.split_once(':')) else {
        return Vec::new();
    };
    if of != same {
        return Vec::new();
    }
    let both = names.split_whitespace().zip(values.split_whitespace());
    let counters = both.filter(|(name, _)| !NO_COUNTERS.contains(&(of, name)));
    counters.filter_map(|(name, value)| Some((of.to_owned(), name.to_owned(), value.parse().ok()?))).collect()
}

/// A line for each counter, with the protocol's and the counter's name in one word: `Udp6RcvbufErrors 12`.
pub(super) fn lines(text: &str) -> Vec<Counter> {
    let counter = |line: &str| {
        let mut words = line.split_whitespace();
        let (word, value) = (words.next()?, words.next()?.parse().ok()?);
        let protocol = PROTOCOLS.into_iter().find(|protocol| word.starts_with(protocol))?;
        Some((protocol.to_owned(), word[protocol.len()..].to_owned(), value))
    };
    text.lines().filter_map(counter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux 6.18, a virtual machine; some columns omitted.
    const SNMP: &str = "Ip: Forwarding DefaultTTL InReceives InHdrErrors\nIp: 2 64 279240 0\n\
        Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens CurrEstab RetransSegs\nTcp: 1 200 120000 -1 29 3 20\n\
        Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors IgnoredMulti MemErrors\n\
        Udp: 972 0 4908 5885 4908 0 0 0 0\n";
    const SNMP6: &str = "Ip6InReceives                   \t1700\nIcmp6InMsgs                     \t4\n\
        Udp6InDatagrams                 \t844\nUdp6RcvbufErrors                \t2\nUdpLite6InDatagrams             \t0\n";

    fn shown(counters: &[Counter]) -> Vec<String> {
        counters.iter().map(|(of, name, value)| format!("{of} {name} {value}")).collect()
    }

    #[test]
    fn names_stand_above_values_and_settings_are_left_out() {
        let read = shown(&pairs(SNMP));
        assert_eq!(read[..4], ["Ip InReceives 279240", "Ip InHdrErrors 0", "Tcp ActiveOpens 29", "Tcp RetransSegs 20"]);
        assert!(read.contains(&"Udp RcvbufErrors 4908".to_owned()), "{read:?}");
        assert!(pairs("Ip: A B\nTcp: 1 2\n").is_empty());
    }

    #[test]
    fn names_of_ipv6_are_split() {
        let expected = [
            "Ip6 InReceives 1700",
            "Icmp6 InMsgs 4",
            "Udp6 InDatagrams 844",
            "Udp6 RcvbufErrors 2",
            "UdpLite6 InDatagrams 0",
        ];
        assert_eq!(shown(&lines(SNMP6)), expected);
    }
}
