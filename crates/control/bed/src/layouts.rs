//! The layouts, and their names for `--bed`. A new one is a file here and a line of [`LAYOUTS`]; one whose device needs its agent,
//! also a line of [`DEVICES`].

mod bridge;
mod hosts;
mod kept;
mod lab;
mod nics;
mod ovs;
mod router;
mod testers;
mod vswitch;

use std::str::FromStr;

use model::nearest::did_you_mean;
use protocol::Request;

pub(crate) use self::nics::why_not;
pub use self::{hosts::HostsReferenceError, kept::check_name};
use crate::wanted::BedRef;

/// A bed or an error; `None` if the text names another layout.
type Parsed = Option<Result<BedRef, ReferenceError>>;

/// Names of a layout, or their beginnings, its usage, and its parser.
type Entry = (&'static [&'static str], &'static str, fn(&str) -> Parsed);

const LAYOUTS: [Entry; 7] = [
    (&["lab"], lab::USAGE, lab::parse),
    (&["lab:senders=", "lab:bridge"], bridge::USAGE, bridge::parse),
    (&["lab:router", "lab:xdp-router"], router::USAGE, router::parse),
    (&["lab:vswitch"], vswitch::USAGE, vswitch::parse),
    (&["lab:ovs"], ovs::USAGE, ovs::parse),
    (&["ports:"], nics::USAGE, nics::parse),
    (&["hosts:ssh://"], hosts::USAGE, hosts::parse),
];

/// Names of all layouts; of those whose name goes on, the beginning.
pub fn layout_names() -> impl Iterator<Item = &'static str> {
    LAYOUTS.into_iter().flat_map(|(names, ..)| names.iter().copied())
}

/// Special needs of a lab's device under test.
pub(crate) struct Device {
    layout: &'static str,
    /// Work of its agent at the interfaces that face the ends.
    pub(crate) request: Option<fn(Vec<String>) -> Request>,
    /// Whether packets are counted at all of its interfaces, and not only at those that face the ends.
    pub(crate) counts_all: bool,
    /// Whether filters of nftables see what it forwards.
    pub(crate) has_filters: bool,
    /// Whether it forwards by routes of the kernel.
    pub(crate) has_routes: bool,
}

/// A device without special needs.
const PLAIN_DEVICE: Device =
    Device { layout: "", request: None, counts_all: false, has_filters: false, has_routes: false };

const DEVICES: [Device; 5] = [bridge::DEVICE, ovs::DEVICE, router::DEVICE, router::KERNEL_DEVICE, vswitch::DEVICE];

/// The needs of the device under test of this layout.
pub(crate) fn device(layout: &str) -> Device {
    DEVICES.into_iter().find(|device| device.layout == layout).unwrap_or(PLAIN_DEVICE)
}

/// A text that names no bed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// A layout unknown to this version.
    #[error(
        "this version has no bed \"{text}\"; use {}, or the name of a bed made with \"wireproof bed up NAME\"{}",
        usages(),
        did_you_mean(text, layout_names())
    )]
    Unknown {
        /// The requested layout.
        text: String,
    },
    /// An invalid number of senders.
    #[error("\"{0}\": a lab has 2 to 16 senders; write lab:senders=2, or lab for one")]
    SenderCount(String),
    /// Not exactly two NICs.
    #[error("\"{0}\" does not name two ports; write ports:IF1,IF2, like ports:eth1,eth2 (\"ip link\" lists them)")]
    NotTwoNics(String),
    /// An invalid device under test between the NICs.
    #[error("\"{text}\": {why}")]
    DutRequest {
        /// The reference.
        text: String,
        /// The problem.
        why: String,
    },
    /// One NIC named twice.
    #[error("\"{0}\" names one port twice; a bed is between two ports that a cable joins")]
    SameNic(String),
    /// An invalid interface name.
    #[error("\"{0}\" cannot be the name of an interface: those have 1 to 15 bytes, and no space, \"/\" or \":\"")]
    NicName(String),
    /// An invalid name.
    #[error("\"{0}\" cannot name a bed: use 1 to 20 of a-z, 0-9 and -, beginning with a letter, and not \"lab\"")]
    Name(String),
    /// An invalid list of machines.
    #[error(transparent)]
    Hosts(#[from] HostsReferenceError),
}

fn usages() -> String {
    LAYOUTS.map(|(_, usage, _)| usage).join(", ")
}

impl BedRef {
    /// Two namespaces of this machine.
    pub fn lab() -> Self {
        lab::bed()
    }
}

