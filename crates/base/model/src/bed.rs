//! Place of a run: endpoints and what joins them.

use std::{net::IpAddr, slice};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    network::IpVersion,
    plausible::{self, Checked},
    reading::{OrEmpty, Reading},
    units::Mtu,
};

/// A bed as it stood during the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bed {
    /// Way in which it was made.
    pub kind: BedKind,
    /// Layout, like `lab-router`; empty in beds of earlier versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub layout: String,
    /// Name as given on the command line: `lab`, `ports:eth1,eth2`, or the name of a bed that was brought up before.
    pub name: String,
    /// Whether no real wire or card is involved; every output says so.
    pub simulated: bool,
    /// Parameters of the bed.
    pub privilege: Privilege,
    /// Whether both ends' clocks may be compared.
    pub clocks: ClockRelation,
    /// The program that port agents are started through (`--wrap`), with its arguments; empty for none.
    #[serde(default)]
    pub wrap: Vec<String>,
    /// Properties of a device under test between the ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dut: Option<Dut>,
    /// The ends: the senders, then their common receiver. Of two, the first is the near one.
    pub endpoints: Vec<Endpoint>,
}

crate::json!(Bed);

/// MTU of a bed that is made without another.
const ORDINARY_MTU: Mtu = Mtu(1500);

/// Layout of hosts that are one kernel.
const ONE_KERNEL: &str = "hosts-one-kernel";

/// Layouts of earlier versions whose devices under test are called like them.
const NAMED: [&str; 3] = ["lab-ovs", "lab-xdp-router", "lab-vswitch"];

/// Name of the device under test where ends are named.
pub const DUT: &str = "DUT";

/// A device under test between the ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dut {
    /// Name, where its counters are read; else empty.
    pub machine: String,
    /// Addresses of the router between the ends, IPv4 and IPv6; empty without one.
    pub gateways: Vec<Gateway>,
    /// Cores of its own; empty where it works on those of the ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<usize>,
}

/// An address of a device under test, which an end sends all through that goes to the other side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gateway {
    /// The end.
    pub endpoint: String,
    /// The address.
    pub address: IpAddr,
    /// Length of the prefix of the network that it shares with the end.
    pub prefix: u8,
}

/// Whether a host answered, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// It answered.
    Yes,
    /// Nobody has the address of the next hop, or a router says so of the last one.
    NoHost,
    /// There is no route, here or at a router.
    NoRoute,
    /// Nothing came.
    Nothing,
}

/// Relation of the clocks of the two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "relation", rename_all = "lowercase")]
pub enum ClockRelation {
    /// One clock: the ends are on one machine.
    Same,
    /// Two clocks, compared by messages. Good for starting together, never for one-way delays.
    Estimated {
        /// Largest error of the comparison, in nanoseconds.
        error_ns: u64,
    },
}

/// Way in which a bed is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BedKind {
    /// Network namespaces of this machine: two that a veth pair joins, or several that a bridge joins.
    Lab,
    /// This machine and another one.
    Hosts,
    /// Two ports of this machine, each in its own network namespace, so that packets leave the card.
    Ports,
}

/// Rights of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Privilege {
    /// Root on the machine.
    Root,
    /// Root only within a user namespace of its own.
    UserNamespace,
    /// Neither.
    User,
}

/// One end of a bed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Endpoint {
    /// Short name: `a`, `b`.
    pub name: String,
    /// The machine it is on, by its host name; empty for the one machine that there is.
    #[serde(default)]
    pub machine: String,
    /// The network namespace it lives in; empty for the machine's own.
    pub namespace: String,
    /// Interface.
    pub interface: String,
    /// Driver of the interface.
    #[serde(with = "OrEmpty::<String>")]
    pub driver: Reading<String>,
    /// MTU of the interface.
    pub mtu: Mtu,
    /// Whether nothing of ours runs on its machine, whose own programs take part.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub agentless: bool,
    /// Addresses, IPv4 first.
    pub addresses: Vec<IpAddr>,
    /// Cores of its measuring threads, the most important thread's first; empty if not pinned.
    pub cpus: Vec<usize>,
    /// Why these cores.
    #[serde(default)]
    pub cpus_why: String,
}

