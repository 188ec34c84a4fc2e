//! A device between the ends: the ends' gateways, and how its counters are read. Pure.
//!
//! Default networks are those of RFC 2544 (appendix C.2.2: the first of each half of 198.18.0.0/15, the device .1 and
//! the tester from .2 on) and of RFC 5180 (2001:2::/48).

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use model::{
    Answer, Dut, Gateway, IpVersion,
    network::{network_after, prefix_of_several},
};

use crate::reference::{Network, Remote, SSH, address, remote};

/// A device under test as requested.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DutRequest {
    /// Addresses at the senders' and at the receiver's side: a pair for each IP version, IPv4 first. Empty if it
    /// does not route.
    pub(crate) gateways: Vec<[Network; 2]>,
    /// Way to it, if its counters are to be read.
    pub(crate) dut: Option<Remote>,
}

/// A route to a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    /// An address of the network.
    pub(crate) to: IpAddr,
    /// Length of the network's prefix.
    pub(crate) prefix: u8,
    /// The gateway.
    pub(crate) via: IpAddr,
    /// Networks from this one on, a route each.
    pub(crate) count: u32,
}

impl DutRequest {
    /// A device with the default gateways.
    pub(crate) fn routed() -> Self {
        Self { gateways: ordinary(), dut: None }
    }

    /// The device, if anything is known of it.
    pub(crate) fn known(&self) -> Option<&Self> {
        (*self != Self::default()).then_some(self)
    }

    /// The device in the bed between ends of these names, the receiver last.
    pub(crate) fn device(&self, ends: &[String]) -> Option<Dut> {
        let side = |place: usize| usize::from(place + 1 == ends.len());
        let of_end = |(place, end): (usize, &String)| -> Vec<Gateway> {
            let gateways = self.gateways.iter().map(|pair| pair[side(place)]);
            gateways.map(|(address, prefix)| Gateway { endpoint: end.clone(), address, prefix }).collect()
        };
        let machine = self.dut.as_ref().map(|dut| dut.destination.clone()).unwrap_or_default();
        let gateways = ends.iter().enumerate().flat_map(of_end).collect();
        self.known().map(|_| Dut { machine, gateways, cpus: Vec::new() })
    }

    /// Addresses with prefixes of the end at this place of its side (0 for the senders, 1 for the receiver).
    pub(crate) fn addresses(&self, side: usize, place: usize) -> Vec<Network> {
        self.gateways.iter().map(|pair| (after(pair[side], place as u128 + 1), pair[side].1)).collect()
    }

    /// Routes of an end at this side to the networks of the other one.
    pub(crate) fn routes(&self, side: usize) -> Vec<Route> {
        let route = |pair: &[Network; 2]| {
            let (to, prefix) = network(pair[1 - side]);
            Route { to, prefix, via: pair[side].0, count: 1 }
        };
        self.gateways.iter().map(route).collect()
    }

    /// Routes of the device to the further ones of so many networks behind the end at this side.
    pub(crate) fn behind(&self, side: usize, networks: u16) -> Vec<Route> {
        let route = |(address, _): Network| {
            let prefix = prefix_of_several(IpVersion::of(address));
            let (to, _) = network((network_after(address, prefix, 1), prefix));
            Route { to, prefix, via: address, count: u32::from(networks) - 1 }
        };
        if networks > 1 { self.addresses(side, 0).into_iter().map(route).collect() } else { Vec::new() }
    }

    /// Commands for the same routes on a Linux device.
    fn commands_behind(&self, side: usize, networks: u16) -> Vec<String> {
        let command = |route: Route| {
            let to = match route.to {
                IpAddr::V4(to) => {
                    let [a, b, c, _] = to.octets();
                    match u32::from(c) + route.count <= 256 {
                        true => format!("{a}.{b}.$n.0"),
                        false => format!("{a}.$(({b} + n / 256)).$((n % 256)).0"),
                    }
                }
                IpAddr::V6(to) => {
                    let [a, b, c, d, ..] = to.segments();
                    format!("{a:x}:{b:x}:{c:x}:{d:x}:0:0:$(printf %x $n):0")
                }
            };
            let first = match route.to {
                IpAddr::V4(to) => u32::from(to.octets()[2]),
                IpAddr::V6(to) => u32::from(to.segments()[6]),
            };
            let (last, prefix, via) = (first + route.count - 1, route.prefix, route.via);
            format!("for n in $(seq {first} {last}); do ip route add {to}/{prefix} via {via}; done")
        };
        self.behind(side, networks).into_iter().map(command).collect()
    }

