//! Interfaces and their addresses, by rtnetlink.

use std::{collections::BTreeMap, fs::File, io, net::IpAddr, os::fd::AsRawFd};

use model::{LinkEnd, Mtu};
use netlink_packet_core::{NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL};
use netlink_packet_route::{
    AddressFamily, RouteNetlinkMessage,
    address::{AddressAttribute, AddressHeaderFlags, AddressMessage},
    link::{InfoData, InfoKind, InfoVeth, InfoVlan, LinkAttribute, LinkFlags, LinkInfo, LinkMessage},
};

use crate::{
    error::{On, Result, invalid},
    link_message::{named, switch},
    namespace::{self, within},
    netlink::request,
};

/// Longest name of an interface: IFNAMSIZ of linux/if.h without the NUL.
const LONGEST_NAME: usize = 15;

/// An interface of the caller's namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// Index in the namespace.
    pub index: u32,
    /// Name.
    pub name: String,
    /// Kind, as `ip -d link` names it (veth, bridge, vlan, …); empty for a plain card.
    pub kind: String,
    /// Whether it is administratively up.
    pub up: bool,
    /// Bridge, bond or other master.
    pub master: Option<String>,
    /// The interface below it, such as a VLAN's carrier. The other end of a veth pair does not count.
    pub lower: Option<String>,
    /// The tag of a VLAN interface; `None` for an interface of another kind.
    pub vlan: Option<Vlan>,
    /// MTU.
    pub mtu: Mtu,
    /// MAC address, like `02:00:00:00:00:01`.
    pub mac: String,
    /// Operational state (RFC 2863), in lower case: `up`, `down`, `lowerlayerdown`, `unknown`, …
    pub operstate: String,
    /// Carrier losses since it was created.
    pub carrier_losses: u32,
    /// Addresses with their prefix lengths.
    pub addresses: Vec<(IpAddr, u8)>,
}

/// The tag that a VLAN interface takes from frames and puts into them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vlan {
    /// Ethernet type of the tag (TPID).
    pub tpid: u16,
    /// Number of the VLAN.
    pub id: u16,
    /// Whether a map of the interface gives frames that it sends a priority.
    pub sets_priority: bool,
}

/// Creates a pair of virtual Ethernet interfaces, each end directly in its namespace.
pub fn create_veth(a: &LinkEnd, b: &LinkEnd, mtu: Mtu) -> Result<()> {
    check_name(&a.interface)?;
    check_name(&b.interface)?;
    let (a_file, b_file) = (namespace::open(&a.namespace)?, namespace::open(&b.namespace)?);
    let mut message = veth_end(a, mtu, &a_file);
    message.attributes.push(LinkAttribute::LinkInfo(vec![
        LinkInfo::Kind(InfoKind::Veth),
        LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(veth_end(b, mtu, &b_file)))),
    ]));
    let answer = request(RouteNetlinkMessage::NewLink(message), NLM_F_CREATE | NLM_F_EXCL);
    answer.on("RTM_NEWLINK", format_args!("veth pair {a} and {b}")).map(drop)
}

/// The other end of a veth pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherEnd {
    /// Index in its namespace.
    pub index: u32,
    /// Number of that namespace in the caller's one, see [`namespace::number`]; `None` for the same namespace.
    pub namespace: Option<i32>,
}

/// The other end of a veth of the caller's namespace; `None` for an interface of another kind.
pub fn other_end(interface: &str) -> Result<Option<OtherEnd>> {
    let link = existing(interface).on("RTM_GETLINK", within_name("", interface))?;
    let (mut index, mut namespace, mut is_veth) = (None, None, false);
    for attribute in &link.attributes {
        match attribute {
            LinkAttribute::Link(other) => index = Some(*other),
            LinkAttribute::LinkNetNsId(number) => namespace = Some(*number),
            LinkAttribute::LinkInfo(infos) => is_veth = kind(infos) == "veth",
            _ => {}
        }
    }
    Ok(index.filter(|_| is_veth).map(|index| OtherEnd { index, namespace }))
}

