//! Histograms, percentiles a sample supports, and intervals.
//!
//! This crate is pure: it takes values and returns values.

mod histogram;
mod interval;

pub use histogram::{DecodeError, RttHistogram, supports};
pub use interval::{CONFIDENCE, MIN_TRIALS_FOR_INTERVAL, median, median_interval};
