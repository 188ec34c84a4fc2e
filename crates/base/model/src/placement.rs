//! The cores of a machine: what bears on where the ends of a measurement should sit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reading::Reading;

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
    /// Number.
    pub cpu: usize,
    /// NUMA node.
    pub node: Option<usize>,
    /// Threads of the same physical core (SMT), itself among them; absent where the kernel does not know of any.
    pub siblings: Reading<Vec<usize>>,
}

impl CoreFacts {
    /// Whether one of these is a thread of the same physical core. Where its siblings could not be read, each may be one.
    pub fn may_be_sibling(&self, cpus: &[usize]) -> bool {
        match &self.siblings {
            Reading::Known(siblings) => cpus.iter().any(|cpu| siblings.contains(cpu)),
            Reading::Absent => cpus.contains(&self.cpu),
            Reading::Unreadable { .. } => true,
        }
    }
}

/// Place of a network card.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CardFacts {
    /// The NUMA node it is connected to, where the firmware says.
    pub node: Option<usize>,
    /// Cores that take its interrupts, ascending.
    pub interrupts: Vec<usize>,
}
