//! BPF programs that outlive their process.

use std::path::PathBuf;

use derive_more::Display;
use serde::{Deserialize, Serialize};

/// BPF programs kept by files in a new folder of a BPF file system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[display("programs kept in {}", folder.display())]
pub struct PinnedPrograms {
    /// Namespace of the interfaces that they are attached to.
    pub namespace: String,
    /// The folder.
    pub folder: PathBuf,
}
