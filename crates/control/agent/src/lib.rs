//! The agent process: dispatches requests to the rooms that measure and change.
