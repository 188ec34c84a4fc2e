//! Facts about the machine, and its counters.
