//! The cores of a machine: what bears on where the ends of a measurement should sit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The cores of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuFacts {
    /// Cores that this program runs on if nobody pins it, ascending.
    pub allowed: Vec<usize>,
    /// Cores online and isolated (`isolcpus`): only pinned threads run there.
    pub isolated: Vec<usize>,
    /// Cores without a timer tick while one program runs (`nohz_full`).
    pub nohz_full: Vec<usize>,
    /// Each core that is online.
    pub cores: Vec<CoreFacts>,
    /// The card of the measured path; `None` for a virtual interface.
    pub card: Option<CardFacts>,
}

/// One core: one hardware thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoreFacts {
    /// Its number.
    pub cpu: usize,
    /// Its NUMA node.
    pub node: Option<usize>,
    /// Threads of the same physical core (SMT), itself among them.
    pub siblings: Vec<usize>,
}

/// Where a network card is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CardFacts {
    /// The NUMA node it is connected to, where the firmware says.
    pub node: Option<usize>,
    /// Cores that take its interrupts, ascending.
    pub interrupts: Vec<usize>,
}
