//! Stories of the whole program with drivers of real cards: machines in QEMU with emulated cards and wires. `./x
//! test-drivers` makes the machines' images. Emulated processors are slow: no test here asks for speed.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod bench;
mod control;
mod facts;
mod hosts;
mod inspect;
mod interrupts;
mod lab;
mod links;
mod machine;
mod managers;
mod monitor;
mod packets;
mod paper;
mod planted;
mod ports;
mod power;
mod router;