/// Creates a bridge of existing interfaces in a namespace, and sets it up. It forwards at once, because it has no
/// spanning tree.
pub fn create_bridge(namespace: &str, interface: &str, ports: &[String]) -> Result<()> {
    check_name(interface)?;
    let create = || {
        let mut message = named(interface);
        message.attributes.push(LinkAttribute::LinkInfo(vec![LinkInfo::Kind(InfoKind::Bridge)]));
        request(RouteNetlinkMessage::NewLink(message), NLM_F_CREATE | NLM_F_EXCL)?;
        let bridge = existing(interface)?.header.index;
        for port in ports {
            let mut message = named(port);
            message.attributes.push(LinkAttribute::Controller(bridge));
            request(RouteNetlinkMessage::SetLink(message), 0)?;
        }
        switch(interface, true)
    };
    within(namespace, create)?.on("RTM_NEWLINK", within_name(namespace, interface))
}

fn veth_end(end: &LinkEnd, mtu: Mtu, namespace: &File) -> LinkMessage {
    let mut message = named(&end.interface);
    message.attributes.push(LinkAttribute::Mtu(mtu.0));
    message.attributes.push(LinkAttribute::NetNsFd(namespace.as_raw_fd()));
    message
}

/// Whether there is an interface of this name.
pub fn exists(namespace: &str, interface: &str) -> Result<bool> {
    Ok(within(namespace, || find(interface))?.on("RTM_GETLINK", within_name(namespace, interface))?.is_some())
}

/// Index of an interface of the caller's namespace.
pub fn index(interface: &str) -> Result<u32> {
    Ok(existing(interface).on("RTM_GETLINK", within_name("", interface))?.header.index)
}

/// MTU of an interface.
pub fn mtu(namespace: &str, interface: &str) -> Result<Mtu> {
    let what = within_name(namespace, interface);
    let link = within(namespace, || existing(interface))?.on("RTM_GETLINK", &what)?;
    Ok(described(&link, &BTreeMap::new(), Vec::new()).mtu)
}

/// Sets the MTU of an interface.
pub fn set_mtu(namespace: &str, interface: &str, mtu: Mtu) -> Result<()> {
    let mut message = named(interface);
    message.attributes.push(LinkAttribute::Mtu(mtu.0));
    let what = format!("MTU {} of {}", mtu.0, within_name(namespace, interface));
    let set = || match request(RouteNetlinkMessage::SetLink(message), 0) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Err(refused(error, interface)),
        answer => answer,
    };
    within(namespace, set)?.on("RTM_SETLINK", what).map(drop)
}

/// Adds the driver's limits to the error of a refused MTU.
fn refused(error: io::Error, interface: &str) -> io::Error {
    match existing(interface).ok().as_ref().and_then(mtus) {
        Some((least, most)) => invalid(&format!("its driver takes an MTU from {least} to {most}")),
        None => error,
    }
}

/// Smallest and largest MTU of the driver, if known.
pub(crate) fn mtus(link: &LinkMessage) -> Option<(u32, u32)> {
    let (mut least, mut most) = (0, 0);
    for attribute in &link.attributes {
        match attribute {
            LinkAttribute::MinMtu(mtu) => least = *mtu,
            LinkAttribute::MaxMtu(mtu) => most = *mtu,
            _ => {}
        }
    }
    (most > 0).then_some((least, most))
}

/// Removes an interface; for a veth pair, both ends.
pub fn delete(namespace: &str, interface: &str) -> Result<()> {
    within(namespace, || request(RouteNetlinkMessage::DelLink(named(interface)), 0).map(drop))?
        .on("RTM_DELLINK", within_name(namespace, interface))
}

