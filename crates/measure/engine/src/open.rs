//! Opens the engine that fits, or the next best where that one does not start.

use std::net::{IpAddr, SocketAddr};

use model::Engine;

use crate::{AfPacket, Choice, EngineError, Facts, Job, Live, Mode, Pktgen, Sender, Udp, Xsk, choose};

/// Of live frames every so many carry the time: stamping each costs a third of the rate.
const TIME_EVERY: u64 = 64;

/// An engine that is ready to send.
pub struct Opened {
    /// Which, and why.
    pub choice: Choice,
    /// What sends.
    pub sender: Box<dyn Sender>,
}

/// Where UDP sockets send from and to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// An own address.
    pub from: IpAddr,
    /// Who counts.
    pub to: SocketAddr,
}

/// Opens the engine that was asked for, or the best of those that fit and do start, on an interface of the caller's namespace.
/// Nothing is sent yet.
pub fn open(job: &Job, facts: &Facts, asked: Option<Engine>, way: Way) -> Result<Opened, EngineError> {
    first_that_starts(choose(facts, asked)?, |engine| start(job, engine, way))
        .map(|(choice, sender)| Opened { choice, sender })
}

fn start(job: &Job, engine: Engine, Way { from, to }: Way) -> Result<Box<dyn Sender>, EngineError> {
    let job = job.clone();
    Ok(match engine {
        Engine::Live => Box::new(Live::new(job, TIME_EVERY)?),
        Engine::Xsk => Box::new(Xsk::open(job, Mode::Any)?),
        Engine::AfPacket => Box::new(AfPacket::open(job)?),
        Engine::Udp => Box::new(Udp::open(job, from, to)?),
        Engine::Pktgen => Box::new(Pktgen::open(job)?),
    })
}

/// The first that starts; it says which failed before it. The error is that of the best.
fn first_that_starts<T>(
    choices: Vec<Choice>,
    start: impl Fn(Engine) -> Result<T, EngineError>,
) -> Result<(Choice, T), EngineError> {
    let mut failed: Option<(Engine, EngineError)> = None;
    for Choice { engine, why } in choices {
        match start(engine) {
            Ok(started) => {
                let before = failed.map(|(engine, error)| format!("; {engine} did not start: {error}"));
                return Ok((Choice { engine, why: why + &before.unwrap_or_default() }, started));
            }
            Err(error) => failed = failed.or(Some((engine, error))),
        }
    }
    Err(failed.map_or_else(nothing, |(_, error)| error))
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
        let start = |engine| if engine == Engine::AfPacket { Ok(()) } else { Err(refuse(engine)) };
        let (choice, ()) = first_that_starts(choices(), start).expect("one starts");
        assert_eq!(choice.engine, Engine::AfPacket);
        assert_eq!(choice.why, "it fits; live did not start: live cannot be had: no");
        let (choice, ()) = first_that_starts(choices(), |_| Ok(())).expect("all start");
        assert_eq!((choice.engine, choice.why.as_str()), (Engine::Live, "it fits"));
    }

    #[test]
    fn where_none_starts_the_error_is_that_of_the_best() {
        let error = first_that_starts(choices(), |engine| Err::<(), _>(refuse(engine))).expect_err("none starts");
        assert_eq!(error.to_string(), "live cannot be had: no");
    }
}
