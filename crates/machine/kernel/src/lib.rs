//! All system calls on the machine: namespaces, netlink, sockets, clocks, pinning.
//!
//! Needs Linux 5.14 (for [`namespace::identity`]).
#![allow(unsafe_code, reason = "system calls that rustix and the standard library do not cover")]

pub mod clock;
mod control;
pub mod cpu;
pub mod datagram;
pub mod device;
pub mod diag;
pub mod echo;
mod error;
pub mod error_queue;
pub mod ethtool;
pub mod executions;
pub mod fd;
pub mod file;
pub mod interface;
pub mod irqbalance;
pub mod link;
mod link_message;
pub mod local;
pub mod lock;
pub mod log;
pub mod machine_file;
pub mod namespace;
pub mod napi;
pub mod neighbour;
mod netlink;
pub mod nic;
pub mod packet;
pub mod privilege;
pub mod process;
pub mod route;
mod route_queries;
pub mod socket;
pub mod stamp;
pub mod statistics;
pub mod stream;
pub mod supervise;
pub mod sysctl;
pub mod user_namespace;
pub mod watch;

pub use error::{Error, Result, packet_filter_advice};
pub use route_queries::RouteQueries;
