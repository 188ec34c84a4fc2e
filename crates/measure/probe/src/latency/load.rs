//! The open loop: messages leave by an absolute schedule, whatever the replies do.
//!
//! One thread sends and receives in turn: a message whose time has come, then whatever one receive call brings. So it is
//! never further behind than one receive call, and an overdue burst leaves as fast as the socket takes it, each message still
//! counted from its intended time. Between sends it waits as it was asked to:
//!
//! - **spin** asks socket and clock in turn;
//! - **busy-poll** does the same, and each receive call polls the card's queue once (a call that does not wait polls no
//!   longer);
//! - **block** sleeps in `ppoll` until a reply is there or the next message is due, as a program with an event loop does: a
//!   blocking receive could not end in time, since its timeout counts in ticks of the kernel.

use std::time::Duration;

use kernel::clock;
use model::{LatencySpec, Nanos, PacketRate, WaitMode, probe::MOST_OUT};

use super::{
    reply_tracker::{LEAST_WINDOW, Trace},
    session::Session,
};
use crate::{
    ProbeError,
    schedule::{Schedule, SendTimes, messages_within},
    socket::STOP_CHECK,
};

/// Sends so many messages by a schedule that starts now.
pub(super) fn send_by_schedule<T: Trace>(
    session: &mut Session<'_, T>,
    rate: PacketRate,
    messages: u64,
    mode: WaitMode,
    departures: &mut SendTimes,
) -> Result<(), ProbeError> {
    let schedule = Schedule::new(clock::now(), rate);
    let mut index = 0;
    while index < messages {
        let (intended, now) = (schedule.intended(index), clock::now());
        session.check(now)?;
        if now < intended {
            sleep(session, mode, now, intended)?;
        } else if session.send(intended, now)? {
            departures.record(intended, now);
            index += 1;
            session.control.reached(session.tracker.next());
            session.tell(now)?;
        }
        session.take()?;
    }
    Ok(())
}

/// Takes replies until all are there, or until the timeout of the last message is over.
pub(super) fn drain<T: Trace>(session: &mut Session<'_, T>, timeout: Nanos, mode: WaitMode) -> Result<(), ProbeError> {
    let mut now = clock::now();
    let until = Nanos(now.0.saturating_add(timeout.0));
    while session.tracker.outstanding() > 0 && now < until {
        session.check(now)?;
        sleep(session, mode, now, until)?;
        session.take()?;
        now = clock::now();
    }
    Ok(())
}

fn sleep<T>(session: &Session<'_, T>, mode: WaitMode, now: Nanos, until: Nanos) -> Result<(), ProbeError> {
    if mode == WaitMode::Block {
        let patience = Duration::from_nanos(until.0 - now.0).min(STOP_CHECK);
        kernel::socket::wait_until_readable(session.pipe, patience)?;
    }
    Ok(())
}

/// Messages that the reply tracker has to remember, so that each is remembered for twice its timeout: a late reply is then still
/// told from a lost one.
pub(super) fn window(spec: &LatencySpec) -> Result<usize, ProbeError> {
    let Some(rate) = spec.rate else { return Ok(LEAST_WINDOW) };
    let out = messages_within(spec.timeout, rate);
    if out > MOST_OUT {
        return Err(ProbeError::Unable {
            what: format!("{rate} with a timeout of {}", spec.timeout),
            why: format!("{out} messages could be out at once, {MOST_OUT} is the most; choose a shorter timeout"),
        });
    }
    Ok(2 * out as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_messages_at_once_than_memory_should_hold_are_refused() {
        let mut spec = super::super::tests::spec(model::Protocol::Udp, model::IpVersion::V4, WaitMode::Spin);
        assert_eq!(window(&spec).expect("ping-pong"), LEAST_WINDOW);
        spec.rate = Some(PacketRate(1_000_000));
        assert_eq!(window(&spec).expect("half a million at once"), 1_000_000);
        spec.timeout = Nanos(10_000_000_000);
        let error = window(&spec).expect_err("ten million at once").to_string();
        assert!(error.contains("choose a shorter timeout"), "{error}");
    }
}
