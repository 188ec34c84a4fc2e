//! Changes that a router needs: forwarding by the kernel, and interfaces that XDP can send to.

use std::path::Path;

use host::{facts, routes};
use kernel::sysctl;
use model::{
    Change,
    change::{Gro, LinkEnd, Offload, OffloadKind, PinnedPrograms, Sysctl},
};

use super::{errors::RouterError, ports::Found};

/// Forwarding of IPv6 by any interface: the kernel's own forwarding needs it.
const IPV6: &str = "net.ipv6.conf.all.forwarding";
/// Folders of interfaces, and of `all` and `default`.
const IPV6_INTERFACES: &str = "net.ipv6.conf";

/// All changes, in order.
pub(super) fn changes(ports: &[Found], folder: Option<&Path>) -> Result<Vec<Change>, RouterError> {
    let mut changes: Vec<Change> =
        ports.iter().map(|port| on(&format!("net.ipv4.conf.{}.forwarding", as_part(&port.name)))).collect();
    if facts::has_ipv6() {
        changes.extend(ipv6(ports)?);
    }
    changes.extend(ports.iter().flat_map(offloads));
    let pinned = |folder: &Path| PinnedPrograms { namespace: String::new(), folder: folder.to_owned() };
    changes.extend(folder.map(|folder| Change::from(pinned(folder))));
    Ok(changes)
}

/// Switching it on or off for all interfaces does so for each. Therefore, interfaces that forward already are recorded first, and
/// restored last.
fn ipv6(ports: &[Found]) -> Result<Vec<Change>, RouterError> {
    let mut changes = Vec::new();
    if sysctl::read(IPV6)? == "0" {
        let lost = routes::announced_defaults();
        if !lost.is_empty() {
            return Err(RouterError::Announced(lost));
        }
        for name in sysctl::below(IPV6_INTERFACES)? {
            let key = format!("{IPV6_INTERFACES}.{}.forwarding", as_part(&name));
            // An interface may have disappeared since.
            if name != "all" && sysctl::read(&key).is_ok_and(|value| value == "1") {
                changes.push(on(&key));
            }
        }
        changes.push(on(IPV6));
    }
    let ports = ports.iter().map(|port| on(&format!("{IPV6_INTERFACES}.{}.forwarding", as_part(&port.name))));
    changes.extend(ports);
    Ok(changes)
}

/// An XDP program sees neither checksums that are still to be computed nor tags beside the frame, and a veth drops packets that XDP
/// sends to it unless its other end receives by NAPI.
fn offloads(port: &Found) -> Vec<Change> {
    match &port.other_end {
        Some(end) => vec![
            Gro { namespace: end.namespace.clone(), interface: end.interface.clone() }.into(),
            off(end.clone(), OffloadKind::SendChecksums),
            off(end.clone(), OffloadKind::SendVlanTags),
        ],
        None if port.is_veth => Vec::new(),
        None => {
            let own = LinkEnd { namespace: String::new(), interface: port.name.clone() };
            vec![off(own, OffloadKind::ReceiveVlanTags)]
        }
    }
}

fn off(LinkEnd { namespace, interface }: LinkEnd, offload: OffloadKind) -> Change {
    Offload { namespace, interface, offload }.into()
}

fn on(key: &str) -> Change {
    Sysctl { namespace: String::new(), key: key.to_owned(), value: "1".to_owned() }.into()
}

/// A dot in a name becomes a slash, see sysctl(8).
fn as_part(interface: &str) -> String {
    interface.replace('.', "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(name: &str, other_end: Option<&str>, is_veth: bool) -> Found {
        let other_end = other_end.map(|namespace| LinkEnd { namespace: namespace.into(), interface: "eth0".into() });
        Found { name: name.into(), mac: model::Mac([2, 0, 0, 0, 0, 1]), other_end, is_veth, why_generic: None }
    }

    fn words(port: &Found) -> Vec<String> {
        offloads(port).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_other_end_of_a_veth_is_prepared_and_a_card_hands_tags_over() {
        let of_veth = words(&port("v1", Some("host"), true));
        assert_eq!(of_veth, ["host/eth0 GRO on", "host/eth0 tx-checksums off", "host/eth0 tx-vlan-tags off"]);
        assert_eq!(words(&port("v1", None, true)), [""; 0]);
        assert_eq!(words(&port("eth1", None, false)), ["eth1 rx-vlan-tags off"]);
    }

    #[test]
    fn a_name_with_a_dot_is_one_part_of_a_setting() {
        assert_eq!(as_part("eth0.5"), "eth0/5");
    }
}
