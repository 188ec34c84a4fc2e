//! Counters of interfaces and queueing disciplines, by rtnetlink.

use netlink_packet_core::NLM_F_DUMP;
use netlink_packet_route::{
    RouteNetlinkMessage,
    link::{LinkAttribute, LinkFlags, LinkMessage, State, Stats64},
    tc::{TcAttribute, TcHandle, TcMessage, TcStats2},
};

use crate::{
    error::{On, Result},
    link::{existing, kind, name},
    netlink::request,
};

/// Counters by name.
pub type Counters = Vec<(&'static str, u64)>;

/// A queueing discipline of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qdisc {
    /// Kind and handle as in `tc`, like `tbf 8001:`. Default disciplines of the kernel share handle 0.
    pub name: String,
    /// Counters as in `tc -s qdisc`. The root's include everything below it.
    pub counters: Counters,
}

/// Counters of an interface in the caller's namespace and of all its queueing disciplines, read at the same moment as
/// far as the driver allows.
pub fn of_interface(interface: &str) -> Result<(Counters, Vec<Qdisc>)> {
    let what = format_args!("interface {interface}");
    let link = existing(interface).on("RTM_GETLINK", what)?;
    let mut counters = Counters::new();
    for attribute in &link.attributes {
        match attribute {
            LinkAttribute::Stats64(stats) => counters.extend(by_name(stats)),
            LinkAttribute::CarrierDownCount(losses) => counters.push(("carrier_down_count", (*losses).into())),
            _ => {}
        }
    }
    let ask = RouteNetlinkMessage::GetQueueDiscipline(TcMessage::default());
    let answers = request(ask, NLM_F_DUMP).on("RTM_GETQDISC", what)?;
    // The kernel lists those of every interface, whatever was requested.
    let ours = answers.into_iter().filter_map(|answer| match answer {
        RouteNetlinkMessage::NewQueueDiscipline(qdisc) => Some(qdisc),
        _ => None,
    });
    let ours = ours.filter(|qdisc| u32::try_from(qdisc.header.index) == Ok(link.header.index));
    Ok((counters, ours.map(|qdisc| described(&qdisc)).collect()))
}

/// An interface with its state and counters at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Index in the namespace.
    pub index: u32,
    /// Name.
    pub name: String,
    /// Kind, as `ip -d link` names it (veth, bridge, vlan, …); empty for a plain card.
    pub kind: String,
    /// Whether it is administratively up.
    pub up: bool,
    /// Whether it is the loopback interface.
    pub loopback: bool,
    /// Operational state (RFC 2863), in lower case: `up`, `down`, `lowerlayerdown`, `unknown`, …
    pub operstate: String,
    /// Carrier changes.
    pub carrier_changes: u32,
    /// MTU in bytes.
    pub mtu: u32,
    /// Counters, by their names in `/sys/class/net/*/statistics`.
    pub counters: Stats64,
}

/// All interfaces of the caller's namespace with their counters, in the kernel's order, by one request.
pub fn of_all() -> Result<Vec<Interface>> {
    let answers = request(RouteNetlinkMessage::GetLink(LinkMessage::default()), NLM_F_DUMP);
    let answers = answers.on("RTM_GETLINK", "all interfaces")?;
    Ok(answers
        .into_iter()
        .filter_map(|answer| match answer {
            RouteNetlinkMessage::NewLink(link) => Some(interface(&link)),
            _ => None,
        })
        .collect())
}

fn interface(link: &LinkMessage) -> Interface {
    let mut interface = Interface {
        index: link.header.index,
        name: name(link),
        kind: String::new(),
        up: link.header.flags.contains(LinkFlags::Up),
        loopback: link.header.flags.contains(LinkFlags::Loopback),
        operstate: State::Unknown.to_string().to_lowercase(),
        carrier_changes: 0,
        mtu: 0,
        counters: Stats64::default(),
    };
    for attribute in &link.attributes {
        match attribute {
            LinkAttribute::LinkInfo(infos) => interface.kind = kind(infos),
            LinkAttribute::OperState(state) => interface.operstate = state.to_string().to_lowercase(),
            LinkAttribute::CarrierChanges(changes) => interface.carrier_changes = *changes,
            LinkAttribute::Mtu(mtu) => interface.mtu = *mtu,
            LinkAttribute::Stats64(stats) => interface.counters = *stats,
            _ => {}
        }
    }
    interface
}

