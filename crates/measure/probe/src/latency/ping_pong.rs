//! The closed loop: one message out, the same back, then the next.

use kernel::clock;
use model::{Amount, Nanos};

use super::{
    reply_tracker::Trace,
    session::Session,
    stages::{RoundTripStamps, Stages},
};
use crate::ProbeError;

/// Makes round trips until the amount is reached. `stages` takes in their parts, where the socket stamps.
pub(super) fn round_trips<T: Trace>(
    session: &mut Session<'_, T>,
    amount: Amount,
    timeout: Nanos,
    mut stages: Option<&mut Stages>,
) -> Result<(), ProbeError> {
    let (began, first) = (clock::now(), session.tracker.next());
    let mut now = began;
    loop {
        let (number, elapsed) = (session.tracker.next(), now.0 - began.0);
        match amount {
            Amount::Count(count) if number - first >= count => return Ok(()),
            Amount::Duration(duration) if elapsed >= duration.0 => return Ok(()),
            Amount::Count(_) => session.control.reached(number),
            Amount::Duration(_) => session.control.reached(elapsed),
        }
        session.check(now)?;
        session.tell(now)?;
        now = match &mut stages {
            None => round_trip(session, timeout)?.ended,
            Some(stages) => stamped_round_trip(session, timeout, stages)?.ended,
        };
    }
}

/// End of a round trip.
struct Trip {
    is_answered: bool,
    ended: Nanos,
}

#[inline]
fn round_trip<T: Trace>(session: &mut Session<'_, T>, timeout: Nanos) -> Result<Trip, ProbeError> {
    let number = session.tracker.next();
    let sent = clock::now();
    while !session.send(sent, sent)? {
        session.check(clock::now())?;
    }
    loop {
        match session.take()? {
            Some(taken) if taken.answered == Some(number) => return Ok(Trip { is_answered: true, ended: taken.at }),
            Some(_) => {}
            None => {
                let now = clock::now();
                // TCP brings every byte or ends: a reply can be late there, never lost.
                if now.0 - sent.0 > timeout.0 && session.pipe.stream().is_none() {
                    return Ok(Trip { is_answered: false, ended: now });
                }
                session.check(now)?;
            }
        }
    }
}

/// Reads the time of day as well, around the readings of the RTT: it and the stamps are one clock.
fn stamped_round_trip<T: Trace>(
    session: &mut Session<'_, T>,
    timeout: Nanos,
    stages: &mut Stages,
) -> Result<Trip, ProbeError> {
    let number = session.tracker.next();
    let (begun, sent) = (clock::now(), clock::of_day());
    let trip = round_trip(session, timeout)?;
    let (received, ended) = (clock::of_day(), clock::now());
    let left = session.pipe.left(number as u32)?;
    if trip.is_answered {
        stages.record(&RoundTripStamps {
            sent,
            left,
            came: session.pipe.came(),
            received,
            took: Nanos(ended.0 - begun.0),
        });
    }
    Ok(trip)
}
