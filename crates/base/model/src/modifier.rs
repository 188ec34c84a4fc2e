//! Modifiers of tests of RFC 2544 (section 11): conditions under which a whole test is made again.

use crate::{choice::choice, units::Nanos};

choice!(
    /// A condition under which a test of a device is made again.
    Modifier, "a modifier", {
        /// Frames to the hardware broadcast address beside the test frames, one for each hundred of them (11.1).
        Broadcast = "broadcast",
        /// One filter at the device, which lets the test frames pass (11.4).
        OneFilter = "1-filter",
        /// 25 filters at the device: 24 that no test frame matches, and one that lets the test frames pass (11.4).
        ManyFilters = "25-filters",
        /// Routes at the device, to addresses that no test frame has, are deleted and added during the trials (11.3).
        RouteUpdates = "route-updates",
    }
);

/// Routes that are deleted or added at a time.
pub const UPDATED_ROUTES: u32 = 64;
/// Time between two updates of these routes.
pub const UPDATE_EVERY: Nanos = Nanos::from_millis(100);

impl Modifier {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Broadcast, Self::OneFilter, Self::ManyFilters, Self::RouteUpdates];

    /// Number of filters at the device; `None` for a modifier without filters.
    pub fn filters(self) -> Option<u32> {
        match self {
            Self::Broadcast | Self::RouteUpdates => None,
            Self::OneFilter => Some(1),
            Self::ManyFilters => Some(25),
        }
    }
}
