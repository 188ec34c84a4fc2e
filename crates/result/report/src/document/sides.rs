//! One side of numbered packets alone, as JSON.

use std::net::IpAddr;

use model::{ListenerCounts, PacketsSent};
use schemars::JsonSchema;
use serde::Serialize;

use crate::shape::schema;

/// JSON document of `packets send`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SentDocument {
    /// Name and version of this shape.
    pub schema: SentSchemaName,
    /// Where they left.
    pub interface: String,
    /// Addressee.
    pub to: IpAddr,
    /// Tag of each frame that has room for it.
    pub token: u16,
    /// Sent packets of each stream.
    pub streams: Vec<PacketsSent>,
}

schema!("wireproof-packets-send/1": SentSchemaName, sent_schema of SentDocument);

/// JSON document of `packets receive`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ReceivedDocument {
    /// Name and version of this shape.
    pub schema: ReceivedSchemaName,
    /// Where they arrived.
    pub interface: String,
    /// Properties that frames had to have to be counted.
    pub token: u16,
    /// How long was listened.
    pub seconds: f64,
    /// Received packets.
    #[serde(flatten)]
    pub counts: ListenerCounts,
}

schema!("wireproof-packets-receive/1": ReceivedSchemaName, received_schema of ReceivedDocument);

/// JSON document of `packets capture`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CaptureDocument {
    /// Name and version of this shape.
    pub schema: CaptureSchemaName,
    /// Where the frames were seen.
    pub interface: String,
    /// The file that they were written to.
    pub file: String,
    /// Written frames.
    pub frames: u64,
    /// Frames that the interface saw, those too that the filter left out.
    pub seen: u64,
    /// Frames that the kernel dropped because they were not read in time.
    pub dropped: u64,
}

schema!("wireproof-packets-capture/1": CaptureSchemaName, capture_schema of CaptureDocument);
