//! Whole-program stories with the drivers of real cards: machines in QEMU, with cards that it emulates, joined by wires
//! of its own. `./x test-drivers` makes what the machines boot. Emulated processors are slow: nothing here asks how fast.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod bench;
mod control;
mod facts;
mod hosts;
mod lab;
mod links;
mod machine;
mod managers;
mod monitor;
mod packets;
mod planted;
mod ports;
mod power;
