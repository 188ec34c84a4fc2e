//! Conducts a plan: takes the bed, measures trial by trial, stores each trial, and gives the bed back.
//!
//! The command line, a server or a worker hands in an [`Order`], an [`Archive`] and an [`Observer`]. Whatever ends a run early (an
//! interrupt, a dead agent, a probe that fails), the trials finished until then are kept.

mod alone;
mod clock;
mod conduct;
mod cross_check;
mod ending;
mod estimate;
mod fit;
mod follower;
mod measure;
mod misfit;
mod observer;
mod order;
mod probes;
mod prove;
mod record;
mod resume;
mod surroundings;
mod tester;
mod trial;
mod trials;

pub use conduct::{OrderOutcome, RunOutcome, conduct};
pub use ending::{Ending, RunError};
pub use estimate::estimate;
pub use fit::{Misfit, check};
pub use observer::{Archive, Observer};
pub use order::{NewRun, Order, foreseen, new_id};
pub use procedure::Remaining;
pub use prove::{NoProof, Proof, prove};
pub use resume::{CannotResume, resumable};
