//! Histograms, percentiles a sample supports, and intervals.
//!
//! This crate is pure: it takes values and returns values.

mod histogram;
mod interval;
mod sample;
mod shift;
mod steady;

pub use histogram::{DecodeError, TimeHistogram};
pub use interval::{CONFIDENCE, MIN_TRIALS_FOR_INTERVAL, median, median_interval, quartiles};
pub use sample::check;
pub use shift::{MIN_TRIALS_FOR_SHIFT, min_trials_for_shift, shift, shift_interval};
pub use steady::settled_after;
