//! Live rates of interfaces, from readings of their counters: what went through, how fast, at most, and on average.
//!
//! Pure: readings come with the time at which they were taken, and that alone divides. Whoever reads and whoever shows are
//! elsewhere.

mod counters;
mod driver;
mod history;
mod line;
mod link;
mod name;
mod reading;
mod watch;

pub use driver::{DriverRates, Moving, QueueRates};
pub use history::{Column, History};
pub use line::{WIRE_EXTRA, wire_bits};
pub use link::{Both, DirectionRates, Link, Peak};
pub use reading::{DirectionCounts, DriverReading, Incarnation, LinkReading, LinkState};
pub use watch::{FORGOTTEN, Key, Watch};