/// Sets an interface up (administratively).
pub fn set_up(namespace: &str, interface: &str) -> Result<()> {
    within(namespace, || switch(interface, true))?.on("RTM_SETLINK", within_name(namespace, interface))
}

/// Sets an interface down.
pub fn set_down(namespace: &str, interface: &str) -> Result<()> {
    within(namespace, || switch(interface, false))?.on("RTM_SETLINK", within_name(namespace, interface))
}

/// Whether an interface is up (administratively).
pub fn is_up(namespace: &str, interface: &str) -> Result<bool> {
    let link = within(namespace, || existing(interface))?.on("RTM_GETLINK", within_name(namespace, interface))?;
    Ok(link.header.flags.contains(LinkFlags::Up))
}

/// Adds an address. An IPv6 address is usable at once.
///
/// Our own link has no duplicates, so their detection (RFC 4862, section 5.4) would only cost a second.
pub fn add_address(namespace: &str, interface: &str, address: IpAddr, prefix: u8) -> Result<()> {
    let add = || {
        let mut message = addressed(interface, address, prefix)?;
        if address.is_ipv6() {
            message.header.flags = AddressHeaderFlags::Nodad;
        }
        request(RouteNetlinkMessage::NewAddress(message), NLM_F_CREATE | NLM_F_EXCL).map(drop)
    };
    within(namespace, add)?
        .on("RTM_NEWADDR", format_args!("{address}/{prefix} at {}", within_name(namespace, interface)))
}

/// Removes an address.
pub fn remove_address(namespace: &str, interface: &str, address: IpAddr, prefix: u8) -> Result<()> {
    let remove = || {
        let message = addressed(interface, address, prefix)?;
        request(RouteNetlinkMessage::DelAddress(message), 0).map(drop)
    };
    within(namespace, remove)?
        .on("RTM_DELADDR", format_args!("{address}/{prefix} at {}", within_name(namespace, interface)))
}

/// Whether an interface has an address, with any prefix length.
pub fn has_address(namespace: &str, interface: &str, address: IpAddr) -> Result<bool> {
    let links = within(namespace, list)??;
    let link = links.iter().find(|link| link.name == interface);
    Ok(link.is_some_and(|link| link.addresses.iter().any(|(there, _)| *there == address)))
}

/// All interfaces of the caller's namespace, in the kernel's order.
pub fn list() -> Result<Vec<Link>> {
    let what = "all interfaces";
    let links = request(RouteNetlinkMessage::GetLink(LinkMessage::default()), NLM_F_DUMP).on("RTM_GETLINK", what)?;
    let addresses =
        request(RouteNetlinkMessage::GetAddress(AddressMessage::default()), NLM_F_DUMP).on("RTM_GETADDR", what)?;
    let mut by_index = addresses_by_index(addresses);
    let links = links.into_iter().filter_map(|message| match message {
        RouteNetlinkMessage::NewLink(link) => Some(link),
        _ => None,
    });
    let links: Vec<_> = links.collect();
    let names = links.iter().map(|link| (link.header.index, name(link))).collect();
    Ok(links
        .iter()
        .map(|link| described(link, &names, by_index.remove(&link.header.index).unwrap_or_default()))
        .collect())
}

pub(crate) fn name(message: &LinkMessage) -> String {
    let name = message.attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::IfName(name) => Some(name.clone()),
        _ => None,
    });
    name.unwrap_or_default()
}

/// Name of the interface with this index.
pub(crate) fn name_of(index: u32) -> Result<String> {
    let mut question = LinkMessage::default();
    question.header.index = index;
    let answers =
        request(RouteNetlinkMessage::GetLink(question), 0).on("RTM_GETLINK", format_args!("interface {index}"))?;
    let mut names = answers.iter().filter_map(|answer| match answer {
        RouteNetlinkMessage::NewLink(link) => Some(name(link)),
        _ => None,
    });
    Ok(names.next_back().unwrap_or_default())
}

