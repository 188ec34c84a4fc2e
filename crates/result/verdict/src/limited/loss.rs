//! Places of packet loss, by the counters of both ends: sender's socket, queueing discipline, interface, path, the receiver's
//! interface, IP, packet filter, socket. Counters include other packets, so that no place gets more than were lost. The place of
//! the rest is not known.

use model::{
    Delta, Evidence, LossAt, Place, Run, Source, Stack, Total,
    drop_counters::{IP_REFUSED, IP_REFUSED_BESIDE, LINK_NO_DESCRIPTOR, NO_DESCRIPTOR},
};

use super::end::{End, TrafficDirection, sum};

/// Counters of IP that explain a difference between received and delivered packets, beside the refusals.
const IP_OTHERWISE: [&str; 6] =
    ["InUnknownProtos", "InTooBigErrors", "InTruncatedPkts", "InMcastPkts", "ForwDatagrams", "OutForwDatagrams"];

/// Packets of ARP and the like that a trial may see.
pub(super) const OTHER_PROTOCOLS: u64 = 20;

/// Assigns loss to the places that claim it, in order; the place of the rest is not known.
pub(crate) fn share_out(lost: u64, claims: impl IntoIterator<Item = LossAt>) -> Vec<LossAt> {
    let mut rest = lost;
    let mut found = Vec::new();
    for claim in claims {
        let packets = claim.packets.min(rest);
        rest -= packets;
        if packets > 0 {
            found.push(LossAt { packets, ..claim });
        }
    }
    if rest > 0 {
        found.push(LossAt { place: Place::NotKnown, endpoint: None, packets: rest, shown_by: vec![] });
    }
    found
}

/// The counters that show a loss, or that none does.
pub(crate) fn evidence(loss: LossAt) -> Vec<Evidence> {
    if loss.shown_by.is_empty() {
        return vec![Evidence::Unseen { packets: loss.packets }];
    }
    loss.shown_by.into_iter().map(|counter| Evidence::Counter { counter }).collect()
}

/// Possible drops at each place for datagrams in this direction, the surest first.
pub(crate) fn claims(
    run: &Run,
    way: TrafficDirection<'_>,
    stack: Stack,
    overflowed: u64,
    per_packet: u64,
) -> Vec<LossAt> {
    let mut claims = vec![socket(way.receiver, overflowed, per_packet), damaged(way.receiver, per_packet)];
    claims.extend(on_the_way(run, way, per_packet));
    // Past the kernel, its IP layer receives nothing; of a large packet's datagrams it counts as many as the receiver joins.
    if stack == Stack::Kernel && per_packet == 1 {
        claims.push(before_ip(way.receiver));
    }
    claims
}

/// The socket layer of the receiver, which counts all but damaged datagrams for want of room (or of a socket).
fn socket(receiver: End<'_>, overflowed: u64, per_packet: u64) -> LossAt {
    let of = |name: &str| receiver.moved(Source::Snmp, |delta| is_udp(delta) && delta.name == name);
    let damaged = sum(&of("InCsumErrors"));
    let refused = sum(&of("InErrors")).saturating_sub(damaged);
    let no_socket = of("NoPorts");
    let mut shown_by = of("RcvbufErrors");
    shown_by.extend(of("MemErrors"));
    if shown_by.is_empty() && refused > 0 {
        shown_by = of("InErrors");
    }
    // The socket counts its own drops, damaged datagrams among them; the protocol counts the drops of all sockets.
    let kept_out = overflowed.saturating_sub(damaged).max(refused.saturating_mul(per_packet));
    let packets = kept_out.saturating_add(sum(&no_socket).saturating_mul(per_packet));
    shown_by.extend(no_socket);
    claim(Place::ReceiverSocket, receiver, packets, shown_by)
}

/// Datagrams that came with a wrong checksum were damaged on their way. No counter tells whether a device or a cable did it.
fn damaged(receiver: End<'_>, per_packet: u64) -> LossAt {
    let damaged = receiver.moved(Source::Snmp, |delta| is_udp(delta) && delta.name == "InCsumErrors");
    LossAt { place: Place::Path, endpoint: None, packets: sum(&damaged).saturating_mul(per_packet), shown_by: damaged }
}

