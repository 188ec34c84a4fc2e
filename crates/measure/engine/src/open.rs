//! Opens the best engine, or the next one if it does not start.

use std::{
    net::{IpAddr, SocketAddr},
    sync::atomic::{AtomicBool, AtomicU64},
};

use model::Engine;

use crate::{AfPacket, Choice, EngineError, Facts, Job, Live, Mode, Pktgen, Sender, Sent, Udp, Xsk, choose};

/// Interval of timestamped live frames: stamping each costs a third of the rate.
const TIME_EVERY: u64 = 64;

/// An open engine.
pub struct Opened {
    choice: Choice,
    sender: Box<dyn Sender>,
    /// Other engines that fit, the best first.
    others: Vec<Choice>,
    job: Job,
    addresses: SocketAddresses,
}

impl Opened {
    /// The engine and the reason.
    pub fn choice(&self) -> &Choice {
        &self.choice
    }

    /// As [`Sender::send`]; if an engine sends nothing, the next best tries. Also returns the final engine with its
    /// reason.
    pub fn send(self, stop: &AtomicBool, progress: &AtomicU64) -> Result<(Choice, Sent), EngineError> {
        let Self { choice, mut sender, others, job, addresses } = self;
        match sender.send(stop, progress) {
            Err(error @ EngineError::NothingLeft { .. }) if !others.is_empty() => {
                // Another engine may need its resources of the interface.
                drop(sender);
                opened(&job, others, addresses, Some(error))?.send(stop, progress)
            }
            sent => Ok((choice, sent?)),
        }
    }
}

/// Endpoints of UDP sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketAddresses {
    /// Local address.
    pub from: IpAddr,
    /// Receiver.
    pub to: SocketAddr,
}

/// Opens the requested engine, or the best that fits and starts, on an interface of the caller's namespace. Nothing is
/// sent yet.
pub fn open(
    job: &Job,
    facts: &Facts,
    asked: Option<Engine>,
    addresses: SocketAddresses,
) -> Result<Opened, EngineError> {
    opened(job, choose(facts, asked)?, addresses, None)
}

fn opened(
    job: &Job,
    choices: Vec<Choice>,
    addresses: SocketAddresses,
    failed: Option<EngineError>,
) -> Result<Opened, EngineError> {
    let (choice, sender, others) = first_that_starts(choices, failed, |engine| start(job, engine, addresses))?;
    Ok(Opened { choice, sender, others, job: job.clone(), addresses })
}

fn start(
    job: &Job,
    engine: Engine,
    SocketAddresses { from, to }: SocketAddresses,
) -> Result<Box<dyn Sender>, EngineError> {
    let job = job.clone();
    Ok(match engine {
        Engine::Live => Box::new(Live::new(job, TIME_EVERY)?),
        Engine::Xsk => Box::new(Xsk::open(job, Mode::Any)?),
        Engine::AfPacket => Box::new(AfPacket::open(job)?),
        Engine::Udp => Box::new(Udp::open(job, from, to)?),
        Engine::Pktgen => Box::new(Pktgen::open(job)?),
    })
}

/// The first engine that starts, with earlier failures in its reason, and the engines after it. The error is that of
/// the best.
fn first_that_starts<T>(
    choices: Vec<Choice>,
    mut failed: Option<EngineError>,
    start: impl Fn(Engine) -> Result<T, EngineError>,
) -> Result<(Choice, T, Vec<Choice>), EngineError> {
    let mut choices = choices.into_iter();
    while let Some(Choice { engine, why }) = choices.next() {
        match start(engine) {
            Ok(started) => {
                let before = failed.map(|error| format!("; tried before it: {error}"));
                return Ok((Choice { engine, why: why + &before.unwrap_or_default() }, started, choices.collect()));
            }
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    Err(failed.unwrap_or_else(nothing))
}

fn nothing() -> EngineError {
    EngineError::Unable { what: "an engine".to_owned(), why: "none was chosen".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices() -> Vec<Choice> {
        [Engine::Live, Engine::Xsk, Engine::AfPacket].map(|engine| Choice { engine, why: "it fits".to_owned() }).into()
    }

    fn refuse(engine: Engine) -> EngineError {
        EngineError::Unable { what: engine.to_string(), why: "no".to_owned() }
    }

    #[test]
    fn the_next_best_is_taken_where_the_best_does_not_start() {
        let start = |engine| if engine == Engine::Xsk { Ok(()) } else { Err(refuse(engine)) };
        let (choice, (), others) = first_that_starts(choices(), None, start).expect("one starts");
        assert_eq!((choice.engine, others), (Engine::Xsk, vec![choices().remove(2)]));
        assert_eq!(choice.why, "it fits; tried before it: live cannot be had: no");
        let (choice, (), others) = first_that_starts(choices(), None, |_| Ok(())).expect("all start");
        assert_eq!((choice.engine, choice.why.as_str(), others.len()), (Engine::Live, "it fits", 2));
    }

    #[test]
    fn where_none_starts_the_error_is_that_of_the_best() {
        let error = first_that_starts(choices(), None, |engine| Err::<(), _>(refuse(engine))).expect_err("none starts");
        assert_eq!(error.to_string(), "live cannot be had: no");
        let before = Some(refuse(Engine::Pktgen));
        let error =
            first_that_starts(choices(), before, |engine| Err::<(), _>(refuse(engine))).expect_err("none starts");
        assert_eq!(error.to_string(), "pktgen cannot be had: no");
    }
}