fn addresses_by_index(messages: Vec<RouteNetlinkMessage>) -> BTreeMap<u32, Vec<(IpAddr, u8)>> {
    let mut by_index = BTreeMap::<_, Vec<_>>::new();
    for message in messages {
        if let RouteNetlinkMessage::NewAddress(message) = message {
            let address = own_address(&message.attributes);
            by_index
                .entry(message.header.index)
                .or_default()
                .extend(address.map(|own| (own, message.header.prefix_len)));
        }
    }
    by_index
}

/// On a point-to-point link IFA_ADDRESS is the peer's, and IFA_LOCAL is ours; IPv6 has IFA_ADDRESS only
/// (linux/if_addr.h).
fn own_address(attributes: &[AddressAttribute]) -> Option<IpAddr> {
    let local = attributes.iter().find_map(|attribute| match attribute {
        AddressAttribute::Local(address) => Some(*address),
        _ => None,
    });
    local.or_else(|| {
        attributes.iter().find_map(|attribute| match attribute {
            AddressAttribute::Address(address) => Some(*address),
            _ => None,
        })
    })
}

fn described(message: &LinkMessage, names: &BTreeMap<u32, String>, addresses: Vec<(IpAddr, u8)>) -> Link {
    let mut link = Link {
        index: message.header.index,
        name: name(message),
        up: message.header.flags.contains(LinkFlags::Up),
        addresses,
        ..Link::default()
    };
    let mut lower_is_elsewhere = false;
    for attribute in &message.attributes {
        match attribute {
            LinkAttribute::Mtu(mtu) => link.mtu = Mtu(*mtu),
            LinkAttribute::Address(bytes) => link.mac = mac(bytes),
            LinkAttribute::OperState(state) => link.operstate = state.to_string().to_lowercase(),
            LinkAttribute::CarrierDownCount(losses) => link.carrier_losses = *losses,
            LinkAttribute::Controller(index) => link.master = names.get(index).cloned(),
            LinkAttribute::Link(index) => link.lower = names.get(index).cloned(),
            LinkAttribute::LinkNetNsId(_) => lower_is_elsewhere = true,
            LinkAttribute::LinkInfo(infos) => (link.kind, link.vlan) = (kind(infos), vlan(infos)),
            _ => {}
        }
    }
    // IFLA_LINK of a veth is its other end, and an index of another namespace has no meaning here.
    if lower_is_elsewhere || link.kind == "veth" {
        link.lower = None;
    }
    link
}

pub(crate) fn kind(infos: &[LinkInfo]) -> String {
    let kind = infos.iter().find_map(|info| match info {
        LinkInfo::Kind(kind) => Some(kind.to_string()),
        _ => None,
    });
    kind.unwrap_or_default()
}

fn vlan(infos: &[LinkInfo]) -> Option<Vlan> {
    let attributes = infos.iter().find_map(|info| match info {
        LinkInfo::Data(InfoData::Vlan(attributes)) => Some(attributes),
        _ => None,
    })?;
    // A kernel that says no TPID has that of IEEE 802.1Q alone.
    let mut vlan = Vlan { tpid: libc::ETH_P_8021Q as u16, id: 0, sets_priority: false };
    for attribute in attributes {
        match attribute {
            InfoVlan::Id(id) => vlan.id = *id,
            InfoVlan::Protocol(protocol) => vlan.tpid = (*protocol).into(),
            InfoVlan::EgressQos(priorities) => vlan.sets_priority = !priorities.is_empty(),
            _ => {}
        }
    }
    Some(vlan)
}

pub(crate) fn mac(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":")
}

/// The bytes of a MAC address; invalid text gives bytes that the kernel refuses.
pub(crate) fn bytes_of_mac(mac: &str) -> Vec<u8> {
    mac.split(':').map_while(|byte| u8::from_str_radix(byte, 16).ok()).collect()
}