fn is_udp(delta: &Delta) -> bool {
    ["Udp", "Udp6"].contains(&delta.of.as_str())
}

/// All places before the socket.
pub(crate) fn on_the_way(run: &Run, way: TrafficDirection<'_>, per_packet: u64) -> Vec<LossAt> {
    let TrafficDirection { sender, receiver } = way;
    let counted =
        |place, end, shown_by: Vec<Delta>| claim(place, end, sum(&shown_by).saturating_mul(per_packet), shown_by);
    let backlog = receiver.moved(Source::Softnet, |delta| delta.name == "dropped");
    // A full backlog is also counted by the interface that received; with a veth, by the one that sent.
    let beyond = |end: End<'_>, name: &str, already: &[Delta]| {
        let dropped = end.moved(Source::Link, |delta| delta.name == name);
        claim(Place::PeerRing, receiver, sum(&dropped).saturating_sub(sum(already)).saturating_mul(per_packet), dropped)
    };
    vec![
        counted(Place::PacketFilter, receiver, xdp_drops(receiver)),
        counted(Place::PeerRing, receiver, ring(receiver)),
        beyond(receiver, "rx_dropped", &backlog),
        match is_pipe(run, sender) {
            true => beyond(sender, "tx_dropped", &backlog),
            false => counted(Place::NotKnown, sender, sender.moved(Source::Link, |delta| delta.name == "tx_dropped")),
        },
        counted(Place::SoftirqCore, receiver, backlog),
        counted(Place::Qdisc, sender, sender.root_qdisc("drops").into_iter().collect()),
        counted(Place::Qdisc, receiver, receiver.ingress_drops()),
        counted(Place::PathMtu, sender, sender.moved(Source::Snmp, |delta| delta.name == "FragFails")),
        counted(Place::IpAddress, receiver, wrong_address(receiver)),
        counted(Place::NotKnown, receiver, refused_otherwise(receiver)),
        filtered(receiver, per_packet),
        counted(
            Place::MacAddress,
            receiver,
            receiver.moved(Source::Link, |delta| delta.name == "rx_otherhost_dropped"),
        ),
    ]
}

/// Packets that the receiver's interface received, and neither a counter of a drop nor IP saw: nftables' hook `ingress` and tc take
/// them there without a counter. A few packets, or a thousandth, may be of other protocols.
fn before_ip(receiver: End<'_>) -> LossAt {
    let link = |name: &str| receiver.moved(Source::Link, |delta| delta.name == name);
    let to_ip = receiver.moved(Source::Snmp, |delta| is_ip(delta) && delta.name == "InReceives");
    let arrived = link("rx_packets");
    let dropped = [xdp_drops(receiver), link("rx_dropped"), link("rx_otherhost_dropped")];
    let seen = dropped.iter().chain([&to_ip]).map(|deltas| sum(deltas)).total();
    let gap = sum(&arrived).saturating_sub(seen);
    let packets = if !to_ip.is_empty() && gap > OTHER_PROTOCOLS + sum(&arrived) / 1000 { gap } else { 0 };
    claim(Place::PacketFilter, receiver, packets, arrived.into_iter().chain(to_ip).collect())
}

/// Packets that the receiver's IP layer received and did not deliver, and that no other counter of it explains. Connection tracking is
/// a part of the packet filter, and names its reasons.
pub(crate) fn filtered(receiver: End<'_>, per_packet: u64) -> LossAt {
    let of_ip =
        |names: &[&str]| receiver.moved(Source::Snmp, |delta| is_ip(delta) && names.contains(&delta.name.as_str()));
    let (received, delivered) = (of_ip(&["InReceives"]), of_ip(&["InDelivers"]));
    let fragments = sum(&of_ip(&["ReasmReqds"])).saturating_sub(sum(&of_ip(&["ReasmOKs"])));
    let explained = [sum(&delivered), fragments, sum(&of_ip(&IP_OTHERWISE)), sum(&refused_by_ip(receiver))];
    let packets = sum(&received).saturating_sub(explained.into_iter().total()).saturating_mul(per_packet);
    let tracking = receiver.moved(Source::Conntrack, |_| true);
    claim(Place::PacketFilter, receiver, packets, tracking.into_iter().chain(received).chain(delivered).collect())
}