/// Ends of a bed: many more than a layout makes.
pub(crate) const ENDS: usize = 1 << 6;

impl Bed {
    /// Whether a stored bed is possible: its ends, their MTUs, and its texts.
    pub fn check(&self) -> Checked {
        plausible::parts(self)?;
        plausible::entries("endpoints", self.endpoints.len(), ENDS)?;
        plausible::each("endpoints", &self.endpoints, |end| plausible::packet("mtu", end.mtu.0))
    }

    /// Whether all ends are on one machine: with the same cores and cards, and one clock.
    pub fn is_one_machine(&self) -> bool {
        self.endpoints.windows(2).all(|ends| ends[0].machine == ends[1].machine)
    }

    /// Layout in one word.
    pub fn layout(&self) -> &str {
        match self.layout.as_str() {
            "" => self.earlier_layout(),
            layout => layout,
        }
    }

    /// The layout of a bed that does not name it: layouts of those versions only.
    fn earlier_layout(&self) -> &'static str {
        let several = self.senders().len() > 1;
        match (self.kind, &self.dut) {
            (BedKind::Lab, _) if several => "lab-switch",
            (BedKind::Lab, Some(dut)) => {
                let named = NAMED.into_iter().find(|layout| layout.strip_prefix("lab-") == Some(&dut.machine));
                named.unwrap_or(if dut.gateways.is_empty() { "lab-bridge" } else { "lab-router" })
            }
            (BedKind::Lab, None) => "lab",
            (BedKind::Hosts, _) if self.simulated => ONE_KERNEL,
            (BedKind::Hosts, _) if several => "hosts-several",
            (BedKind::Hosts, _) => "hosts",
            (BedKind::Ports, _) => "ports",
        }
    }

    /// Marks a bed whose hosts turned out to be one kernel.
    pub fn set_one_kernel(&mut self) {
        self.simulated = true;
        if self.kind == BedKind::Hosts {
            self.layout = ONE_KERNEL.to_owned();
        }
    }

    /// Arguments of `bed up` that make it; `None` for a bed that is made with its run, whose name is a layout.
    pub fn arguments_of_up(&self) -> Option<Vec<String>> {
        if self.name == "lab" || self.name.contains(':') {
            return None;
        }
        let layout = match self.kind {
            BedKind::Lab => self.layout().strip_prefix("lab-").map(|device| format!("lab:{device}")),
            BedKind::Ports => Some(self.ports()),
            BedKind::Hosts => None,
        };
        let mtu = self.endpoints.first().map(|end| end.mtu).filter(|mtu| *mtu != ORDINARY_MTU);
        let options = [("--bed", layout), ("--mtu", mtu.map(|mtu| mtu.0.to_string()))];
        let given = options.into_iter().filter_map(|(option, value)| Some([option.to_owned(), value?]));
        Some([self.name.clone()].into_iter().chain(given.flatten()).collect())
    }

    /// The ports, and the gateways of a router between them.
    fn ports(&self) -> String {
        let interfaces: Vec<&str> = self.endpoints.iter().map(|end| end.interface.as_str()).collect();
        let gateways = |end: Option<&Endpoint>| -> Vec<String> {
            let all = self.dut.iter().flat_map(|dut| &dut.gateways);
            let faced = all.filter(|gateway| end.is_some_and(|end| end.name == gateway.endpoint));
            faced.map(|gateway| format!("{}/{}", gateway.address, gateway.prefix)).collect()
        };
        let pairs = gateways(self.endpoints.first()).into_iter().zip(gateways(self.receiver()));
        let via: String = pairs.map(|(near, far)| format!(",via={near},{far}")).collect();
        format!("ports:{}{via}", interfaces.join(","))
    }

    /// Whether its links are made with it, in the kernel, and not found on the machines.
    pub fn makes_its_links(&self) -> bool {
        self.kind == BedKind::Lab
    }

    /// Whether the MTU is fixed, as between interfaces that the bed made.
    pub fn keeps_mtu(&self) -> bool {
        self.makes_its_links() && (self.dut.is_some() || self.senders().len() > 1)
    }

    /// Senders: all ends but the last.
    pub fn senders(&self) -> &[Endpoint] {
        self.endpoints.split_last().map_or(&[], |(_, senders)| senders)
    }

    /// The end that all others send to; `None` for a bed without ends, which nobody makes.
    pub fn receiver(&self) -> Option<&Endpoint> {
        self.endpoints.last()
    }

    /// Ends on the machine that conducts the run. Of several machines it has one: the first of two ends, or the receiver of several senders.
    pub fn ends_here(&self) -> &[Endpoint] {
        match (self.kind, self.endpoints.as_slice()) {
            (BedKind::Hosts, [near, _]) => slice::from_ref(near),
            (BedKind::Hosts, ends) => ends.last().map_or(&[], slice::from_ref),
            (BedKind::Lab | BedKind::Ports, ends) => ends,
        }
    }

    /// The first core of the device under test that an end has too.
    pub fn core_shared_with_dut(&self) -> Option<usize> {
        let is_of_end = |cpu: &usize| self.endpoints.iter().any(|end| end.cpus.contains(cpu));
        self.dut.iter().flat_map(|dut| dut.cpus.iter().copied()).find(is_of_end)
    }

    /// The first core of one of these ends that is another one's first core too. Each of several machines has cores of its own, if they are
    /// not one kernel.
    pub fn core_shared_by<'e>(&self, ends: impl IntoIterator<Item = &'e Endpoint>) -> Option<usize> {
        let machine = |end: &'e Endpoint| if self.layout == ONE_KERNEL { "" } else { end.machine.as_str() };
        let mut cores = ends.into_iter().filter_map(|end| Some((machine(end), *end.cpus.first()?)));
        let mut seen = Vec::new();
        cores
            .find(|core| {
                seen.contains(core) || {
                    seen.push(*core);
                    false
                }
            })
            .map(|(_, cpu)| cpu)
    }

    /// The end of this name.
    pub fn end(&self, name: &str) -> Option<&Endpoint> {
        self.endpoints.iter().find(|end| end.name == name)
    }
}

