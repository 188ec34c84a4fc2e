//! What is written after `--bed`.

use std::{fmt, str::FromStr};

use crate::{
    hosts::{Hosts, HostsReferenceError},
    through::{self, Through},
};

/// A bed to make for this run, or one that stands already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BedRef {
    /// Two namespaces and a veth pair, made for this run.
    Lab,
    /// So many senders and a receiver, namespaces that a bridge joins, made for this run.
    Senders(usize),
    /// Two ports of this machine, taken for this run.
    Ports(Box<TwoPorts>),
    /// A bed that `bed up` made.
    Named(String),
    /// This machine and another one.
    Hosts(Box<Hosts>),
}

/// Two ports of this machine, as asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TwoPorts {
    /// As it was written, without spaces.
    text: String,
    /// Their names.
    pub(crate) names: [String; 2],
    /// What stands between.
    pub(crate) through: Through,
}

/// Text that names no bed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// A kind of bed that this version cannot make.
    #[error(
        "this version has no bed \"{0}\"; use lab (two namespaces on this machine), lab:senders=N (several of them that send to one), ports:IF1,IF2 (two of its ports), \
         hosts:ssh://[USER@]HOST?dev=INTERFACE (this machine and another one), or the name of a bed made with \"wireproof \
         bed up NAME\""
    )]
    Unknown(String),
    /// Senders that cannot be counted.
    #[error("\"{0}\": a lab has 2 to {MOST_SENDERS} senders; write lab:senders=2, or lab for one")]
    SenderCount(String),
    /// Ports that are not two.
    #[error("\"{0}\" does not name two ports; write ports:IF1,IF2, like ports:eth1,eth2 (\"ip link\" lists them)")]
    NotTwoPorts(String),
    /// What stands between the ports cannot be read.
    #[error("\"{text}\": {why}")]
    Through {
        /// The reference.
        text: String,
        /// What is wrong.
        why: String,
    },
    /// One port named twice.
    #[error("\"{0}\" names one port twice; a bed is between two ports that a cable joins")]
    SamePort(String),
    /// A name that no interface has.
    #[error("\"{0}\" cannot be the name of an interface: those have 1 to 15 bytes, and no space, \"/\" or \":\"")]
    PortName(String),
    /// Not a name.
    #[error("\"{0}\" cannot name a bed: use 1 to 20 of a-z, 0-9 and -, beginning with a letter, and not \"lab\"")]
    Name(String),
    /// Not two machines.
    #[error(transparent)]
    Hosts(#[from] HostsReferenceError),
}

/// Namespace names made from it stay short enough to read, and its ledger file needs no quoting.
const LONGEST_NAME: usize = 20;

const PORTS: &str = "ports:";

const SENDERS: &str = "lab:senders=";

/// Senders of a lab: more than most machines have cores for.
const MOST_SENDERS: usize = 16;

fn senders_of(text: &str) -> Result<BedRef, ReferenceError> {
    let count = text[SENDERS.len()..].parse().ok().filter(|count| (2..=MOST_SENDERS).contains(count));
    count.map(BedRef::Senders).ok_or_else(|| ReferenceError::SenderCount(text.to_owned()))
}

/// Longest name of an interface: IFNAMSIZ of linux/if.h without the zero at its end.
const LONGEST_PORT_NAME: usize = 15;

fn ports_of(text: &str) -> Result<BedRef, ReferenceError> {
    let items: Vec<&str> = text[PORTS.len()..].split(',').map(str::trim).collect();
    let text = format!("{PORTS}{}", items.join(","));
    let [a, b, parts @ ..] = items.as_slice() else { return Err(ReferenceError::NotTwoPorts(text)) };
    let fits = |name: &str| {
        (1..=LONGEST_PORT_NAME).contains(&name.len()) && !name.contains(|c: char| c.is_whitespace() || "/:".contains(c))
    };
    match [*a, *b].into_iter().find(|name| !fits(name)) {
        Some("") => return Err(ReferenceError::NotTwoPorts(text.clone())),
        Some(name) => return Err(ReferenceError::PortName(name.to_owned())),
        None if a == b => return Err(ReferenceError::SamePort(text.clone())),
        None => {}
    }
    let through =
        through::parse(&parts.join(",")).map_err(|why| ReferenceError::Through { text: text.clone(), why })?;
    let names = [(*a).to_owned(), (*b).to_owned()];
    Ok(BedRef::Ports(Box::new(TwoPorts { text, names, through })))
}

