//! Tuning a host for a goal, reversibly: profiles, what is read, the plan, and what stands.

mod effect;
mod plan;
mod profile;
mod readings;
mod setting;
mod state;
mod tuned;

pub use effect::{StepEffect, StepOutcome, TunedState, TuningEffect, TuningInspection};
pub use plan::{ByHand, Kept, LeftOut, PlannedChange, TuningPlan, WhyLeftOut};
pub use profile::{Condition, LONGEST_PROFILE, Profile, ProfileError, ProfileValue};
pub use readings::{InterfaceReading, QdiscReading, SettingsToRead, TuningReadings};
pub use setting::{Setting, SettingError};
pub use state::{AppliedChange, Deviation, Progress, Tuning, TuningOrder, TuningState, Undone};
pub use tuned::{TunedError, from_tuned};
