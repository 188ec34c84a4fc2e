//! Searches that cannot be made.

use model::search::{Goal, GoalError, check_goals, least_load};

/// A search that cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SearchError {
    /// The goals cannot be searched for.
    #[error(transparent)]
    Goals(#[from] GoalError),
    /// There is no load between these.
    #[error("there is no load from {min} to {max}; name the lowest one first, and more than 0")]
    Loads {
        /// Lowest load.
        min: u64,
        /// Highest load.
        max: u64,
    },
    /// At the lowest load, whole units are coarser than the width of a goal.
    #[error("the lowest load is too low for the width of a goal; begin at {least} or more, or ask for a larger width")]
    MinTooLow {
        /// Lowest load that is not too low.
        least: u64,
    },
}

/// Whether these goals can be searched for between these loads.
pub(super) fn check(goals: &[Goal], min: u64, max: u64) -> Result<(), SearchError> {
    check_goals(goals)?;
    if min == 0 || min > max {
        return Err(SearchError::Loads { min, max });
    }
    let least = least_load(goals);
    if min < least { Err(SearchError::MinTooLow { least }) } else { Ok(()) }
}