/// Packets that a link did not carry while it was down: all that no counter of a place saw.
pub(crate) fn link_down(way: TrafficDirection<'_>) -> Option<LossAt> {
    let ends = [way.receiver, way.sender].into_iter();
    let (end, shown_by) = ends.map(|end| (end, end.link_losses())).find(|(_, losses)| !losses.is_empty())?;
    Some(claim(Place::Interruption, end, u64::MAX, shown_by))
}

/// Whether `tx_dropped` of the sender's interface counts packets that its peer's full ring did not take, as veth and tun do. A
/// card that counts there could not send; a driver that is not known is taken for a card's.
fn is_pipe(run: &Run, sender: End<'_>) -> bool {
    let endpoint = run.bed.endpoints.iter().find(|endpoint| endpoint.name == sender.name);
    endpoint.and_then(|it| it.driver.known()).is_some_and(|driver| ["veth", "tun"].contains(&driver.as_str()))
}

/// Packets that an XDP program at the receiver's interface dropped.
fn xdp_drops(receiver: End<'_>) -> Vec<Delta> {
    totals(receiver.moved(Source::Ethtool, |delta| delta.name.ends_with("xdp_drops") || delta.name == "rx_xdp_drop"))
}

/// Link counters and the driver's tell of the same packets: whichever tells of more.
pub(super) fn ring(receiver: End<'_>) -> Vec<Delta> {
    let link = receiver.moved(Source::Link, |delta| LINK_NO_DESCRIPTOR.contains(&delta.name.as_str()));
    let is_ring = |delta: &Delta| NO_DESCRIPTOR.iter().any(|name| delta.name.trim() == *name);
    let driver = totals(receiver.moved(Source::Ethtool, is_ring));
    if sum(&driver) > sum(&link) { driver } else { link }
}

/// A driver may count for each queue, and all of them once more: names of queues have a number in them.
fn totals(deltas: Vec<Delta>) -> Vec<Delta> {
    let (queues, totals): (Vec<_>, Vec<_>) =
        deltas.into_iter().partition(|delta| delta.name.contains(|c: char| c.is_ascii_digit()));
    if totals.is_empty() { queues } else { totals }
}

fn refused_by_ip(receiver: End<'_>) -> Vec<Delta> {
    let mut refused = receiver.moved(Source::Snmp, |delta| is_ip(delta) && IP_REFUSED.contains(&delta.name.as_str()));
    let beside = |delta: &Delta| IP_REFUSED_BESIDE.contains(&delta.name.as_str());
    refused.extend(receiver.moved(Source::Netstat, beside));
    refused
}

/// Addresses that the receiver does not have, and ones that it has no route for.
fn wrong_address(receiver: End<'_>) -> Vec<Delta> {
    refused_by_ip(receiver).into_iter().filter(is_of_address).collect()
}

fn refused_otherwise(receiver: End<'_>) -> Vec<Delta> {
    refused_by_ip(receiver).into_iter().filter(|delta| !is_of_address(delta)).collect()
}

fn is_of_address(delta: &Delta) -> bool {
    ["InAddrErrors", "InNoRoutes"].contains(&delta.name.as_str())
}

fn is_ip(delta: &Delta) -> bool {
    ["Ip", "Ip6"].contains(&delta.of.as_str())
}

pub(crate) fn claim(place: Place, end: End<'_>, packets: u64, shown_by: Vec<Delta>) -> LossAt {
    LossAt { place, endpoint: Some(end.name.to_owned()), packets, shown_by }
}
