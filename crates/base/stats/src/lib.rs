//! Histograms, percentiles a sample supports, and intervals.