    /// Commands for a Linux device whose ports face these interfaces of the tester; empty if it does not route.
    pub(crate) fn commands(&self, facing: [&str; 2], networks: u16) -> Vec<String> {
        if self.gateways.is_empty() {
            return vec![];
        }
        let at = |side: usize| {
            let device = format!("PORT{}", side + 1);
            let add = self.gateways.iter().map(move |pair| (pair[side], side));
            let add =
                add.map(|((address, length), side)| format!("ip address add {address}/{length} dev PORT{}", side + 1));
            let up = format!("ip link set {device} up    # {device}: the port that faces {}", facing[side]);
            [up].into_iter().chain(add).collect::<Vec<_>>()
        };
        let forward = self.gateways.iter().map(|pair| match pair[0].0 {
            IpAddr::V4(_) => "sysctl -w net.ipv4.ip_forward=1".to_owned(),
            IpAddr::V6(_) => "sysctl -w net.ipv6.conf.all.forwarding=1".to_owned(),
        });
        let behind = (0..2).flat_map(|side| self.commands_behind(side, networks));
        [at(0), at(1), forward.collect(), behind.collect()].concat()
    }
}

/// A closed path through the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DutUnreachable {
    /// The asking end, and the end that its packets should have reached.
    pub(crate) ends: [String; 2],
    /// Requested address.
    pub(crate) to: IpAddr,
    /// The device's address at the asking end's side.
    pub(crate) gateway: IpAddr,
    /// The device's own answer.
    pub(crate) at_gateway: Answer,
    /// The answer from the other end.
    pub(crate) beyond: Answer,
}

impl DutUnreachable {
    /// The IP version.
    pub fn ip(&self) -> IpVersion {
        IpVersion::of(self.to)
    }
}

impl fmt::Display for DutUnreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [from, end] = &self.ends;
        let (to, gateway) = (self.to, self.gateway);
        write!(f, "from endpoint {from} nobody answers at {to} (endpoint {end}): ")?;
        match (self.at_gateway, self.beyond) {
            (Answer::NoHost, _) => write!(
                f,
                "no device has {gateway} at that side; give it this address on the port that faces {from}, set that port up, and see \
                 that it is not the other port's"
            ),
            (_, Answer::NoRoute) => write!(f, "the device answers at {gateway} and has no route to {to}"),
            (_, Answer::NoHost) => write!(
                f,
                "the device answers at {gateway} and does not find {to}; is its port that faces {end} up, with its address there?"
            ),
            _ => write!(
                f,
                "the device is there at {gateway} and nothing comes through it; is forwarding on, does a firewall drop it, and do its \
                 two ports have their addresses?"
            ),
        }
    }
}

/// Parses the parts by their prefixes, like `,via=198.18.0.1/24,198.19.0.1/24,dut=ssh://me@router`.
pub(crate) fn parse(text: &str) -> Result<DutRequest, String> {
    let mut through = DutRequest::default();
    let mut items = text.split(',').filter(|item| !item.is_empty()).peekable();
    while let Some(item) = items.next() {
        match item.split_once('=') {
            None if item == "routed" => through.gateways.extend(DutRequest::routed().gateways),
            Some(("via", first)) => {
                let second = items.next().ok_or("via names two gateways, one for each side")?;
                through.gateways.push(pair(first, second)?);
            }
            Some(("dut", url)) if through.dut.is_none() => through.dut = Some(device(url)?),
            _ => {
                return Err(format!(
                    "\"{item}\" is none of routed, via=GATEWAY1/LENGTH,GATEWAY2/LENGTH and dut=ssh://[USER@]HOST"
                ));
            }
        }
    }
    through.gateways.sort_by_key(|pair| pair[0].0.is_ipv6());
    if through.gateways.windows(2).any(|two| two[0][0].0.is_ipv4() == two[1][0].0.is_ipv4()) {
        return Err("there is one pair of gateways for IPv4, and one for IPv6".to_owned());
    }
    Ok(through)
}