impl BedRef {
    /// What stands between its ends, as far as it is asked for; `None` for a bed that has nothing there.
    pub fn through(&self) -> Option<&Through> {
        let through = match self {
            Self::Ports(ports) => &ports.through,
            Self::Hosts(hosts) => &hosts.through,
            Self::Lab | Self::Senders(_) | Self::Named(_) => return None,
        };
        (!through.is_nothing()).then_some(through)
    }

    /// What to set on a device under test that runs Linux, before anything is measured; empty where it needs nothing.
    pub fn commands_for_dut(&self) -> Vec<String> {
        match self {
            Self::Ports(ports) => ports.through.commands([&ports.names[0], &ports.names[1]]),
            Self::Hosts(hosts) => hosts.commands_for_dut(),
            Self::Lab | Self::Senders(_) | Self::Named(_) => vec![],
        }
    }

    /// How many of its ends send to the last one.
    pub fn senders(&self) -> usize {
        match self {
            Self::Hosts(hosts) => hosts.far.len(),
            Self::Senders(count) => *count,
            Self::Lab | Self::Ports(_) | Self::Named(_) => 1,
        }
    }

    /// A name for a bed that is to be kept.
    pub fn check_name(name: &str) -> Result<(), ReferenceError> {
        let fits = name.len() <= LONGEST_NAME
            && name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
            && name != "lab";
        if fits { Ok(()) } else { Err(ReferenceError::Name(name.to_owned())) }
    }
}

impl FromStr for BedRef {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, ReferenceError> {
        match text {
            "lab" => Ok(Self::Lab),
            senders if senders.starts_with(SENDERS) => senders_of(senders),
            hosts if hosts.starts_with(Hosts::SCHEME) => Ok(Self::Hosts(Box::new(hosts.parse()?))),
            ports if ports.starts_with(PORTS) => ports_of(ports),
            kind if kind.contains(':') => Err(ReferenceError::Unknown(kind.to_owned())),
            name => Self::check_name(name).map(|()| Self::Named(name.to_owned())),
        }
    }
}

impl fmt::Display for BedRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lab => f.write_str("lab"),
            Self::Senders(count) => write!(f, "{SENDERS}{count}"),
            Self::Ports(ports) => f.write_str(&ports.text),
            Self::Named(name) => f.write_str(name),
            Self::Hosts(hosts) => hosts.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beds_are_named_or_made() {
        assert_eq!("lab".parse(), Ok(BedRef::Lab));
        let senders: BedRef = "lab:senders=3".parse().expect("a lab");
        assert_eq!((senders.senders(), senders.to_string().as_str()), (3, "lab:senders=3"));
        for wrong in ["0", "1", "17", "99", "two", "", "-2", "2,3"] {
            let error = format!("lab:senders={wrong}").parse::<BedRef>().expect_err(wrong).to_string();
            assert!(error.contains("2 to 16 senders"), "{error}");
        }
        assert_eq!("rack-7".parse(), Ok(BedRef::Named("rack-7".into())));
        assert!(matches!("rack:7".parse::<BedRef>(), Err(ReferenceError::Unknown(_))));
        for wrong in ["", "7rack", "Rack", "a/b", "a b", "far-too-long-a-name-for-a-bed"] {
            assert!(matches!(wrong.parse::<BedRef>(), Err(ReferenceError::Name(_))), "{wrong}");
        }
    }

    #[test]
    fn ports_are_two_that_differ() {
        let two: BedRef = "ports: enp1s0f0, enp1s0f1".parse().expect("two ports");
        assert_eq!((two.to_string().as_str(), two.through()), ("ports:enp1s0f0,enp1s0f1", None));
        let routed: BedRef = "ports:eth1,eth2,routed,dut=ssh://me@router".parse().expect("two ports");
        assert!(routed.through().is_some() && !routed.commands_for_dut().is_empty());
        assert_eq!(routed.to_string(), "ports:eth1,eth2,routed,dut=ssh://me@router");
        let third = "ports:eth1,eth2,eth3".parse::<BedRef>().expect_err("a third").to_string();
        assert!(third.contains("\"eth3\" is none of routed, via="), "{third}");
        for wrong in ["ports:", "ports:eth1", "ports:eth1,", "ports:,eth1"] {
            assert!(matches!(wrong.parse::<BedRef>(), Err(ReferenceError::NotTwoPorts(_))), "{wrong}");
        }
        assert!(matches!("ports:eth1,eth1".parse::<BedRef>(), Err(ReferenceError::SamePort(_))));
        for wrong in ["ports:eth1,far-too-long-a-name", "ports:a/b,eth1", "ports:a b,eth1"] {
            assert!(matches!(wrong.parse::<BedRef>(), Err(ReferenceError::PortName(_))), "{wrong}");
        }
    }
}