/// By their names in `/sys/class/net/*/statistics`, and as `ip -s -s link` shows the last, which is not there.
fn by_name(stats: &Stats64) -> Counters {
    vec![
        ("rx_packets", stats.rx_packets),
        ("tx_packets", stats.tx_packets),
        ("rx_bytes", stats.rx_bytes),
        ("tx_bytes", stats.tx_bytes),
        ("rx_errors", stats.rx_errors),
        ("tx_errors", stats.tx_errors),
        ("rx_dropped", stats.rx_dropped),
        ("tx_dropped", stats.tx_dropped),
        ("multicast", stats.multicast),
        ("collisions", stats.collisions),
        ("rx_length_errors", stats.rx_length_errors),
        ("rx_over_errors", stats.rx_over_errors),
        ("rx_crc_errors", stats.rx_crc_errors),
        ("rx_frame_errors", stats.rx_frame_errors),
        ("rx_fifo_errors", stats.rx_fifo_errors),
        ("rx_missed_errors", stats.rx_missed_errors),
        ("tx_aborted_errors", stats.tx_aborted_errors),
        ("tx_carrier_errors", stats.tx_carrier_errors),
        ("tx_fifo_errors", stats.tx_fifo_errors),
        ("tx_heartbeat_errors", stats.tx_heartbeat_errors),
        ("tx_window_errors", stats.tx_window_errors),
        ("rx_compressed", stats.rx_compressed),
        ("tx_compressed", stats.tx_compressed),
        ("rx_nohandler", stats.rx_nohandler),
        ("rx_otherhost_dropped", stats.rx_otherhost_dropped),
    ]
}

fn described(message: &TcMessage) -> Qdisc {
    let (mut kind, mut counters) = (String::new(), Counters::new());
    for attribute in &message.attributes {
        match attribute {
            TcAttribute::Kind(name) => kind.clone_from(name),
            TcAttribute::Stats2(parts) => counters.extend(parts.iter().flat_map(counted)),
            _ => {}
        }
    }
    let TcHandle { major, .. } = message.header.handle;
    Qdisc { name: format!("{kind} {major:x}:"), counters }
}

fn counted(part: &TcStats2) -> Counters {
    match part {
        TcStats2::Basic(basic) => vec![("bytes", basic.bytes), ("packets", basic.packets.into())],
        TcStats2::Queue(queue) => vec![
            ("drops", queue.drops.into()),
            ("overlimits", queue.overlimits.into()),
            ("requeues", queue.requeues.into()),
        ],
        _ => Counters::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    fn of<'a>(counters: &'a Counters) -> impl Fn(&str) -> u64 + 'a {
        |name| counters.iter().find(|(known, _)| *known == name).expect("counted").1
    }

    #[test]
    fn what_crosses_an_interface_is_counted_there() {
        let before = of_interface("lo").expect("every namespace has one").0;
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        for _ in 0..10 {
            socket.send_to(&[0; 100], socket.local_addr().expect("bound")).expect("loopback");
        }
        let after = of_interface("lo").expect("every namespace has one").0;
        assert!(of(&after)("tx_packets") >= of(&before)("tx_packets") + 10, "{before:?} {after:?}");
        assert!(of(&after)("rx_bytes") >= of(&before)("rx_bytes") + 1000, "{before:?} {after:?}");
    }

    #[test]
    fn one_question_tells_of_all_interfaces() {
        let all = of_all().expect("every namespace has lo");
        let lo = all.iter().find(|interface| interface.name == "lo").expect("every namespace has one");
        assert!(lo.loopback && lo.index == 1 && lo.mtu > 0, "{lo:?}");
        let alone = of_interface("lo").expect("every namespace has one").0;
        assert!(of(&alone)("rx_packets") >= lo.counters.rx_packets);
    }

    #[test]
    fn an_interface_that_is_not_there_is_named() {
        let error = of_interface("wp-none").expect_err("there is none").to_string();
        assert!(error.starts_with("RTM_GETLINK on interface wp-none: "), "{error}");
    }
}