fn ordinary() -> Vec<[Network; 2]> {
    let v4 = |second: u8| (Ipv4Addr::new(198, second, 0, 1).into(), 24);
    let v6 = |subnet: u16| (Ipv6Addr::new(0x2001, 2, 0, subnet, 0, 0, 0, 1).into(), 64);
    vec![[v4(18), v4(19)], [v6(0), v6(1)]]
}

fn pair(first: &str, second: &str) -> Result<[Network; 2], String> {
    let [a, b] = [gateway(first)?, gateway(second)?];
    if a.0.is_ipv4() != b.0.is_ipv4() {
        return Err(format!("the gateways {first} and {second} are of two IP versions"));
    }
    if network(a) == network(b) {
        return Err(format!("the gateways {first} and {second} are in one network; a router stands between two"));
    }
    Ok([a, b])
}

/// A gateway in a network with room for the tester too.
fn gateway(text: &str) -> Result<Network, String> {
    let (gateway, length) = address(text)?;
    let most = if gateway.is_ipv4() { 30 } else { 126 };
    if length > most {
        return Err(format!("the network of {text} has no room for the tester beside the gateway"));
    }
    if gateway.is_multicast() || gateway.is_loopback() || !is_host((gateway, length)) {
        return Err(format!(
            "{text} is no address that a gateway could have: it is its network's own, or for many hosts, or a loopback's"
        ));
    }
    Ok((gateway, length))
}

fn device(url: &str) -> Result<Remote, String> {
    let machine =
        url.strip_prefix(SSH).ok_or("the device under test is reached by ssh: dut=ssh://[USER@]HOST[:PORT]")?;
    remote(machine)
}

/// The network of an address.
fn network((address, length): Network) -> Network {
    match address {
        IpAddr::V4(v4) => (Ipv4Addr::from(u32::from(v4) & mask(u128::from(length), 32) as u32).into(), length),
        IpAddr::V6(v6) => (Ipv6Addr::from(u128::from(v6) & mask(u128::from(length), 128)).into(), length),
    }
}

fn mask(length: u128, bits: u128) -> u128 {
    let ones = if bits == 128 { u128::MAX } else { (1 << bits) - 1 };
    if length == 0 { 0 } else { ones & (ones << (bits - length)) }
}

/// Whether it is neither the network's address nor its last one, the broadcast address.
fn is_host(address: Network) -> bool {
    let place = number(address.0) - number(network(address).0);
    place > 0 && place < hosts(address) - 1
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => u32::from(v4).into(),
        IpAddr::V6(v6) => v6.into(),
    }
}

/// Number of addresses of a network.
fn hosts((address, length): Network) -> u128 {
    let bits = if address.is_ipv4() { 32 } else { 128_u32 };
    1_u128.checked_shl(bits - u32::from(length)).unwrap_or(u128::MAX)
}

