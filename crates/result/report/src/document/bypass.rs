//! The account of `bypass` as JSON.

use model::bypass::{
    Account, Agreement, Claim, Link, Passed, Program, Queue, Record, Refusal, Steering, UnlistedSockets,
};

use crate::shape::{document, schema};

document! {
    /// JSON document of `bypass`, on standard error.
    BypassDocument of (account: &Account);
    let claimed = account.claims.iter().map(|claim| BypassedProgram {
        program: claim.program.clone(),
        granted: true,
        self_reported: true,
        sockets: claim.sockets.clone(),
        more_sockets: Some(claim.beyond),
        refused_frames: Some(claim.refused),
        queues: Some(claim.queues.clone()),
        xdp: Some(XdpEntry::of(claim)),
    });
    let outside = account.outside.iter().map(|outside| BypassedProgram {
        program: outside.program.clone(),
        granted: false,
        self_reported: true,
        sockets: outside.sockets.clone(),
        more_sockets: None,
        refused_frames: None,
        queues: None,
        xdp: None,
    });
    {
        /// Name and version of this shape.
        schema: BypassSchemaName = BypassSchemaName::V1,
        /// Each program that opened sockets.
        programs: Vec<BypassedProgram> = claimed.chain(outside).collect(),
        /// Sockets of programs without queues that have no records of their own.
        more_sockets_of_others: u32 = account.outside_beyond,
        /// Programs that asked for queues and went through the kernel.
        refused: Vec<Refusal> = account.refused.clone(),
        /// Why the library cannot be put under the program; null where it can.
        obstacle: Option<String> = account.obstacle.as_ref().map(ToString::to_string),
        /// Interfaces that stayed with the kernel.
        interfaces_not_bypassed: Vec<Passed> = account.passed.clone(),
        /// Interfaces that were bypassed.
        interfaces: Vec<Link> = account.links.clone(),
        /// Counters of the steering program.
        steering: Steering = account.steering,
        /// UDP datagrams that the kernel counted meanwhile.
        kernel: KernelEntry = KernelEntry::of(account),
    }
}

schema!("wireproof-bypass/1": BypassSchemaName, bypass_schema of BypassDocument);

document! {
    /// UDP datagrams that the kernel counted in the network namespace, of all programs together.
    KernelEntry of (account: &Account) {
        /// That it handed to sockets.
        received: u64 = account.kernel.received,
        /// That it sent for sockets.
        sent: u64 = account.kernel.sent,
        /// Whether it counted no more than is known to have gone through it; null where that is not known.
        flat: Option<bool> = account.is_flat(),
    }
}

document! {
    /// Packets of a program as XDP and the launcher counted them, held against the program's own records.
    XdpEntry of (claim: &Claim) {
        /// Packets that XDP redirected to its queues; null where they could not be read.
        redirected: Option<u64> = claim.is_counted.then_some(claim.witnessed.redirected),
        /// Datagrams that waited at a fork, at `exec` or before stdio, and were put into the kernel's queue.
        handed_back: u64 = claim.witnessed.handed_back,
        /// Packets in no record: they waited when a socket or the program ended, or the records were changed; null where those redirected
        /// could not be read.
        in_no_record: Option<u64> = match claim.agreement() {
            Agreement::Missing { packets } => Some(packets),
            Agreement::Unknown => None,
            _ => Some(0),
        },
        /// Packets that the records say beyond those redirected: the records were changed; null where those redirected could not be read.
        records_exceed_by: Option<u64> = match claim.agreement() {
            Agreement::TooMany { packets } => Some(packets),
            Agreement::Unknown => None,
            _ => Some(0),
        },
    }
}

/// A program and its sockets.
#[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct BypassedProgram {
    /// The program.
    #[serde(flatten)]
    pub program: Program,
    /// Whether it was given queues.
    pub granted: bool,
    /// Whether the program itself wrote the records of its sockets and its refused frames: always.
    pub self_reported: bool,
    /// Its sockets that have records of their own.
    pub sockets: Vec<Record>,
    /// Its other sockets together; absent without queues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_sockets: Option<UnlistedSockets>,
    /// Frames that came past the kernel and that no socket took; absent without queues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused_frames: Option<u64>,
    /// Its AF_XDP sockets; absent without queues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues: Option<Vec<Queue>>,
    /// Counts that the program cannot write, beside its own; absent without queues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xdp: Option<XdpEntry>,
}
