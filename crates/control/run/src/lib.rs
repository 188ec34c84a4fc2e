//! Conducts a plan: order, repeats, barriers, before and after.
//!
//! Whatever ends a run early (an interrupt, a dead agent, a probe that fails), the trials finished until then are kept.

mod alone;
mod conduct;
mod cross_check;
mod estimate;
mod fit;
mod follower;
mod measure;
mod prove;
mod resume;
mod trial;

pub use conduct::{Ending, Observer, Order, RunError, conduct, missing_steps, new_id, resume};
pub use estimate::estimate;
pub use fit::{Misfit, check};
pub use prove::{Proof, prove};
pub use resume::{CannotResume, check_resumable};
