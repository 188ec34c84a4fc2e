//! Ways of measuring: a module each, with a client side, a server side, and the pure part apart.
//!
//! Both sides are prepared first (sockets, memory, core), and run when the controller says so. They run on the thread
//! that calls them, which the caller has pinned; [`Control`] is how another thread watches and stops them.

pub mod goodput;
pub mod latency;

mod control;
mod error;
mod socket;

pub use control::{Control, Window};
pub use error::ProbeError;
