//! The closed loop: one message out, the same back, then the next.

use kernel::clock;
use model::{Amount, Nanos};

use super::{
    book::Trace,
    stages::{Passage, Stages},
    talk::Talk,
};
use crate::ProbeError;

/// Makes round trips until the amount is reached. `stages` takes in their parts, where the socket stamps.
pub(super) fn round_trips<T: Trace>(
    talk: &mut Talk<'_, T>,
    amount: Amount,
    timeout: Nanos,
    mut stages: Option<&mut Stages>,
) -> Result<(), ProbeError> {
    let (began, first) = (clock::now(), talk.book.next());
    let mut now = began;
    loop {
        let (number, elapsed) = (talk.book.next(), now.0 - began.0);
        match amount {
            Amount::Count(count) if number - first >= count => return Ok(()),
            Amount::Duration(duration) if elapsed >= duration.0 => return Ok(()),
            Amount::Count(_) => talk.control.reached(number),
            Amount::Duration(_) => talk.control.reached(elapsed),
        }
        talk.check(now)?;
        talk.tell(now)?;
        now = match &mut stages {
            None => round_trip(talk, timeout)?.ended,
            Some(stages) => stamped_round_trip(talk, timeout, stages)?.ended,
        };
    }
}

/// How a round trip ended.
struct Trip {
    is_answered: bool,
    ended: Nanos,
}

#[inline]
fn round_trip<T: Trace>(talk: &mut Talk<'_, T>, timeout: Nanos) -> Result<Trip, ProbeError> {
    let number = talk.book.next();
    let sent = clock::now();
    while !talk.send(sent, sent)? {
        talk.check(clock::now())?;
    }
    loop {
        match talk.take()? {
            Some(taken) if taken.answered == Some(number) => return Ok(Trip { is_answered: true, ended: taken.at }),
            Some(_) => {}
            None => {
                let now = clock::now();
                // TCP brings every byte or ends: a reply can be late there, never lost.
                if now.0 - sent.0 > timeout.0 && talk.pipe.stream().is_none() {
                    return Ok(Trip { is_answered: false, ended: now });
                }
                talk.check(now)?;
            }
        }
    }
}

/// Reads the time of day as well, around the readings of the RTT: it and the stamps are one clock.
fn stamped_round_trip<T: Trace>(
    talk: &mut Talk<'_, T>,
    timeout: Nanos,
    stages: &mut Stages,
) -> Result<Trip, ProbeError> {
    let number = talk.book.next();
    let (begun, sent) = (clock::now(), clock::of_day());
    let trip = round_trip(talk, timeout)?;
    let (received, ended) = (clock::of_day(), clock::now());
    let left = talk.pipe.left(number as u32)?;
    if trip.is_answered {
        stages.record(&Passage { sent, left, came: talk.pipe.came(), received, took: Nanos(ended.0 - begun.0) });
    }
    Ok(trip)
}
