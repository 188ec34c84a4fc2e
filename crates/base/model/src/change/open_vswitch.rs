//! Open vSwitch with daemons of its own.

use std::path::PathBuf;

use derive_more::Display;
use serde::{Deserialize, Serialize};

use super::At;

/// A bridge of Open vSwitch that forwards in its daemon (datapath `netdev`). Daemons, database and sockets are apart from those of the
/// machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[display("Open vSwitch {} of {}, with daemons in {}", At(namespace, interface), ports.join(", "), folder.display())]
pub struct OpenVswitch {
    /// Namespace of its interfaces, in which the daemons run.
    pub namespace: String,
    /// The bridge.
    pub interface: String,
    /// The interfaces that it joins.
    pub ports: Vec<String>,
    /// New folder for database and sockets.
    pub folder: PathBuf,
    /// Cores of the daemons; empty for any.
    pub cpus: Vec<usize>,
}
