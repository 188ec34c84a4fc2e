//! A Linux machine by commands that each distribution has.

use std::collections::BTreeMap;

use model::{
    Reading,
    environment::{HostFacts, InterfaceFacts},
};

use super::{Facts, known};

/// Prints a mark and the name of the machine, its release, its architecture and the ID of its boot, then its links and addresses.
pub(super) const SCRIPT: &str = "LC_ALL=C; export LC_ALL; PATH=$PATH:/sbin:/usr/sbin; export PATH; echo; echo wireproof-asks; uname -n; \
    uname -r; uname -m; cat /proc/sys/kernel/random/boot_id || echo; ip -o link; ip -o address";

/// Facts in the output of the script. A login script may print before it.
pub(super) fn facts(printed: &str) -> Facts {
    let mut lines = printed.lines().skip_while(|line| *line != "wireproof-asks").skip(1);
    let mut next = || lines.next().unwrap_or_default().trim().to_owned();
    let (hostname, kernel, architecture, boot_id) = (next(), next(), next(), next());
    let host = HostFacts {
        hostname,
        boot_id: known(&boot_id),
        os: "Linux".into(),
        kernel: known(&kernel),
        architecture,
        ..HostFacts::default()
    };
    let mut interfaces: BTreeMap<String, InterfaceFacts> = BTreeMap::new();
    for line in lines {
        let mut words = line.split_whitespace().skip(1);
        let Some(name) = words.next() else { continue };
        match name.strip_suffix(':') {
            Some(name) => drop(interfaces.insert(bare(name), link(&bare(name), line))),
            None => {
                let address = words.skip_while(|word| !word.starts_with("inet")).nth(1);
                if let (Some(facts), Some(address)) = (interfaces.get_mut(name), address) {
                    facts.addresses.push(address.to_owned());
                }
            }
        }
    }
    interfaces.remove("lo");
    Facts { host, interfaces: interfaces.into_values().collect() }
}

/// `eth0@if3` is `eth0`.
fn bare(name: &str) -> String {
    name.split('@').next().unwrap_or_default().to_owned()
}

/// `2: eth0@if3: <BROADCAST,UP> mtu 1500 qdisc noqueue state UP mode … link/ether 02:… brd …`
fn link(name: &str, line: &str) -> InterfaceFacts {
    let words: Vec<&str> = line.split_whitespace().collect();
    let after = |key: &str| words.iter().position(|word| *word == key).and_then(|at| words.get(at + 1)).copied();
    let state = after("state").unwrap_or("unknown").to_ascii_lowercase();
    InterfaceFacts {
        name: name.to_owned(),
        state,
        mtu: after("mtu").and_then(|mtu| mtu.parse().ok()).map_or(Reading::Absent, Reading::Known),
        mac: after("link/ether").map_or(Reading::Absent, known),
        master: after("master").map(str::to_owned),
        ..InterfaceFacts::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_addresses_are_read_behind_whatever_a_login_script_prints() {
        let said = "Welcome!\n\nwireproof-asks\nfar-host\n6.1.0-18-amd64\nx86_64\n1234-5678\n\
            1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000\\    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00\n\
            2: wire-f@if7: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc noqueue master br0 state UP mode DEFAULT group default qlen 1000\\    link/ether 02:00:00:00:00:09 brd ff:ff:ff:ff:ff:ff link-netnsid 0\n\
            1: lo    inet 127.0.0.1/8 scope host lo\\       valid_lft forever preferred_lft forever\n\
            2: wire-f    inet 198.18.101.2/24 scope global wire-f\\       valid_lft forever preferred_lft forever\n\
            2: wire-f    inet6 2001:2::2/64 scope global \\       valid_lft forever preferred_lft forever\n";
        let Facts { host, interfaces } = facts(said);
        assert_eq!(
            (host.hostname.as_str(), host.kernel, host.boot_id),
            ("far-host", "6.1.0-18-amd64".into(), "1234-5678".into())
        );
        assert_eq!(interfaces.len(), 1, "{interfaces:?}");
        let wire = &interfaces[0];
        assert_eq!((wire.name.as_str(), wire.state.as_str(), wire.mtu.copied()), ("wire-f", "up", Some(9000)));
        assert_eq!((wire.mac.clone(), wire.master.as_deref()), ("02:00:00:00:00:09".into(), Some("br0")));
        assert_eq!(wire.addresses, ["198.18.101.2/24", "2001:2::2/64"]);
        assert_eq!(facts("").interfaces, []);
    }
}
