//! Settings of one way of a transfer.

use model::GoodputSpec;

use crate::{Control, Window};

/// Settings of one way of a transfer.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a> {
    pub(super) spec: &'a GoodputSpec,
    /// Cores for its threads; empty where they are not pinned.
    pub(super) cpus: &'a [usize],
    pub(super) control: &'a Control,
    pub(super) window: &'a dyn Window,
}
