//! State that the threads of a client share.

use std::{
    net::SocketAddr,
    os::fd::AsFd,
    sync::{
        OnceLock,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
};

use model::{Nanos, WaitMode, probe::TransactionsSpec};

use super::tally::Span;
use crate::Control;

/// A request, and the length of its response: of the body for HTTP.
pub(super) struct Request {
    pub(super) bytes: Vec<u8>,
    pub(super) answer: u64,
}

/// Bytes that every segment has room for (RFC 9293 section 3.7.1: an MSS of 536 where none is told; less the options).
const SHORT: usize = 496;

/// State that the threads of a client share.
pub(super) struct Setting<'a> {
    pub(super) spec: &'a TransactionsSpec,
    pub(super) requests: &'a [Request],
    pub(super) peer: SocketAddr,
    /// The address to bind to; `None` where the route has it as its source.
    pub(super) local: Option<SocketAddr>,
    pub(super) token: u32,
    pub(super) threads: usize,
    pub(super) control: &'a Control,
    /// Threads whose connections are open.
    pub(super) ready: AtomicUsize,
    /// When the warm-up began; 0 before.
    pub(super) began: AtomicU64,
    /// Queue that busy polling polls, read after the first response.
    pub(super) polled: OnceLock<Option<u32>>,
}

impl Setting<'_> {
    /// Whether each request fits into one segment, also where the server names no MSS.
    pub(super) fn are_requests_short(&self) -> bool {
        self.requests.iter().all(|request| request.bytes.len() <= SHORT)
    }

    /// Reads the queue of a socket that has received, if busy polling is asked for.
    pub(super) fn look_for_queue(&self, socket: &impl AsFd) {
        if self.spec.mode == WaitMode::BusyPoll {
            self.polled.get_or_init(|| kernel::stamp::napi(socket).unwrap_or_default());
        }
    }

    /// The counted time, once the warm-up began.
    pub(super) fn span(&self) -> Option<Span> {
        let began = self.began.load(Relaxed);
        let opened = began + self.spec.warmup.0;
        (began > 0).then_some(Span { opened: Nanos(opened), closed: Nanos(opened + self.spec.duration.0) })
    }
}
