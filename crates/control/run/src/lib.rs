//! Conducts a plan: order, repeats, barriers, before and after.