impl Endpoint {
    /// Address of this IP version, if it has one.
    pub fn address(&self, ip: IpVersion) -> Option<IpAddr> {
        self.addresses.iter().copied().find(|address| match ip {
            IpVersion::V4 => address.is_ipv4(),
            IpVersion::V6 => address.is_ipv6(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn hosts_that_are_one_kernel_are_not_called_machines() {
        let bed = |simulated| Bed { kind: BedKind::Hosts, simulated, ..fixture::lab() };
        assert_eq!([bed(false).layout(), bed(true).layout()], ["hosts", ONE_KERNEL]);
    }

    #[test]
    fn ends_of_one_machine_or_one_kernel_may_share_their_first_core() {
        let mut bed = fixture::lab();
        for (end, cpus) in bed.endpoints.iter_mut().zip([[1, 0], [1, 2]]) {
            end.cpus = cpus.to_vec();
        }
        let shared = |bed: &Bed| bed.core_shared_by(&bed.endpoints);
        assert_eq!(shared(&bed), Some(1));
        bed.endpoints[0].machine = "host-a".to_owned();
        assert_eq!(shared(&bed), None, "two machines, each with its own core 1");
        bed.kind = BedKind::Hosts;
        bed.set_one_kernel();
        assert!(bed.simulated && shared(&bed) == Some(1));
        bed.endpoints[0].cpus = vec![0, 1];
        assert_eq!(shared(&bed), None);
    }

    fn bed(kind: BedKind, name: &str, dut: Option<Dut>) -> Bed {
        let end = |name: &str, mtu| Endpoint {
            name: name.to_owned(),
            machine: String::new(),
            namespace: String::new(),
            interface: format!("port-{name}"),
            driver: Reading::Absent,
            mtu: Mtu(mtu),
            agentless: false,
            addresses: Vec::new(),
            cpus: Vec::new(),
            cpus_why: String::new(),
        };
        Bed {
            kind,
            layout: String::new(),
            name: name.to_owned(),
            simulated: true,
            privilege: Privilege::Root,
            clocks: ClockRelation::Same,
            wrap: Vec::new(),
            dut,
            endpoints: vec![end("a", 1500), end("b", 1500)],
        }
    }

    #[test]
    fn ends_of_this_machine_are_known_by_their_side() {
        let here = |kind, ends: &[&str]| -> Vec<String> {
            let end = |name: &&str| Endpoint {
                name: (*name).to_owned(),
                machine: "debian".to_owned(),
                ..bed(kind, "x", None).endpoints[0].clone()
            };
            let bed = Bed { endpoints: ends.iter().map(end).collect(), ..bed(kind, "x", None) };
            bed.ends_here().iter().map(|end| end.name.clone()).collect()
        };
        assert_eq!(here(BedKind::Hosts, &["a", "b"]), ["a"]);
        assert_eq!(here(BedKind::Hosts, &["a1", "a2", "b"]), ["b"], "it receives");
        assert_eq!(here(BedKind::Ports, &["a", "b"]), ["a", "b"]);
    }

    #[test]
    fn a_kept_bed_says_how_it_is_made_again() {
        let arguments = |bed: Bed| bed.arguments_of_up().map(|words| words.join(" "));
        for made_with_its_run in ["lab", "lab:router", "ports:eth1,eth2", "hosts:ssh://far?dev=eth1"] {
            assert_eq!(arguments(bed(BedKind::Lab, made_with_its_run, None)), None);
        }
        let kept = |kind, dut| arguments(bed(kind, "rack", dut)).expect("it is kept");
        assert_eq!(kept(BedKind::Lab, None), "rack");
        let bridge = Dut { machine: "bridge".to_owned(), ..Dut::default() };
        assert_eq!(kept(BedKind::Lab, Some(bridge)), "rack --bed lab:bridge");
        let gateway = |endpoint: &str, address: &str, prefix| Gateway {
            endpoint: endpoint.to_owned(),
            address: address.parse().expect("an address"),
            prefix,
        };
        let gateways = vec![
            gateway("a", "198.18.4.1", 24),
            gateway("a", "2001:2::1", 64),
            gateway("b", "198.18.5.1", 30),
            gateway("b", "2001:2:0:1::1", 64),
        ];
        let router = Dut { gateways, ..Dut::default() };
        assert_eq!(kept(BedKind::Lab, Some(router.clone())), "rack --bed lab:router");
        let behind_switches = Dut { machine: "vswitch".to_owned(), ..router.clone() };
        assert_eq!(kept(BedKind::Lab, Some(behind_switches)), "rack --bed lab:vswitch");
        let routed = "rack --bed ports:port-a,port-b,via=198.18.4.1/24,198.18.5.1/30,via=2001:2::1/64,2001:2:0:1::1/64";
        assert_eq!(kept(BedKind::Ports, Some(router)), routed);
        let mut jumbo = bed(BedKind::Ports, "rack", None);
        jumbo.endpoints.iter_mut().for_each(|end| end.mtu = Mtu(9000));
        assert_eq!(arguments(jumbo).as_deref(), Some("rack --bed ports:port-a,port-b --mtu 9000"));
    }

    #[test]
    fn a_device_shares_a_core_with_an_end_or_has_its_own() {
        let mut bed = bed(BedKind::Lab, "lab:router", Some(Dut { cpus: vec![3, 1], ..Dut::default() }));
        (bed.endpoints[0].cpus, bed.endpoints[1].cpus) = (vec![0], vec![2]);
        assert_eq!(bed.core_shared_with_dut(), None);
        bed.endpoints[1].cpus.push(1);
        assert_eq!(bed.core_shared_with_dut(), Some(1));
        bed.dut = None;
        assert_eq!(bed.core_shared_with_dut(), None);
    }
}
