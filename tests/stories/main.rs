//! Stories of the whole program on real kernel paths, from a user's view. They need root, and fail without it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod bad_input;
mod beds;
mod between;
mod bufferbloat;
mod bypass;
mod cabling;
mod campaign;
mod captures;
mod card;
mod compare;
mod documents;
mod dut;
mod faults;
mod forwarding;
mod hosts;
mod kills;
mod layouts;
mod limited;
mod long;
mod machine;
mod measuring;
mod other_host;
mod packets;
mod planted;
mod ports;
mod probes;
mod program;
mod references;
mod resume;
mod rfc2544;
mod router;
mod routing_daemon;
mod schemas;
mod seconds;
mod self_check;
mod senders;
mod sides;
mod sizes;
mod through_sudo;
mod transactions;
mod unprivileged;
mod waiting;
mod watch;
mod words;
