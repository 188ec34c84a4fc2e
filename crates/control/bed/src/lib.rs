//! Where a run happens: what to set up, and who sits at which end.
//!
//! A bed is made by machine agents, one for each machine, which perform and record every change, and is measured by two port
//! agents, one at each end. This room decides what to set up; it never touches a machine itself.

mod cabling;
mod cores;
mod dut;
mod error;
mod forwarding;
mod hosts;
mod kept;
mod lab;
mod links;
mod machine;
mod planned;
mod ports;
mod reference;
mod session;
mod setup;
mod through;

pub use cabling::{Cabling, cabling};
pub use dut::DutReader;
pub use error::BedError;
pub use forwarding::NotThrough;
pub use hosts::{Hosts, HostsError, HostsReferenceError, Reach};
pub use kept::{clean, down, list, namespace_of, up};
pub use planned::{Planned, Survey, cards, planned, survey};
pub use ports::{PortError, Taking};
pub use protocol::Caller;
pub use reference::{BedRef, ReferenceError, TwoPorts};
pub use session::{Agents, Alone, HostLoad, Session, Wanted};
pub use through::Through;
