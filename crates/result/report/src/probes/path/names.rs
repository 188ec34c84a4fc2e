//! Names of path configurations.

use model::PathSpec;

use crate::{show::joined, texts::Texts};

/// A path configuration.
pub(super) fn configuration(spec: &PathSpec, t: &Texts) -> String {
    let mtu = spec.mtu.map(|mtu| format!("MTU {}", mtu.0));
    joined([t.with("path-of", &[("ip", &spec.ip)])].into_iter().chain(mtu), t)
}
