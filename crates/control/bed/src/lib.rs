//! Place of a run: the setup, and the role of each end.
//!
//! A layout describes a bed as a value, a topology with roles, and one maker turns it into changes. This room never
//! touches a machine itself.
//!
//! A machine agent on each machine makes and records every change; agents at the ends measure.

mod cabling;
mod changes;
mod cores;
mod dut;
mod error;
mod filters;
mod forwarding;
mod inspected;
mod kept;
mod layouts;
mod links;
mod login;
mod machine;
mod make;
mod planned;
mod reference;
mod route_updates;
mod session;
mod through;
mod topology;
mod tuning;
mod wanted;

pub use cabling::{Cabling, cabling};
pub use dut::DutReader;
pub use error::{BedError, HostsError, NicError, Refusal};
pub use filters::has_filters;
pub use inspected::{Inspected, InspectedRef, inspected_here, inspected_there, reached};
pub use kept::{clean, down, list, namespace_of, up};
pub use layouts::{HostsReferenceError, ReferenceError, check_name, layout_names};
pub use planned::{Planned, Survey, planned, survey};
pub use protocol::{Caller, Cleaned};
pub use route_updates::has_route_updates;
pub use session::{Agents, Alone, HostLoad, Session};
pub use through::DutUnreachable;
pub use topology::{dut_namespace, facing};
pub use tuning::TunedHost;
pub use wanted::{BedRef, NicConsent, Reach, Rights, Wanted};
