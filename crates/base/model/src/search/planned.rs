//! Searches that a plan asks for.

use super::Goal;
use crate::choice::choice;

choice!(
    /// A way to search for the highest load that meets a goal.
    SearchMethod, "a search", {
        /// MLRsearch (RFC 9971).
        Mlr = "mlr",
        /// Halving.
        Binary = "binary",
    }
);

/// A search as a plan asks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedSearch {
    /// The way.
    pub method: SearchMethod,
    /// Goals that it has together; of halving the first one alone.
    pub goals: Vec<Goal>,
    /// Lowest load.
    pub min: u64,
    /// Highest load.
    pub max: u64,
}

/// Lowest load from which the widths of these goals have room for two whole loads, wherever they are rounded to.
pub fn least_load(goals: &[Goal]) -> u64 {
    goals.iter().map(|goal| (2.0 / goal.width.0).ceil() as u64).max().unwrap_or_default()
}
