//! Messages between controller and agents, their framing, and how an agent is launched.
//!
//! ```text
//! controller                                   agent
//!    │ preamble, Hello{build} ───────────────────▶ │
//!    │ ◀─────────────────── preamble, Hello{build} │  same build, or the controller refuses
//!    │ Ask{id, request} ─────────────────────────▶ │  changes to the machine, facts
//!    │ ◀──────────────────── Answer{id} / Failed   │
//!    │ Prepare{id, task} ────────────────────────▶ │  a measurement: one side of a probe
//!    │ ◀─────────────────────────── Ready{address} │
//!    │ Start{at} ────────────────────────────────▶ │
//!    │ ◀───────────── Progress*, Result, Done      │
//! ```
//!
//! Either side sends a heartbeat at least every [`HEARTBEAT`]; [`SILENCE`] without any message means the other side is
//! gone. End of the stream means the same at once. This room measures nothing and changes nothing.

mod build;
mod clock;
mod failure;
mod fault;
mod framing;
mod launch;
mod link;
mod memory;
mod message;
mod pipes;
mod ssh;

use std::time::Duration;

pub use build::build_id;
pub use clock::ClockReading;
pub use failure::{Failure, FailureKind};
pub use fault::{AgentError, Fault};
pub use framing::{FrameError, MAX_MESSAGE, PREAMBLE, read_message, read_preamble, write_message, write_preamble};
pub use launch::{Agentless, Launch, Place};
pub use link::AgentLink;
pub use message::{Cleaned, FromAgent, Hello, LabState, LinkReading, Outcome, Reply, Request, Task, ToAgent};
pub use ssh::{Bounds, Caller, Ran, RemoteFacts, Ssh, SshError, remote_facts};

/// Interval of heartbeats.
pub const HEARTBEAT: Duration = Duration::from_secs(2);

/// A side that is silent for this long counts as ended.
pub const SILENCE: Duration = Duration::from_secs(10);

/// Time limit for stopping a measurement after `Cancel`.
pub const CANCEL: Duration = Duration::from_secs(2);
