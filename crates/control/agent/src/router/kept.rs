//! Routers that outlive their process.

use std::path::{Path, PathBuf};

use kernel::namespace;
use model::Router;
use serde::{Deserialize, Serialize};

use super::{described, errors::RouterError, owner, ports::Port};

/// Mount point of the BPF file system.
const BPF: &str = "/sys/fs/bpf";

/// A kept router, as the ledger has it.
#[derive(Serialize, Deserialize)]
pub(super) struct Kept {
    /// The folder of its programs.
    pub(super) folder: PathBuf,
    pub(super) ports: Vec<Port>,
}

impl Kept {
    /// The router with its counters.
    pub(super) fn described(&self) -> Result<Router, RouterError> {
        let places: Vec<u32> = self.ports.iter().map(|port| port.place).collect();
        Ok(described(None, &self.ports, xdp::router::pinned_counters(&self.folder, &places)?))
    }
}

/// The folder for the programs of this namespace's router.
pub(super) fn folder() -> Result<PathBuf, RouterError> {
    if !namespace::is_bpf(BPF) {
        return Err(RouterError::NoBpfFolder(BPF));
    }
    Ok(Path::new(BPF).join("wireproof").join(owner()?))
}

/// The router that was kept in this namespace, if any.
pub(super) fn read() -> Result<Option<Kept>, RouterError> {
    let own = owner()?;
    Ok(ledger::kept(ledger::directory(), |owner| owner == own)?.pop())
}
