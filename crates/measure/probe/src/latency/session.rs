//! Shared part of both loops: sending the next message, and entering received ones into the reply tracker.

use std::time::Duration;

use kernel::clock;
use model::{Nanos, SideSetup};

use super::{
    carries_stamps, message,
    pipe::Pipe,
    reply_tracker::{ReplyTracker, Trace},
    so_far::InterimFeed,
};
use crate::{Control, ProbeError};

/// A peer that answers nothing for this long counts as ended. Longer than the silence after which the controller gives an agent
/// up, so that an agent that hangs is named as such.
const GONE: Duration = Duration::from_secs(15);

/// A conversation with the far side.
pub(super) struct Session<'a, T> {
    pub(super) pipe: &'a mut Pipe,
    pub(super) tracker: ReplyTracker<T>,
    pub(super) control: &'a Control,
    feed: InterimFeed,
    message: Vec<u8>,
    token: u32,
    /// Whether the far side puts its stamps in.
    with_stamps: bool,
    /// Silence after which the peer is given up.
    patience: Nanos,
    heard: Nanos,
}

/// Result of one receive call.
pub(super) struct Received {
    /// When the program had it.
    pub(super) at: Nanos,
    /// Number of the last message that has its first reply now.
    pub(super) answered: Option<u64>,
}

impl<'a, T: Trace> Session<'a, T> {
    pub(super) fn new(
        pipe: &'a mut Pipe,
        tracker: ReplyTracker<T>,
        timeout: Nanos,
        setup: &SideSetup,
        control: &'a Control,
        feed: InterimFeed,
    ) -> Self {
        let (token, with_stamps) = (setup.token, carries_stamps(setup, pipe.length()));
        let mut message = vec![0; pipe.length()];
        message::put_number(&mut message, token, 0);
        let patience = Nanos((GONE.as_nanos() as u64).max(3 * timeout.0));
        Self { pipe, tracker, control, feed, message, token, with_stamps, patience, heard: clock::now() }
    }

    /// Sends the next message, whose clock reading is `departed`; `false` where the socket has no room for it yet.
    #[inline]
    pub(super) fn send(&mut self, intended: Nanos, departed: Nanos) -> Result<bool, ProbeError> {
        let is_sent = self.pipe.offer(&self.message)?;
        if is_sent {
            self.tracker.sent(intended, departed);
            // The next one is made ready now, so that nothing stands between the clock's reading and its send call. There is
            // room for 32 bits; over 4 billion messages the number comes round, long after any reply.
            message::put_number(&mut self.message, self.token, self.tracker.next() as u32);
        }
        Ok(is_sent)
    }

    /// Receives once and enters the result.
    #[inline]
    pub(super) fn take(&mut self) -> Result<Option<Received>, ProbeError> {
        let length = self.pipe.length();
        let Some(messages) = self.pipe.take()? else { return Ok(None) };
        let at = clock::now();
        let mut answered = None;
        for message in messages.chunks_exact(length) {
            answered = self.tracker.arrived(message::read(message, self.token, self.with_stamps), at).or(answered);
        }
        self.heard = at;
        Ok(Some(Received { at, answered }))
    }

    /// The counted time begins now.
    pub(super) fn open(&mut self) {
        self.feed.open(clock::now());
    }

    /// Hands the sample over every few seconds. Between messages, so that no round trip contains it.
    #[inline]
    pub(super) fn tell(&mut self, now: Nanos) -> Result<(), ProbeError> {
        if self.feed.is_due(now) {
            let overflowed = self.pipe.overflowed()?;
            self.feed.tell(&mut self.tracker, overflowed, now);
        }
        Ok(())
    }

    /// An error once the controller wants no more, or the peer has not been heard of for too long.
    #[inline]
    pub(super) fn check(&self, now: Nanos) -> Result<(), ProbeError> {
        if self.control.stopped() {
            return Err(ProbeError::Cancelled);
        }
        let waited = now.0.saturating_sub(self.heard.0);
        if waited > self.patience.0 {
            return Err(ProbeError::NoAnswer {
                peer: self.pipe.peer(),
                waited: Duration::from_millis(waited / 1_000_000),
            });
        }
        Ok(())
    }
}
