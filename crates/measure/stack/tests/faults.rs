//! Faults around a bypassed socket, and several sockets at once. Needs root, and fails without.
#![allow(unsafe_code, reason = "signals and fork, as a program has them")]

#[path = "faults/changes.rs"]
mod changes;
#[path = "faults/crowds.rs"]
mod crowds;
#[path = "same/ends.rs"]
#[allow(dead_code, reason = "each test takes a part of it")]
mod ends;
#[path = "faults/past.rs"]
mod past;
#[path = "faults/waits.rs"]
mod waits;
#[path = "../../../machine/xdp/tests/wire/mod.rs"]
mod wire;
