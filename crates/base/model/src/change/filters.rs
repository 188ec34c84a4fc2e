//! Packet filters of a device under test.

use derive_more::Display;
use serde::{Deserialize, Serialize};

use crate::network::IpVersion;

/// A table of nftables with filters for what the device forwards (RFC 2544, section 11.4): the last one lets the test frames pass, those
/// before it match none of them, and other UDP is dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[display("{count} filter{} in {namespace} (nft table {})", if *count == 1 { "" } else { "s" }, self.table())]
pub struct Filters {
    /// Namespace of the device.
    pub namespace: String,
    /// Whether the device forwards by a bridge; else by routes.
    pub bridge: bool,
    /// IP version of the test frames.
    pub ip: IpVersion,
    /// Number of filters.
    pub count: u32,
}

impl Filters {
    /// Family and name of the table.
    pub fn table(&self) -> String {
        format!("{} wireproof_filters", if self.bridge { "bridge" } else { "inet" })
    }

    /// The table as nft reads it. Addresses of test frames are those of section C.2.2 (IPv4) and RFC 5180 (IPv6); no end has one of
    /// the blocked ones.
    pub fn ruleset(&self) -> String {
        let (ip, networks) = match self.ip {
            IpVersion::V4 => ("ip", "198.18.0.0/15"),
            IpVersion::V6 => ("ip6", "2001:2::/48"),
        };
        let blocked = |number: u32| match self.ip {
            IpVersion::V4 => [format!("198.18.0.{}", 100 + number), format!("198.19.0.{}", 100 + number)],
            IpVersion::V6 => [format!("2001:2::f:{number:x}"), format!("2001:2:0:1::f:{number:x}")],
        };
        let block = |number: u32| {
            let [from, to] = blocked(number);
            format!("    {ip} saddr {from} {ip} daddr {to} drop\n")
        };
        let blocks: String = (1..self.count).map(block).collect();
        format!(
            "table {} {{\n  chain forward {{\n    type filter hook forward priority 0; policy accept;\n{blocks}    \
             {ip} saddr {networks} {ip} daddr {networks} accept\n    meta l4proto udp drop\n  }}\n}}\n",
            self.table()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_filter_lets_the_test_frames_pass() {
        let filters = |bridge, ip, count| Filters { namespace: "wp1-router".to_owned(), bridge, ip, count };
        let one = filters(false, IpVersion::V4, 1);
        assert_eq!(one.to_string(), "1 filter in wp1-router (nft table inet wireproof_filters)");
        assert!(!one.ruleset().contains("daddr 198.19.0.101"), "{}", one.ruleset());
        let many = filters(true, IpVersion::V6, 25);
        assert_eq!(many.to_string(), "25 filters in wp1-router (nft table bridge wireproof_filters)");
        let rules: Vec<String> = many.ruleset().lines().map(|line| line.trim().to_owned()).collect();
        assert_eq!(rules.iter().filter(|rule| rule.starts_with("ip6 saddr")).count(), 25);
        assert_eq!(rules[3], "ip6 saddr 2001:2::f:1 ip6 daddr 2001:2:0:1::f:1 drop");
        assert_eq!(rules[27..29], ["ip6 saddr 2001:2::/48 ip6 daddr 2001:2::/48 accept", "meta l4proto udp drop"]);
    }
}