fn addressed(interface: &str, address: IpAddr, prefix: u8) -> io::Result<AddressMessage> {
    let mut message = AddressMessage::default();
    message.header.family = if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    message.header.prefix_len = prefix;
    message.header.index = existing(interface)?.header.index;
    message.attributes = vec![AddressAttribute::Local(address), AddressAttribute::Address(address)];
    Ok(message)
}

pub(crate) fn existing(interface: &str) -> io::Result<LinkMessage> {
    find(interface)?.ok_or_else(|| io::Error::from_raw_os_error(libc::ENODEV))
}

fn find(interface: &str) -> io::Result<Option<LinkMessage>> {
    match request(RouteNetlinkMessage::GetLink(named(interface)), 0) {
        Err(error) if error.raw_os_error() == Some(libc::ENODEV) => Ok(None),
        Err(error) => Err(error),
        Ok(answers) => Ok(answers.into_iter().find_map(|answer| match answer {
            RouteNetlinkMessage::NewLink(link) => Some(link),
            _ => None,
        })),
    }
}

fn within_name(namespace: &str, interface: &str) -> String {
    if namespace.is_empty() { format!("interface {interface}") } else { format!("interface {namespace}/{interface}") }
}

/// Refuses an invalid interface name.
pub(crate) fn check_name(interface: &str) -> Result<()> {
    let fits = !interface.is_empty() && interface.len() <= LONGEST_NAME;
    let checked = if fits { Ok(()) } else { Err(invalid("an interface's name has 1 to 15 bytes")) };
    checked.on("check", format_args!("interface name \"{interface}\""))
}

#[cfg(test)]
mod tests {
    use netlink_packet_route::link::{VlanProtocol, VlanQosMapping};

    use super::*;

    #[test]
    fn names_too_long_for_an_interface_are_refused() {
        assert!(check_name("fifteen-bytes-x").is_ok());
        let error = check_name("sixteen-bytes-xx").expect_err("too long").to_string();
        assert_eq!(error, "check on interface name \"sixteen-bytes-xx\": an interface's name has 1 to 15 bytes");
        assert!(check_name("").is_err());
    }

    #[test]
    fn loopback_is_listed_with_its_addresses() {
        let links = list().expect("rtnetlink");
        let lo = links.iter().find(|link| link.name == "lo").expect("every namespace has one");
        assert_eq!((lo.mtu, lo.mac.as_str()), (Mtu(65_536), "00:00:00:00:00:00"));
        assert!(lo.addresses.contains(&("127.0.0.1".parse().expect("an address"), 8)), "{lo:?}");
    }

    #[test]
    fn a_vlan_interface_has_a_tag() {
        let described = |attributes: Vec<InfoVlan>| {
            let mut message = LinkMessage::default();
            let data = LinkInfo::Data(InfoData::Vlan(attributes));
            message.attributes = vec![LinkAttribute::LinkInfo(vec![LinkInfo::Kind(InfoKind::Vlan), data])];
            super::described(&message, &BTreeMap::new(), Vec::new())
        };
        let plain = described(vec![InfoVlan::Id(7), InfoVlan::Protocol(VlanProtocol::Ieee8021Ad)]);
        assert_eq!(
            (plain.kind.as_str(), plain.vlan),
            ("vlan", Some(Vlan { tpid: 0x88a8, id: 7, sets_priority: false }))
        );
        let mapped = described(vec![InfoVlan::Id(7), InfoVlan::EgressQos(vec![VlanQosMapping::Mapping(0, 5)])]);
        assert_eq!(mapped.vlan, Some(Vlan { tpid: 0x8100, id: 7, sets_priority: true }));
    }

    #[test]
    fn a_mac_address_is_written_as_usual() {
        assert_eq!(mac(&[2, 0, 0, 0, 0xab, 1]), "02:00:00:00:ab:01");
        assert_eq!(bytes_of_mac("02:00:00:00:ab:01"), [2, 0, 0, 0, 0xab, 1]);
    }
}
