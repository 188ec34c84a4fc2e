//! Where a run happens: what to set up, and who sits at which end.
//!
//! A bed is made by a machine agent, which performs and records every change, and is measured by two port agents, one
//! at each end. This room decides what to set up; it never touches the machine itself.

mod cores;
mod error;
mod kept;
mod lab;
mod reference;
mod session;

pub use error::BedError;
pub use kept::{clean, down, list, namespace_of, up};
pub use reference::{BedRef, ReferenceError};
pub use session::{Alone, Planned, Session, Survey, Wanted, cards, planned, survey};
