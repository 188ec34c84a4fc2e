//! Where a run happened: endpoints and what joins them.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{probe::IpVersion, units::Mtu};

/// A bed as it stood during the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bed {
    /// How it was made.
    pub kind: BedKind,
    /// As given on the command line: `lab`, or the name of a bed that was brought up before.
    pub name: String,
    /// Whether no real wire or card is involved; every output says so.
    pub simulated: bool,
    /// What it was made with.
    pub privilege: Privilege,
    /// The two ends, the sending one first.
    pub endpoints: Vec<Endpoint>,
}

/// How a bed is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BedKind {
    /// Two network namespaces of this machine, joined by one veth pair.
    Lab,
}

/// What the program was allowed to do.
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
    /// The network namespace it lives in.
    pub namespace: String,
    /// Its interface.
    pub interface: String,
    /// Driver of the interface.
    pub driver: String,
    /// MTU of the interface.
    pub mtu: Mtu,
    /// Its addresses, IPv4 first.
    pub addresses: Vec<IpAddr>,
    /// The core its measuring threads are pinned to.
    pub cpu: Option<usize>,
}

impl Endpoint {
    /// Its address of this IP version, if it has one.
    pub fn address(&self, ip: IpVersion) -> Option<IpAddr> {
        self.addresses.iter().copied().find(|address| match ip {
            IpVersion::V4 => address.is_ipv4(),
            IpVersion::V6 => address.is_ipv6(),
        })
    }
}
