//! Where a run happens: what to set up, and who sits at which end.
