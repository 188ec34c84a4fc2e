//! Ports of the machine: reads their state, moves them between namespaces, and restores their state.
//!
//! A move sets an interface down, and so removes its addresses, routes, neighbours, queueing discipline and settings;
//! the driver's settings stay. Everything applies to the calling thread's network namespace.

mod addresses;
mod message;
mod multicast;
mod queueing;
mod restore;
mod root_qdisc;
mod routes;

use std::{collections::BTreeMap, net::Ipv6Addr, os::fd::AsRawFd};

use model::{
    NicState,
    nic::{NicFlags, NicIdentity},
};
use netlink_packet_core::{NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL};
use netlink_packet_route::{
    RouteNetlinkMessage,
    link::{AfSpecInet6, AfSpecUnspec, LinkAttribute, LinkFlags, LinkMessage, LinkXdp, Prop, XdpAttached},
};
use rustix::time::{ClockId, clock_gettime};

use crate::{
    error::{On, Result},
    ethtool,
    link::{existing, mac, name},
    link_message::{named, switch},
    namespace::{self, within},
    netlink::request,
    sysctl,
};

use addresses::ADDRESSES;
pub use restore::restore;
pub use root_qdisc::{lasting_queueing, queueing, set_queueing, set_root_qdisc};
use routes::RoutesThrough;
pub use routes::routes;

/// The kernel's groups of per-interface settings.
const SETTINGS: [&str; 4] = ["ipv4.conf", "ipv4.neigh", "ipv6.conf", "ipv6.neigh"];

/// The complete state of a port.
pub fn read(interface: &str) -> Result<NicState> {
    let link = existing(interface).on("RTM_GETLINK", shown(interface))?;
    let index = link.header.index;
    let through = RoutesThrough::read(interface, index)?;
    let mut state = NicState {
        identity: identity(&link),
        home: namespace::own_identity()?,
        read_at_s: clock_gettime(ClockId::Boottime).tv_sec as u64,
        flags: flags(&link),
        settings: settings(interface)?,
        driver: ethtool::settings(interface)?,
        addresses: addresses::addresses(interface, index)?,
        neighbours: addresses::neighbours(interface, index)?,
        nexthops: through.nexthops(),
        routes: through.restorable_routes()?,
        queueing: queueing::queueing(interface, index)?,
        multicast: multicast::entered(interface)?,
        token: token(&link),
        ..NicState::default()
    };
    for attribute in link.attributes {
        match attribute {
            LinkAttribute::Address(bytes) => state.mac = mac(&bytes),
            LinkAttribute::Mtu(mtu) => state.mtu.0 = mtu,
            LinkAttribute::TxQueueLen(length) => state.queue_length = length,
            LinkAttribute::PropList(props) => state.altnames.extend(props.into_iter().filter_map(altname)),
            _ => {}
        }
    }
    Ok(state)
}

/// State of a port that a move would destroy without a way to restore it, or that would prevent the move, in words.
pub fn lasting(interface: &str) -> Result<Vec<String>> {
    let link = existing(interface).on("RTM_GETLINK", shown(interface))?;
    let index = link.header.index;
    let mut found = RoutesThrough::read(interface, index)?.lasting();
    found.extend(queueing::lasting(interface, index)?);
    if has_xdp(&link) {
        found
            .push(format!("an XDP program of somebody else, which sees each packet (ip link set {interface} xdp off)"));
    }
    Ok(found)
}

fn has_xdp(link: &LinkMessage) -> bool {
    let attached = |xdp: &LinkXdp| matches!(xdp, LinkXdp::Attached(how) if *how != XdpAttached::None);
    link.attributes.iter().any(|it| matches!(it, LinkAttribute::Xdp(xdps) if xdps.iter().any(attached)))
}

fn token(link: &LinkMessage) -> Option<Ipv6Addr> {
    let specs = link.attributes.iter().filter_map(|attribute| match attribute {
        LinkAttribute::AfSpecUnspec(specs) => Some(specs),
        _ => None,
    });
    let of_ipv6 = specs.flatten().filter_map(|spec| match spec {
        AfSpecUnspec::Inet6(of_ipv6) => Some(of_ipv6),
        _ => None,
    });
    let mut tokens = of_ipv6.flatten().filter_map(|it| match it {
        AfSpecInet6::Token(token) => Some(*token),
        _ => None,
    });
    tokens.next_back().filter(|token| !token.is_unspecified())
}

fn altname(prop: Prop) -> Option<String> {
    match prop {
        Prop::AltIfName(name) => Some(name),
        _ => None,
    }
}

fn flags(link: &LinkMessage) -> NicFlags {
    let has = |flag| link.header.flags.contains(flag);
    NicFlags { up: has(LinkFlags::Up), promiscuous: has(LinkFlags::Promisc), all_multicast: has(LinkFlags::Allmulti) }
}

/// Stable identity of an interface. A card's permanent MAC address stays the same.
fn identity(link: &LinkMessage) -> NicIdentity {
    let name = name(link);
    // The drivers of some virtual interfaces give no information.
    let driver = ethtool::driver(&name).unwrap_or_default();
    let (mut own, mut present) = (None, String::new());
    for attribute in &link.attributes {
        match attribute {
            LinkAttribute::PermAddress(bytes) => own = Some(mac(bytes)),
            LinkAttribute::Address(bytes) => present = mac(bytes),
            _ => {}
        }
    }
    let mac = own.unwrap_or(present);
    NicIdentity { name, index: link.header.index, driver: driver.name, bus: driver.bus, mac }
}

