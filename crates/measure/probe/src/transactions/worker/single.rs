//! One connection that stays open, in a closed loop: send, receive, and the next, without an epoll set.

use std::{io, time::Duration};

use kernel::clock;
use model::{Nanos, WaitMode};
use rustix::{event::epoll, io::Errno};

use super::{InterimFeed, Span, State, Worker, failed};
use crate::{ProbeError, socket::STOP_CHECK};

/// Receive calls in vain between two readings of the clock, of a client that spins.
const SPINS: u32 = 32;

/// Measures until the counted time is over, and the last transaction too.
pub(super) fn run(worker: &mut Worker<'_>, span: Span, feed: &mut InterimFeed<'_>) -> Result<(), ProbeError> {
    let (timeout, spins) = (worker.setting.spec.timeout, worker.setting.spec.mode == WaitMode::Spin);
    let (mut now, mut in_vain) = (clock::now(), 0);
    leave_set(worker)?;
    worker.idle.clear();
    worker.rest(0, now);
    while now < span.closed || worker.out > 0 {
        if worker.setting.control.stopped() {
            return Err(ProbeError::Cancelled);
        }
        let before = worker.connections[0].begun;
        match worker.connections[0].state {
            State::Asking => go_on(worker),
            _ => reopen(worker, now)?,
        }
        let begun = worker.connections[0].begun;
        in_vain = if begun == before { in_vain + 1 } else { 0 };
        now = match begun {
            // The next one has begun just now.
            Some(begun) if in_vain == 0 => begun,
            Some(_) if spins && in_vain < SPINS => continue,
            _ => clock::now(),
        };
        if in_vain > 0 {
            in_vain = 0;
            if begun.is_some_and(|begun| now.0.saturating_sub(begun.0) > timeout.0) {
                worker.give_up(now);
            }
        }
        feed.tell(&mut worker.tally, now);
    }
    Ok(())
}

/// Sends the rest of the request, or receives.
#[inline]
fn go_on(worker: &mut Worker<'_>) {
    let connection = &worker.connections[0];
    let length = worker.setting.requests[connection.request].bytes.len();
    if connection.is_sending(length) && !worker.is_udp {
        worker.go_on_sending(0);
    } else {
        worker.receive(0, false);
    }
}

/// Makes calls on the socket wait as asked.
fn make_wait(worker: &mut Worker<'_>) -> Result<(), ProbeError> {
    let (mode, timeout) = (worker.setting.spec.mode, worker.setting.spec.timeout);
    let Some(socket) = worker.connections[0].socket() else { return Ok(()) };
    if mode == WaitMode::Spin {
        return Ok(());
    }
    let patience = STOP_CHECK.min(Duration::from_nanos(timeout.0));
    let waits: io::Result<()> = socket.set_nonblocking(false).and_then(|()| {
        socket.set_read_timeout(Some(patience))?;
        // Where the peer takes no more of a long request.
        socket.set_write_timeout(Some(patience))
    });
    waits.map_err(crate::error::socket_error("set SO_RCVTIMEO for", worker.setting.peer))
}

/// The connection is gone, or about to: another one is opened with the epoll set.
#[cold]
fn reopen(worker: &mut Worker<'_>, now: Nanos) -> Result<(), ProbeError> {
    let mut events = Vec::with_capacity(4);
    if worker.connections[0].state == State::Ending {
        worker.ended(0, now);
    }
    while worker.connections[0].state != State::Asking {
        let now = clock::now();
        if now >= worker.tally.span.closed {
            return Ok(());
        }
        worker.open_paused(now, usize::MAX);
        worker.give_up(now);
        worker.step(Nanos(1_000_000), &mut events)?;
    }
    leave_set(worker)
}

/// Takes the socket out of the epoll set, which each arriving packet would tell otherwise.
fn leave_set(worker: &mut Worker<'_>) -> Result<(), ProbeError> {
    let removed = worker.connections[0].socket().map_or(Ok(()), |socket| epoll::delete(&worker.epoll, socket));
    match removed {
        // A socket for datagrams stays, and was removed before.
        Ok(()) | Err(Errno::NOENT) => make_wait(worker),
        Err(error) => Err(failed(worker.setting, error)),
    }
}
