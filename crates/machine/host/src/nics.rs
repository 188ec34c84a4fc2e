//! State of the machine's ports for or against taking them, and their managers.

use std::{fs, net::IpAddr};

use kernel::{
    device, ethtool,
    link::{self, Link},
    namespace, privilege,
};
use model::{Manager, NicFacts, NicsState};

use crate::{
    interfaces::is_given,
    services::services,
    source::{LocalSource, Source as _},
};

/// State for making a bed of ports.
pub fn nics() -> kernel::Result<NicsState> {
    let links = link::list()?;
    let session = session_address();
    let ports = links.iter().map(|link| facts(link, &links, session)).collect::<kernel::Result<_>>()?;
    // Interfaces that ifupdown configured; see interfaces(5).
    let brought_up = fs::read_to_string("/run/network/ifstate").unwrap_or_default();
    let (elsewhere, managers) = (elsewhere()?, managers(&services(&LocalSource), &brought_up));
    Ok(NicsState { ports, elsewhere, managers })
}

/// Interfaces of default routes, or of the caller's session.
pub fn uplinks() -> kernel::Result<Vec<String>> {
    let session = session_address();
    let mut found = Vec::new();
    for link in link::list()? {
        if carries(&link, session) || device::routes(&link.name, link.index)?.iter().any(|(_, is_default)| *is_default)
        {
            found.push(link.name);
        }
    }
    Ok(found)
}

fn carries(link: &Link, session: Option<IpAddr>) -> bool {
    session.is_some_and(|own| link.addresses.iter().any(|(address, _)| *address == own))
}

fn facts(link: &Link, links: &[Link], session: Option<IpAddr>) -> kernel::Result<NicFacts> {
    let driver = LocalSource.driver(&link.name);
    let routes = device::routes(&link.name, link.index)?;
    let on_top = links.iter().filter(|it| it.lower.as_ref() == Some(&link.name)).map(|it| it.name.clone());
    let given = link.addresses.iter().copied().filter(is_given);
    Ok(NicFacts {
        name: link.name.clone(),
        kind: link.kind.clone(),
        bus: driver.clone().map(|driver| driver.bus).filled(),
        driver: driver.map(|driver| driver.name).filled(),
        mac: link.mac.clone(),
        mtu: link.mtu,
        mtus: device::mtus(&link.name)?,
        master: link.master.clone(),
        on_top: on_top.collect(),
        addresses: given.map(|(address, prefix)| format!("{address}/{prefix}")).collect(),
        is_uplink: routes.iter().any(|(_, is_default)| *is_default),
        routes: routes.into_iter().map(|(words, _)| words).collect(),
        carries_session: carries(link, session),
        lasting: device::lasting(&link.name)?,
        stamping: ethtool::stamping(&link.name)?,
    })
}

/// Interfaces of other named namespaces.
fn elsewhere() -> kernel::Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for name in namespace::list()? {
        // A namespace that disappeared, or was never completed, has no ports.
        let links = namespace::within(&name, link::list).and_then(|links| links).unwrap_or_default();
        found.extend(links.into_iter().filter(|link| link.name != "lo").map(|link| (name.clone(), link.name)));
    }
    Ok(found)
}

/// Our address of the ssh session in which this program was started.
fn session_address() -> Option<IpAddr> {
    server(&privilege::callers_variable("SSH_CONNECTION")?.to_string_lossy())
}

/// `SSH_CONNECTION` has the client's address and port, then the server's.
fn server(said: &str) -> Option<IpAddr> {
    let address = said.split_whitespace().nth(2)?.parse().ok()?;
    Some(match address {
        // A dual-stack server writes IPv4 like this.
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(IpAddr::V6(v6), IpAddr::V4),
        v4 => v4,
    })
}

/// Managers by systemd's service names, or by program names, which the kernel cuts at 15 bytes. ifupdown is no service:
/// it is known by the interfaces it configured; `lo=lo` is the loopback interface.
fn managers(services: &[String], brought_up: &str) -> Vec<Manager> {
    let known = [
        (Manager::NetworkManager, ["NetworkManager", "NetworkManager"]),
        (Manager::Networkd, ["systemd-networkd", "systemd-network"]),
    ];
    let runs = |names: &[&str; 2]| services.iter().any(|it| names.contains(&it.trim_end_matches(".service")));
    let mut found: Vec<_> = known.into_iter().filter(|(_, names)| runs(names)).map(|(manager, _)| manager).collect();
    found.extend(brought_up.lines().any(|line| !line.starts_with("lo=")).then_some(Manager::Ifupdown));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_end_of_a_session_is_known() {
        assert_eq!(server("198.18.0.9 50000 198.18.0.1 22"), "198.18.0.1".parse().ok());
        assert_eq!(server("::ffff:198.18.0.9 50000 ::ffff:198.18.0.1 22"), "198.18.0.1".parse().ok());
        assert_eq!(server("2001:2::9 50000 2001:2::1 22"), "2001:2::1".parse().ok());
        assert_eq!(server("nonsense"), None);
    }

    #[test]
    fn programs_that_configure_interfaces_are_known_by_service_and_by_name() {
        let of = |names: &[&str]| managers(&names.iter().map(ToString::to_string).collect::<Vec<_>>(), "lo=lo\n");
        assert_eq!(of(&["NetworkManager.service", "cron.service"]), [Manager::NetworkManager]);
        assert_eq!(of(&["systemd-network"]), [Manager::Networkd]);
        assert!(of(&["systemd-networkd-wait-online", "sshd"]).is_empty());
        assert_eq!(managers(&[], "lo=lo\neth1=eth1\n"), [Manager::Ifupdown]);
    }

    #[test]
    fn loopback_is_no_uplink() {
        let state = nics().expect("rtnetlink");
        let lo = state.ports.iter().find(|port| port.name == "lo").expect("there is always lo");
        assert!(!lo.is_uplink && !lo.carries_session && lo.on_top.is_empty(), "{lo:?}");
    }
}