impl FromStr for BedRef {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, ReferenceError> {
        match LAYOUTS.iter().find_map(|(_, _, parse)| parse(text)) {
            Some(parsed) => parsed,
            None if text.contains(':') => Err(ReferenceError::Unknown { text: text.to_owned() }),
            None => kept::parse(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{changes::changes, topology::Topology, wanted::Rights};

    /// The changes for a bed on this machine, in words.
    pub(super) fn changes_of(topology: &Topology) -> Vec<String> {
        changes(topology, "").iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_name_of_a_layout_is_one() {
        for (names, _, parse) in LAYOUTS {
            for name in names {
                let whole = if name.ends_with('=') { format!("{name}2") } else { (*name).to_owned() };
                assert!(parse(&whole).is_some(), "{name}");
            }
        }
    }

    #[test]
    fn beds_are_named_or_made() {
        let parse = |text: &str| text.parse::<BedRef>();
        assert!(parse("lab").is_ok_and(|lab| lab.is_made_here()));
        let senders = parse("lab:senders=3").expect("a lab");
        assert_eq!((senders.senders(), senders.to_string().as_str()), (3, "lab:senders=3"));
        for wrong in ["0", "1", "17", "99", "two", "", "-2", "2,3"] {
            let error = parse(&format!("lab:senders={wrong}")).expect_err(wrong).to_string();
            assert!(error.contains("2 to 16 senders"), "{error}");
        }
        let kept = parse("rack-7").expect("a name");
        assert!(!kept.is_made_here() && kept.rights() == Rights::Root("bed \"rack-7\" belongs to root".into()));
        let unknown = parse("rack:7").expect_err("no such layout").to_string();
        assert!(unknown.contains("use lab (two namespaces on this machine), lab:senders=N"), "{unknown}");
        let near = parse("lab:brige").expect_err("no such layout").to_string();
        assert!(near.ends_with("; did you mean lab:bridge?"), "{near}");
        for wrong in ["", "7rack", "Rack", "a/b", "a b", "far-too-long-a-name-for-a-bed"] {
            assert!(matches!(parse(wrong), Err(ReferenceError::Name(_))), "{wrong}");
        }
    }

    #[test]
    fn beds_of_this_machine_stay_and_the_others_say_what_to_do() {
        let can_stay = |text: &str| text.parse::<BedRef>().expect(text).can_stay();
        for stays in ["lab", "lab:bridge", "lab:router", "lab:vswitch", "ports:eth1,eth2", "ports:eth1,eth2,routed"] {
            assert_eq!(can_stay(stays), Ok(()), "{stays}");
        }
        for (anew, instead) in [
            ("lab:senders=3", "made anew for each run: measure with --bed lab:senders=3"),
            ("ports:eth1,eth2,dut=ssh://router", "leave it out here, or measure with this --bed"),
        ] {
            let why = can_stay(anew).expect_err(anew);
            assert!(why.ends_with(instead), "{why}");
        }
        let hosts = can_stay("hosts:ssh://far?dev=eth1").expect_err("two machines");
        let stays = "is made of \"lab\", \"lab:bridge\", \"lab:router\", \"lab:vswitch\" or \"ports:IF1,IF2\"";
        assert!(hosts.ends_with(stays), "{hosts}");
    }

    #[test]
    fn nics_are_two_that_differ() {
        let parse = |text: &str| text.parse::<BedRef>();
        let two = parse("ports: enp1s0f0, enp1s0f1").expect("two NICs");
        assert_eq!((two.to_string().as_str(), two.layout().through()), ("ports:enp1s0f0,enp1s0f1", None));
        let routed = parse("ports:eth1,eth2,routed,dut=ssh://me@router").expect("two NICs");
        assert!(routed.layout().through().is_some() && !routed.commands_for_dut(1).is_empty());
        assert_eq!(routed.to_string(), "ports:eth1,eth2,routed,dut=ssh://me@router");
        let third = parse("ports:eth1,eth2,eth3").expect_err("a third").to_string();
        assert!(third.contains("\"eth3\" is none of routed, via="), "{third}");
        for wrong in ["ports:", "ports:eth1", "ports:eth1,", "ports:,eth1"] {
            assert!(matches!(parse(wrong), Err(ReferenceError::NotTwoNics(_))), "{wrong}");
        }
        assert!(matches!(parse("ports:eth1,eth1"), Err(ReferenceError::SameNic(_))));
        for wrong in ["ports:eth1,far-too-long-a-name", "ports:a/b,eth1", "ports:a b,eth1"] {
            assert!(matches!(parse(wrong), Err(ReferenceError::NicName(_))), "{wrong}");
        }
    }
}
