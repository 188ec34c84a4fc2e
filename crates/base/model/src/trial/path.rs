//! Figures of a path MTU search.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Measures;
use crate::{
    figure::{Figure, Metric},
    plausible::{
        Checked, ENTRIES, Within, count, each, entries, in_order, no_more_than, optional_packet, packet, text,
        within_trial,
    },
    probe::PathSpec,
    units::{Mtu, Nanos},
};

/// Largest packet that passes, each way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathResult {
    /// From the near side to the far side.
    pub forward: Leg,
    /// From the far side to the near side.
    pub reverse: Leg,
    /// Devices at both ends that the packets go through.
    pub devices: Vec<PathDevice>,
    /// Packets that were sent, both ways, those sent again included.
    pub packets: u64,
    /// Each hop from the near to the far side, in order, where these were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hops: Vec<Hop>,
}

/// Answers to packets that expire at one hop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hop {
    /// Counts from 1; the last hop is the far end.
    pub number: u8,
    /// Addresses that answered: several where packets take several ways, none where nothing answered.
    pub addresses: Vec<IpAddr>,
    /// Packets sent.
    pub sent: u32,
    /// Packets answered.
    pub answered: u32,
    /// Round-trip times; null without an answer.
    pub times: Option<HopTimes>,
}

/// Round-trip times to a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HopTimes {
    /// The shortest.
    pub shortest: Nanos,
    /// Half of the answers came sooner.
    pub median: Nanos,
    /// The longest.
    pub longest: Nanos,
}

impl Measures for PathSpec {
    type Result = PathResult;

    /// Zero where no packet passes.
    fn figures(&self, result: &PathResult, _far: &str) -> Vec<Figure> {
        let passes = |leg: &Leg| leg.mtu.map_or(0, |mtu| mtu.0);
        let both_ways = passes(&result.forward).min(passes(&result.reverse));
        Figure::known(Metric::PathMtu, Some(both_ways.into())).into_iter().collect()
    }

    fn passed(&self, result: &PathResult) -> Option<[Option<Mtu>; 2]> {
        Some([result.forward.mtu, result.reverse.mtu])
    }

    fn check(&self, result: &PathResult, seconds: f64) -> Checked {
        optional_packet("spec.mtu", self.mtu.map(|mtu| mtu.0))?;
        check(result)?;
        let lasted = seconds + self.timeout.as_secs_f64();
        each("hops", &result.hops, |hop| {
            let longest = hop.times.map_or(0.0, |times| times.longest.as_secs_f64());
            within_trial("times.longest", longest, lasted)
        })
    }
}

/// One direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Leg {
    /// The largest IP packet that passed, in bytes; null when none did.
    pub mtu: Option<Mtu>,
    /// Why one byte more does not pass.
    pub refusal: Refusal,
    /// Routers on the way, from the TTL of received packets; null if none arrived.
    pub routers: Option<u8>,
}

/// Why a larger packet does not pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum Refusal {
    /// There is no larger IP packet.
    Largest,
    /// The sending end's own interface takes nothing larger.
    Interface,
    /// A router said so (ICMP fragmentation needed, ICMPv6 packet too big), and packets of that size really do not pass.
    TooBig {
        /// The router.
        by: IpAddr,
        /// The MTU that it named.
        mtu: Mtu,
    },
    /// Nobody says anything.
    Silent {
        /// The last router that large packets reach, found by packets that expire there; null where none tells.
        last_router: Option<IpAddr>,
        /// Whether routers tell of expired packets at all; null when there is none on the way.
        routers_answer: Option<bool>,
    },
}

/// A device that packets of the path go through, at one of the ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathDevice {
    /// The end it is at.
    pub host: String,
    /// Name.
    pub name: String,
    /// Kind, as `ip -d link` names it (veth, bridge, vlan, …); empty for a plain card.
    pub kind: String,
    /// MTU.
    pub mtu: Mtu,
    /// The bridge or bond it belongs to.
    pub master: Option<String>,
    /// Whether the path's packets really go through it; a sister port of the same bridge does not carry them.
    pub on_path: bool,
}

/// Whether the result of the near side is possible.
pub(super) fn check(result: &PathResult) -> Checked {
    count("packets", result.packets)?;
    leg(&result.forward).within("forward")?;
    leg(&result.reverse).within("reverse")?;
    each("devices", &result.devices, check_device)?;
    each("hops", &result.hops, hop)
}

fn leg(leg: &Leg) -> Checked {
    optional_packet("mtu", leg.mtu.map(|mtu| mtu.0))
}

pub(super) fn check_device(device: &PathDevice) -> Checked {
    text("host", &device.host)?;
    text("name", &device.name)?;
    text("kind", &device.kind)?;
    packet("mtu", device.mtu.0)
}

fn hop(hop: &Hop) -> Checked {
    entries("addresses", hop.addresses.len(), ENTRIES)?;
    no_more_than("answered", hop.answered.into(), "sent", hop.sent.into())?;
    let Some(times) = hop.times else { return Ok(()) };
    let steps = [("shortest", times.shortest.0), ("median", times.median.0), ("longest", times.longest.0)];
    in_order(&steps).within("times")
}
