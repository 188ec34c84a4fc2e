//! Runs and trials, kept as they finish (SQLite).