/// The address `further` places on in the gateway's network, wrapping around at its end.
fn after(gateway: Network, further: u128) -> IpAddr {
    let first = number(network(gateway).0);
    let place = (number(gateway.0) - first - 1 + further) % (hosts(gateway) - 2) + 1;
    match gateway.0 {
        IpAddr::V4(_) => Ipv4Addr::from((first + place) as u32).into(),
        IpAddr::V6(_) => Ipv6Addr::from(first + place).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> String {
        parse(text).expect_err(text)
    }

    #[test]
    fn a_router_has_the_networks_of_rfc_2544_and_the_tester_is_beside_it() {
        let through = parse(",routed").expect("a router");
        let shown = |side| through.addresses(side, 0).iter().map(|(a, l)| format!("{a}/{l}")).collect::<Vec<_>>();
        assert_eq!(
            (shown(0), shown(1)),
            (
                vec!["198.18.0.2/24".into(), "2001:2::2/64".into()],
                vec!["198.19.0.2/24".into(), "2001:2:0:1::2/64".into()]
            )
        );
        let routes: Vec<_> =
            through.routes(0).iter().map(|it| format!("{}/{} via {}", it.to, it.prefix, it.via)).collect();
        assert_eq!(routes, ["198.19.0.0/24 via 198.18.0.1", "2001:2:0:1::/64 via 2001:2::1"]);
        assert_eq!(through.addresses(0, 1)[0].0.to_string(), "198.18.0.3");
    }

    #[test]
    fn other_gateways_leave_room_for_the_tester() {
        let through = parse(",via=198.18.4.254/24,198.18.5.2/30,dut=ssh://me@router:2222").expect("a router");
        let shown = |side| through.addresses(side, 0)[0].0.to_string();
        assert_eq!((shown(0), shown(1)), ("198.18.4.1".to_owned(), "198.18.5.1".to_owned()));
        let dut = through.dut.as_ref().expect("it is read");
        assert_eq!((dut.destination.as_str(), dut.port), ("me@router", Some(2222)));
        let commands = through.commands(["eth1", "eth2"], 1);
        assert_eq!(commands[0], "ip link set PORT1 up    # PORT1: the port that faces eth1");
        assert_eq!((commands[1].as_str(), commands.len()), ("ip address add 198.18.4.254/24 dev PORT1", 5));
        assert!(parse(",dut=ssh://router").expect("a switch").commands(["a", "b"], 1).is_empty());
    }

    #[test]
    fn routes_to_further_networks_are_commands_of_a_shell() {
        let commands = parse(",routed").expect("a router").commands(["a", "b"], 256);
        assert_eq!(
            commands[commands.len() - 4..],
            [
                "for n in $(seq 1 255); do ip route add 198.18.$n.0/24 via 198.18.0.2; done",
                "for n in $(seq 1 255); do ip route add 2001:2:0:0:0:0:$(printf %x $n):0/112 via 2001:2::2; done",
                "for n in $(seq 1 255); do ip route add 198.19.$n.0/24 via 198.19.0.2; done",
                "for n in $(seq 1 255); do ip route add 2001:2:0:1:0:0:$(printf %x $n):0/112 via 2001:2:0:1::2; done",
            ]
        );
        let other = parse(",via=198.18.4.1/24,198.19.250.1/24").expect("a router").commands(["a", "b"], 256);
        assert!(
            other.last().expect("routes").starts_with("for n in $(seq 251 505); do ip route add 198.$((19 + n / 256))")
        );
    }

    #[test]
    fn what_cannot_be_routed_is_refused() {
        assert!(words(",via=198.18.0.1/24").contains("two gateways"));
        assert!(words(",via=198.18.0.1/24,2001:2::1/64").contains("two IP versions"));
        assert!(words(",via=198.18.0.1/24,198.18.0.9/24").contains("in one network"));
        assert!(words(",via=198.18.0.1/31,198.19.0.1/24").contains("no room"));
        assert!(words(",via=198.18.0.1,198.19.0.1/24").contains("198.18.0.2/24"));
        for nobody in ["198.18.0.0/24", "198.18.0.255/24", "127.0.0.1/8", "224.0.0.1/24", "2001:2::/64", "ff02::1/64"] {
            assert!(words(&format!(",via={nobody},198.19.0.1/24")).contains("no address that a gateway"), "{nobody}");
        }
        assert!(words(",routed,via=198.18.4.1/24,198.19.4.1/24").contains("one pair"));
        assert!(words(",dut=router").contains("reached by ssh"));
        assert!(words(",rooted").contains("\"rooted\" is none of"));
    }
}
