//! The record of every change to the machine, and its undoing.