/// The name of this port here; `None` if it is not here.
pub fn find(wanted: &NicIdentity) -> Result<Option<String>> {
    let answers = request(RouteNetlinkMessage::GetLink(LinkMessage::default()), NLM_F_DUMP);
    let links = answers.on("RTM_GETLINK", "all interfaces")?.into_iter().filter_map(|answer| match answer {
        RouteNetlinkMessage::NewLink(link) => Some(link),
        _ => None,
    });
    let same = links
        .map(|link| identity(&link))
        .filter(|it| (&it.mac, &it.driver, &it.bus) == (&wanted.mac, &wanted.driver, &wanted.bus));
    // Virtual interfaces may share an address; they keep their index when moved.
    let best = same.max_by_key(|it| (it.index == wanted.index, it.name == wanted.name));
    Ok(best.map(|it| it.name))
}

/// Moves a port from here to a namespace.
pub fn send(interface: &str, namespace: &str) -> Result<()> {
    let file = namespace::open(namespace)?;
    let mut message = named(interface);
    message.attributes.push(LinkAttribute::NetNsFd(file.as_raw_fd()));
    let sent = request(RouteNetlinkMessage::SetLink(message), 0).map(drop);
    sent.on("RTM_SETLINK", format_args!("{} into namespace {namespace}", shown(interface)))
}

/// Moves a port from a namespace to here; under another name if its own is in use.
pub fn fetch(namespace: &str, interface: &str) -> Result<()> {
    let home = namespace::open_own()?;
    let index = within(namespace, || existing(interface))?.on("RTM_GETLINK", shown(interface))?.header.index;
    let fetch = |name: Option<&str>| {
        let mut message = LinkMessage::default();
        message.header.index = index;
        message.attributes.push(LinkAttribute::NetNsFd(home.as_raw_fd()));
        message.attributes.extend(name.map(|name| LinkAttribute::IfName(name.to_owned())));
        within(namespace, || request(RouteNetlinkMessage::SetLink(message), 0).map(drop))
    };
    let fetched = match fetch(None)? {
        Err(error) if error.raw_os_error() == Some(libc::EEXIST) => fetch(Some("dev%d"))?,
        fetched => fetched,
    };
    fetched.on("RTM_SETLINK", format_args!("{} out of namespace {namespace}", shown(interface)))
}

/// Sets an interface down, and restores its IPv6 addresses, which that removes.
pub fn set_down(namespace: &str, interface: &str) -> Result<()> {
    within(namespace, || {
        let index = existing(interface).on("RTM_GETLINK", shown(interface))?.header.index;
        let mut addresses = addresses::addresses(interface, index)?;
        addresses.retain(addresses::is_ipv6);
        switch(interface, false).on("RTM_SETLINK", shown(interface))?;
        for saved in addresses {
            match ADDRESSES.tell(&saved.message, index, NLM_F_CREATE | NLM_F_EXCL) {
                Err(error) if error.raw_os_error() == Some(libc::EEXIST) => {}
                entry => entry.on("RTM_NEWADDR", &saved.words)?,
            }
        }
        Ok(())
    })?
}

/// Smallest and largest MTU of an interface's driver, if known.
pub fn mtus(interface: &str) -> Result<Option<(u32, u32)>> {
    let link = existing(interface).on("RTM_GETLINK", shown(interface))?;
    Ok(crate::link::mtus(&link))
}

fn settings(interface: &str) -> Result<BTreeMap<String, String>> {
    let mut settings = BTreeMap::new();
    for group in SETTINGS {
        for name in sysctl::below(&group_key(group, interface))? {
            let setting = format!("{group}.{name}");
            // Unreadable settings are not set: stable_secret returns an error then.
            settings.extend(sysctl::read(&key(&setting, interface)).ok().map(|value| (setting, value)));
        }
    }
    Ok(settings)
}

/// `net.ipv4.conf.NAME` for `ipv4.conf`; a dot in the name becomes a slash, see sysctl(8).
fn group_key(group: &str, interface: &str) -> String {
    format!("net.{group}.{}", interface.replace('.', "/"))
}

/// `net.ipv4.conf.NAME.rp_filter` for `ipv4.conf.rp_filter`.
fn key(setting: &str, interface: &str) -> String {
    let (group, name) = setting.rsplit_once('.').unwrap_or((setting, ""));
    format!("{}.{name}", group_key(group, interface))
}

fn shown(interface: &str) -> String {
    format!("interface {interface}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_written_with_the_name_of_its_port() {
        assert_eq!(key("ipv4.conf.rp_filter", "eth1"), "net.ipv4.conf.eth1.rp_filter");
        assert_eq!(key("ipv6.neigh.locktime", "eth1.5"), "net.ipv6.neigh.eth1/5.locktime");
    }

    #[test]
    fn a_port_is_read_whole_and_found_again() {
        let lo = read("lo").expect("there is always lo");
        assert!(lo.settings.contains_key("ipv4.conf.rp_filter"), "{:?}", lo.settings);
        assert_eq!((lo.mtu.0, lo.identity.name.as_str()), (65_536, "lo"));
        assert_eq!(find(&lo.identity).expect("rtnetlink").as_deref(), Some("lo"));
        let other = NicIdentity { mac: "02:00:00:00:00:99".into(), ..lo.identity };
        assert_eq!(find(&other).expect("rtnetlink"), None);
    }
}
