//! One of the two directions between the sides of a probe.

/// Direction of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DataDirection {
    /// From the near side to the far one.
    Forward,
    /// From the far side to the near one.
    Reverse,
}
